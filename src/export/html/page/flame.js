// SPDX-License-Identifier: Apache-2.0
/*
 * The flame graph: callees below their callers, callers below their callees, or both around one
 * function. Boxes are expanded only where they are wide enough to be seen.
 */
const ROW = 19, LEAST = 0.6; // pixels; the least width of a box
/* A graph: its boxes, and how it is drawn and explained. */
const flame = {boxes: [], focus: null, hover: null, width: 0, canvas: 'flame', draw: () => drawFlame(), explain: box => explainBox(box)};

/* A box stands for nodes of one function. Without @weights its value is of the nodes' totals. */
function addTo(groups, fn, node, value, weights) {
	let group = groups.get(fn);
	if (!group)
		groups.set(fn, group = {fn, nodes: [], weights: weights ? [] : null, value: 0});
	group.nodes.push(node);
	group.weights?.push(value);
	group.value += value;
}

const byName = groups => [...groups.values()].sort((a, b) => D.rank[a.fn] - D.rank[b.fn]);

/* The boxes of callees with at least @least. */
function calleesOf(box, t, sums, least = 0) {
	if (box.nodes.length === 1) { // the callees of a node have different functions
		const ret = [], {total} = sums;
		for (let child = t.child[box.nodes[0]]; child; child = t.sibling[child])
			if (total[child] && total[child] >= least)
				ret.push({fn: t.fn[child], nodes: [child], weights: null, value: total[child]});
		return ret.sort((a, b) => D.rank[a.fn] - D.rank[b.fn]);
	}
	const groups = new Map();
	for (const node of box.nodes)
		for (let child = t.child[node]; child; child = t.sibling[child])
			if (sums.total[child])
				addTo(groups, t.fn[child], child, sums.total[child], false);
	return byName(groups);
}

function callersOf(box, t) {
	const groups = new Map();
	box.nodes.forEach((node, i) => {
		const parent = t.parent[node];
		if (parent)
			addTo(groups, t.fn[parent], parent, box.weights[i], true);
	});
	return byName(groups);
}

/* The innermost functions, with the weight of their own samples. */
function leaves(t, sums) {
	const groups = new Map();
	for (let node = 1; node < t.count; node++)
		if (sums.self[node])
			addTo(groups, t.fn[node], node, sums.self[node], true);
	return byName(groups);
}

/* The outermost calls of the chosen function. */
function callsOf(fn, t, sums, up) {
	const box = {fn, nodes: [], weights: up ? [] : null, value: 0}, again = inner(t);
	for (let node = 1; node < t.count; node++) {
		if (t.fn[node] !== fn || again[node] || !sums.total[node])
			continue;
		box.nodes.push(node);
		box.weights?.push(sums.total[node]);
		box.value += sums.total[node];
	}
	return box;
}

/*
 * Lays out the boxes below @top, row by row in @direction (1 or -1), into @boxes. @expand gives those
 * next to a box that have a value to be seen; it may leave out others, whose room stays free.
 */
function layOut(top, expand, scale, direction, boxes) {
	const open = [top];
	while (open.length) {
		const box = open.pop();
		boxes.push(box);
		if (box.value * scale < LEAST * 2)
			continue;
		let x = box.x;
		for (const child of expand(box, LEAST / scale)) {
			child.x = x;
			child.width = child.value * scale;
			child.row = box.row + direction;
			child.parent = box;
			x += child.width;
			if (child.width >= LEAST)
				open.push(child);
		}
	}
}

/* Follows S.zoom from @top. Returns the box where it ends; the boxes above it go into @boxes. */
function zoomed(top, expand, width, boxes) {
	let box = top;
	for (const [depth, fn] of S.zoom.entries()) {
		const next = expand(box).find(child => child.fn === fn);
		if (!next) {
			S.zoom = S.zoom.slice(0, depth);
			break;
		}
		boxes.push(Object.assign(box, {above: true, width}));
		Object.assign(next, {x: 0, row: box.row + 1, parent: box});
		box = next;
	}
	return box;
}

