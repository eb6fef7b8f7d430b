// SPDX-License-Identifier: Apache-2.0
/* The table of functions, and the source lines of the chosen one. */
const ROWS_SHOWN = 200, ROWS_AT_ONCE = 60, REST_MS = 100; // at once as many as a screen has
const COLUMNS = [
	{key: 'selfShare', name: 'Self %', as: 'share', sort: 'self'},
	{key: 'self', name: 'Self', as: 'self number', sort: 'self'},
	{key: 'totalShare', name: 'Total %', as: 'share', sort: 'total'},
	{key: 'total', name: 'Total', as: 'total number', sort: 'total'},
	{key: 'name', name: 'Function', as: 'name', sort: 'name'},
	{key: 'kind', name: 'Level', as: 'kind', sort: 'kind'},
	{key: 'dso', name: 'Object', as: 'object', sort: 'dso'},
	{key: 'line', name: 'Hottest line', as: 'line', sort: null},
];
let shownRows = ROWS_SHOWN, addRest = null; // adds the rows that are drawn a moment later

/* Sums of the chosen samples by place; null: no lines are known. */
function placeSums() {
	const {stack, thread, cpu, time, place} = D.samples;
	if (!place)
		return null;
	return keep('places', sumKey(), () => {
		const {weight} = D.samples, events = eventsOf(), sums = new Float64Array(D.places.fn.length + 1), mask = holders(), [first, end, compare] = sampleRange(S.from, S.to);
		for (let i = first; i < end; i++) {
			if (!place[i] || events !== null && events[i] !== S.event || S.thread >= 0 && thread[i] !== S.thread ||
			    S.cpu >= 0 && cpu[i] !== S.cpu || mask !== null && !mask[stack[i]] ||
			    compare && (time[i] < S.from || time[i] > S.to))
				continue;
			sums[place[i] - 1] += S.unit === 'samples' ? 1 : weight[i];
		}
		return sums;
	});
}

/* Returns by function [line, sum] …, the largest first. */
function linesByFunction() {
	const sums = placeSums();
	return sums && keep('lines', sumKey(), () => {
		const lines = new Map();
		for (let i = 0; i < D.places.fn.length; i++) {
			const fn = D.canon[D.places.fn[i]];
			if (!sums[i])
				continue;
			if (!lines.has(fn))
				lines.set(fn, []);
			lines.get(fn).push([D.places.line[i], sums[i]]);
		}
		lines.forEach(list => list.sort((a, b) => b[1] - a[1]));
		return lines;
	});
}

/* Returns the functions to show, sorted. */
function tableRows() {
	const {self, total} = functionSums(), hits = found(), rows = [], key = S.sort, sign = S.down ? -1 : 1;
	for (let fn = 0; fn < self.length; fn++)
		if (total[fn] && (!hits || hits[fn]))
			rows.push(fn);
	const text = {name: fn => D.rank[fn], kind: fn => D.functions[fn].level, dso: fn => D.functions[fn].dso}[key];
	const value = text ?? (key === 'total' ? fn => total[fn] : fn => self[fn]);
	return rows.sort((a, b) => {
		const x = value(a), y = value(b);
		return x < y ? -sign : x > y ? sign : total[b] - total[a] || D.rank[a] - D.rank[b];
	});
}

function shareCell(value, all, as) {
	const bar = make('i');
	bar.style.width = (all ? value / all * 100 : 0) + '%';
	return make('td', {class: as}, make('span', {class: 'bar'}, bar, make('b', {}, shareText(value, all))));
}

function functionRow(fn, sums, all, lines) {
	const f = D.functions[fn], hot = lines?.get(fn)?.[0], file = f.file.slice(f.file.lastIndexOf('/') + 1);
	return make('tr', {tabindex: -1, 'data-fn': fn, 'data-self': sums.self[fn], 'data-total': sums.total[fn],
		'aria-selected': S.fn === fn ? 'true' : null},
	shareCell(sums.self[fn], all, 'share'), make('td', {class: 'self number'}, sumText(sums.self[fn])),
	shareCell(sums.total[fn], all, 'share'), make('td', {class: 'total number'}, sumText(sums.total[fn])),
	make('td', {class: 'name', title: functionText(fn)}, functionText(fn)),
	make('td', {class: 'kind'}, levelName(f) + (f.inlined ? ', inl.' : '')),
	make('td', {class: 'object', title: f.path.slice(0, NAME_DRAWN)}, f.dso.slice(0, NAME_DRAWN)),
	make('td', {class: 'line', title: f.file.slice(0, NAME_DRAWN)}, hot ? `${file}:${hot[0]}` : file));
}

