// SPDX-License-Identifier: Apache-2.0
/* The page: changes of the selection, links that restore it, keys, and drawing. */
const VIEWS = {
	flame: {draw: drawFlame, key: flameKey, main: 'flame'},
	table: {draw: drawTable, key: tableKey, main: 'functions'},
	code: {draw: drawCode, key: codeKey, main: 'code'},
	timeline: {draw: drawTimeline, key: timelineKey, main: 'timeline'},
	sched: {draw: drawSched, key: schedViewKey, main: 'sched-lanes'},
	heatmap: {draw: drawHeatmap, key: heatKey, main: 'heatmap'},
	diff: {draw: drawDiff, key: diffKey, main: 'diff-flame'},
	quality: {draw: drawQuality, key: () => false, main: 'quality'},
	recording: {draw: drawRecording, key: () => false, main: 'recording'},
};
const KEYS = [
	['1 … 9', 'Choose a view'], ['/', 'Search functions by a regular expression'], ['?', 'Show these keys'],
	['Esc', 'Undo: search, zoom, then the last part of the selection'], ['x', 'Select everything again'], ['u', 'Count period or samples'],
	['[ ]', 'Move the selected time'], ['{ }', 'Shorten or extend the selected time'],
	['← ↑ → ↓', 'Move in the view'], ['Enter', 'Zoom to the frame; choose the function, row or cell'],
	['f', 'Flame graph: only samples with this function'], ['s', 'Flame graph, table: sandwich of the function'],
	['c', 'Flame graph: callees, callers, sandwich'], ['i', 'Show or hide inlined functions'],
	['Backspace', 'Flame graph: zoom out by one frame'], ['o', 'Table: sort by the next column'],
	['h H', 'Code: next hottest instruction, or back'], ['Enter', 'Code: follow a jump'], ['n p', 'Code: next function, or back'],
	['b', 'Diff: widths before or after'], ['l', 'Diff: to the list of functions, or back to the graph'],
	['t', 'Timeline, scheduler: rows are threads or CPUs'], ['z Z', 'Timeline, scheduler: zoom to the selected time, or out'],
	['Shift + arrows', 'Heatmap: select several cells, then Enter'],
];

/* --- links ------------------------------------------------------------------------------------ */

/* The selection in the fragment: only what differs from the start. */
function toLink() {
	const link = new URLSearchParams();
	for (const [key, value] of Object.entries(S)) {
		if (JSON.stringify(value) === JSON.stringify(START[key]))
			continue;
		link.set(key, Array.isArray(value) ? value.join('.') : String(value));
	}
	return link.size ? '#' + link : '#';
}

const inList = (value, list) => list.includes(value) ? value : undefined;
const below0 = (value, count) => /^-?\d+$/.test(value) && Number(value) < count && Number(value) >= -1 ? Number(value) : undefined;
const ticks = value => /^\d+(\.\d+)?$/.test(value) ? Math.min(Number(value), D.end) : undefined;

/* How to read each field of a link; undefined: the value does not fit the recording. */
const FIELDS = {
	view: v => inList(v, Object.keys(VIEWS)), event: v => below0(v, D.events.length), unit: v => inList(v, ['period', 'samples']),
	from: ticks, to: ticks, thread: v => below0(v, D.threads.length), cpu: v => below0(v, 65537),
	fn: v => below0(v, D.functions.length), search: v => v, inlines: v => v === 'true', apart: v => v === 'true',
	mode: v => inList(v, ['callees', 'callers', 'sandwich']), rows: v => inList(v, ['threads', 'cpus']), side: v => inList(v, ['before', 'after']),
	zoom: v => { const path = v.split('.').map(n => below0(n, D.functions.length)); return path.includes(undefined) ? undefined : path; },
	shown: v => { const span = v.split('.').map(Number); return span.length === 2 && span[0] >= 0 && span[1] > span[0] ? span : undefined; },
	code: v => below0(v, D.codes.length), row: v => below0(v, 1e6) >= 0 ? Number(v) : undefined,
	sort: v => inList(v, COLUMNS.map(c => c.sort)), down: v => v === 'true',
};

