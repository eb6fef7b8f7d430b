// SPDX-License-Identifier: Apache-2.0
/*
 * The data of the page: typed arrays made of its tables (src/export/html/table.h).
 *
 * Node 0 is the root, above the outermost callers; a sample without frames is at it. A stack is a node
 * that samples are at. Times are ticks since the first sample. Thread, CPU and place of a sample or
 * mark are one more than their number where they may be missing.
 */
const SWITCH = 0, WAKEUP = 1, MARK = 2;

/* --- tables ----------------------------------------------------------------------------------- */

/* Types of columns. A sum or time counts from the row before in its part; a number has the smallest type. */
const TYPES = {
	samples: ['time', 'number', 'number', 'number', 'number', 'number', 'number'],
	marks: [Uint8Array, 'sum', Float64Array, Uint32Array, Uint32Array, Uint32Array, Uint32Array, Float64Array],
	nodes: [Uint32Array, Uint32Array],
	stacks: ['sum'],
	places: [Uint32Array, Uint32Array],
	instructions: [Uint32Array],
	spots: [Uint32Array, Uint32Array],
	before: [Uint32Array, Uint16Array, Float64Array, Float64Array],
	sched: [Uint8Array, 'sum', Uint32Array, Uint32Array, Float64Array, Float64Array],
};

/* Reads numbers of LEB128 one after another. */
class Numbers {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}
	next() {
		let byte = this.bytes[this.at++], value = byte & 127;
		for (let scale = 128; byte > 127; scale *= 128) {
			byte = this.bytes[this.at++];
			value += (byte & 127) * scale;
		}
		return value;
	}
}

/* Sets a column to its first number and the others, of which @planes has @width bytes each. */
function fill(column, first, planes, width) {
	const others = column.length - 1;
	column[0] = first;
	column.set(planes.subarray(0, others), 1);
	for (let k = 1; k < width; k++) {
		const scale = 256 ** k, plane = planes.subarray(k * others, (k + 1) * others);
		for (let i = 0; i < others; i++)
			column[i + 1] += plane[i] * scale;
	}
	return column;
}

/* The smallest type of arrays with numbers up to @most. */
const typeFor = most => most <= 0xff ? Uint8Array : most <= 0xffff ? Uint16Array : most <= 0xffffffff ? Uint32Array : Float64Array;

const unzigzag = n => n % 2 ? -(n + 1) / 2 : n / 2;

/* Turns zigzag differences into their sums, in place. */
function addUp(deltas) {
	for (let i = 0, sum = 0; i < deltas.length; i++) {
		sum += unzigzag(deltas[i]);
		deltas[i] = sum;
	}
	return deltas;
}

/*
 * The same of times that begin at @first, with differences of 32 bits. Returns {column, sorted}: whether
 * they never go back; null: the sums do not stay in 32 bits.
 */
