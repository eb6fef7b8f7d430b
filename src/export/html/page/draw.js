// SPDX-License-Identifier: Apache-2.0
/* What views share: text of numbers, elements, canvases and colours. Names become text, never markup. */
const $ = id => document.getElementById(id);
const LABEL_FONT = '12px system-ui, "DejaVu Sans", sans-serif';
const NAME_DRAWN = 300; // characters of a name that a canvas is given

/* Returns an element with attributes and children; text becomes a text node. */
function make(tag, attributes = {}, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes))
		if (value !== null && value !== undefined && value !== false)
			element.setAttribute(name, value === true ? '' : value);
	element.append(...children);
	return element;
}

const countText = n => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ',');
const shareText = (part, all) => (all ? part / all * 100 : 0).toFixed(2) + ' %';

function unitText(value, step, units) {
	let unit = 0;
	while (Math.abs(value) >= step && unit + 1 < units.length) {
		value /= step;
		unit++;
	}
	return (value >= 100 || !unit ? value.toFixed(0) : value.toPrecision(3)) + units[unit];
}

function durationText(ns) {
	return ns >= 6e11 ? countText(ns / 1e9) + ' s' : unitText(ns, 1000, [' ns', ' µs', ' ms', ' s']);
}

/* A sum in the unit of the event. */
function sumText(value) {
	if (S.unit === 'samples')
		return countText(value);
	return event().unit === 'ns' ? durationText(value) : unitText(value, 1000, ['', ' K', ' M', ' G', ' T', ' P']);
}

/* Seconds since the first sample, with the digits that steps of @step ticks need. */
function timeText(ticks, step = D.end / 1000) {
	const seconds = ticks * D.tick / 1e9, digits = Math.ceil(-Math.log10(Math.max(step * D.tick / 1e9, 1e-9)));
	return seconds.toFixed(Math.min(Math.max(digits, 0), 9));
}

const threadText = number => {
	const [pid, tid, name] = D.threads[number];
	return `${name.slice(0, 100)} (${pid === tid ? tid : `${pid}/${tid}`})`;
};
const cpuText = number => number ? `CPU ${number - 1}` : 'CPU not recorded';
const functionText = number => D.functions[number].name.slice(0, NAME_DRAWN);

/* --- colours ---------------------------------------------------------------------------------- */

let palette = null, printing = false;

/* Paper is light. */
const isDark = () => !printing && matchMedia('(prefers-color-scheme: dark)').matches;

function colours() {
	if (palette)
		return palette;
	const style = getComputedStyle(document.documentElement);
	palette = {};
	for (const name of ['paper', 'panel', 'ink', 'faint', 'line', 'accent', 'user', 'kernel', 'jit', 'other', 'match', 'grave',
	                    'warn', 'select', 'on-frame', 'density'])
		palette[name] = style.getPropertyValue('--' + name).trim();
	return palette;
}

const LEVELS = {k: 'kernel', u: 'user', j: 'jit'};
const levelName = f => ({k: 'kernel', u: 'user', j: 'JIT', g: 'guest', h: 'hypervisor'})[f.level];
const levelColour = f => colours()[LEVELS[f.level] ?? 'other'];

/* --- canvases --------------------------------------------------------------------------------- */

/* Sizes a canvas for the screen's pixels and clears it. Returns its context, in CSS pixels. */
function begin(canvas, width, height) {
	const ratio = window.devicePixelRatio || 1, context = canvas.getContext('2d', {alpha: false});
	if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
	}
	canvas.style.width = width + 'px';
	canvas.style.height = height + 'px';
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.fillStyle = colours().paper;
	context.fillRect(0, 0, width, height);
	context.font = LABEL_FONT;
	context.textBaseline = 'middle';
	return context;
}

const widths = new Map(); // of characters

function charWidth(context, c) {
	let width = widths.get(c);
	if (width === undefined) {
		width = context.measureText(c).width;
		widths.set(c, width);
	}
	return width;
}

/* Draws @text, cut to @room pixels. */
function label(context, text, x, y, room) {
	let width = 0, n = 0;
	if (room < 8)
		return;
	for (const c of text) {
		width += charWidth(context, c);
		if (width > room)
			break;
		n += c.length;
	}
	if (n < text.length) {
		width = charWidth(context, '…');
		let k = 0;
		for (const c of text) {
			const next = width + charWidth(context, c);
			if (next > room)
				break;
			width = next;
			k += c.length;
		}
		if (!k)
			return;
		text = text.slice(0, k) + '…';
	}
	context.fillText(text, x, y);
}

/* Says why there is nothing to draw. */
function drawEmpty(context, width, height, text) {
	context.fillStyle = colours().faint;
	context.textAlign = 'center';
	context.fillText(text, width / 2, height / 2);
	context.textAlign = 'left';
}

/* Returns a round step of which @most fit into @span. */
function roundStep(span, most) {
	const step = 10 ** Math.floor(Math.log10(Math.max(span / most, 1e-12)));
	return [1, 2, 5, 10].map(n => n * step).find(n => span / n <= most) ?? step * 10;
}

/* Draws an axis of time, from @from to @to ticks, between x and x + width. */
function timeAxis(context, x, width, y, from, to) {
	const step = roundStep((to - from) * D.tick / 1e9, Math.max(width / 90, 1)) * 1e9 / D.tick;
	context.fillStyle = colours().faint;
	context.strokeStyle = colours().line;
	context.textAlign = 'center';
	for (let n = Math.ceil(from / step); n * step <= to; n++) {
		const at = x + (n * step - from) / Math.max(to - from, 1) * width;
		const text = `${timeText(n * step, step)} s`, half = context.measureText(text).width / 2;
		context.fillRect(Math.round(at), y, 1, 4);
		context.fillText(text, Math.min(Math.max(at, x + half), x + width - half), y + 11);
	}
	context.textAlign = 'left';
}

/*
 * Lets the pointer drag over @canvas. @at turns a pointer's position to a place, @moved is called with
 * the first and the newest place, and whether the button is released; @click with a place where it
 * was not moved.
 */
function onDrag(canvas, at, moved, click) {
	let first = null, start = 0;
	const position = e => {
		const box = canvas.getBoundingClientRect();
		return [e.clientX - box.left, e.clientY - box.top];
	};
	canvas.addEventListener('pointerdown', e => {
		if (e.button)
			return;
		first = at(...position(e));
		start = e.clientX;
		canvas.setPointerCapture(e.pointerId);
	});
	canvas.addEventListener('pointermove', e => {
		if (first !== null && Math.abs(e.clientX - start) > 3)
			moved(first, at(...position(e)), false);
	});
	canvas.addEventListener('pointerup', e => {
		if (first === null)
			return;
		if (Math.abs(e.clientX - start) > 3)
			moved(first, at(...position(e)), true);
		else
			click?.(...position(e), e);
		first = null;
	});
	canvas.addEventListener('pointercancel', () => { first = null; });
}

/* Puts text into the line at the bottom: [text, is it strong] … */
function detail(...pieces) {
	$('detail').replaceChildren(...pieces.map(p => Array.isArray(p) ? make('b', {}, p[0]) : p));
}
