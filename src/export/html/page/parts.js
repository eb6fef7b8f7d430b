// SPDX-License-Identifier: Apache-2.0
/*
 * The parts of the page (src/export/html/part.h): found while the page is read, and decoded
 * meanwhile by workers, which run the page's own script.
 */
const WORKERS = 8; // at most
const LITTLE = 300000; // characters that one thread decodes soon enough
const LATER = ['code', 'instructions']; // parts that are decoded when their view is opened

function bytesOf(base64) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(base64);
	const text = atob(base64), bytes = new Uint8Array(text.length);
	for (let i = 0; i < bytes.length; i++)
		bytes[i] = text.charCodeAt(i);
	return bytes;
}

async function inflate(bytes) {
	const stream = new DecompressionStream('deflate-raw'), writer = stream.writable.getWriter();
	const [inflated] = await Promise.all([new Response(stream.readable).arrayBuffer(), writer.write(bytes), writer.close()]);
	return new Uint8Array(inflated);
}

/* Decodes a part: a table to its columns, other parts to text. */
async function decodePart(name, base64) {
	const bytes = await inflate(bytesOf(base64));
	return TYPES[name] ? decodeTable(bytes, TYPES[name]) : new TextDecoder().decode(bytes);
}

/* --- workers ---------------------------------------------------------------------------------- */

/* Returns [part] or [null, why]. */
async function answer([name, base64]) {
	try {
		return [await decodePart(name, base64)];
	} catch (error) {
		return [null, String(error)];
	}
}

/* What a worker does. */
function serve() {
	onmessage = async ({data: request}) => {
		const reply = await answer(request), columns = reply[0]?.columns ?? [];
		postMessage(reply, columns.filter(c => c.buffer).map(c => c.buffer));
	};
}

/* This thread in the place of a worker. */
const here = () => ({
	postMessage(request) {
		answer(request).then(data => this.onmessage({data}));
	},
	terminate() {},
});

function startWorkers() {
	const count = Math.max(2, Math.min(navigator.hardwareConcurrency || 2, WORKERS));
	const script = document.querySelector('script:not([data-part])').textContent;
	const source = URL.createObjectURL(new Blob([script], {type: 'text/javascript'}));
	try {
		return Array.from({length: count}, () => new Worker(source));
	} catch {
		return [here()];
	}
}

/* Decodes parts: this thread a little, workers more. */
class Decoders {
	constructor() {
		this.seen = 0;
		this.waiting = [];
		this.all = this.free = null;
	}
	/* Returns a promise of the part. */
	decode(name, base64) {
		this.seen += base64.length;
		if (this.seen < LITTLE)
			return decodePart(name, base64);
		if (this.all === null) {
			this.all = startWorkers();
			this.free = this.all.slice();
		}
		return new Promise((resolve, reject) => {
			this.waiting.push({request: [name, base64], resolve, reject});
			this.next();
		});
	}
	next() {
		while (this.free.length && this.waiting.length)
			this.ask(this.free.pop(), this.waiting.shift());
	}
	ask(worker, {request, resolve, reject}) {
		worker.onmessage = ({data: [part, why]}) => {
			this.free.push(worker);
			this.next();
			if (part === null)
				reject(new Error(why));
			else
				resolve(part);
		};
		worker.onerror = () => this.ask(here(), {request, resolve, reject}); // where no worker can be had
		worker.postMessage(request);
	}
	end() {
		this.all?.forEach(worker => worker.terminate());
	}
}

/* Decodes parts [name, text]. Returns a promise of them in their order. */
async function decodeParts(list) {
	const decoders = new Decoders(), parts = await Promise.all(list.map(([name, text]) => decoders.decode(name, text)));
	decoders.end();
	return parts;
}

/* --- reading ---------------------------------------------------------------------------------- */

/*
 * Calls @each with name, text and number of rows of each part, in their order, as soon as the browser
 * has read it, and removes its element. Returns a promise that is kept when all have been read.
 */
function eachPart(each) {
	return new Promise(resolve => {
		const take = () => {
			const elements = [...document.querySelectorAll('script[data-part]')];
			if (document.readyState === 'loading')
				elements.pop(); // the browser may be in the middle of it
			for (const element of elements) {
				element.remove();
				each(element.dataset.part, element.textContent, Number(element.dataset.rows));
			}
		};
		const observer = new MutationObserver(take);
		observer.observe(document.body, {childList: true});
		document.addEventListener('DOMContentLoaded', () => {
			observer.disconnect();
			take();
			resolve();
		});
	});
}

/* Returns {name: [each part of this name]}. Samples are in @gathered, and those of LATER stay texts, in @later. */
async function readParts() {
	const parts = {later: {}, gathered: new Gatherer()}, decoders = new Decoders(), work = [];
	let samples = 0;
	await eachPart((name, text, rows) => {
		if (LATER.includes(name)) {
			(parts.later[name] ??= []).push(text);
			return;
		}
		const from = samples, list = parts[name] ??= [], at = list.push(null) - 1, decoded = decoders.decode(name, text);
		if (name === 'samples')
			samples += rows;
		work.push(decoded.then(part => name === 'samples' ? parts.gathered.put(part, from) : list[at] = part));
	});
	parts.gathered.begin(samples);
	await Promise.all(work);
	decoders.end();
	return parts;
}

