// SPDX-License-Identifier: Apache-2.0
/*
 * Scheduler: delays on run queues, switches and migrations over time, by thread or CPU, and their
 * sums, as `ringtail report sched` prints them.
 */
const RUN_OPEN = 1, MIGRATED = 2, MIGRATED_OPEN = 3, DELAY = 4, PREEMPTED = 6, DELAY_UNSURE = 7; // kinds; 0: a run, 5: a wait without a delay
const SCHED_NAMES = 190, SCHED_LANE = 30, SCHED_TOP = 4, SCHED_LANES = 100;
const sched = {rows: [], focus: 0, drag: null, width: 1};

const schedKey = () => [S.rows, S.from, S.to, S.thread, S.cpu];

/* Calls @take with the number of each run and wait that the selection chooses. */
function eachChosen(from, to, take) {
	const {count, time, thread, cpu} = D.sched;
	for (let i = 0; i < count; i++)
		if ((from === null || time[i] >= from && time[i] <= to) && (S.thread < 0 || thread[i] === S.thread) && (S.cpu < 0 || cpu[i] === S.cpu))
			take(i);
}

const emptyRow = id => ({id, ran: 0, runs: 0, switches: 0, migrations: 0, delays: 0, delayed: 0, longest: 0, longestAt: 0,
	preempted: 0, preemptedNs: 0, blocked: 0});

function countSched(row, i) {
	const {kind, ns, blocked, time} = D.sched, k = kind[i];
	if (k < DELAY) {
		row.runs++;
		row.ran += ns[i];
		row.switches += k === RUN_OPEN || k === MIGRATED_OPEN ? 0 : 1;
		row.migrations += k >= MIGRATED ? 1 : 0;
		return;
	}
	if (k === PREEMPTED) {
		row.preempted++;
		row.preemptedNs += ns[i];
		return;
	}
	row.blocked += blocked[i];
	if (k !== DELAY && k !== DELAY_UNSURE)
		return;
	row.delays++;
	row.delayed += ns[i];
	if (k === DELAY && ns[i] > row.longest) // over lost records a delay may be several
		Object.assign(row, {longest: ns[i], longestAt: time[i]});
}

/* Sums by thread or CPU: threads with the longest delays in all first, CPUs by number. */
function schedRows() {
	return keep('schedRows', schedKey(), () => {
		const rows = new Map(), byCpu = S.rows === 'cpus', ids = byCpu ? D.sched.cpu : D.sched.thread;
		eachChosen(S.from, S.to, i => {
			if (byCpu && !ids[i])
				return;
			let row = rows.get(ids[i]);
			if (!row)
				rows.set(ids[i], row = emptyRow(ids[i]));
			countSched(row, i);
		});
		return [...rows.values()].sort((a, b) => byCpu ? a.id - b.id : b.delayed - a.delayed || D.threads[a.id][1] - D.threads[b.id][1]);
	});
}

/* By row and pixel: the longest delay, switches, and migrations. */
function schedGrid(rows, from, to, width) {
	return keep('schedGrid', [schedKey(), from, to, width], () => {
		const byCpu = S.rows === 'cpus', of = new Map(rows.map((row, n) => [row.id, n])), {kind, time, ns} = D.sched;
		const size = rows.length * width, delays = new Float64Array(size), switches = new Uint32Array(size), migrations = new Uint32Array(size);
		const ids = byCpu ? D.sched.cpu : D.sched.thread, scale = width / Math.max(to - from, 1);
		eachChosen(from, to - 1, i => {
			const row = of.get(ids[i]), cell = row === undefined ? -1 : row * width + Math.floor((time[i] - from) * scale), k = kind[i];
			if (cell < 0)
				return;
			if (k === DELAY || k === PREEMPTED)
				delays[cell] = Math.max(delays[cell], ns[i]);
			else if (k < DELAY)
				switches[cell] += k === RUN_OPEN || k === MIGRATED_OPEN ? 0 : 1;
			migrations[cell] += k === MIGRATED || k === MIGRATED_OPEN ? 1 : 0;
		});
		return {delays, switches, migrations, longest: mostOf(delays), most: mostOf(switches)};
	});
}

const rowName = id => S.rows === 'cpus' ? cpuText(id) : threadText(id);

/* A lane: delays from its middle up, switches down, and a dot for migrations. */
function drawSchedLane(context, g, row, x, y, width) {
	const c = colours(), up = SCHED_LANE * 0.58, down = SCHED_LANE * 0.28, base = y + up + 1;
	for (let i = 0; i < width; i++) {
		const cell = row * width + i;
		if (g.delays[cell]) {
			const height = Math.max(Math.sqrt(g.delays[cell] / g.longest) * up, 1);
			context.fillStyle = c.user;
			context.fillRect(x + i, base - height, 1, height);
		}
		if (g.switches[cell]) {
			context.fillStyle = c.density;
			context.fillRect(x + i, base + 1, 1, Math.max(g.switches[cell] / g.most * down, 1));
		}
		if (g.migrations[cell]) {
			context.fillStyle = c.accent;
			context.fillRect(x + i - 1, y + SCHED_LANE - 5, 3, 3);
		}
	}
	context.fillStyle = c.line;
	context.fillRect(x, base, width, 1);
}