function layOutFlame(width) {
	const t = tree(), sums = nodeSums(), boxes = [], root = {fn: -1, nodes: [0], weights: null, value: sums.total[0], row: 0, x: 0};
	let top = root, expand = (box, least) => calleesOf(box, t, sums, least);
	if (S.mode === 'sandwich') {
		if (S.fn < 0)
			return {boxes, why: 'Choose a function in the table or by F in a graph: its callers appear above, its callees below.'};
		const down = Object.assign(callsOf(S.fn, t, sums, false), {row: 0, x: 0, width});
		const up = Object.assign(callsOf(S.fn, t, sums, true), {row: 0, x: 0, width});
		if (!down.value)
			return {boxes, why: 'The function has no samples in this selection.'};
		layOut(down, expand, width / down.value, 1, boxes);
		const above = [];
		layOut(up, box => callersOf(box, t), width / up.value, -1, above);
		return {boxes: boxes.concat(above.slice(1))};
	}
	if (S.mode === 'callers')
		expand = box => box.fn < 0 ? leaves(t, sums) : callersOf(box, t);
	if (!root.value)
		return {boxes, why: D.samples.count ? 'No sample is in this selection.' : 'The recording has no samples.'};
	top = zoomed(root, expand, width, boxes);
	layOut(Object.assign(top, {width}), expand, width / top.value, 1, boxes);
	return {boxes};
}

function boxText(box) {
	return box.fn < 0 ? 'all' : functionText(box.fn);
}

function drawBox(context, box, y, hits, c) {
	const f = box.fn < 0 ? null : D.functions[box.fn], width = box.width - (box.width > 3 ? 0.75 : 0);
	context.globalAlpha = box.above ? 0.55 : hits && f && !hits[box.fn] ? 0.62 : 1;
	context.fillStyle = !f ? c.other : hits?.[box.fn] ? c.match : levelColour(f);
	context.fillRect(box.x, y, width, ROW - 1);
	if (f && !hits?.[box.fn] && D.rank[box.fn] % 3) { // neighbours of a kind differ a little
		context.fillStyle = D.rank[box.fn] % 3 === 1 ? 'rgba(255,255,255,.16)' : 'rgba(0,0,0,.07)';
		context.fillRect(box.x, y, width, ROW - 1);
	}
	context.globalAlpha = 1;
	if (f?.inlined && width > 5) {
		context.strokeStyle = c['on-frame'];
		context.globalAlpha = 0.45;
		context.beginPath();
		for (let x = box.x + 2; x < box.x + width - 2; x += 5) {
			context.moveTo(x, y + ROW - 2);
			context.lineTo(Math.min(x + 4, box.x + width), y + ROW - 6);
		}
		context.stroke();
		context.globalAlpha = 1;
	}
	if (width > 14) {
		context.fillStyle = c['on-frame'];
		label(context, boxText(box), box.x + 4, y + ROW / 2, width - 8);
	}
}

function drawFlame() {
	const canvas = $('flame'), width = canvas.parentElement.clientWidth - 28;
	const {boxes, why} = layOutFlame(width), hits = found(), c = colours();
	const first = boxes.reduce((a, b) => Math.min(a, b.row), 0), last = boxes.reduce((a, b) => Math.max(a, b.row), 0);
	const height = why ? 160 : (last - first + 1) * ROW + 1, context = begin(canvas, width, height);
	Object.assign(flame, {boxes, width, first});
	if (why)
		drawEmpty(context, width, height, why);
	for (const box of boxes) {
		box.y = (box.row - first) * ROW;
		drawBox(context, box, box.y, hits, c);
	}
	flame.focus = boxes.find(box => samePath(box, flame.focus)) ?? null;
	if (S.mode === 'sandwich')
		outline(context, boxes.find(box => !box.row), c.ink, 2);
	outline(context, flame.focus, c.ink, 2);
	outline(context, flame.hover = null, c.ink, 1);
	if (!event().chains && boxes.length)
		detail('The samples have no call chains: ‘ringtail record -g’ records them.');
}

function outline(context, box, colour, line) {
	if (!box)
		return;
	context.strokeStyle = colour;
	context.lineWidth = line;
	context.strokeRect(box.x + line / 2, box.y + line / 2, Math.max(box.width - line, 1), ROW - 1 - line);
	context.lineWidth = 1;
}

/* The functions from the top to the box. */
function pathOf(box) {
	const path = [];
	for (let at = box; at && at.fn >= 0 && at.row; at = at.parent)
		path.unshift(at.fn);
	return path;
}

const samePath = (a, b) => a && b && a.row === b.row && String(pathOf(a)) === String(pathOf(b));
const boxAt = (g, x, y) => g.boxes.find(b => y >= b.y && y < b.y + ROW && x >= b.x && x < b.x + Math.max(b.width, 1));