function addUpTimes(first, deltas) {
	let sum = unzigzag(first), most = sum, back = 0;
	deltas[0] = sum < 0 ? 0 : sum;
	for (let i = 1; i < deltas.length; i++) {
		const delta = deltas[i];
		back |= delta & 1;
		sum += delta >>> 1 ^ -(delta & 1);
		most = sum > most ? sum : most;
		deltas[i] = sum < 0 ? 0 : sum;
	}
	return most > 0xffffffff ? null : {column: deltas, sorted: !back};
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

function decodeSums(first, planes, width, rows) {
	return addUp(width ? fill(new Float64Array(rows), first, planes, width) : new Float64Array(rows).fill(first));
}

/* Returns {column, sorted}. */
function decodeTimes(first, planes, width, rows) {
	const times = width && width <= 4 ? addUpTimes(first, fill(new Uint32Array(rows), 0, planes, width)) : null;
	if (times)
		return times;
	const column = narrow(decodeSums(first, planes, width, rows));
	return {column, sorted: column.every((time, i) => !i || column[i - 1] <= time)};
}

/*
 * Returns {rows, columns, sorted}: a column is an array, or the number that all its rows have; sorted:
 * times do not go back.
 */
function decodeTable(bytes, types) {
	const numbers = new Numbers(bytes), rows = numbers.next();
	const heads = Array.from({length: numbers.next()}, () => [numbers.next(), numbers.next()]);
	let sorted = true;
	const columns = heads.map(([first, width], i) => {
		const planes = bytes.subarray(numbers.at, numbers.at += width * (rows - 1));
		if (types[i] === 'sum')
			return decodeSums(first, planes, width, rows);
		if (types[i] === 'time') {
			const times = decodeTimes(first, planes, width, rows);
			sorted = times.sorted;
			return times.column;
		}
		const Type = types[i] === 'number' ? typeFor(Math.max(first, 256 ** width - 1)) : types[i];
		return width ? fill(new Type(rows), first, planes, width) : first;
	});
	return {rows, columns, sorted};
}

/*
 * Joins the parts of the samples, which come in any order, when their number is known. A column is an
 * array, or the number that all rows have.
 */
class Gatherer {
	constructor() {
		this.early = [];
		this.count = -1;
		this.sorted = true; // the times within parts
		this.starts = [];
		this.columns = TYPES.samples.map(() => ({array: null, same: []}));
	}
	begin(count) {
		this.count = count;
		this.early.forEach(([table, from]) => this.put(table, from));
		this.early = null;
	}
	put(table, from) {
		if (this.count < 0) {
			this.early.push([table, from]);
			return;
		}
		this.sorted &&= table.sorted;
		this.starts.push(from);
		this.columns.forEach((column, i) => {
			const part = table.columns[i];
			if (typeof part === 'number')
				column.same.push([part, from, table.rows]);
			else
				this.arrayFor(column, part.constructor).set(part, from);
			table.columns[i] = null;
		});
	}
	arrayFor(column, Type) {
		if (column.array === null)
			column.array = new Type(this.count);
		else if (Type.BYTES_PER_ELEMENT > column.array.BYTES_PER_ELEMENT)
			column.array = new Type(column.array);
		return column.array;
	}
	isSorted() {
		const time = this.columns[0].array;
		return this.sorted && this.starts.every(from => !from || time[from - 1] <= time[from]);
	}
	/* Returns column @number. */
	column(number) {
		const column = this.columns[number], {same} = column;
		if (column.array === null && same.every(([value]) => value === same[0][0]))
			return same.length ? same[0][0] : 0;
		for (const [value, from, rows] of same)
			this.arrayFor(column, typeFor(value)).fill(value, from, from + rows);
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
	const {count} = gathered, spread = column => typeof column === 'number' ? new (typeFor(column))(count).fill(column) : column;
	const array = number => spread(gathered.column(number));
	const event = gathered.column(4), place = gathered.column(6);
	let weight = gathered.column(5);
	return {
		count, time: array(0), stack: array(1), thread: array(2), cpu: array(3),
		event: typeof event === 'number' ? null : event, oneEvent: typeof event === 'number' ? event : -1,
		oneWeight: typeof weight === 'number' ? weight : -1, sorted: gathered.isSorted(), place: place === 0 ? null : array(6),
		get weight() {
			weight = spread(weight);
			return weight;
		},
	};
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
		tree: readTree(parts.nodes), stacks: Uint32Array.from(parts.stacks[0].columns[0]),
		places: {fn: asArray(columns[0], Uint32Array, rows), line: asArray(columns[1], Uint32Array, rows)},
		sched: readColumns(parts.sched ?? [], TYPES.sched, ['kind', 'time', 'thread', 'cpu', 'ns', 'blocked']),
		before: parts.before ? readColumns(parts.before, TYPES.before, ['stack', 'event', 'weight', 'samples']) : null,
		codes: readCodes(parts.codes, functions.canon), later: parts.later, instructions: null,
		spots: {fn: asArray(parts.spots[0].columns[0], Uint32Array, parts.spots[0].rows), row: asArray(parts.spots[0].columns[1], Uint32Array, parts.spots[0].rows)},
	};
	if (!functions.distinct) {
		data.tree = foldTree(data.tree, functions.canon, null);
		data.stacks = data.stacks.map(node => data.tree.of[node]);
	}
	data.counts = countEvents(samples, data.events.length);
	data.timed = data.events.map(event => event.timed);
	const later = (a, b) => a > b ? a : b;
	const last = samples.sorted && samples.count ? samples.time[samples.count - 1] : samples.time.reduce(later, 0);
	data.end = samples.count ? data.marks.time.reduce(later, last) : 0;
	return data;
}