function fromLink() {
	const link = new URLSearchParams(location.hash.slice(1)), next = {...START, event: firstEvent()};
	for (const [key, value] of link) {
		const read = FIELDS[key]?.(value);
		if (read !== undefined)
			next[key] = read;
	}
	if (next.view === 'diff' && !D.before)
		next.view = 'flame';
	if (next.event < 0)
		next.event = 0;
	if ((next.from === null) !== (next.to === null) || next.from > next.to)
		next.from = next.to = null;
	return next;
}

/* The event with most samples on the page. */
const firstEvent = () => D.counts.indexOf(Math.max(...D.counts));

/* --- changes ---------------------------------------------------------------------------------- */

let drawn = null, expected = '';

/* Makes the address of the page one that restores what is shown. */
function writeLink() {
	const link = toLink();
	if (link !== (location.hash || '#')) {
		expected = link;
		history.replaceState(null, '', link);
	}
}

/* Changes the selection, and draws. */
function change(patch) {
	if ('fn' in patch && patch.fn !== S.fn)
		Object.assign(S, {code: -1, row: null});
	Object.assign(S, patch);
	writeLink();
	const begun = performance.now();
	draw();
	document.documentElement.dataset.changeMs = (performance.now() - begun).toFixed(1);
}

/* Draws all. Returns a promise where data are to be decoded before. */
function draw() {
	drawControls();
	drawOverview();
	const drawing = VIEWS[S.view].draw(); // a promise, if data are to be decoded
	drawStatus();
	drawn = S.view;
	document.documentElement.dataset.drawn = Number(document.documentElement.dataset.drawn ?? 0) + 1;
	return drawing;
}

function chip(text, patch) {
	const button = make('button', {type: 'button', class: 'chip', title: 'Leave this out of the selection'}, make('span', {}, text));
	button.addEventListener('click', () => change(patch));
	return button;
}

function drawChips() {
	const chips = [];
	if (S.from !== null)
		chips.push(chip(`Time ${timeText(S.from)} – ${timeText(S.to)} s`, {from: null, to: null}));
	if (S.thread >= 0)
		chips.push(chip(`Thread ${threadText(S.thread)}`, {thread: -1}));
	if (S.cpu >= 0)
		chips.push(chip(cpuText(S.cpu), {cpu: -1}));
	if (S.fn >= 0)
		chips.push(chip(`Function ${functionText(S.fn)}`, {fn: -1}));
	if (S.zoom.length)
		chips.push(chip(`Zoomed to ${functionText(S.zoom.at(-1))}`, {zoom: []}));
	$('chips').replaceChildren(...chips.length ? chips : ['All samples are selected.']);
}

function drawControls() {
	for (const tab of document.querySelectorAll('[role=tab]'))
		tab.setAttribute('aria-selected', tab.dataset.view === S.view);
	for (const panel of document.querySelectorAll('[role=tabpanel]'))
		panel.hidden = panel.dataset.view !== S.view;
	for (const button of $('modes').children)
		button.setAttribute('aria-checked', button.dataset.mode === S.mode);
	for (const button of $('rows').children)
		button.setAttribute('aria-checked', button.dataset.rows === S.rows);
	$('event').value = S.event;
	$('unit').value = S.unit;
	$('thread').value = S.thread;
	$('cpu').value = S.cpu;
	$('inlines').checked = S.inlines;
	$('apart').checked = S.apart;
	if ($('search').value !== S.search)
		$('search').value = S.search;
	drawChips();
}

