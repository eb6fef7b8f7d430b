// SPDX-License-Identifier: Apache-2.0
/*
 * Samples over time: the strip above all views, and the timeline with a row for each thread or CPU
 * and the marks of the recording.
 */
const NAMES = 190, LANE_LEAST = 24, LANE_MOST = 60, MARKS_HEIGHT = 20, AXIS = 22, LANES = 200, PRINTED_LANES = 20;
const timeline = {rows: [], focus: 0, drag: null, lane: LANE_LEAST};

const markName = i => D.strings[D.marks.name[i]];

/* Returns the kind of a mark for colour and legend; '' for switches and wakeups. */
function markKind(i) {
	if (D.marks.kind[i] !== MARK)
		return '';
	const name = markName(i);
	return name.startsWith('lost') ? 'lost' : name.endsWith('throttled') ? 'throttled' : 'mark';
}

const markColour = kind => colours()[{lost: 'grave', throttled: 'warn', mark: 'accent'}[kind]];

/* --- drawing ---------------------------------------------------------------------------------- */

/* Returns the pixels of a bar, so that few samples do not make a comb. */
const barWidth = width => Math.min(Math.max(Math.round(width * 25 / Math.max(wholeSum().count, 1)), 1), 6);

/* Draws row @row of a grid as @bars bars up to @height, the found ones over the others. */
function drawDensity(context, g, row, bars, wide, x, y, height, most) {
	for (const [cells, colour] of [[g.all, colours().density], [g.matched, colours().match]]) {
		if (!cells)
			continue;
		context.fillStyle = colour;
		for (let i = 0; i < bars; i++) {
			const n = cells[row * bars + i];
			if (n) {
				const bar = Math.max(1, n / most * height);
				context.fillRect(x + i * wide, y + height - bar, wide, bar);
			}
		}
	}
}

/* Shades what is outside of the range, and draws its edges. */
function drawRange(context, range, from, to, x, width, height) {
	const at = time => x + Math.min(Math.max((time - from) / Math.max(to - from, 1), 0), 1) * width;
	if (range[0] === null)
		return;
	context.fillStyle = colours().select;
	context.fillRect(at(range[0]), 0, Math.max(at(range[1]) - at(range[0]), 1), height);
	context.fillStyle = colours().accent;
	context.fillRect(at(range[0]), 0, 1, height);
	context.fillRect(Math.max(at(range[1]) - 1, at(range[0])), 0, 1, height);
}

const whole = () => [0, D.end + 1];
const shownSpan = () => S.shown ?? whole();

function drawOverview() {
	const canvas = $('overview'), width = Math.floor(canvas.parentElement.clientWidth - 30), height = 42;
	const context = begin(canvas, width, height), [from, to] = whole();
	if (!isTimed())
		return drawEmpty(context, width, height, D.samples.count ? 'The samples have no times.' : 'No samples.');
	const bars = Math.floor(width / barWidth(width));
	const g = keep('overview', [gridKey(), bars], () => grid({from, to, width: bars, seen: true}));
	drawDensity(context, g, 0, bars, width / bars, 0, 3, height - 3, g.most || 1);
	drawMarks(context, 0, width, 0, 6, from, to);
	return drawRange(context, timeline.drag ?? [S.from, S.to], from, to, 0, width, height);
}

/* Draws losses, throttling, snapshots and triggers at the top. */
function drawMarks(context, x, width, y, height, from, to) {
	let last = -1;
	for (let i = 0; i < D.marks.count; i++) {
		const kind = markKind(i), at = Math.round(x + (D.marks.time[i] - from) / (to - from) * width);
		if (!kind || at < x || at > x + width || at === last && kind !== 'lost')
			continue;
		context.fillStyle = markColour(kind);
		context.fillRect(Math.min(at - 1, x + width - 3), y, 3, height);
		last = at;
	}
}

/* The rows: threads or CPUs with samples, those with most first, or CPUs by number. */
function timelineRows() {
	return keep('timelineRows', [S.event, S.rows], () => {
		const {threads, cpus} = groupSums(), byCpu = S.rows === 'cpus', sums = byCpu ? cpus : threads;
		const ids = [...sums.keys()].filter(id => sums[id]);
		if (!byCpu)
			ids.sort((a, b) => sums[b] - sums[a]);
		return ids.slice(0, LANES);
	});
}

/* Draws when threads ran, as switches say. */
function drawRunning(context, rowOf, byCpu, x, width, from, to) {
	const m = D.marks, scale = width / (to - from), last = new Float64Array(LANES).fill(-1);
	context.fillStyle = colours().jit;
	for (let i = 0; i < m.count; i++) {
		const row = m.kind[i] === SWITCH && m.since[i] && m.thread[i] ? rowOf[byCpu ? m.cpu[i] : m.thread[i] - 1] ?? -1 : -1;
		if (row < 0 || m.time[i] < from || m.time[i] - m.since[i] > to)
			continue;
		const end = Math.min(x + (m.time[i] - from) * scale, x + width);
		const start = Math.max(x + (m.time[i] - m.since[i] - from) * scale, x, last[row]);
		if (end - last[row] < 0.5)
			continue;
		context.fillRect(start, MARKS_HEIGHT + row * timeline.lane + timeline.lane - 5, Math.max(end - start, 0.6), 3);
		last[row] = end;
	}
}