function drawSchedLanes() {
	const canvas = $('sched-lanes'), full = canvas.parentElement.clientWidth, rows = schedRows().slice(0, printing ? PRINTED_LANES : SCHED_LANES);
	const width = Math.max(full - SCHED_NAMES - 14, 50), height = rows.length ? SCHED_TOP + rows.length * SCHED_LANE + AXIS : 120;
	const context = begin(canvas, full, height), [from, to] = shownSpan();
	Object.assign(sched, {rows, width});
	$('sched-about').textContent = '';
	if (!rows.length)
		return drawEmpty(context, full, height, D.sched.count ? 'No run or wait is in this selection.' :
			'The recording has no switches of threads: ‘ringtail record --off-cpu’ records them.');
	const g = schedGrid(rows, from, to, width);
	sched.focus = Math.min(sched.focus, rows.length - 1);
	rows.forEach(({id}, row) => {
		const y = SCHED_TOP + row * SCHED_LANE, chosen = S.rows === 'cpus' ? S.cpu === id : S.thread === id;
		if (chosen || row === sched.focus && document.activeElement === canvas) {
			context.fillStyle = colours().select;
			context.fillRect(0, y, SCHED_NAMES - 6, SCHED_LANE - 1);
		}
		context.fillStyle = colours().ink;
		label(context, rowName(id), 14, y + SCHED_LANE / 2, SCHED_NAMES - 24);
		drawSchedLane(context, g, row, SCHED_NAMES, y, width);
	});
	timeAxis(context, SCHED_NAMES, width, SCHED_TOP + rows.length * SCHED_LANE, from, to);
	$('sched-about').textContent = !g.longest ? 'No thread waited for a CPU.' : `The highest bar is a delay of ${durationText(g.longest)}, after a wakeup or a preemption; heights are by its square root.`;
	return drawRange(context, sched.drag ?? [S.from, S.to], from, to, SCHED_NAMES, width, height - AXIS);
}

const SCHED_COLUMNS = [['ran', 'Ran', durationText], ['runs', 'Runs', countText], ['switches', 'Switches', countText], ['migrations', 'Migrations', countText],
	['delays', 'Delays', countText], ['delayed', 'Delayed', durationText], ['average', 'Average', durationText], ['longest', 'Longest', durationText],
	['longestAt', 'at', at => at ? `${timeText(at)} s` : ''], ['preempted', 'Preempted', countText], ['preemptedNs', 'for', durationText], ['blocked', 'Blocked', durationText]];

function schedRow(row) {
	const values = {...row, average: row.delays ? row.delayed / row.delays : 0}, byCpu = S.rows === 'cpus';
	const data = byCpu ? {'data-cpu': row.id - 1} : {'data-tid': D.threads[row.id][1], 'data-pid': D.threads[row.id][0]};
	return make('tr', {tabindex: -1, 'data-id': row.id, ...data, 'aria-selected': (byCpu ? S.cpu : S.thread) === row.id ? 'true' : null},
		make('th', {scope: 'row'}, rowName(row.id)),
		...SCHED_COLUMNS.map(([key, , text]) => make('td', {class: 'number', 'data-key': key, 'data-value': values[key]}, text(values[key]))));
}

function drawSched() {
	drawSchedLanes();
	for (const button of $('sched-by').children)
		button.setAttribute('aria-checked', button.dataset.rows === S.rows);
	$('sched-rows').tHead.replaceChildren(make('tr', {}, make('th', {scope: 'col'}, S.rows === 'cpus' ? 'CPU' : 'Thread'),
		...SCHED_COLUMNS.map(([, name]) => make('th', {scope: 'col', class: 'number'}, name))));
	const rows = schedRows();
	$('sched-rows').tBodies[0].replaceChildren(...rows.slice(0, ROWS_SHOWN).map(schedRow));
	$('sched-rows').hidden = !rows.length;
}

function chooseSched(id) {
	change(S.rows === 'cpus' ? {cpu: S.cpu === id ? -1 : id} : {thread: S.thread === id ? -1 : id});
}

function schedViewKey(e) {
	const step = {ArrowUp: -1, ArrowDown: 1}[e.key], row = sched.rows[sched.focus];
	if (step && sched.rows.length) {
		sched.focus = Math.min(Math.max(sched.focus + step, 0), sched.rows.length - 1);
		drawSchedLanes();
		const {id, delays, delayed, longest, switches, migrations} = sched.rows[sched.focus];
		detail([rowName(id)], `  ${countText(delays)} delays, ${durationText(delayed)} in all, the longest ${durationText(longest)} · ${countText(switches)} switches · ${countText(migrations)} migrations`);
	} else if (e.key === 'Enter' && row) {
		chooseSched(row.id);
	} else {
		return zoomTimeKey(e);
	}
	return true;
}

function initSched() {
	const canvas = $('sched-lanes');
	onDrag(canvas, timeAt(SCHED_NAMES, () => sched.width), (a, b, done) => D.sched.count && dragSpan(sched, a, b, done, drawSchedLanes), (x, y) => {
		const row = Math.floor((y - SCHED_TOP) / SCHED_LANE);
		sched.focus = Math.min(Math.max(row, 0), Math.max(sched.rows.length - 1, 0));
		if (x < SCHED_NAMES && sched.rows[row])
			chooseSched(sched.rows[row].id);
		else
			change({from: null, to: null});
	});
	$('sched-rows').tBodies[0].addEventListener('click', e => {
		const row = e.target.closest('tr');
		if (row)
			chooseSched(Number(row.dataset.id));
	});
	for (const button of $('sched-by').children)
		button.addEventListener('click', () => change({rows: button.dataset.rows}));
	canvas.addEventListener('focus', drawSchedLanes);
	canvas.addEventListener('blur', drawSchedLanes);
}
