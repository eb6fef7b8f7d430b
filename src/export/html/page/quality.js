// SPDX-License-Identifier: Apache-2.0
/* Data quality: the verdict, and what was lost. Recording: the header. */
const LOSS_KINDS = [['lost_in_rings', 'Rings full'], ['lost_in_pmu', 'Hardware'], ['lost_in_recorder', 'Recorder'],
	['lost_in_output', 'Output'], ['lost', 'All'], ['throttled', 'Throttled']];
const LOSS_BARS = 240;

function verdictElements() {
	const list = D.facts.verdicts[S.event] ?? [];
	if (!list.length)
		return [make('p', {class: 'verdict fine'}, D.samples.count ? 'Nothing speaks against these data.' : 'There are no samples to judge.')];
	return list.map(v => make('div', {class: v.grave ? 'verdict grave' : 'verdict'}, `${v.grave ? 'Warning: ' : ''}${v.text}.`,
		...v.remedy ? [make('code', {}, v.remedy)] : []));
}

function lossTable(rows, head) {
	return make('table', {class: 'losses'}, make('thead', {}, make('tr', {}, make('th', {scope: 'col'}, head),
		...LOSS_KINDS.map(([, name]) => make('th', {scope: 'col', class: 'number'}, name)))),
	make('tbody', {}, ...rows.map(([name, row]) => make('tr', {}, make('th', {scope: 'row'}, name),
		...LOSS_KINDS.map(([key]) => make('td', {class: 'number', 'data-value': row[key]}, countText(row[key])))))));
}

/* Draws the losses that records tell, and throttling, over time. */
function drawLosses(canvas) {
	const width = canvas.parentElement.clientWidth - 30, height = 110, lost = new Float64Array(LOSS_BARS), throttled = new Float64Array(LOSS_BARS);
	const context = begin(canvas, width, height), c = colours(), m = D.marks;
	for (let i = 0; i < m.count; i++) {
		const kind = markKind(i), at = Math.min(Math.max(Math.floor(m.time[i] / (D.end + 1) * LOSS_BARS), 0), LOSS_BARS - 1);
		if (kind === 'lost')
			lost[at] += m.value[i] || 1;
		else if (kind === 'throttled' && markName(i) === 'throttled')
			throttled[at]++;
	}
	const most = Math.max(...lost), often = Math.max(...throttled), wide = width / LOSS_BARS;
	for (let i = 0; i < LOSS_BARS; i++) {
		context.fillStyle = c.warn;
		if (throttled[i])
			context.fillRect(i * wide, 2, Math.max(wide, 2), Math.max(throttled[i] / often * 14, 4));
		context.fillStyle = c.grave;
		if (lost[i])
			context.fillRect(i * wide, height - 24 - lost[i] / most * (height - 44), Math.max(wide, 2), Math.max(lost[i] / most * (height - 44), 2));
	}
	context.fillStyle = c.line;
	context.fillRect(0, height - 24, width, 1);
	timeAxis(context, 0, width, height - 24, 0, D.end + 1);
	if (most) {
		context.fillStyle = c.grave;
		context.fillText(`${countText(most)} lost`, 6, 26);
	}
}

function drawQuality() {
	const stats = D.facts.stats, page = $('quality');
	const marked = Array.from({length: D.marks.count}, (_, i) => markKind(i)).some(k => k === 'lost' || k === 'throttled');
	const cpus = stats.cpus_with_loss ?? [];
	const parts = [make('h2', {}, `Verdict on ${event().name}`), ...verdictElements(), make('h2', {}, 'Lost, by event and cause'),
		lossTable([...stats.events.map(e => [e.name, e]), ['All events', stats]], 'Event')];
	if (cpus.length)
		parts.push(make('h2', {}, 'Lost, by CPU and cause'), lossTable(cpus.map(c => [c.cpu < 0 ? 'not known' : `CPU ${c.cpu}`, c]), 'CPU'));
	const canvas = make('canvas', {class: 'chart', role: 'img', 'aria-label': 'Losses and throttling over time'});
	if (marked)
		parts.push(make('h2', {}, 'Losses and throttling over time'), canvas);
	else
		parts.push(make('p', {class: 'hint'}, stats.lost ? 'No record says when the losses happened.' : 'Nothing was lost.'));
	page.replaceChildren(...parts);
	if (marked)
		drawLosses(canvas);
}

/* --- recording -------------------------------------------------------------------------------- */

const WORDS = {cpu: 'CPU', cpus: 'CPUs', cpuid: 'CPUID', cpudesc: 'CPU', os: 'OS', arch: 'Architecture', kb: 'KB', cmdline: 'Command line', ids: 'IDs', id: 'ID'};
const plainName = key => key.split('_').map(word => WORDS[word] ?? word).join(' ').replace(/^./, c => c.toUpperCase());

/* Shows a value of JSON: a list of objects as a table, an object as its fields. */
function valueElement(value) {
	if (Array.isArray(value)) {
		if (!value.length)
			return '–';
		if (value.every(v => v && typeof v === 'object' && !Array.isArray(v))) {
			const keys = [...new Set(value.flatMap(Object.keys))];
			return make('table', {}, make('thead', {}, make('tr', {}, ...keys.map(k => make('th', {scope: 'col'}, plainName(k))))),
				make('tbody', {}, ...value.slice(0, 1000).map(v => make('tr', {}, ...keys.map(k => make('td', {}, valueElement(v[k] ?? '')))))));
		}
		return value.every(v => typeof v !== 'object') ? make('span', {class: 'mono'}, value.join(' ')) :
			make('div', {}, ...value.map(v => make('div', {}, valueElement(v))));
	}
	if (value && typeof value === 'object')
		return make('dl', {}, ...Object.entries(value).flatMap(([k, v]) => [make('dt', {}, plainName(k)), make('dd', {}, valueElement(v))]));
	if (value === true || value === false)
		return value ? 'yes' : 'no';
	return value === null ? '–' : typeof value === 'number' ? value.toLocaleString('en-US') : String(value);
}

function drawRecording() {
	const stats = D.facts.stats, span = D.end * D.tick;
	const facts = {File: D.facts.name, Samples: stats.samples, 'Samples on this page': D.samples.count, Lost: stats.lost,
		Time: isTimed() ? durationText(span) : 'not recorded', Threads: D.threads.length, Functions: D.functions.length};
	const header = {...D.facts.header};
	if (typeof header.captured === 'number')
		header.captured = new Date(header.captured * 1000).toISOString().replace('T', ' ').replace('.000Z', ' UTC');
	$('recording').replaceChildren(make('h2', {}, 'Recording'), valueElement(facts), make('h2', {}, 'Header'), valueElement(header),
		make('h2', {}, 'Records by type'), valueElement(stats.types));
}
