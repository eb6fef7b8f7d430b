// SPDX-License-Identifier: Apache-2.0
/*
 * The data of the page, decoded from its parts (src/export/html/part.h) to typed arrays.
 *
 * Node 0 is the root, above the outermost callers; a sample without frames is at it. Times are
 * ticks since the first sample. Thread, CPU and place of a sample or mark are one more than their
 * number where they may be missing.
 */
const SWITCH = 0, WAKEUP = 1, MARK = 2;
const WORKERS = 8; // at most
const LITTLE = 300000; // characters that one thread decodes soon enough

function bytesOf(base64) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(base64);
	const text = atob(base64), bytes = new Uint8Array(text.length);
	for (let i = 0; i < bytes.length; i++)
		bytes[i] = text.charCodeAt(i);
	return bytes;
}

async function inflate(bytes) {
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* --- parts ------------------------------------------------------------------------------------ */

const LATER = ['code', 'instructions']; // parts that are decoded when their view is opened

/* Decodes a part: a table to its columns, other parts to text. */
async function decodePart(name, base64) {
	const bytes = await inflate(bytesOf(base64));
	return TYPES[name] ? decodeTable(bytes, TYPES[name]) : new TextDecoder().decode(bytes);
}

/* What a worker does: the page's script runs there, too. */
function serve() {
	onmessage = async ({data: [number, name, base64]}) => {
		try {
			const part = await decodePart(name, base64);
			postMessage([number, part], typeof part === 'string' ? [] : part.columns.filter(c => c.buffer).map(c => c.buffer));
		} catch (error) {
			postMessage([number, null, String(error)]);
		}
	};
}

/* Returns functions that decode a part, each in a worker; in this thread where one is enough, or none can be had. */
function decoders(count) {
	const here = [{decode: (number, name, base64) => decodePart(name, base64), end: () => {}}];
	if (count < 2)
		return here;
	const source = URL.createObjectURL(new Blob([document.querySelector('script:not([data-part])').textContent], {type: 'text/javascript'}));
	try {
		return Array.from({length: count}, () => {
			const worker = new Worker(source);
			const decode = (number, name, base64) => new Promise((resolve, reject) => {
				worker.onmessage = ({data: [, part, error]}) => error ? reject(new Error(error)) : resolve(part);
				worker.onerror = () => decodePart(name, base64).then(resolve, reject);
				worker.postMessage([number, name, base64]);
			});
			return {decode, end: () => worker.terminate()};
		});
	} catch {
		return here;
	}
}

/*
 * Decodes parts, [name, text] each, in several threads if they are large. Returns them in their order;
 * where @take is given, each goes to it with its number as soon as it is decoded.
 */
async function decodeParts(list, take = null) {
	const cores = Math.max(2, Math.min(navigator.hardwareConcurrency || 2, WORKERS)), decoded = new Array(list.length);
	const size = list.reduce((sum, [, text]) => sum + text.length, 0);
	let next = 0;
	await Promise.all(decoders(size < LITTLE ? 1 : Math.min(cores, list.length)).map(async ({decode, end}) => {
		while (next < list.length) {
			const number = next++, [name, text] = list[number];
			list[number] = null;
			const part = await decode(number, name, text);
			if (take === null)
				decoded[number] = part;
			else
				take(number, part);
		}
		end();
	}));
	return decoded;
}

/*
 * Returns {name: [each part of this name]}, and removes the elements. Those of LATER stay texts; the
 * samples are gathered while workers decode.
 */
async function readParts() {
	const parts = {later: {}}, names = [], list = [], starts = [];
	let samples = 0;
	for (const element of document.querySelectorAll('script[data-part]')) {
		const name = element.dataset.part, text = element.textContent;
		element.remove();
		if (LATER.includes(name)) {
			(parts.later[name] ??= []).push(text);
			continue;
		}
		names.push(name);
		list.push([name, text]);
		starts.push(samples);
		if (name === 'samples')
			samples += Number(element.dataset.rows);
	}
	const decoded = new Array(list.length);
	parts.gathered = new Gatherer(samples);
	await decodeParts(list, (number, part) => {
		if (names[number] === 'samples')
			parts.gathered.put(part, starts[number]);
		else
			decoded[number] = part;
	});
	names.forEach((name, i) => (parts[name] ??= []).push(decoded[i]));
	return parts;
}

/* --- tables ----------------------------------------------------------------------------------- */

/* Reads numbers of LEB128 one after another. */
class Numbers {
	constructor(bytes, at = 0) {
		this.bytes = bytes;
		this.at = at;
	}
	next() {
		const bytes = this.bytes;
		let byte = bytes[this.at++], value = byte & 127;
		for (let scale = 128; byte > 127; scale *= 128) {
			byte = bytes[this.at++];
			value += (byte & 127) * scale;
		}
		return value;
	}
	fill(target, from, rows) {
		const bytes = this.bytes;
		let at = this.at;
		for (let i = from; i < from + rows; i++) {
			let byte = bytes[at++], value = byte & 127;
			for (let scale = 128; byte > 127; scale *= 128) {
				byte = bytes[at++];
				value += (byte & 127) * scale;
			}
			target[i] = value;
		}
		this.at = at;
	}
}

/* Turns zigzag differences into their sums, in place. */
function addUp(deltas) {
	for (let i = 0, sum = 0; i < deltas.length; i++) {
		const delta = deltas[i];
		sum += delta % 2 ? -(delta + 1) / 2 : delta / 2;
		deltas[i] = sum;
	}
	return deltas;
}

/* Types of columns; a sum counts from the row before in its part. Those of samples are narrowed. */
const TYPES = {
	samples: ['sum', Uint32Array, Uint32Array, Uint16Array, Uint16Array, Float64Array, Uint32Array],
	marks: [Uint8Array, 'sum', Float64Array, Uint32Array, Uint32Array, Uint32Array, Uint32Array, Float64Array],
	nodes: [Uint32Array, Uint32Array],
	places: [Uint32Array, Uint32Array],
	instructions: [Uint32Array],
	spots: [Uint32Array, Uint32Array],
	before: [Uint32Array, Uint16Array, Float64Array, Float64Array],
	sched: [Uint8Array, 'sum', Uint32Array, Uint32Array, Float64Array, Float64Array],
};

/* Returns {rows, columns}; a column is an array, or the number that all its rows have. */
function decodeTable(bytes, types) {
	const numbers = new Numbers(bytes), rows = numbers.next();
	const columns = Array.from({length: numbers.next()}, (_, i) => {
		const size = numbers.next(), Type = types[i] === 'sum' ? Float64Array : types[i];
		if (!size && types[i] !== 'sum')
			return numbers.next();
		const column = new Type(rows);
		if (size)
			numbers.fill(column, 0, rows);
		else
			column.fill(numbers.next());
		if (types[i] === 'sum')
			addUp(column);
		return types === TYPES.samples && Type === Float64Array ? narrow(column) : column;
	});
	return {rows, columns};
}

/* Returns the numbers in 32 bits, if they have room there; times before the first sample are 0. */
function narrow(column) {
	const small = new Uint32Array(column.length);
	for (let i = 0; i < column.length; i++) {
		if (column[i] > 0xffffffff)
			return column;
		small[i] = column[i] < 0 ? 0 : column[i];
	}
	return small;
}

/* Joins the parts of the samples, in any order. A column is an array, or the number that all rows have. */
class Gatherer {
	constructor(count) {
		this.count = count;
		this.columns = TYPES.samples.map(() => ({array: null, same: []}));
	}
	put({rows, columns}, from) {
		this.columns.forEach((column, i) => {
			const part = columns[i];
			if (typeof part === 'number')
				column.same.push([part, from, rows]);
			else
				this.arrayFor(column, part.constructor).set(part, from);
			columns[i] = null;
		});
	}
	arrayFor(column, Type) {
		if (column.array === null)
			column.array = new Type(this.count);
		else if (Type === Float64Array && !(column.array instanceof Type))
			column.array = new Type(column.array);
		return column.array;
	}
	/* Returns column @number. */
	column(number) {
		const column = this.columns[number], {same} = column;
		if (column.array === null && same.every(([value]) => value === same[0][0]))
			return same.length ? same[0][0] : 0;
		for (const [value, from, rows] of same)
			this.arrayFor(column, value > 0xffffffff ? Float64Array : TYPES.samples[number] === Uint16Array ? Uint16Array : Uint32Array).fill(value, from, from + rows);
		return column.array;
	}
}

/* Joins column @number of tables; it is a number if all rows have the same. */
function joinColumn(tables, number, Type) {
	const same = tables.every(t => t.columns[number] === tables[0].columns[number]);
	let from = 0;
	if (same && typeof tables[0]?.columns[number] === 'number')
		return tables[0].columns[number];
	const whole = new Type(tables.reduce((sum, t) => sum + t.rows, 0));
	for (const {rows, columns} of tables) {
		const column = columns[number];
		if (typeof column === 'number')
			whole.fill(column, from, from + rows);
		else
			whole.set(column, from);
		columns[number] = null;
		from += rows;
	}
	return whole;
}

/* As joinColumn(), of sums. */
function joinSums(tables, number, Type) {
	const whole = new Type(tables.reduce((sum, t) => sum + t.rows, 0));
	let from = 0;
	for (const {columns} of tables) {
		whole.set(columns[number], from);
		from += columns[number].length;
		columns[number] = null;
	}
	return whole;
}

/* A column as an array, also where all rows have one number. */
const asArray = (column, Type, rows) => typeof column === 'number' ? new Type(rows).fill(column) : column;

/*
 * Returns the samples. Where all are of one event, @event is null; weights that are all the same become
 * an array when they are asked for.
 */
function readSamples(gathered) {
	const {count} = gathered, array = (number, Type) => asArray(gathered.column(number), Type, count);
	const event = gathered.column(4), place = gathered.column(6);
	let weight = gathered.column(5);
	const samples = {
		count, time: array(0, Uint32Array), node: array(1, Uint32Array), thread: array(2, Uint32Array), cpu: array(3, Uint16Array),
		event: typeof event === 'number' ? null : event, oneEvent: typeof event === 'number' ? event : -1,
		oneWeight: typeof weight === 'number' ? weight : -1, sorted: true, place: place === 0 ? null : asArray(place, Uint32Array, count),
		get weight() {
			weight = asArray(weight, weight > 0xffffffff ? Float64Array : Uint32Array, count);
			return weight;
		},
	};
	for (let i = 1; i < count && samples.sorted; i++)
		samples.sorted = samples.time[i - 1] <= samples.time[i];
	return samples;
}

function readMarks(tables = []) {
	const count = tables.reduce((sum, t) => sum + t.rows, 0), marks = {count};
	['kind', 'time', 'since', 'cpu', 'thread', 'name', 'text', 'value'].forEach((name, i) => {
		marks[name] = i === 1 ? joinSums(tables, i, Float64Array) :
			asArray(count ? joinColumn(tables, i, Float64Array) : 0, Float64Array, count);
	});
	return marks;
}

/* --- call trees ------------------------------------------------------------------------------- */

/* Links each node to its children. */
function linkTree(parent, fn) {
	const count = parent.length, child = new Uint32Array(count), sibling = new Uint32Array(count);
	for (let i = count - 1; i > 0; i--) {
		sibling[i] = child[parent[i]];
		child[parent[i]] = i;
	}
	return {count, parent, fn, child, sibling};
}

function readTree(parts) {
	const {rows, columns} = parts[0], count = rows + 1;
	const parent = new Uint32Array(count), fn = new Uint32Array(count);
	parent.set(asArray(columns[0], Uint32Array, rows), 1);
	fn.set(asArray(columns[1], Uint32Array, rows), 1);
	for (let i = 1; i < count; i++)
		parent[i] = parent[i] ? i - parent[i] : 0;
	return linkTree(parent, fn);
}

/*
 * Returns a tree without the nodes whose functions are @skipped, where siblings of one function are
 * one, and in @of the new node of each old one. @canon gives the number that equal functions share.
 */
function foldTree(tree, canon, skipped) {
	const size = 2 ** Math.ceil(Math.log2(tree.count * 2 + 2)), slots = new Uint32Array(size);
	const of = new Uint32Array(tree.count), parent = new Uint32Array(tree.count), fn = new Uint32Array(tree.count);
	let count = 1;
	for (let i = 1; i < tree.count; i++) {
		const above = of[tree.parent[i]], f = canon[tree.fn[i]];
		if (skipped && skipped[f]) {
			of[i] = above;
			continue;
		}
		let slot = (Math.imul(above, 0x9e3779b1) ^ Math.imul(f, 0x85ebca6b)) >>> 0;
		slot = (slot ^ slot >>> 15) & size - 1;
		while (slots[slot] && (parent[slots[slot]] !== above || fn[slots[slot]] !== f))
			slot = slot + 1 & size - 1;
		if (!slots[slot]) {
			slots[slot] = count;
			parent[count] = above;
			fn[count++] = f;
		}
		of[i] = slots[slot];
	}
	return {...linkTree(parent.slice(0, count), fn.slice(0, count)), of};
}

/* Marks nodes below another one of the same function. */
function findRecursion(tree, functions) {
	const inner = new Uint8Array(tree.count), open = new Uint32Array(functions);
	for (let i = tree.child[0]; i;) {
		inner[i] = open[tree.fn[i]]++ ? 1 : 0;
		if (tree.child[i]) {
			i = tree.child[i];
			continue;
		}
		open[tree.fn[i]]--;
		while (i && !tree.sibling[i]) {
			i = tree.parent[i];
			if (i)
				open[tree.fn[i]]--;
		}
		i = i ? tree.sibling[i] : 0;
	}
	return inner;
}

/* Functions are equal to people who see the same name, object and level. */
function readFunctions(parts) {
	const {functions, dsos, files} = JSON.parse(parts[0]), byKey = new Map();
	const list = functions.map(([name, dso, level, inlined, file]) => ({
		name, level, inlined: !!inlined, dso: dso < 0 ? '' : dsos[dso][0], path: dso < 0 ? '' : dsos[dso][1],
		file: file < 0 ? '' : files[file],
	}));
	const canon = new Uint32Array(list.length);
	list.forEach((f, i) => {
		const key = `${f.level}${f.inlined}\n${f.name}\n${f.dso}`;
		if (!byKey.has(key))
			byKey.set(key, i);
		canon[i] = byKey.get(key);
	});
	const order = [...list.keys()].sort((a, b) => list[a].name < list[b].name ? -1 : list[a].name > list[b].name ? 1 : a - b);
	const rank = new Uint32Array(list.length);
	order.forEach((f, i) => { rank[f] = i; });
	return {list, canon, rank, distinct: byKey.size === list.length};
}

/* Functions with code, [number of the function or -1, why it is missing or null]: those that samples are in. */
function readCodes(parts, canon) {
	const {functions, left_out: leftOut} = JSON.parse(parts[0]);
	let part = 0;
	return Object.assign(functions.map(([number, why]) => ({fn: number < 0 ? -1 : canon[number], why, part: why === null ? part++ : -1})), {leftOut});
}

/* Joins the columns of tables under @names. */
function readColumns(tables, types, names) {
	const count = tables.reduce((sum, t) => sum + t.rows, 0), ret = {count};
	names.forEach((name, i) => {
		const Type = types[i] === 'sum' ? Float64Array : types[i];
		ret[name] = types[i] === 'sum' ? joinSums(tables, i, Type) : asArray(count ? joinColumn(tables, i, Type) : 0, Type, count);
	});
	return ret;
}

/* Returns the number of samples of each event. */
function countEvents({event, oneEvent, count}, events) {
	const counts = new Array(events).fill(0);
	if (event === null)
		counts[oneEvent] = count;
	else
		event.forEach(e => { counts[e]++; });
	return counts;
}

async function readData() {
	const parts = await readParts();
	const index = JSON.parse(parts.index[0]), functions = readFunctions(parts.functions);
	const samples = readSamples(parts.gathered), {rows, columns} = parts.places[0];
	const data = {
		...index, samples, marks: readMarks(parts.marks),
		functions: functions.list, rank: functions.rank, canon: functions.canon,
		tree: readTree(parts.nodes),
		places: {fn: asArray(columns[0], Uint32Array, rows), line: asArray(columns[1], Uint32Array, rows)},
		sched: readColumns(parts.sched ?? [], TYPES.sched, ['kind', 'time', 'thread', 'cpu', 'ns', 'blocked']),
		before: parts.before ? readColumns(parts.before, TYPES.before, ['node', 'event', 'weight', 'samples']) : null,
		codes: readCodes(parts.codes, functions.canon), later: parts.later, instructions: null,
		spots: {fn: asArray(parts.spots[0].columns[0], Uint32Array, parts.spots[0].rows), row: asArray(parts.spots[0].columns[1], Uint32Array, parts.spots[0].rows)},
	};
	if (!functions.distinct) {
		data.tree = foldTree(data.tree, functions.canon, null);
		for (let i = 0; i < samples.count; i++)
			samples.node[i] = data.tree.of[samples.node[i]];
		for (let i = 0; i < (data.before?.count ?? 0); i++)
			data.before.node[i] = data.tree.of[data.before.node[i]];
	}
	data.counts = countEvents(samples, data.events.length);
	data.timed = data.events.map(event => event.timed);
	const later = (a, b) => a > b ? a : b;
	const last = samples.sorted && samples.count ? samples.time[samples.count - 1] : samples.time.reduce(later, 0);
	data.end = samples.count ? data.marks.time.reduce(later, last) : 0;
	return data;
}
