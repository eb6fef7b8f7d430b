// SPDX-License-Identifier: Apache-2.0
/*
 * The selection that all views share, and the sums of the samples that it chooses.
 *
 * Sums are kept until a part of the selection that they depend on changes.
 */
let D = null; // the data
const START = {
	view: 'flame', event: 0, unit: 'period', from: null, to: null, thread: -1, cpu: -1, fn: -1, search: '',
	inlines: true, apart: false, mode: 'callees', zoom: [], rows: 'threads', shown: null, sort: 'self', down: true,
	code: -1, row: null, side: 'after',
};
const S = {...START};
const kept = new Map();

const KEPT = 4; // values of a name

/* Returns what @make returns, which is made anew only if @key is none of the last ones. */
function keep(name, key, make) {
	const text = JSON.stringify(key), list = kept.get(name) ?? [], at = list.findIndex(old => old.text === text);
	const entry = at < 0 ? {text, value: make()} : list.splice(at, 1)[0];
	list.unshift(entry);
	list.length = Math.min(list.length, KEPT);
	kept.set(name, list);
	return entry.value;
}

const event = () => D.events[S.event];

/* The event of each sample; null: all are of the selection's. */
function eventsOf() {
	const {event: events, oneEvent, count} = D.samples;
	if (oneEvent < 0 || oneEvent === S.event)
		return events;
	return keep('otherEvent', [oneEvent], () => new Uint16Array(count).fill(oneEvent));
}
const isTimed = () => D.timed[S.event] && D.samples.count > 0;

/* --- trees ------------------------------------------------------------------------------------ */

/* The tree, with inlined functions or without. */
function tree(inlines = S.inlines) {
	const hidden = keep('hidden', [], () => Uint8Array.from(D.functions, f => f.inlined));
	const all = inlines || !keep('hides', [], () => hidden.includes(1));
	return keep('tree', [all], () => {
		const ret = all ? {...D.tree, of: null} : foldTree(D.tree, D.canon, hidden);
		return {...ret, stacks: ret.of ? D.stacks.map(node => ret.of[node]) : D.stacks}; // the node of each stack
	});
}

/* Marks the nodes of @t below another one of the same function. */
const inner = t => (t.inner ??= findRecursion(t, D.functions.length));

/* Marks the stacks that have a function that @chosen marks. */
function stacksWith(chosen) {
	const {parent, fn, count} = D.tree, below = new Uint8Array(count), mask = new Uint8Array(D.stacks.length);
	for (let i = 1; i < count; i++)
		below[i] = below[parent[i]] | chosen[fn[i]];
	for (let i = 0; i < mask.length; i++)
		mask[i] = below[D.stacks[i]];
	return mask;
}

/* Marks the stacks with the chosen function; null: none is chosen. */
function holders() {
	if (S.fn < 0)
		return null;
	return keep('holders', [S.fn], () => {
		const chosen = new Uint8Array(D.functions.length);
		chosen[S.fn] = 1;
		return stacksWith(chosen);
	});
}

/* --- search ----------------------------------------------------------------------------------- */

const NAME_TRIED = 4096; // characters of a name

/* Returns the expression of the search; null: there is none, undefined: it is wrong. */
function searchExpression() {
	try {
		return S.search ? new RegExp(S.search, /[A-Z]/.test(S.search) ? '' : 'i') : null;
	} catch {
		return undefined;
	}
}

/* Marks the functions that the search finds; null: no search. */
function found() {
	const expression = searchExpression();
	if (!expression)
		return null;
	return keep('found', [S.search], () =>
		Uint8Array.from(D.functions, f => expression.test(f.name.slice(0, NAME_TRIED)) ? 1 : 0));
}

function foundStacks() {
	const chosen = found();
	return chosen && keep('foundStacks', [S.search], () => stacksWith(chosen));
}

/* --- sums ------------------------------------------------------------------------------------- */

