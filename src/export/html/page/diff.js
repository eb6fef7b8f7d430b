// SPDX-License-Identifier: Apache-2.0
/*
 * Diff: the recording beside an earlier one. The flame graph is coloured by the change of shares, and
 * the table lists the functions. Changes that sampling explains are pale.
 *
 * Significance is that of src/report/diff/significance.h: Fisher's exact test, with Tarone's and
 * Holm's corrections for all rows together.
 */
const ALPHA = 0.05, TESTED = 0.001; // the least share of a stack that is tested
const diff = {boxes: [], focus: null, hover: null, width: 0, canvas: 'diff-flame', draw: () => drawDiffFlame(), explain: box => explainChange(box)};

/* --- significance ----------------------------------------------------------------------------- */

const logFactorials = [0];

function logFactorial(n) {
	if (n > 255)
		return n * Math.log(n) - n + Math.log(2 * Math.PI * n) / 2 + 1 / (12 * n) - 1 / (360 * n ** 3) + 1 / (1260 * n ** 5);
	for (let i = logFactorials.length; i <= n; i++)
		logFactorials[i] = logFactorials[i - 1] + Math.log(i);
	return logFactorials[n];
}

const logChoose = (n, k) => logFactorial(n) - logFactorial(k) - logFactorial(n - k);
const logChance = (x, drawn, [a, b]) => logChoose(a, x) + logChoose(b, drawn - x) - logChoose(a + b, drawn);
const twoSided = tail => tail < 0.5 ? 2 * tail : 1;

/* The two-sided p-value of parts [before, after] of all samples [before, after]. */
function chanceOf(part, all) {
	const drawn = part[0] + part[1], second = part[1] * all[0] < part[0] * all[1] ? 1 : 0, sides = [all[second], all[1 - second]];
	if (!drawn || !all[0] || !all[1])
		return 1;
	let term = 1, sum = 1;
	for (let x = part[second]; x > Math.max(drawn - sides[1], 0) && term > sum * 1e-17; x--) {
		term *= x / (drawn - x + 1) * ((sides[1] - drawn + x) / (sides[0] - x + 1));
		sum += term;
	}
	return twoSided(Math.exp(logChance(part[second], drawn, sides)) * sum);
}

/* The smallest p-value that any split of the samples has. */
function leastChance(part, all) {
	const drawn = part[0] + part[1];
	if (!drawn || !all[0] || !all[1])
		return 1;
	return Math.min(twoSided(Math.exp(logChance(Math.max(drawn - all[1], 0), drawn, all))),
		twoSided(Math.exp(logChance(Math.min(drawn, all[0]), drawn, all))));
}

/* Corrects the p-values of rows {p, least}: sets @corrected of each. Returns how many were tested. */
function correctChances(rows) {
	const sorted = rows.slice().sort((a, b) => a.least - b.least);
	let below = sorted.length;
	for (let k = 1; k <= sorted.length; k++) {
		while (below && sorted[below - 1].least > ALPHA / k)
			below--;
		if (below <= k)
			break;
	}
	let floor = 0;
	for (const row of rows)
		row.corrected = 1;
	sorted.slice(0, below).sort((a, b) => a.p - b.p).forEach((row, i) => {
		floor = Math.max(floor, row.p * (below - i));
		row.corrected = Math.min(floor, 1);
	});
	return below;
}

/* --- sums ------------------------------------------------------------------------------------- */

const isDiff = () => D.before !== null;

/* Sums by stack of the earlier recording, as timeSums() makes them: {self, counts}. */
function beforeSums() {
	return keep('before', [S.event, S.unit, S.fn], () => {
		const {stack, event: events, weight, samples, count} = D.before, mask = holders();
		const self = new Float64Array(D.stacks.length), counts = new Float64Array(D.stacks.length);
		let sum = 0, all = 0;
		for (let i = 0; i < count; i++) {
			if (events[i] !== S.event || mask !== null && !mask[stack[i]])
				continue;
			const value = S.unit === 'samples' ? samples[i] : weight[i];
			self[stack[i]] += value;
			counts[stack[i]] += samples[i];
			sum += value;
			all += samples[i];
		}
		return {self, counts, sum, count: all};
	});
}

