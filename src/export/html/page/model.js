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
};
const S = {...START};
const kept = new Map();

/* Returns what @make returns, made anew only if @key is another than before. */
function keep(name, key, make) {
	const text = JSON.stringify(key), old = kept.get(name);
	if (old?.text === text)
		return old.value;
	const value = make(old?.value);
	kept.set(name, {text, value});
	return value;
}

const event = () => D.events[S.event];
const isTimed = () => D.timed[S.event] && D.samples.count > 0;

/* --- trees ------------------------------------------------------------------------------------ */

/* The tree, with inlined functions or without. */
function tree(inlines = S.inlines) {
	return keep(`tree ${inlines}`, [], () => {
		const hidden = inlines ? null : Uint8Array.from(D.functions, f => f.inlined);
		const ret = hidden?.includes(1) ? foldTree(D.tree, D.canon, hidden) : {...D.tree, of: null};
		ret.inner = findRecursion(ret, D.functions.length);
		return ret;
	});
}

/* Marks the nodes of @t at or below a function that @chosen marks. */
function below(t, chosen) {
	const mask = new Uint8Array(t.count);
	for (let i = 1; i < t.count; i++)
		mask[i] = mask[t.parent[i]] | chosen[t.fn[i]];
	return mask;
}

function holders() {
	if (S.fn < 0)
		return null;
	return keep('holders', [S.fn], () => {
		const chosen = new Uint8Array(D.functions.length);
		chosen[S.fn] = 1;
		return below(D.tree, chosen);
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

function foundNodes() {
	const chosen = found();
	return chosen && keep('foundNodes', [S.search], () => below(D.tree, chosen));
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

/* Calls for sums by node: {self, count, sum}. @self is reused. */
function sumSelf(old) {
	const {node, thread, cpu, event: events, weight, time} = D.samples;
	const self = old?.self ?? new Float64Array(D.tree.count), mask = holders();
	const {from, to, event: wanted, thread: onlyThread, cpu: onlyCpu} = S, one = S.unit === 'samples';
	const [first, end, compare] = sampleRange(from, to);
	let count = 0, sum = 0;
	self.fill(0);
	for (let i = first; i < end; i++) {
		const at = node[i];
		if (events[i] !== wanted || onlyThread >= 0 && thread[i] !== onlyThread ||
		    onlyCpu >= 0 && cpu[i] !== onlyCpu || mask !== null && mask[at] === 0 ||
		    compare && (time[i] < from || time[i] > to))
			continue;
		const value = one ? 1 : weight[i];
		self[at] += value;
		sum += value;
		count++;
	}
	return {self, count, sum};
}

const sumKey = () => [S.event, S.unit, S.from, S.to, S.thread, S.cpu, S.fn];

function selfSums() {
	return keep('self', sumKey(), sumSelf);
}

/* Returns {self, total} by node of tree(@inlines). */
function nodeSums(inlines = S.inlines) {
	const t = tree(inlines), {self: base} = selfSums();
	return keep(`nodes ${inlines}`, sumKey(), old => {
		const reuse = old?.total.length === t.count;
		const self = t.of ? new Float64Array(t.count) : base;
		const total = reuse ? old.total : new Float64Array(t.count);
		if (t.of)
			for (let i = 0; i < base.length; i++)
				self[t.of[i]] += base[i];
		total.set(self);
		for (let i = t.count - 1; i > 0; i--)
			total[t.parent[i]] += total[i];
		return {self, total};
	});
}

/*
 * Returns {self, total} by function. Of recursion the outermost call counts. If inlined functions
 * are not @apart, their own samples belong to the function that has the code, as in a report.
 */
function functionSums(apart = S.apart) {
	return keep(`functions ${apart}`, sumKey(), () => {
		const t = tree(true), nodes = nodeSums(true), owners = tree(apart), own = nodeSums(apart).self;
		const self = new Float64Array(D.functions.length), total = new Float64Array(D.functions.length);
		for (let i = 1; i < t.count; i++) {
			if (!t.inner[i])
				total[t.fn[i]] += nodes.total[i];
		}
		for (let i = 1; i < owners.count; i++)
			self[owners.fn[i]] += own[i];
		return {self, total};
	});
}

/* Sum of the event in the whole recording, of which shares are. */
function wholeSum() {
	return keep('whole', [S.event, S.unit], () => {
		const {event: events, weight, count} = D.samples;
		let sum = 0, samples = 0;
		for (let i = 0; i < count; i++) {
			if (events[i] !== S.event)
				continue;
			sum += S.unit === 'samples' ? 1 : weight[i];
			samples++;
		}
		return {sum, count: samples};
	});
}

/* Returns the sum of the chosen samples whose stacks have a function that the search finds. */
function foundSum() {
	const mask = foundNodes();
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
		const {event: events, weight, thread, cpu, count} = D.samples;
		const threads = new Float64Array(D.threads.length), cpus = new Float64Array(65537);
		for (let i = 0; i < count; i++) {
			if (events[i] !== S.event)
				continue;
			threads[thread[i]] += weight[i] || 1;
			cpus[cpu[i]] += weight[i] || 1;
		}
		return {threads, cpus};
	});
}

/*
 * Returns the samples in a grid over time: {all, found}, @width cells for each of @rows, and the
 * most that a cell has. @rowOf gives the row of a thread or CPU, or is null. @place chooses the cell:
 * a function of the time, or null for even cells from @from to @to. The time range of the selection
 * does not count.
 */
function grid({from, to, width, rows = 1, rowOf = null, byCpu = false, threads = true}) {
	const {node, thread, cpu, event: events, time} = D.samples;
	const mask = holders(), hits = foundNodes(), all = new Float32Array(rows * width);
	const matched = hits ? new Float32Array(rows * width) : null, scale = width / Math.max(to - from, 1);
	const [first, end, compare] = sampleRange(from, to - 1), onlyThread = threads ? S.thread : -1;
	const onlyCpu = threads || !byCpu ? S.cpu : -1;
	for (let i = first; i < end; i++) {
		if (events[i] !== S.event || onlyThread >= 0 && thread[i] !== onlyThread ||
		    onlyCpu >= 0 && cpu[i] !== onlyCpu || mask !== null && mask[node[i]] === 0 ||
		    compare && (time[i] < from || time[i] >= to))
			continue;
		const row = rowOf === null ? 0 : rowOf[byCpu ? cpu[i] : thread[i]];
		if (row < 0)
			continue;
		const cell = row * width + ((time[i] - from) * scale | 0);
		all[cell]++;
		if (hits !== null && hits[node[i]])
			matched[cell]++;
	}
	return {all, matched, most: all.reduce((a, b) => a > b ? a : b, 0)};
}

const gridKey = () => [S.event, S.thread, S.cpu, S.fn, S.search];