/* Draws the marks of threads or CPUs in their rows. */
function drawRowMarks(context, rowOf, byCpu, x, width, from, to) {
	const m = D.marks;
	for (let i = 0; i < m.count; i++) {
		const kind = markKind(i), row = kind ? rowOf[byCpu ? m.cpu[i] : m.thread[i] - 1] ?? -1 : -1;
		if (row < 0 || m.time[i] < from || m.time[i] > to)
			continue;
		context.fillStyle = markColour(kind);
		context.fillRect(Math.min(Math.round(x + (m.time[i] - from) / (to - from) * width) - 1, x + width - 2), MARKS_HEIGHT + row * timeline.lane + 2, 2, timeline.lane - 6);
	}
}

function drawTimeline() {
	const canvas = $('timeline'), full = canvas.parentElement.clientWidth, ids = timelineRows().slice(0, printing ? PRINTED_LANES : LANES), byCpu = S.rows === 'cpus';
	const room = canvas.parentElement.clientHeight - MARKS_HEIGHT - AXIS - 10;
	const lane = Math.floor(Math.min(Math.max(room / Math.max(ids.length, 1), LANE_LEAST), LANE_MOST));
	const height = Math.max(MARKS_HEIGHT + ids.length * lane + AXIS, 120), c = colours();
	const width = Math.max(Math.floor(full - NAMES - 14), 50), context = begin(canvas, full, height), [from, to] = shownSpan();
	Object.assign(timeline, {rows: ids, width, lane});
	$('zoom-in').disabled = S.from === null;
	$('zoom-out').disabled = S.shown === null;
	if (!isTimed() || !ids.length)
		return drawEmpty(context, full, height, D.samples.count ? 'The samples have no times.' : 'The recording has no samples.');
	const rowOf = keep('rowOf', [S.event, S.rows, ids.length], () => {
		const of = new Int32Array(byCpu ? 65537 : D.threads.length).fill(-1);
		ids.forEach((id, row) => { of[id] = row; });
		return of;
	});
	const bars = Math.floor(width / barWidth(width * (to - from) / (D.end + 1)));
	const g = keep('timeline', [gridKey(), S.rows, from, to, bars, ids.length], () =>
		grid({from, to, width: bars, rows: ids.length, rowOf, byCpu, threads: byCpu, seen: true}));
	timeline.focus = Math.min(timeline.focus, ids.length - 1);
	context.fillStyle = c.faint;
	label(context, 'marks', 14, MARKS_HEIGHT / 2, NAMES - 20);
	drawMarks(context, NAMES, width, 3, MARKS_HEIGHT - 7, from, to);
	ids.forEach((id, row) => {
		const y = MARKS_HEIGHT + row * lane, chosen = byCpu ? S.cpu === id : S.thread === id;
		if (chosen || row === timeline.focus && document.activeElement === canvas) {
			context.fillStyle = c.select;
			context.fillRect(0, y, NAMES - 6, lane - 1);
		}
		context.fillStyle = c.line;
		context.fillRect(NAMES, y + lane - 1, width, 1);
		context.fillStyle = c.ink;
		label(context, byCpu ? cpuText(id) : threadText(id), 14, y + lane / 2, NAMES - 24);
		drawDensity(context, g, row, bars, width / bars, NAMES, y + 3, lane - 5, g.most || 1);
	});
	drawRunning(context, rowOf, byCpu, NAMES, width, from, to);
	drawRowMarks(context, rowOf, byCpu, NAMES, width, from, to);
	timeAxis(context, NAMES, width, MARKS_HEIGHT + ids.length * lane, from, to);
	return drawRange(context, timeline.drag ?? [S.from, S.to], from, to, NAMES, width, height - AXIS);
}

function drawMarkLegend() {
	const kinds = new Set();
	for (let i = 0; i < D.marks.count && kinds.size < 4; i++)
		kinds.add(D.marks.kind[i] === SWITCH ? 'running' : markKind(i));
	const names = {lost: 'lost', throttled: 'throttled', mark: 'snapshot, trigger, exec', running: 'running'};
	$('mark-legend').replaceChildren(...Object.keys(names).filter(k => kinds.has(k)).map(k => make('li', {class: k}, names[k])));
}

/* --- input ------------------------------------------------------------------------------------ */

/* Selects from one time to another. */
function selectTime(a, b) {
	const from = Math.max(0, Math.floor(Math.min(a, b))), to = Math.min(D.end, Math.ceil(Math.max(a, b)));
	change({from, to, zoom: S.zoom});
}