/* The same of the selection: with counts, also where all samples weigh the same. */
function afterSums() {
	return keep('after', sumKey(), () => {
		const {self, sum, count} = selfSums(), mask = holders(), own = timeSums().counts;
		const each = S.unit === 'samples' ? 1 : D.samples.oneWeight || 1;
		const counts = own === null ? self.map(v => v / each) : mask ? own.map((n, i) => mask[i] ? n : 0) : own;
		return {self, counts, sum, count};
	});
}

/* {self, total, counts: totals of samples} of both recordings by node. */
function sidesByNode() {
	return keep('sides', [sumKey(), S.inlines], () => [beforeSums(), afterSums()].map(({self, counts}) =>
		({...addUpTree(self, tree()), counts: addUpTree(counts, tree()).total})));
}

/* Tests the stacks that have a share of either recording: Map of node to {p, corrected}. */
function nodeTests() {
	return keep('nodeTests', [sumKey(), S.inlines], () => {
		const sides = sidesByNode(), all = [beforeSums().count, afterSums().count], tests = new Map();
		for (let i = 1; i < sides[0].counts.length; i++) {
			const part = [Math.round(sides[0].counts[i]), Math.round(sides[1].counts[i])];
			if (part[0] >= all[0] * TESTED && part[0] || part[1] >= all[1] * TESTED && part[1])
				tests.set(i, {p: chanceOf(part, all), least: leastChance(part, all)});
		}
		correctChances([...tests.values()]);
		return tests;
	});
}

/* The functions of either recording with their own samples, the greatest change first. */
function diffRows() {
	return keep('diffRows', sumKey(), () => {
		const sides = [beforeSums(), afterSums()], owners = tree(false), rows = new Map();
		sides.forEach(({self, counts}, side) => {
			const value = addUpTree(self, tree(false)).self, samples = addUpTree(counts, tree(false)).self;
			for (let i = 1; i < owners.count; i++) {
				if (!value[i] && !samples[i])
					continue;
				const fn = owners.fn[i], row = rows.get(fn) ?? {fn, value: [0, 0], samples: [0, 0]};
				row.value[side] += value[i];
				row.samples[side] += samples[i];
				rows.set(fn, row);
			}
		});
		const all = sides.map(s => s.count), list = [...rows.values()];
		for (const row of list) {
			const part = row.samples.map(Math.round);
			row.share = row.value.map((v, side) => sides[side].sum ? v / sides[side].sum : 0);
			row.delta = row.share[1] - row.share[0];
			Object.assign(row, {p: chanceOf(part, all), least: leastChance(part, all)});
			row.moved = Math.sign(part[1] * all[0] - part[0] * all[1]) === Math.sign(row.delta);
		}
		list.tested = correctChances(list);
		for (const row of list)
			row.changed = row.corrected <= ALPHA && row.moved;
		return list.sort((a, b) => Math.abs(b.delta) - Math.abs(a.delta) || D.rank[a.fn] - D.rank[b.fn]);
	});
}

/* --- flame graph ------------------------------------------------------------------------------ */

/* What a box has in both recordings, and whether that is beyond sampling error. */
function changeOf(box) {
	const sides = sidesByNode(), sums = [beforeSums().sum, afterSums().sum], tests = nodeTests();
	const value = sides.map(s => box.nodes.reduce((sum, node) => sum + s.total[node], 0));
	const share = value.map((v, side) => sums[side] ? v / sums[side] : 0), test = tests.get(box.nodes[0]);
	return {value, share, delta: share[1] - share[0], test, changed: (test?.corrected ?? 1) <= ALPHA};
}

