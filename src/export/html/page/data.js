// SPDX-License-Identifier: Apache-2.0
/*
 * The data of the page, decoded from its parts (src/export/html/part.h) to typed arrays.
 *
 * Node 0 is the root, above the outermost callers; a sample without frames is at it. Times are
 * ticks since the first sample. Thread, CPU and place of a sample or mark are one more than their
 * number where they may be missing.
 */
const SWITCH = 0, WAKEUP = 1, MARK = 2;
const IN_FLIGHT = 4; // parts that are decompressed at a time

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

/* Returns {name: [bytes of each part of this name]}, and empties the elements. */
async function readParts() {
	const elements = [...document.querySelectorAll('script[data-part]')], parts = {};
	const bytes = new Array(elements.length);
	let next = 0;
	async function work() {
		while (next < elements.length) {
			const i = next++;
			const packed = bytesOf(elements[i].textContent);
			elements[i].textContent = '';
			bytes[i] = await inflate(packed);
		}
	}
	await Promise.all(Array.from({length: IN_FLIGHT}, work));
	elements.forEach((e, i) => (parts[e.dataset.part] ??= []).push(bytes[i]));
	return parts;
}

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

/* A part that holds a table. */
class Table {
	constructor(bytes) {
		const numbers = new Numbers(bytes);
		this.bytes = bytes;
		this.rows = numbers.next();
		this.columns = Array.from({length: numbers.next()}, () => {
			const size = numbers.next();
			if (!size)
				return {constant: numbers.next()};
			numbers.at += size - 1;
			return {at: numbers.at - size + 1};
		});
	}
	fill(column, target, from) {
		const {constant, at} = this.columns[column];
		if (at === undefined)
			target.fill(constant, from, from + this.rows);
		else
			new Numbers(this.bytes, at).fill(target, from, this.rows);
	}
	/* Returns an upper bound of a column's values, or Infinity. */
	bound(column) {
		return this.columns[column].constant ?? Infinity;
	}
}

const rowsOf = tables => tables.reduce((sum, table) => sum + table.rows, 0);

function readColumn(tables, column, Type) {
	const target = new Type(rowsOf(tables));
	let from = 0;
	for (const table of tables) {
		table.fill(column, target, from);
		from += table.rows;
	}
	return target;
}

/* Turns zigzag differences into their sums. */
function addUp(deltas, Type) {
	const sums = new Type(deltas.length);
	for (let i = 0, sum = 0; i < deltas.length; i++) {
		const delta = deltas[i];
		sum += delta % 2 ? -(delta + 1) / 2 : delta / 2;
		sums[i] = Type === Uint32Array && sum < 0 ? 0 : sum;
	}
	return sums;
}

const constantOf = (tables, column) =>
	tables.every(table => table.bound(column) === tables[0].bound(column)) ? tables[0].bound(column) : Infinity;

function readSamples(parts) {
	const tables = (parts ?? []).map(bytes => new Table(bytes));
	if (!tables.length)
		tables.push(new Table(new Uint8Array([0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])));
	const samples = {
		count: rowsOf(tables),
		time: addUp(readColumn(tables, 0, Float64Array), Uint32Array),
		node: readColumn(tables, 1, Uint32Array),
		thread: readColumn(tables, 2, Uint32Array),
		cpu: readColumn(tables, 3, Uint16Array),
		event: readColumn(tables, 4, Uint16Array),
		weight: readColumn(tables, 5, constantOf(tables, 5) <= 0xffffffff ? Uint32Array : Float64Array),
		place: constantOf(tables, 6) === 0 ? null : readColumn(tables, 6, Uint32Array),
		sorted: true,
	};
	for (let i = 1; i < samples.count && samples.sorted; i++)
		samples.sorted = samples.time[i - 1] <= samples.time[i];
	return samples;
}

function readMarks(parts) {
	const tables = (parts ?? []).map(bytes => new Table(bytes));
	const names = ['kind', 'time', 'since', 'cpu', 'thread', 'name', 'text', 'value'], marks = {count: rowsOf(tables)};
	names.forEach((name, i) => { marks[name] = readColumn(tables, i, Float64Array); });
	marks.time = addUp(marks.time, Float64Array);
	return marks;
}

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
	const table = new Table(parts[0]), count = table.rows + 1;
	const parent = new Uint32Array(count), fn = new Uint32Array(count);
	table.fill(0, parent, 1);
	table.fill(1, fn, 1);
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

const parseJson = parts => JSON.parse(new TextDecoder().decode(parts[0]));

/* Functions are equal to people who see the same name, object and level. */
function readFunctions(parts) {
	const {functions, dsos, files} = parseJson(parts), byKey = new Map();
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

async function readData() {
	const parts = await readParts();
	const index = parseJson(parts.index), functions = readFunctions(parts.functions);
	const samples = readSamples(parts.samples), places = new Table(parts.places[0]);
	const data = {
		...index, samples, marks: readMarks(parts.marks),
		functions: functions.list, rank: functions.rank, canon: functions.canon,
		tree: readTree(parts.nodes),
		places: {fn: readColumn([places], 0, Uint32Array), line: readColumn([places], 1, Uint32Array)},
	};
	if (!functions.distinct) {
		data.tree = foldTree(data.tree, functions.canon, null);
		for (let i = 0; i < samples.count; i++)
			samples.node[i] = data.tree.of[samples.node[i]];
	}
	data.timed = data.events.map(event => event.timed);
	const later = (a, b) => a > b ? a : b;
	data.end = samples.count ? data.marks.time.reduce(later, samples.time.reduce(later, 0)) : 0;
	return data;
}
