// SPDX-License-Identifier: Apache-2.0
/*
 * Code: the instructions of a function with the samples in each, its source lines and its jumps.
 *
 * The page has the code of its hottest functions. It is decoded when the view is opened, and only
 * rows that can be seen are elements.
 */
const CODE_ROW = 18, GUTTER_LANE = 7, GUTTER_EDGE = 10, ROWS_AROUND = 12, PRINTED_ROWS = 2000;
const code = {texts: new Map(), rows: [], shown: -1, scrolled: -1, loading: null};

/* --- data ------------------------------------------------------------------------------------- */

const hasCode = () => D.spots.row.length > 0;

/* Decodes the instructions of samples. Returns a promise; null: they are there. */
function loadInstructions() {
	if (D.instructions || !hasCode())
		return null;
	code.loading ??= decodeParts(D.later.instructions.map(text => ['instructions', text])).then(tables => {
		D.instructions = joinColumn(tables, 0, Uint32Array);
		if (typeof D.instructions === 'number')
			D.instructions = new Uint32Array(D.samples.count).fill(D.instructions);
		D.later.instructions = null;
	});
	return code.loading;
}

/* Decodes the code of function @number of D.codes. Returns a promise; null: it is there. */
function loadText(number) {
	if (code.texts.has(number) || D.codes[number].part < 0)
		return null;
	return decodePart('code', D.later.code[D.codes[number].part]).then(text => { code.texts.set(number, JSON.parse(text)); });
}

/* Sums of the chosen samples by spot. */
function spotSums() {
	return keep('spots', sumKey(), () => {
		const {stack, thread, cpu, weight, time} = D.samples, of = D.instructions, events = eventsOf();
		const sums = new Float64Array(D.spots.row.length), mask = holders(), [first, end, compare] = sampleRange(S.from, S.to);
		const each = S.unit === 'samples';
		for (let i = first; i < end; i++) {
			if (!of[i] || events !== null && events[i] !== S.event || S.thread >= 0 && thread[i] !== S.thread || S.cpu >= 0 && cpu[i] !== S.cpu ||
			    mask !== null && !mask[stack[i]] || compare && (time[i] < S.from || time[i] > S.to))
				continue;
			sums[of[i] - 1] += each ? 1 : weight[i];
		}
		return sums;
	});
}

/* Returns the sum of each function of D.codes, and the sums of its rows: [sum, Map of row to sum]. */
function codeSums() {
	return keep('codes', sumKey(), () => {
		const ret = D.codes.map(() => [0, new Map()]);
		if (!hasCode())
			return ret;
		spotSums().forEach((sum, i) => {
			if (!sum)
				return;
			const of = ret[D.spots.fn[i]], row = D.spots.row[i];
			of[0] += sum;
			of[1].set(row, (of[1].get(row) ?? 0) + sum);
		});
		return ret;
	});
}

/* The functions that can be shown, those with most samples in the selection first. */
function codeChoices() {
	const sums = codeSums();
	return [...D.codes.keys()].filter(n => sums[n][0]).sort((a, b) => sums[b][0] - sums[a][0] || a - b);
}

