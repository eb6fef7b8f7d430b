// SPDX-License-Identifier: Apache-2.0
#include "etm-writer.h"

#include <assert.h>
#include <string.h>

#define FRAME 16u

static void put(struct etm_writer *w, const void *data, size_t len)
{
	assert(!buf_append(&w->out, data, len));
}

static void put_byte(struct etm_writer *w, unsigned int byte)
{
	uint8_t b = (uint8_t)byte;

	put(w, &b, 1);
}

void etm_flush(struct etm_writer *w)
{
	while (w->nr_atoms) {
		unsigned int nr = w->nr_atoms, run = 0;

		while (run < nr && run < 23 && w->atoms >> run & 1)
			run++;
		if (run >= 4) { /* so many E: format 6, whose last is one of them */
			put_byte(w, 0xc0 | (run - 4));
			nr = run;
		} else if (nr >= 3) {
			nr = 3;
			put_byte(w, 0xf8 | (w->atoms & 7));
		} else if (nr == 2) {
			put_byte(w, 0xd8 | (w->atoms & 3));
		} else {
			put_byte(w, 0xf6 | (w->atoms & 1));
		}
		w->atoms >>= nr;
		w->nr_atoms -= nr;
	}
}

static void put_address(struct etm_writer *w, uint64_t pc)
{
	put_byte(w, pc >> 2 & 0x7f);
	put_byte(w, pc >> 9 & 0x7f);
	for (unsigned int shift = 16; shift < 64; shift += 8)
		put_byte(w, pc >> shift & 0xff);
}

void etm_target(struct etm_writer *w, uint64_t pc)
{
	etm_flush(w);
	put_byte(w, 0x9d);
	put_address(w, pc);
}

void etm_context(struct etm_writer *w, uint64_t pc, uint8_t el, uint32_t tid)
{
	etm_flush(w);
	w->el = el;
	w->tid = tid;
	put_byte(w, 0x85);
	put_address(w, pc);
	put_byte(w, 0x80 | 0x20 | 0x10 | el); /* context ID, non-secure, 64 bits */
	put(w, &tid, sizeof(tid));
}

void etm_sync(struct etm_writer *w, uint64_t pc)
{
	static const uint8_t sync[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 1, 1, 0};

	etm_flush(w);
	put(w, sync, sizeof(sync));
	etm_context(w, pc, w->el, w->tid);
}

void etm_trace_on(struct etm_writer *w, uint64_t pc)
{
	etm_flush(w);
	put_byte(w, 0x04);
	etm_context(w, pc, w->el, w->tid);
}

void etm_atom(struct etm_writer *w, bool taken)
{
	if (w->nr_atoms == 24)
		etm_flush(w);
	w->atoms |= (uint32_t)taken << w->nr_atoms++;
}

void etm_exception(struct etm_writer *w, unsigned int type, uint64_t back)
{
	etm_flush(w);
	put_byte(w, 0x06);
	put_byte(w, type << 1 | 1);
	etm_target(w, back);
}

void etm_exception_return(struct etm_writer *w)
{
	etm_flush(w);
	put_byte(w, 0x07);
}

void etm_time(struct etm_writer *w, uint64_t stamp)
{
	etm_flush(w);
	put_byte(w, 0x02);
	for (int i = 0; i < 8 && stamp >= 0x80; i++, stamp >>= 7)
		put_byte(w, 0x80 | (stamp & 0x7f));
	put_byte(w, (unsigned int)stamp);
}

void etm_overflow(struct etm_writer *w)
{
	etm_flush(w);
	put_byte(w, 0x00);
	put_byte(w, 0x05);
}

/* --- frames --------------------------------------------------------------------------------------
 */

struct framer {
	struct buf *out;
	uint8_t frame[FRAME];
	unsigned int at;
	unsigned int since_id; /* frames */
	uint8_t id;
};

static void framer_flush(struct framer *f)
{
	assert(!buf_append(f->out, f->frame, FRAME));
	memset(f->frame, 0, FRAME);
	f->at = 0;
	f->since_id++;
}

static void framer_id(struct framer *f, uint8_t id)
{
	assert(!(f->at & 1) && f->at < FRAME - 1);
	f->frame[f->at++] = (uint8_t)(id << 1 | 1);
	f->id = id;
	f->since_id = 0;
	if (f->at == FRAME - 1)
		framer_flush(f);
}

static void framer_byte(struct framer *f, uint8_t byte)
{
	assert(f->at < FRAME - 1);
	if (f->at & 1) {
		f->frame[f->at] = byte;
	} else {
		f->frame[f->at] = byte & 0xfe;
		f->frame[FRAME - 1] |= (uint8_t)((byte & 1) << f->at / 2);
	}
	f->at++;
	if (f->at == FRAME - 1)
		framer_flush(f);
}

/* At an odd byte the new ID comes one byte early, and a bit says that this byte is of the old. */
static void framer_switch(struct framer *f, uint8_t id, uint8_t last)
{
	if (f->at & 1) {
		framer_byte(f, last);
		framer_id(f, id);
	} else if (f->at < FRAME - 2) {
		f->frame[FRAME - 1] |= (uint8_t)(1 << f->at / 2);
		framer_id(f, id);
		framer_byte(f, last);
	} else {
		framer_byte(f, last);
		framer_id(f, id);
	}
}

/* Returns the next trace behind @i, in turn, with bytes left; @nr if there is none. */
static size_t next_trace(const struct buf *const *traces, const size_t *done, size_t nr, size_t i)
{
	for (size_t k = 1; k <= nr; k++)
		if (done[(i + k) % nr] < traces[(i + k) % nr]->len)
			return (i + k) % nr;
	return nr;
}

void etm_frames(struct buf *out, const struct buf *const *traces, const uint8_t *ids, size_t nr,
		uint32_t seed)
{
	struct framer f = {.out = out};
	size_t done[8] = {0}, i = 0;

	assert(nr <= sizeof(done) / sizeof(*done) && traces[0]->len);
	framer_id(&f, ids[0]);
	while (i < nr) {
		size_t turn = traces[i]->len - done[i], next;
		uint8_t last;

		seed = seed * 1664525u + 1013904223u;
		if (nr > 1 && turn > 1 + (seed >> 16) % 40)
			turn = 1 + (seed >> 16) % 40;
		for (; turn > 1; turn--) {
			if (!f.at && f.since_id >= 9)
				framer_id(&f, f.id);
			framer_byte(&f, traces[i]->data[done[i]++]);
		}
		last = traces[i]->data[done[i]++];
		next = next_trace(traces, done, nr, i);
		framer_switch(&f, next < nr ? ids[next] : 0, last);
		i = next;
	}
	while (f.at)
		framer_byte(&f, 0);
}
