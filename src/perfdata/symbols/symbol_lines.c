// SPDX-License-Identifier: Apache-2.0
#include "perfdata/symbols/symbol_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/symbols/leb.h"

void pd_symbol_lines_release(struct pd_symbol_lines *l)
{
	free(l->text);
	free(l->frame);
	free(l->chain);
	free(l->run);
	*l = (struct pd_symbol_lines){0};
}

/* --- writing -------------------------------------------------------------------------------------
 */

static int put_chain(const struct pd_symbol_lines *l, const struct pd_line_chain *c, struct buf *b)
{
	int rc = leb_put(b, c->nr);

	for (size_t i = 0; !rc && i < c->nr; i++) {
		const struct pd_line_frame *f = &l->frame[c->first + i];

		rc = leb_put(b, f->function) ?: leb_put(b, f->file) ?: leb_put(b, f->line)
			      ?: leb_put(b, f->inlined);
	}
	return rc;
}

int pd_symbol_lines_encode(const struct pd_symbol_lines *l, struct buf *b)
{
	uint64_t end = 0;
	int rc = leb_put(b, l->nr_texts);

	for (size_t i = 0; !rc && i < l->nr_texts; i++)
		rc = leb_put_bytes(b, l->text[i], strlen(l->text[i]) + 1);
	if (!rc)
		rc = leb_put(b, l->nr_chains);
	for (size_t i = 0; !rc && i < l->nr_chains; i++)
		rc = put_chain(l, &l->chain[i], b);
	for (size_t i = 0; !rc && i < l->nr_runs; i++) {
		const struct pd_line_run *r = &l->run[i];

		rc = leb_put(b, r->start - end) ?: leb_put(b, r->end - r->start)
			      ?: leb_put(b, r->chain);
		end = r->end;
	}
	return rc;
}

/* --- reading -------------------------------------------------------------------------------------
 */

struct lines_place {
	const uint8_t *p, *end;
};

static int get_texts(struct lines_place *at, struct pd_symbol_lines *l)
{
	uint64_t nr;

	if (!leb_get(&at->p, at->end, &nr))
		return -EBADMSG;
	for (uint64_t i = 0; i < nr; i++) {
		const uint8_t *text;
		size_t len;

		if (!leb_get_bytes(&at->p, at->end, &text, &len) || !len || text[len - 1])
			return -EBADMSG;
		if (array_grow(&l->text, &l->texts_cap, l->nr_texts + 1, sizeof(*l->text)))
			return -ENOMEM;
		l->text[l->nr_texts++] = (const char *)text;
	}
	return 0;
}

static bool get_u32(struct lines_place *at, uint32_t *ret)
{
	uint64_t v;

	if (!leb_get(&at->p, at->end, &v) || v > UINT32_MAX)
		return false;
	*ret = (uint32_t)v;
	return true;
}

static int get_frame(struct lines_place *at, struct pd_symbol_lines *l)
{
	struct pd_line_frame f;
	uint32_t inlined;

	if (!get_u32(at, &f.function) || !get_u32(at, &f.file) || !get_u32(at, &f.line) ||
	    !get_u32(at, &inlined) || f.function > l->nr_texts || f.file > l->nr_texts)
		return -EBADMSG;
	if (array_grow(&l->frame, &l->frames_cap, l->nr_frames + 1, sizeof(*l->frame)))
		return -ENOMEM;
	f.inlined = inlined;
	l->frame[l->nr_frames++] = f;
	return 0;
}

static int get_chains(struct lines_place *at, struct pd_symbol_lines *l)
{
	uint64_t nr, frames;
	int rc = 0;

	if (!leb_get(&at->p, at->end, &nr))
		return -EBADMSG;
	for (uint64_t i = 0; i < nr && !rc; i++) {
		struct pd_line_chain chain = {.first = l->nr_frames};

		if (!leb_get(&at->p, at->end, &frames))
			return -EBADMSG;
		for (; chain.nr < frames && !rc; chain.nr++)
			rc = get_frame(at, l);
		if (!rc &&
		    array_grow(&l->chain, &l->chains_cap, l->nr_chains + 1, sizeof(*l->chain)))
			rc = -ENOMEM;
		if (!rc)
			l->chain[l->nr_chains++] = chain;
	}
	return rc;
}

static int get_runs(struct lines_place *at, struct pd_symbol_lines *l)
{
	uint64_t end = 0, more, bytes;

	while (at->p < at->end) {
		struct pd_line_run run;

		if (!leb_get(&at->p, at->end, &more) || !leb_get(&at->p, at->end, &bytes) ||
		    !get_u32(at, &run.chain) || run.chain >= l->nr_chains ||
		    more > UINT64_MAX - end || !bytes || bytes > UINT64_MAX - end - more)
			return -EBADMSG;
		run.start = end + more;
		run.end = end = run.start + bytes;
		if (array_grow(&l->run, &l->runs_cap, l->nr_runs + 1, sizeof(*l->run)))
			return -ENOMEM;
		l->run[l->nr_runs++] = run;
	}
	return 0;
}

int pd_symbol_lines_decode(const uint8_t *p, size_t len, struct pd_symbol_lines *ret)
{
	struct lines_place at = {p, p + len};
	int rc;

	*ret = (struct pd_symbol_lines){0};
	rc = get_texts(&at, ret) ?: get_chains(&at, ret) ?: get_runs(&at, ret);
	if (rc == -ENOMEM)
		pd_symbol_lines_release(ret);
	return rc;
}

const struct pd_line_run *pd_symbol_lines_find(const struct pd_symbol_lines *l, uint64_t addr)
{
	size_t low = 0, high = l->nr_runs;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->run[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < l->nr_runs && l->run[low].start <= addr ? &l->run[low] : NULL;
}