/* Returns the function of D.codes to show: the chosen one, the selection's, or the hottest. */
function codeShown() {
	const choices = codeChoices(), own = S.fn < 0 ? -1 : D.codes.findIndex(c => c.fn === S.fn);
	if (S.code >= 0)
		return S.code;
	return own >= 0 ? own : choices[0] ?? -1;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Source lines stand before their first instruction: [row of code or -1, line or null]. */
function codeRows(text) {
	const rows = [];
	let next = 0;
	text.at.forEach((_, i) => {
		while (next < text.lines.length && text.lines[next][0] === i)
			rows.push([-1, text.lines[next++]]);
		rows.push([i, null]);
	});
	return rows;
}

const addressText = (text, row) => (BigInt('0x' + text.start) + BigInt(text.at[row])).toString(16);

function codeRow(row, number, at, all, sums) {
	const text = code.texts.get(number), [i, line] = row;
	if (line) {
		const file = line[1].slice(line[1].lastIndexOf('/') + 1);
		return make('div', {class: 'code-line', role: 'row', title: `${line[1].slice(0, NAME_DRAWN)}:${line[2]}`},
			make('span', {class: 'code-file'}, `${file}:${line[2]}`), make('span', {class: 'code-text'}, line[3].slice(0, 400)));
	}
	const sum = sums.get(i) ?? 0, bar = make('i');
	bar.style.width = (all ? sum / all * 100 : 0) + '%';
	return make('div', {class: 'code-insn', role: 'row', id: `code-${at}`, 'data-row': i, 'data-sum': sum, 'aria-selected': S.row === i ? 'true' : 'false'},
		make('span', {class: 'code-share'}, bar, make('b', {}, sum ? shareText(sum, all) : '')),
		make('span', {class: 'code-sum'}, sum ? sumText(sum) : ''), make('span', {class: 'code-address'}, addressText(text, i)),
		make('span', {class: 'code-text'}, text.text[i]));
}

/* Draws the jumps beside the rows from @first to @end, at their places. */
function drawJumps(text, first, end) {
	const canvas = $('code-jumps'), lanes = text.jumps.reduce((most, j) => Math.max(most, j[3] + 1), 0);
	const width = lanes ? lanes * GUTTER_LANE + GUTTER_EDGE + 4 : 4, context = begin(canvas, width, (end - first) * CODE_ROW), c = colours();
	const middle = row => (code.place[row] - first + 0.5) * CODE_ROW;
	canvas.style.top = first * CODE_ROW + 'px';
	$('code').style.setProperty('--gutter', width + 'px');
	for (const [from, to, target, lane, ...sources] of text.jumps) {
		if (code.place[to] < first || code.place[from] >= end)
			continue;
		const x = width - GUTTER_EDGE - lane * GUTTER_LANE - 2, mine = S.row === target || sources.includes(S.row);
		context.strokeStyle = context.fillStyle = mine ? c.accent : c.faint;
		context.lineWidth = mine ? 2 : 1;
		context.beginPath();
		context.moveTo(x, middle(from));
		context.lineTo(x, middle(to));
		for (const row of sources) {
			context.moveTo(x, middle(row));
			context.lineTo(width - 3, middle(row));
		}
		context.moveTo(x, middle(target));
		context.lineTo(width - 4, middle(target));
		context.stroke();
		context.beginPath();
		context.moveTo(width - 1, middle(target));
		context.lineTo(width - 7, middle(target) - 3.5);
		context.lineTo(width - 7, middle(target) + 3.5);
		context.fill();
	}
	context.lineWidth = 1;
}

/* Makes the rows that can be seen; all, up to a limit, for a printer. */
function drawCodeRows(printed) {
	const box = $('code'), number = code.shown, text = code.texts.get(number);
	if (number < 0 || !text)
		return;
	const room = Math.ceil(box.clientHeight / CODE_ROW), [all, sums] = codeSums()[number];
	const first = printed ? printedFrom() : Math.max(Math.floor(box.scrollTop / CODE_ROW) - ROWS_AROUND, 0);
	const end = Math.min(printed ? first + PRINTED_ROWS : first + room + 2 * ROWS_AROUND, code.rows.length);
	const list = $('code-rows');
	list.style.height = (printed ? end - first : code.rows.length) * CODE_ROW + 'px';
	list.style.setProperty('--first', printed ? '0px' : first * CODE_ROW + 'px');
	$('code-window').replaceChildren(...code.rows.slice(first, end).map((row, i) => codeRow(row, number, first + i, all, sums)));
	drawJumps(text, first, end);
	if (printed)
		$('code-jumps').style.top = '0px';
	if (S.row === null)
		box.removeAttribute('aria-activedescendant');
	else
		box.setAttribute('aria-activedescendant', `code-${code.place[S.row]}`);
}

/* A long function is printed around its hottest row. */
function printedFrom() {
	const hot = hottestRows()[0] ?? 0;
	return Math.max(Math.min(code.place[hot] - PRINTED_ROWS / 2, code.rows.length - PRINTED_ROWS), 0);
}

const hottestRows = () => [...codeSums()[code.shown][1]].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([row]) => row);

/* --- drawing ---------------------------------------------------------------------------------- */

function showCode(number) {
	const text = code.texts.get(number);
	if (code.shown !== number) {
		code.rows = codeRows(text);
		code.place = new Uint32Array(text.at.length);
		code.rows.forEach(([i], at) => { if (i >= 0) code.place[i] = at; });
		code.shown = number;
		code.scrolled = -1;
	}
	if (S.row !== null && S.row >= text.at.length)
		S.row = null;
	$('code-rows').style.height = code.rows.length * CODE_ROW + 'px';
	const to = S.row ?? hottestRows()[0] ?? 0;
	if (code.scrolled !== to)
		reveal(to);
	drawCodeRows(false);
}

/* Scrolls so that a row is seen. */
function reveal(row) {
	const box = $('code'), y = code.place[row] * CODE_ROW;
	code.scrolled = row;
	if (y < box.scrollTop || y + CODE_ROW > box.scrollTop + box.clientHeight)
		box.scrollTop = Math.max(y - box.clientHeight / 2, 0);
}

/* Returns why there is no code to show; '': there is. */
function codeLacks(number) {
	if (!D.codes.length)
		return D.samples.count ? 'No sample is in a function whose name is known.' : 'The recording has no samples.';
	if (number < 0)
		return 'No sample of the selection is in code that the page has.' +
			(D.codes.leftOut ? ` It has that of the hottest functions; ${countText(D.codes.leftOut)} are left out.` : '');
	return D.codes[number].part < 0 ? D.codes[number].why : '';
}