function explainBox(box) {
	const {sum} = selfSums(), all = wholeSum().sum;
	if (!box)
		return detail('');
	const pieces = [[boxText(box)], `  ${sumText(box.value)}, ${shareText(box.value, sum)}${sum === all ? '' : ' of the selection'}`];
	if (box.fn >= 0) {
		const f = D.functions[box.fn], sums = functionSums(true);
		pieces.push(` · in all stacks: self ${shareText(sums.self[box.fn], sum)}, total ${shareText(sums.total[box.fn], sum)}`);
		pieces.push(` · ${levelName(f)}${f.inlined ? ', inlined' : ''}${f.dso ? ' · ' + f.dso : ''}${f.file ? ' · ' + f.file : ''}`);
	}
	return detail(...pieces);
}

function focusBox(box, g) {
	if (!box)
		return;
	g.focus = box;
	g.draw();
	g.explain(box);
	const scroll = $(g.canvas).parentElement;
	if (box.y < scroll.scrollTop || box.y + ROW > scroll.scrollTop + scroll.clientHeight)
		scroll.scrollTop = box.y - scroll.clientHeight / 2;
}

function zoomTo(box, g) {
	if (!box || g === flame && S.mode === 'sandwich')
		return;
	change({zoom: pathOf(box)});
	g.explain(box);
}

/* Moves the focus: to the box above or below, or beside it in its row. */
function moveFocus(key, g) {
	const now = g.focus ?? g.boxes.find(box => !box.row), boxes = g.boxes;
	const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0;
	if (!g.focus || !now)
		return focusBox(now, g);
	const row = boxes.filter(box => box.row === now.row + step && (step || box !== now));
	const middle = now.x + now.width / 2;
	if (step)
		return focusBox(row.filter(b => b.parent === now || now.parent === b || b.row && !b.parent?.row).sort((a, b) =>
			(b.parent === now || now.parent === b) - (a.parent === now || now.parent === b) || b.width - a.width)[0], g);
	return focusBox(row.filter(b => key === 'ArrowRight' ? b.x > middle : b.x < now.x)
		.sort((a, b) => Math.abs(a.x - now.x) - Math.abs(b.x - now.x))[0], g);
}

/* Keys of a graph. */
function graphKey(e, g) {
	const box = g.focus;
	switch (e.key) {
	case 'ArrowUp': case 'ArrowDown': case 'ArrowLeft': case 'ArrowRight': moveFocus(e.key, g); break;
	case 'Enter': zoomTo(box, g); break;
	case 'Backspace': change({zoom: S.zoom.slice(0, -1)}); break;
	case 'f': if (box && box.fn >= 0) change({fn: box.fn, zoom: []}); break;
	default: return false;
	}
	return true;
}

function flameKey(e) {
	const box = flame.focus;
	if (e.key !== 's')
		return graphKey(e, flame);
	if (box && box.fn >= 0)
		change({fn: box.fn, zoom: [], mode: 'sandwich'});
	return true;
}

/* Lets the pointer explain, zoom and choose boxes. */
function listenToGraph(g) {
	const canvas = $(g.canvas);
	canvas.addEventListener('pointermove', e => {
		const box = boxAt(g, e.offsetX, e.offsetY);
		if (box === g.hover)
			return;
		g.hover = box ?? null;
		g.explain(box ?? g.focus);
		canvas.title = box ? boxText(box) : '';
	});
	canvas.addEventListener('click', e => {
		const box = boxAt(g, e.offsetX, e.offsetY);
		if (!box)
			return;
		g.focus = box;
		if (e.shiftKey && box.fn >= 0)
			change({fn: box.fn, zoom: []});
		else if (g === flame && S.mode === 'sandwich' && box.fn >= 0)
			change({fn: box.fn});
		else
			zoomTo(box, g);
	});
}

function initFlame() {
	const canvas = $('flame');
	canvas.addEventListener('pointermove', e => { // before the box is noted as the new one
		const box = boxAt(flame, e.offsetX, e.offsetY);
		if (box === flame.hover)
			return;
		const context = canvas.getContext('2d');
		if (flame.hover)
			drawBox(context, flame.hover, flame.hover.y, found(), colours());
		outline(context, box ?? null, colours().ink, 1);
		outline(context, flame.focus, colours().ink, 2);
	});
	listenToGraph(flame);
	for (const button of $('modes').children)
		button.addEventListener('click', () => change({mode: button.dataset.mode, zoom: []}));
	$('inlines').addEventListener('change', e => change({inlines: e.target.checked, zoom: []}));
}