function firstAt(time) {
	const times = D.samples.time;
	let low = 0, high = D.samples.count;
	while (low < high) {
		const middle = low + high >>> 1;
		if (times[middle] < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns [first, end, whether the times in between are to be compared]. */
function sampleRange(from, to) {
	if (from === null)
		return [0, D.samples.count, false];
	return D.samples.sorted ? [firstAt(from), firstAt(to + 1), false] : [0, D.samples.count, true];
}

/* Adds the samples from @first up to @end, times @sign, to sums by stack; all of them are of the event. */
function addAll({self, counts}, first, end, sign) {
	const {stack, oneWeight} = D.samples, each = sign * (S.unit === 'samples' ? 1 : oneWeight);
	if (counts === null) {
		for (let i = first; i < end; i++)
			self[stack[i]] += each;
		return;
	}
	const {weight} = D.samples;
	for (let i = first; i < end; i++) {
		self[stack[i]] += sign * weight[i];
		counts[stack[i]] += sign;
	}
}

/* Adds those of the samples that are of the event, the thread and the CPU; in a range if @compare. */
function addSome({self, counts}, first, end, {event: wanted, thread: onlyThread, cpu: onlyCpu, from, to}, compare) {
	const {stack, thread, cpu, time, oneWeight} = D.samples, each = S.unit === 'samples' ? 1 : oneWeight, events = eventsOf();
	const weight = counts === null ? null : D.samples.weight;
	for (let i = first; i < end; i++) {
		if (events !== null && events[i] !== wanted || onlyThread >= 0 && thread[i] !== onlyThread || onlyCpu >= 0 && cpu[i] !== onlyCpu ||
		    compare && (time[i] < from || time[i] > to))
			continue;
		const at = stack[i];
		self[at] += counts === null ? each : weight[i];
		if (counts !== null)
			counts[at]++;
	}
}

/* Returns sums by stack of all samples of the event. */
function wholeSums() {
	return keep('whole', [S.event, S.unit], () => {
		const {count, oneEvent} = D.samples, sums = emptySums();
		if (oneEvent === S.event)
			addAll(sums, 0, count, 1);
		else
			addSome(sums, 0, count, {event: S.event, thread: -1, cpu: -1}, false);
		return sums;
	});
}

const emptySums = () => ({
	self: new Float64Array(D.stacks.length),
	counts: S.unit !== 'samples' && D.samples.oneWeight < 0 ? new Float64Array(D.stacks.length) : null,
});

/*
 * Returns sums by stack of the samples that the selection chooses, apart from its function. Where most
 * of all are chosen, it takes the others off from the sums of all.
 */
function timeSums() {
	if (S.from === null && S.thread < 0 && S.cpu < 0)
		return wholeSums();
	return keep('time', [S.event, S.unit, S.from, S.to, S.thread, S.cpu], () => {
		const [first, end, compare] = sampleRange(S.from, S.to), {count, oneEvent} = D.samples;
		const every = oneEvent === S.event && S.thread < 0 && S.cpu < 0 && !compare;
		if (every && end - first > count / 2) {
			const all = wholeSums(), sums = {self: all.self.slice(), counts: all.counts?.slice() ?? null};
			addAll(sums, 0, first, -1);
			addAll(sums, end, count, -1);
			return sums;
		}
		const sums = emptySums();
		if (every)
			addAll(sums, first, end, 1);
		else
			addSome(sums, first, end, S, compare);
		return sums;
	});
}

const sumKey = () => [S.event, S.unit, S.from, S.to, S.thread, S.cpu, S.fn];

/* Adds up sums by stack. Returns {self, count, sum}. */
function addNodes({self, counts}) {
	const each = S.unit === 'samples' ? 1 : D.samples.oneWeight;
	let sum = 0, count = 0;
	for (let i = 0; i < self.length; i++)
		sum += self[i];
	if (counts === null)
		return {self, count: each ? sum / each : countPlainly(), sum};
	for (let i = 0; i < counts.length; i++)
		count += counts[i];
	return {self, count, sum};
}

/* Counts the chosen samples of an event whose periods are all zero. */
function countPlainly() {
	const [first, end, compare] = sampleRange(S.from, S.to), counts = new Float64Array(D.stacks.length), mask = holders();
	addSome({self: new Float64Array(D.stacks.length), counts}, first, end, S, compare);
	return counts.reduce((sum, n, i) => sum + (mask === null || mask[i] ? n : 0), 0);
}

/* Returns {self, count, sum} of the chosen samples; self is by stack. */
function selfSums() {
	return keep('self', sumKey(), () => {
		const sums = timeSums(), mask = holders();
		if (!mask)
			return addNodes(sums);
		const masked = values => values && values.map((v, i) => mask[i] ? v : 0);
		return addNodes({self: masked(sums.self), counts: masked(sums.counts)});
	});
}

/* Returns {self, total} by node of @t of sums by stack. */
function addUpTree(base, t) {
	const {stacks, parent, count} = t, self = new Float64Array(count);
	for (let i = 0; i < stacks.length; i++)
		self[stacks[i]] += base[i];
	const total = self.slice();
	for (let i = count - 1; i > 0; i--)
		total[parent[i]] += total[i];
	return {self, total};
}

/* Returns {self, total} by node of tree(@inlines). */
function nodeSums(inlines = S.inlines) {
	const t = tree(inlines);
	return keep('nodes', [sumKey(), t.of !== null], () => addUpTree(selfSums().self, t));
}

/*
 * Returns {self, total} by function. Of recursion the outermost call counts. If inlined functions
 * are not @apart, their own samples belong to the function that has the code, as in a report.
 */
function functionSums(apart = S.apart) {
	return keep(`functions ${apart}`, sumKey(), () => {
		const t = tree(true), nodes = nodeSums(true), owners = tree(apart), own = nodeSums(apart).self, again = inner(t);
		const self = new Float64Array(D.functions.length), total = new Float64Array(D.functions.length);
		for (let i = 1; i < t.count; i++) {
			if (nodes.total[i] && !again[i])
				total[t.fn[i]] += nodes.total[i];
		}
		for (let i = 1; i < owners.count; i++)
			if (own[i])
				self[owners.fn[i]] += own[i];
		return {self, total};
	});
}

/* Returns {count, sum} of the event in the whole recording. */
function wholeSum() {
	return keep('wholeSum', [S.event, S.unit], () => {
		const before = {...S};
		Object.assign(S, {from: null, to: null, thread: -1, cpu: -1, fn: -1});
		const {count, sum} = selfSums();
		Object.assign(S, before);
		return {count, sum};
	});
}

/* Returns the sum of the chosen samples whose stacks have a function that the search finds. */
function foundSum() {
	const mask = foundStacks();
	return mask && keep('foundSum', [sumKey(), S.search], () => {
		const {self} = selfSums();
		let sum = 0;
		for (let i = 0; i < self.length; i++)
			sum += mask[i] ? self[i] : 0;
		return sum;
	});
}

/* Returns sums by thread and by CPU, of the whole event. */
function groupSums() {
	return keep('groups', [S.event], () => {
		const {thread, cpu, count, oneWeight} = D.samples, events = eventsOf(), weight = oneWeight < 0 ? D.samples.weight : null;
		const threads = new Float64Array(D.threads.length), cpus = new Float64Array(65537);
		for (let i = 0; i < count; i++) {
			if (events !== null && events[i] !== S.event)
				continue;
			const value = weight === null ? 1 : weight[i] || 1;
			threads[thread[i]] += value;
			cpus[cpu[i]] += value;
		}
		return {threads, cpus};
	});
}

/*
 * Returns the samples from @from to @to in a grid over time: {all, matched, most}, @width cells for
 * each of @rows, those that the search finds (null without a search), and the most that a cell has.
 * @rowOf gives the row of a thread or CPU, or is null. The time range of the selection does not count.
 * If the grid is only @seen and not read, an even part of very many samples is enough.
 */
function grid({from, to, width, rows = 1, rowOf = null, byCpu = false, threads = true, seen = false}) {
	const {stack, thread, cpu, time, oneEvent, count} = D.samples, events = eventsOf();
	const mask = holders(), hits = foundStacks(), all = new Uint32Array(rows * width);
	const matched = hits ? new Uint32Array(rows * width) : null, scale = width / Math.max(to - from, 1);
	const [first, end, compare] = sampleRange(from, to - 1), onlyThread = threads ? S.thread : -1;
	const onlyCpu = threads || !byCpu ? S.cpu : -1, of = byCpu ? cpu : thread;
	const plain = oneEvent === S.event && onlyThread < 0 && onlyCpu < 0 && !mask && !hits && !compare;
	const step = seen && count > SEEN ? Math.ceil(count / SEEN) | 1 : 1;
	if (plain) {
		for (let i = first; i < end; i += step) {
			const row = rowOf === null ? 0 : rowOf[of[i]];
			if (row >= 0)
				all[row * width + ((time[i] - from) * scale | 0)]++;
		}
		return {all, matched, most: mostOf(all)};
	}
	for (let i = first; i < end; i += step) {
		if (events !== null && events[i] !== S.event || onlyThread >= 0 && thread[i] !== onlyThread || onlyCpu >= 0 && cpu[i] !== onlyCpu ||
		    mask !== null && mask[stack[i]] === 0 || compare && (time[i] < from || time[i] >= to))
			continue;
		const row = rowOf === null ? 0 : rowOf[of[i]];
		if (row < 0)
			continue;
		const cell = row * width + ((time[i] - from) * scale | 0);
		all[cell]++;
		if (hits !== null && hits[stack[i]])
			matched[cell]++;
	}
	return {all, matched, most: mostOf(all)};
}

const SEEN = 1000000; // samples that make a picture
const mostOf = cells => cells.reduce((a, b) => a > b ? a : b, 0);

const gridKey = () => [S.event, S.thread, S.cpu, S.fn, S.search];