/* Selects by a drag in a view, which keeps what is dragged over in @view.drag. */
function dragSpan(view, first, now, done, redraw) {
	view.drag = done ? null : [Math.min(first, now), Math.max(first, now)];
	detail(['Selection '], `${timeText(Math.min(first, now))} – ${timeText(Math.max(first, now))} s`);
	if (done)
		selectTime(first, now);
	else
		redraw();
}

/* Describes the marks near a time. */
function explainTime(time, slack) {
	const near = [];
	for (let i = 0; i < D.marks.count && near.length < 3; i++)
		if (markKind(i) && Math.abs(D.marks.time[i] - time) <= slack)
			near.push(`${markName(i)}${D.marks.cpu[i] ? ` on ${cpuText(D.marks.cpu[i])}` : ''}: ${D.strings[D.marks.text[i]]}`.slice(0, 160));
	detail([`${timeText(time, slack)} s`], near.length ? ` · ${near.join(' · ')}` : '');
}

function chooseRow(row) {
	const id = timeline.rows[row];
	if (id === undefined)
		return;
	timeline.focus = row;
	change(S.rows === 'cpus' ? {cpu: S.cpu === id ? -1 : id} : {thread: S.thread === id ? -1 : id});
}

/* Moves the selected range by steps of 2 % of what is shown, or its end with Shift. */
function moveRange(sign, extend) {
	const [from, to] = shownSpan(), step = Math.max(Math.round((to - from) / 50), 1) * sign;
	const [a, b] = S.from === null ? [from, from + Math.abs(step) * 5] : [S.from, S.to];
	if (S.from === null)
		selectTime(a, b);
	else if (extend)
		selectTime(a, Math.max(b + step, a));
	else if (a + step >= 0 && b + step <= D.end)
		selectTime(a + step, b + step);
}

function timeKey(e) {
	if (!isTimed() || e.key !== 'ArrowLeft' && e.key !== 'ArrowRight')
		return false;
	moveRange(e.key === 'ArrowLeft' ? -1 : 1, e.shiftKey);
	return true;
}

function timelineKey(e) {
	const step = {ArrowUp: -1, ArrowDown: 1}[e.key];
	if (step) {
		timeline.focus = Math.min(Math.max(timeline.focus + step, 0), timeline.rows.length - 1);
		drawTimeline();
		const id = timeline.rows[timeline.focus];
		if (id !== undefined)
			detail([S.rows === 'cpus' ? cpuText(id) : threadText(id)]);
	} else if (e.key === 'Enter') {
		chooseRow(timeline.focus);
	} else {
		return zoomTimeKey(e);
	}
	return true;
}

/* Keys that choose and zoom what is shown of the time. */
function zoomTimeKey(e) {
	if (e.key === 'z') {
		if (S.from !== null)
			change({shown: [S.from, S.to + 1]});
	} else if (e.key === 'Z') {
		change({shown: null});
	} else {
		return timeKey(e);
	}
	return true;
}

/* Returns a function from a pointer's position to a time of what is shown, behind @left pixels. */
const timeAt = (left, width) => x => {
	const [from, to] = shownSpan();
	return from + Math.min(Math.max((x - left) / width(), 0), 1) * (to - from);
};

function initTimeline() {
	const strip = $('overview'), canvas = $('timeline');
	const stripTime = x => Math.min(Math.max(x / strip.clientWidth, 0), 1) * D.end;
	const rowTime = timeAt(NAMES, () => timeline.width);
	onDrag(strip, stripTime, (a, b, done) => isTimed() && dragSpan(timeline, a, b, done, drawOverview), () => change({from: null, to: null}));
	onDrag(canvas, rowTime, (a, b, done) => isTimed() && dragSpan(timeline, a, b, done, drawTimeline), (x, y) => {
		const row = Math.floor((y - MARKS_HEIGHT) / timeline.lane);
		if (x < NAMES && row >= 0)
			chooseRow(row);
		else if (x >= NAMES)
			change({from: null, to: null});
	});
	strip.addEventListener('pointermove', e => isTimed() && !timeline.drag && explainTime(stripTime(e.offsetX), D.end / 200));
	canvas.addEventListener('pointermove', e => {
		const [from, to] = shownSpan();
		if (isTimed() && !timeline.drag && e.offsetX >= NAMES)
			explainTime(rowTime(e.offsetX), (to - from) / 200);
	});
	for (const button of $('rows').children)
		button.addEventListener('click', () => change({rows: button.dataset.rows}));
	$('zoom-in').addEventListener('click', () => change({shown: [S.from, S.to + 1]}));
	$('zoom-out').addEventListener('click', () => change({shown: null}));
	canvas.addEventListener('focus', drawTimeline);
	canvas.addEventListener('blur', drawTimeline);
	drawMarkLegend();
}