function fillCodeChoices(number) {
	const sums = codeSums(), {sum} = selfSums(), choices = codeChoices();
	if (number >= 0 && !choices.includes(number))
		choices.unshift(number);
	const text = n => `${shareText(sums[n][0], sum)}  ${functionText(D.codes[n].fn).slice(0, 80)}`;
	$('code-function').replaceChildren(...choices.slice(0, 400).map(n => make('option', {value: n}, text(n))));
	$('code-function').value = number;
	$('code-function').disabled = !choices.length;
}

function drawCode() {
	const wait = loadInstructions();
	if (wait)
		return later(wait);
	const number = codeShown(), lacks = codeLacks(number), load = lacks ? null : loadText(number);
	if (load)
		return later(load);
	const f = number < 0 ? null : D.functions[D.codes[number].fn], {sum} = selfSums(), own = number < 0 ? 0 : codeSums()[number][0];
	fillCodeChoices(number);
	$('code-none').hidden = !lacks;
	$('code').hidden = !!lacks;
	$('code-none').textContent = lacks && f ? `No code of ${functionText(D.codes[number].fn)}: ${lacks}` : lacks;
	$('code-about').textContent = lacks ? '' : `${shareText(own, sum)} of the selection are in the code of ${functionText(D.codes[number].fn)}` +
		`${S.fn >= 0 && D.codes[number].fn !== S.fn ? ', among the samples of the chosen function' : ''}. Shares below are of the function.` +
		(code.texts.get(number).truncated ? ' It is longer: this is its beginning.' : '');
	Object.assign($('code').dataset, {function: number, sum: own});
	if (lacks)
		code.shown = -1;
	else
		showCode(number);
	return undefined;
}

/* Draws again when data are decoded. */
function later(promise) {
	$('code-none').hidden = false;
	$('code').hidden = true;
	$('code-none').textContent = 'Reading the code …';
	document.documentElement.dataset.loading = 1;
	return promise.then(() => {
		delete document.documentElement.dataset.loading;
		return S.view === 'code' ? drawCode() : undefined;
	}, error => {
		delete document.documentElement.dataset.loading;
		$('code-none').textContent = `The code cannot be read: ${error.message}`;
	});
}

/* --- keys ------------------------------------------------------------------------------------- */

function chooseInsn(row) {
	const text = code.texts.get(code.shown);
	S.row = Math.min(Math.max(row, 0), text.at.length - 1);
	writeLink();
	reveal(S.row);
	drawCodeRows(false);
	const [all, sums] = codeSums()[code.shown], sum = sums.get(S.row) ?? 0, line = text.lines.filter(l => l[0] <= S.row).at(-1);
	detail([`${addressText(text, S.row)}  ${text.text[S.row]}`], `  ${sumText(sum)}, ${shareText(sum, all)} of the function, ${shareText(sum, selfSums().sum)} of the selection` +
		(line ? ` · ${line[1]}:${line[2]}` : ''));
}

/* Follows a jump to its target, or from the target back. */
function followJump() {
	const {jumps} = code.texts.get(code.shown), out = jumps.find(j => j.slice(4).includes(S.row)), back = jumps.find(j => j[2] === S.row);
	if (out)
		chooseInsn(out[2]);
	else if (back)
		chooseInsn(back[4]);
}

function nextCode(step) {
	const choices = codeChoices(), at = choices.indexOf(codeShown()), to = choices[at + step];
	if (to !== undefined)
		change({code: to, row: null});
}

function codeKey(e) {
	if (e.key === 'n' || e.key === 'p') {
		nextCode(e.key === 'n' ? 1 : -1);
		return true;
	}
	if (code.shown < 0 || !code.texts.has(code.shown))
		return false;
	const hot = hottestRows(), now = S.row ?? hot[0] ?? 0, page = Math.floor($('code').clientHeight / CODE_ROW);
	const to = {ArrowDown: now + 1, ArrowUp: now - 1, PageDown: now + page, PageUp: now - page, Home: 0, End: Infinity}[e.key];
	if (to !== undefined)
		chooseInsn(S.row === null && Math.abs(to - now) === 1 ? now : to);
	else if (e.key === 'h' && hot.length)
		chooseInsn(S.row === null ? hot[0] : hot[(hot.indexOf(S.row) + 1) % hot.length]);
	else if (e.key === 'H' && hot.length)
		chooseInsn(hot.at(hot.includes(S.row) ? hot.indexOf(S.row) - 1 : 0));
	else if (e.key === 'Enter' && S.row !== null)
		followJump();
	else
		return false;
	return true;
}

function initCode() {
	$('code').addEventListener('scroll', () => drawCodeRows(false));
	$('code-function').addEventListener('change', e => change({code: Number(e.target.value), row: null}));
	$('code-window').addEventListener('click', e => {
		const row = e.target.closest('[data-row]');
		if (row)
			chooseInsn(Number(row.dataset.row));
	});
	$('code-window').addEventListener('dblclick', followJump);
}
