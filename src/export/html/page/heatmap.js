// SPDX-License-Identifier: Apache-2.0
/* The heatmap: a column for each second (or another step), a row for each fiftieth of it. */
const SLOTS = 50, HEAT_LEFT = 62, HEAT_TOP = 8;
const STEPS = [1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 6e10, 6e11, 3.6e12]; // ns of a column
const heat = {columns: 0, cell: [1, 1], focus: null, drag: null};

/* The smallest step that gives no more than 1200 columns, and a second for recordings of some. */
function heatStep() {
	const span = Math.max(D.end * D.tick, 1);
	return (STEPS.find(step => span / step <= (step === 1e9 ? 1200 : 100)) ?? STEPS.at(-1)) / D.tick;
}

function heatGrid() {
	return keep('heat', gridKey(), () => {
		const step = heatStep(), columns = Math.max(Math.ceil((D.end + 1) / step), 1);
		return {step, columns, ...grid({from: 0, to: columns * step, width: columns * SLOTS})};
	});
}

/* Mixes the paper to the ink of heat. @share from 0 to 1. */
function heatColour(share) {
	const dark = isDark();
	const stops = dark ? [[34, 42, 56], [60, 100, 170], [214, 160, 60], [255, 244, 190]] :
		[[226, 235, 247], [116, 170, 222], [214, 110, 30], [120, 20, 10]];
	const at = Math.min(share, 1) * (stops.length - 1), low = Math.min(Math.floor(at), stops.length - 2), rest = at - low;
	return `rgb(${stops[low].map((v, i) => Math.round(v + (stops[low + 1][i] - v) * rest))})`;
}

function drawHeatmap() {
	const canvas = $('heatmap'), room = canvas.parentElement, full = room.clientWidth, c = colours();
	const height = Math.max(room.clientHeight - 4, 240), inner = height - HEAT_TOP - 26;
	if (!isTimed())
		return drawEmpty(begin(canvas, full, height), full, height, D.samples.count ? 'The samples have no times.' : 'The recording has no samples.');
	const g = heatGrid(), cells = g.matched ?? g.all, most = cells.reduce((a, b) => a > b ? a : b, 0) || 1;
	const wide = Math.max((full - HEAT_LEFT - 14) / g.columns, 3), tall = inner / SLOTS;
	const width = Math.max(full, HEAT_LEFT + wide * g.columns + 14), context = begin(canvas, width, height);
	Object.assign(heat, {columns: g.columns, cell: [wide, tall], step: g.step});
	const [from, to] = heat.drag ?? [S.from, S.to], size = g.step / SLOTS;
	const first = from === null ? 0 : Math.floor(from / size), last = from === null ? cells.length : Math.floor(to / size);
	for (let i = 0; i < cells.length; i++) {
		const y = HEAT_TOP + (SLOTS - 1 - i % SLOTS) * tall, x = HEAT_LEFT + Math.floor(i / SLOTS) * wide;
		context.fillStyle = cells[i] ? heatColour(Math.sqrt(cells[i] / most)) : c.panel;
		context.globalAlpha = i < first || i > last ? 0.3 : 1;
		context.fillRect(x, y, wide - (wide > 4 ? 0.7 : 0), tall - 0.7);
	}
	context.globalAlpha = 1;
	$('heat-about').textContent = `A column is ${durationText(g.step * D.tick)}, a row ${durationText(g.step * D.tick / SLOTS).replace(/\.0+ /, ' ')}; ` +
		`the darkest cell has ${countText(most)} ${g.matched ? 'samples that the search finds' : 'samples'}. Drag to select.`;
	if (isDark())
		$('heat-about').textContent = $('heat-about').textContent.replace('darkest', 'lightest');
	drawHeatAxes(context, g, wide, tall, inner);
	return drawHeatFocus(context);
}

function drawHeatAxes(context, g, wide, tall, inner) {
	const every = Math.ceil(70 / wide);
	context.fillStyle = colours().faint;
	context.textAlign = 'right';
	for (let slot = 0; slot <= SLOTS; slot += 10)
		context.fillText(durationText(slot / SLOTS * g.step * D.tick).replace(/\.0+ /, ' '), HEAT_LEFT - 8, HEAT_TOP + (SLOTS - slot) * tall);
	context.textAlign = 'left';
	for (let column = 0; column < g.columns; column += every)
		context.fillText(`${timeText(column * g.step, g.step)} s`, HEAT_LEFT + column * wide, HEAT_TOP + inner + 14);
}

/* Outlines the cell that the keys are at. */
function drawHeatFocus(context) {
	const [wide, tall] = heat.cell, n = heat.focus;
	context.lineWidth = 2;
	context.strokeStyle = colours().ink;
	if (n !== null && document.activeElement === $('heatmap'))
		context.strokeRect(HEAT_LEFT + Math.floor(n / SLOTS) * wide, HEAT_TOP + (SLOTS - 1 - n % SLOTS) * tall, wide, tall);
	context.lineWidth = 1;
}

/* Returns the number of the cell at a position. */
function cellAt(x, y) {
	const [wide, tall] = heat.cell, column = Math.min(Math.max(Math.floor((x - HEAT_LEFT) / wide), 0), heat.columns - 1);
	const slot = Math.min(Math.max(SLOTS - 1 - Math.floor((y - HEAT_TOP) / tall), 0), SLOTS - 1);
	return column * SLOTS + slot;
}

function explainCell(cell) {
	const g = heatGrid(), size = g.step / SLOTS;
	detail([`${timeText(cell * size, size)} – ${timeText((cell + 1) * size, size)} s`], `  ${countText(g.all[cell])} samples` +
		(g.matched ? `, ${countText(g.matched[cell])} found` : ''));
}

/* Selects from one cell to another, both included. */
function selectCells(a, b) {
	const size = heatGrid().step / SLOTS;
	change({from: Math.ceil(Math.min(a, b) * size), to: Math.min(Math.ceil((Math.max(a, b) + 1) * size) - 1, Math.max(D.end, 1))});
}

function heatKey(e) {
	const step = {ArrowUp: 1, ArrowDown: -1, ArrowLeft: -SLOTS, ArrowRight: SLOTS}[e.key], last = heat.columns * SLOTS - 1;
	if (!isTimed() || step === undefined && e.key !== 'Enter')
		return false;
	if (step !== undefined) {
		const to = heat.focus === null ? 0 : heat.focus + step;
		if (e.shiftKey && heat.focus !== null)
			heat.anchor ??= heat.focus;
		else
			heat.anchor = null;
		heat.focus = to < 0 || to > last ? heat.focus : to;
		explainCell(heat.focus);
		drawHeatmap();
	} else if (heat.focus !== null) {
		selectCells(heat.anchor ?? heat.focus, heat.focus);
	}
	return true;
}

function initHeatmap() {
	const canvas = $('heatmap');
	onDrag(canvas, cellAt, (a, b, done) => {
		const size = heatGrid().step / SLOTS;
		heat.drag = done ? null : [Math.min(a, b) * size, Math.max(a, b) * size];
		if (done)
			selectCells(a, b);
		else
			drawHeatmap();
	}, (x, y) => isTimed() && selectCells(cellAt(x, y), cellAt(x, y)));
	canvas.addEventListener('pointermove', e => isTimed() && explainCell(cellAt(e.offsetX, e.offsetY)));
	canvas.addEventListener('focus', () => S.view === 'heatmap' && drawHeatmap());
	canvas.addEventListener('blur', () => S.view === 'heatmap' && drawHeatmap());
}