/* Mixes the colour of no change to that of more or less. */
function changeColour({delta, changed}) {
	const dark = isDark(), plain = dark ? [58, 64, 73] : [226, 229, 234];
	const full = delta > 0 ? (dark ? [178, 92, 14] : [230, 126, 20]) : dark ? [44, 108, 188] : [64, 142, 222];
	const much = (changed ? 0.35 : 0) + Math.min(Math.sqrt(Math.abs(delta) / 0.1), 1) * (changed ? 0.65 : 0.14);
	return `rgb(${plain.map((v, i) => Math.round(v + (full[i] - v) * much))})`;
}

function drawChange(context, box) {
	const change = box.fn < 0 ? {delta: 0, changed: false} : changeOf(box), width = box.width - (box.width > 3 ? 0.75 : 0);
	const dark = isDark();
	context.globalAlpha = box.above ? 0.55 : 1;
	context.fillStyle = changeColour(change);
	context.fillRect(box.x, box.y, width, ROW - 1);
	context.globalAlpha = 1;
	if (change.changed && width > 4) { // a sign beside the colour: up or down
		context.fillStyle = colours().ink;
		context.beginPath();
		const y = box.y + ROW / 2, up = change.delta > 0 ? -1 : 1, x = box.x + 2.5;
		context.moveTo(x, y - 3 * up);
		context.lineTo(x + Math.min(6, width - 3), y - 3 * up);
		context.lineTo(x + Math.min(3, (width - 3) / 2), y + 3 * up);
		context.fill();
	}
	if (width > 24) {
		context.fillStyle = dark ? '#fff' : '#15181c';
		label(context, boxText(box), box.x + (change.changed ? 12 : 4), box.y + ROW / 2, width - (change.changed ? 16 : 8));
	}
}

function layOutDiff(width) {
	const t = tree(), sums = sidesByNode()[S.side === 'before' ? 0 : 1], boxes = [], expand = (box, least) => calleesOf(box, t, sums, least);
	const root = {fn: -1, nodes: [0], weights: null, value: sums.total[0], row: 0, x: 0};
	if (!beforeSums().count)
		return {boxes, why: 'The earlier recording has no such samples of this event.'};
	if (!root.value)
		return {boxes, why: 'No sample is in this selection.'};
	layOut(Object.assign(zoomed(root, expand, width, boxes), {width}), expand, width / zoomedValue(root, expand), 1, boxes);
	return {boxes};
}

/* The value of the box that S.zoom leads to. */
function zoomedValue(root, expand) {
	return S.zoom.reduce((box, fn) => expand(box).find(child => child.fn === fn), root).value;
}

function drawDiffFlame() {
	const canvas = $('diff-flame'), width = canvas.parentElement.clientWidth - 28, {boxes, why} = layOutDiff(width);
	const rows = boxes.reduce((most, box) => Math.max(most, box.row), 0) + 1, height = why ? 100 : rows * ROW + 1;
	const context = begin(canvas, width, height);
	Object.assign(diff, {boxes, width, hover: null});
	if (why)
		drawEmpty(context, width, height, why);
	for (const box of boxes) {
		box.y = box.row * ROW;
		drawChange(context, box);
	}
	diff.focus = boxes.find(box => samePath(box, diff.focus)) ?? null;
	outline(context, diff.focus, colours().ink, 2);
}

const pointsText = delta => `${delta < 0 ? '−' : '+'}${Math.abs(delta * 100).toFixed(2)}`;
const chanceText = p => p < 0.0001 ? 'p < 0.0001' : `p = ${p.toFixed(4)}`;

function explainChange(box) {
	if (!box)
		return detail('');
	const {value, share, delta, test, changed} = changeOf(box);
	return detail([boxText(box)], `  before ${sumText(value[0])}, ${shareText(share[0], 1)} · after ${sumText(value[1])}, ${shareText(share[1], 1)} · ` +
		`${pointsText(delta)} points` + (box.fn < 0 ? '' : test ? `, ${changed ? 'beyond' : 'within'} sampling error (${chanceText(test.corrected)})` : ', too small to be tested'));
}