/* Says what is selected, for the eye and for readers of the screen. */
function drawStatus() {
	const {count, sum} = selfSums(), all = wholeSum(), hits = foundSum(), wrong = searchExpression() === undefined;
	const status = $('status'), what = S.unit === 'period' ? `, ${sumText(sum)}` : '';
	status.textContent = `${countText(count)} of ${countText(all.count)} samples${what} (${shareText(sum, all.sum)})`;
	Object.assign(status.dataset, {count, sum, all: all.sum});
	$('search').setCustomValidity(wrong ? 'This is no regular expression.' : '');
	$('matches').textContent = wrong ? 'no regular expression' : hits === null ? '' : `${sumText(hits)} (${shareText(hits, sum)})`;
	$('matches').dataset.sum = hits ?? '';
}

/* Undoes the last part of the selection. */
function undo() {
	const steps = [[S.search, {search: ''}], [S.zoom.length, {zoom: []}], [S.fn >= 0, {fn: -1}], [S.cpu >= 0, {cpu: -1}],
		[S.thread >= 0, {thread: -1}], [S.from !== null, {from: null, to: null}]];
	const step = steps.find(([is]) => is);
	if (step)
		change(step[1]);
}

/* --- keys ------------------------------------------------------------------------------------- */

const next = (list, value) => list[(list.indexOf(value) + 1) % list.length];

const GLOBAL_KEYS = {
	'?': () => $('help').showModal(),
	'/': () => $('search').select(),
	Escape: undo,
	x: () => change({...START, view: S.view, event: S.event, unit: S.unit, rows: S.rows, mode: S.mode}),
	u: () => change({unit: next(['period', 'samples'], S.unit)}),
	c: () => S.view === 'flame' && change({mode: next(['callees', 'callers', 'sandwich'], S.mode), zoom: []}),
	i: () => change(S.view === 'table' ? {apart: !S.apart} : {inlines: !S.inlines, zoom: []}),
	t: () => change({rows: next(['threads', 'cpus'], S.rows)}),
	o: () => S.view === 'table' && sortBy(next(['self', 'total', 'name', 'kind', 'dso'], S.sort)),
	'[': () => isTimed() && moveRange(-1, false),
	']': () => isTimed() && moveRange(1, false),
	'{': () => isTimed() && moveRange(-1, true),
	'}': () => isTimed() && moveRange(1, true),
};

function onKey(e) {
	const typing = e.target.matches?.('input[type=search], select');
	if (e.ctrlKey || e.metaKey || e.altKey || $('help').open)
		return;
	if (typing) {
		if (e.key === 'Escape' || e.key === 'Enter' && e.target === $('search'))
			focusView();
		return;
	}
	const views = Object.keys(VIEWS);
	const number = '123456789'.indexOf(e.key);
	let onTab = e.target.getAttribute?.('role') === 'tab' && {ArrowRight: 1, ArrowLeft: -1}[e.key];
	if (number >= 0 && e.key.length === 1) {
		if (views[number] && (views[number] !== 'diff' || isDiff()))
			change({view: views[number]});
		focusView();
	} else if (onTab) {
		if (views.at((views.indexOf(S.view) + onTab) % views.length) === 'diff' && !isDiff())
			onTab *= 2;
		const view = views.at((views.indexOf(S.view) + onTab) % views.length);
		change({view});
		document.querySelector(`[role=tab][data-view=${view}]`).focus();
	} else if (e.target === $('overview') && timeKey(e)) {
		// the strip alone
	} else if (e.target.matches?.('button, input') && (e.key === 'Enter' || e.key === ' ')) {
		return;
	} else if (!VIEWS[S.view].key(e)) {
		if (!GLOBAL_KEYS[e.key])
			return;
		GLOBAL_KEYS[e.key]();
	}
	e.preventDefault();
}

/* Gives the keys to the view. */
function focusView() {
	const main = $(VIEWS[S.view].main);
	if (S.view === 'table') {
		main.tBodies[0].rows[0]?.focus();
		focusRow(S.fn);
	} else {
		main.focus({preventScroll: true});
	}
}

/* --- beginning -------------------------------------------------------------------------------- */