function drawLines() {
	const list = S.fn >= 0 && linesByFunction()?.get(S.fn), all = selfSums().sum;
	$('lines').hidden = !list;
	if (!list)
		return;
	const file = D.functions[S.fn].file;
	$('lines').querySelector('h2').textContent = `Lines of ${functionText(S.fn)}`;
	$('lines').querySelector('tbody').replaceChildren(...list.slice(0, ROWS_SHOWN).map(([line, sum]) => make('tr', {},
		make('td', {class: 'number'}, sumText(sum)), shareCell(sum, all, 'share'), make('td', {class: 'mono'}, `${file}:${line}`))));
}

/* Draws the other rows of the table. */
function drawRest() {
	addRest?.();
	addRest = null;
}

/* Gives the keys to the row of a function, if it is there. */
function focusRow(fn) {
	const row = () => $('functions').tBodies[0].querySelector(`[data-fn="${fn}"]`);
	if (!row())
		drawRest();
	row()?.focus({preventScroll: true});
}

function drawTable() {
	const rows = tableRows(), sums = functionSums(), all = selfSums().sum, lines = linesByFunction();
	for (const th of $('functions').querySelectorAll('th'))
		if (th.dataset.sort === S.sort)
			th.setAttribute('aria-sort', S.down ? 'descending' : 'ascending');
		else
			th.removeAttribute('aria-sort');
	const body = $('functions').tBodies[0], some = (from, to) => rows.slice(from, to).map(fn => functionRow(fn, sums, all, lines));
	const focused = body.contains(document.activeElement) ? document.activeElement.dataset.fn : null;
	body.replaceChildren(...some(0, Math.min(ROWS_AT_ONCE, shownRows)));
	addRest = () => body.append(...some(ROWS_AT_ONCE, shownRows));
	if (printing)
		drawRest();
	else
		setTimeout(drawRest, REST_MS);
	if (focused !== null)
		focusRow(focused);
	const rest = rows.length - shownRows;
	$('table-about').textContent = `${countText(rows.length)} ${rows.length === 1 ? 'function' : 'functions'}${S.search ? ' found' : ''}. Shares are of the selection. Click chooses one, a double click shows its callers and callees.`;
	$('more').replaceChildren(rest > 0 ? `${countText(rest)} more functions. ` : rows.length ? '' :
		S.search ? 'The search finds no function in this selection.' : 'No sample is in this selection.');
	if (rest > 0) {
		const button = make('button', {type: 'button'}, 'Show more');
		button.addEventListener('click', () => { shownRows *= 4; drawTable(); });
		$('more').append(button);
	}
	drawLines();
}

function sortBy(key) {
	const text = ['name', 'kind', 'dso'].includes(key);
	change({sort: key, down: S.sort === key ? !S.down : !text});
}

function tableKey(e) {
	drawRest();
	const rows = [...$('functions').tBodies[0].rows], now = rows.indexOf(document.activeElement);
	const to = {ArrowDown: now + 1, ArrowUp: Math.max(now - 1, 0), PageDown: now + 20, PageUp: Math.max(now - 20, 0), Home: 0,
		End: rows.length - 1}[e.key];
	const fn = now < 0 ? -1 : Number(rows[now].dataset.fn);
	if (to !== undefined)
		rows[Math.min(to, rows.length - 1)]?.focus();
	else if (e.key === 'Enter' && fn >= 0)
		change({fn: S.fn === fn ? -1 : fn, zoom: []});
	else if (e.key === 's' && fn >= 0)
		change({fn, view: 'flame', mode: 'sandwich', zoom: []});
	else
		return false;
	return true;
}

function initTable() {
	$('apart').addEventListener('change', e => change({apart: e.target.checked}));
	$('apart').parentElement.hidden = !D.functions.some(f => f.inlined);
	$('functions').tHead.append(make('tr', {}, ...COLUMNS.map(({name, as, sort}) => {
		const button = sort ? make('button', {type: 'button'}, name) : name;
		if (sort)
			button.addEventListener('click', () => sortBy(sort));
		return make('th', {scope: 'col', class: as, 'data-sort': name.endsWith('%') ? null : sort}, button);
	})));
	$('functions').tBodies[0].addEventListener('click', e => {
		const row = e.target.closest('tr'), fn = Number(row?.dataset.fn ?? -1);
		if (fn >= 0)
			change({fn: S.fn === fn ? -1 : fn, zoom: []});
	});
	$('functions').tBodies[0].addEventListener('dblclick', e => {
		const fn = Number(e.target.closest('tr')?.dataset.fn ?? -1);
		if (fn >= 0)
			change({fn, view: 'flame', mode: 'sandwich', zoom: []});
	});
}