/* --- the view --------------------------------------------------------------------------------- */

function diffRow(row) {
	const f = D.functions[row.fn], cell = (text, as) => make('td', {class: as}, text);
	return make('tr', {tabindex: -1, 'data-fn': row.fn, 'data-before': row.value[0], 'data-after': row.value[1], 'data-p': row.corrected,
		'data-changed': String(row.changed), 'aria-selected': S.fn === row.fn ? 'true' : null},
	cell(shareText(row.share[0], 1), 'number'), cell(shareText(row.share[1], 1), 'number'),
	make('td', {class: `number ${row.changed ? row.delta > 0 ? 'more' : 'less' : 'same'}`}, `${row.changed ? row.delta > 0 ? '▲ ' : '▼ ' : ''}${pointsText(row.delta)}`),
	cell(row.least > ALPHA ? 'few samples' : chanceText(row.corrected), 'number same'), make('td', {class: 'name', title: functionText(row.fn)}, functionText(row.fn)),
	cell(levelName(f), 'kind'), cell(f.dso.slice(0, NAME_DRAWN), 'object'));
}

function drawDiff() {
	if (!isDiff()) {
		diff.boxes = [];
		$('diff-about').textContent = 'This page has one recording: ‘ringtail diff --html FILE BEFORE AFTER’ compares two.';
		return;
	}
	const rows = diffRows(), hits = found(), shown = hits ? rows.filter(row => hits[row.fn]) : rows, changed = rows.filter(row => row.changed).length;
	for (const button of $('sides').children)
		button.setAttribute('aria-checked', button.dataset.side === S.side);
	$('diff-about').textContent = `${D.facts.before.slice(0, 60)} → ${D.facts.name.slice(0, 60)}: ${countText(changed)} of ${countText(rows.length)} functions changed beyond sampling error` +
		(S.from !== null || S.thread >= 0 || S.cpu >= 0 ? '. Time, thread and CPU choose samples of the later recording alone.' : ', at 95 % for all together.');
	Object.assign($('diff-about').dataset, {changed, rows: rows.length, tested: rows.tested});
	drawDiffFlame();
	$('diff-rows').tBodies[0].replaceChildren(...shown.slice(0, ROWS_SHOWN).map(diffRow));
}

/* Rows of the table take the keys if one of them has the focus; else the graph. */
function diffKey(e) {
	if (!isDiff())
		return false;
	const rows = [...$('diff-rows').tBodies[0].rows], now = rows.indexOf(document.activeElement), step = {ArrowDown: 1, ArrowUp: -1}[e.key];
	if (e.key === 'b') {
		change({side: S.side === 'before' ? 'after' : 'before'});
	} else if (e.key === 'l') {
		if (now < 0)
			rows[0]?.focus();
		else
			$('diff-flame').focus({preventScroll: true});
	} else if (now >= 0) {
		if (step)
			rows[Math.min(Math.max(now + step, 0), rows.length - 1)].focus();
		else if (e.key === 'Enter')
			chooseFunction(Number(rows[now].dataset.fn), 'diff-rows', now);
		else
			return false;
	} else {
		return graphKey(e, diff);
	}
	return true;
}

/* Chooses a function, or none if it is chosen; the keys stay in the table. */
function chooseFunction(fn, table, at) {
	change({fn: S.fn === fn ? -1 : fn, zoom: []});
	$(table).tBodies[0].rows[at]?.focus();
}

function initDiff() {
	listenToGraph(diff);
	for (const button of $('sides').children)
		button.addEventListener('click', () => change({side: button.dataset.side}));
	$('diff-rows').tBodies[0].addEventListener('click', e => {
		const row = e.target.closest('tr');
		if (row)
			chooseFunction(Number(row.dataset.fn), 'diff-rows', row.sectionRowIndex);
	});
	document.querySelector('[data-view=diff][role=tab]').hidden = !isDiff();
}