function fillSelects() {
	const {threads, cpus} = groupSums(), option = (value, text) => make('option', {value}, text);
	const busy = [...threads.keys()].filter(t => threads[t]).sort((a, b) => threads[b] - threads[a]);
	if (S.thread >= 0 && !busy.includes(S.thread))
		busy.push(S.thread);
	const used = [...cpus.keys()].filter(cpu => cpus[cpu]);
	$('thread').replaceChildren(option(-1, `all (${countText(busy.length)})`), ...busy.slice(0, 1000).map(t => option(t, threadText(t))));
	$('cpu').replaceChildren(option(-1, `all (${used.length})`), ...used.map(cpu => option(cpu, cpuText(cpu))));
}

/* Draws for paper: light, of one width, and all rows. */
function setPrinting(on) {
	if (printing === on)
		return;
	printing = on;
	palette = null;
	document.documentElement.classList.toggle('printing', on);
	draw();
	if (on && S.view === 'code')
		drawCodeRows(true);
}

function listen() {
	const number = (id, key) => $(id).addEventListener('change', e => change({[key]: Number(e.target.value)}));
	number('thread', 'thread');
	number('cpu', 'cpu');
	$('event').addEventListener('change', e => {
		change({event: Number(e.target.value), thread: -1, cpu: -1, zoom: []});
		fillSelects();
	});
	$('unit').addEventListener('change', e => change({unit: e.target.value}));
	$('search').addEventListener('input', e => change({search: e.target.value}));
	$('help-open').addEventListener('click', () => $('help').showModal());
	for (const tab of document.querySelectorAll('[role=tab]'))
		tab.addEventListener('click', () => change({view: tab.dataset.view}));
	document.addEventListener('keydown', onKey);
	window.addEventListener('hashchange', () => {
		if (location.hash !== expected) {
			Object.assign(S, fromLink());
			draw();
		}
	});
	let size = '';
	new ResizeObserver(() => {
		const now = `${document.body.clientWidth} ${document.body.clientHeight}`;
		if (drawn && now !== size && !printing)
			draw();
		size = now;
	}).observe(document.body);
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { palette = null; draw(); });
	window.addEventListener('beforeprint', () => setPrinting(true));
	window.addEventListener('afterprint', () => setPrinting(false));
	matchMedia('print').addEventListener('change', e => setPrinting(e.matches));
}

/* Makes sums of all samples while nobody waits, so that the first click does not. */
function makeAhead() {
	const sums = [() => inner(tree()), () => functionSums(), () => isTimed() && heatGrid()];
	const next = () => requestIdleCallback(() => {
		sums.shift()();
		if (sums.length)
			next();
	});
	if (window.requestIdleCallback)
		next();
}

function start() {
	$('name').textContent = D.facts.name;
	document.title = `${D.facts.name.slice(0, 100)} – Ringtail`;
	const choices = D.events.map((e, i) => make('option', {value: i}, e.name)).filter((o, i) => D.counts[i]);
	$('event').replaceChildren(...choices);
	$('event-label').hidden = choices.length < 2;
	$('help').querySelector('tbody').replaceChildren(...KEYS.map(([keys, text]) =>
		make('tr', {}, make('td', {}, make('kbd', {}, keys)), make('td', {}, text))));
	Object.assign(S, fromLink());
	initFlame();
	initTable();
	initCode();
	initTimeline();
	initSched();
	initDiff();
	initHeatmap();
	listen();
	fillSelects();
	const drawing = draw();
	focusView();
	makeAhead();
	detail('Press ', ['?'], ' for keys. Click zooms, Shift and click chooses a function, a drag in the strip above chooses a time.');
	return drawing;
}

if (typeof document === 'undefined') {
	serve();
} else {
	readData().then(async data => {
		D = data;
		await start();
		document.documentElement.dataset.openMs = performance.now().toFixed(0);
		document.documentElement.dataset.tick = D.tick;
		document.documentElement.dataset.state = 'ready';
	}).catch(error => {
		$('status').textContent = `The page cannot be shown: ${error.message}`;
		document.documentElement.dataset.state = 'failed';
		throw error;
	});
}
