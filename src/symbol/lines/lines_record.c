// SPDX-License-Identifier: Apache-2.0
#include "symbol/lines/lines_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hash_table.h"
#include "base/strpool.h"
#include "perfdata/symbols/symbol_lines.h"
#include "symbol/lines/inlines.h"

struct lines_recorder {
	struct pd_symbol_lines out;
	struct strpool *pool; /* owns the texts */
	struct hash_table by_text, by_chain;
	uint64_t key, next; /* @next: the first address that was not taken */
	/* The frames of the address before, whose pointers may be used no more. */
	struct line_frame last[INLINED_MAX];
	size_t nr_last;
};

struct lines_recorder *lines_recorder_new(void)
{
	struct lines_recorder *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->key = hash_key();
	r->pool = strpool_new();
	if (r->pool)
		return r;
	free(r);
	return NULL;
}

void lines_recorder_free(struct lines_recorder *r)
{
	if (!r)
		return;
	pd_symbol_lines_release(&r->out);
	hash_table_release(&r->by_text);
	hash_table_release(&r->by_chain);
	strpool_free(r->pool);
	free(r);
}

static bool is_text(const void *texts, uint32_t number, const void *text)
{
	return ((const char *const *)texts)[number] == text;
}

/* Fills @ret with the number of a text plus one; 0 for NULL. */
static int put_text(struct lines_recorder *r, const char *text, uint32_t *ret)
{
	struct pd_symbol_lines *o = &r->out;
	uint64_t hash;
	uint32_t at;

	*ret = 0;
	if (!text)
		return 0;
	text = strpool_intern(r->pool, text);
	if (!text)
		return -ENOMEM;
	hash = hash_word(r->key, (uintptr_t)text);
	at = hash_table_find(&r->by_text, hash, is_text, o->text, text);
	if (at == HASH_TABLE_NONE) {
		if (hash_table_reserve(&r->by_text, 1) ||
		    array_grow(&o->text, &o->texts_cap, o->nr_texts + 1, sizeof(*o->text)))
			return -ENOMEM;
		at = (uint32_t)o->nr_texts++;
		o->text[at] = text;
		hash_table_add(&r->by_text, hash, at);
	}
	*ret = at + 1;
	return 0;
}

static bool is_frame(const struct pd_line_frame *a, const struct pd_line_frame *b)
{
	return a->function == b->function && a->file == b->file && a->line == b->line &&
	       a->inlined == b->inlined;
}

/* @key is a chain whose frames lie behind all others. */
static bool is_chain(const void *lines, uint32_t number, const void *key)
{
	const struct pd_symbol_lines *o = lines;
	const struct pd_line_chain *a = &o->chain[number], *b = key;

	if (a->nr != b->nr)
		return false;
	for (size_t i = 0; i < a->nr; i++)
		if (!is_frame(&o->frame[a->first + i], &o->frame[b->first + i]))
			return false;
	return true;
}

static uint64_t hash_chain(const struct lines_recorder *r, const struct pd_line_chain *c)
{
	uint64_t h = hash_word(r->key, c->nr);

	for (size_t i = 0; i < c->nr; i++) {
		const struct pd_line_frame *f = &r->out.frame[c->first + i];

		h = hash_word(h, (uint64_t)f->function << 32 | f->file);
		h = hash_word(h, (uint64_t)f->line << 1 | f->inlined);
	}
	return h;
}

/* Finds or adds the chain of @from. */
static int put_chain(struct lines_recorder *r, const struct line_frame *from, size_t nr,
		     uint32_t *ret)
{
	struct pd_symbol_lines *o = &r->out;
	struct pd_line_chain c = {o->nr_frames, nr};
	uint64_t hash;

	if (array_grow(&o->frame, &o->frames_cap, o->nr_frames + nr, sizeof(*o->frame)) ||
	    array_grow(&o->chain, &o->chains_cap, o->nr_chains + 1, sizeof(*o->chain)) ||
	    hash_table_reserve(&r->by_chain, 1))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct pd_line_frame *f = &o->frame[c.first + i];

		if (put_text(r, from[i].function, &f->function) ||
		    put_text(r, from[i].file, &f->file))
			return -ENOMEM;
		f->line = from[i].line;
		f->inlined = from[i].inlined;
	}
	hash = hash_chain(r, &c);
	*ret = hash_table_find(&r->by_chain, hash, is_chain, o, &c);
	if (*ret != HASH_TABLE_NONE)
		return 0;
	*ret = (uint32_t)o->nr_chains;
	hash_table_add(&r->by_chain, hash, *ret);
	o->chain[o->nr_chains++] = c;
	o->nr_frames += nr;
	return 0;
}

/* Names of one file's lines are equal if their pointers are. */
static bool is_last(const struct lines_recorder *r, const struct line_frame *f, size_t nr)
{
	if (nr != r->nr_last)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (f[i].function != r->last[i].function || f[i].file != r->last[i].file ||
		    f[i].line != r->last[i].line || f[i].inlined != r->last[i].inlined)
			return false;
	return true;
}

static int take(struct lines_recorder *r, struct source_lines *l, uint64_t addr)
{
	struct pd_symbol_lines *o = &r->out;
	struct pd_line_run *run = o->nr_runs ? &o->run[o->nr_runs - 1] : NULL;
	struct line_frame frame[INLINED_MAX];
	size_t nr = lines_find(l, addr, frame, INLINED_MAX);
	bool joins = run && run->end == addr;
	uint32_t chain;

	if (nr && joins && is_last(r, frame, nr)) {
		run->end++;
		return 0;
	}
	memcpy(r->last, frame, nr * sizeof(*frame));
	r->nr_last = nr;
	if (!nr)
		return 0;
	if (put_chain(r, frame, nr, &chain))
		return -ENOMEM;
	if (joins && run->chain == chain) {
		run->end++;
		return 0;
	}
	if (array_grow(&o->run, &o->runs_cap, o->nr_runs + 1, sizeof(*o->run)))
		return -ENOMEM;
	o->run[o->nr_runs++] = (struct pd_line_run){addr, addr + 1, chain};
	return 0;
}

int lines_record(struct lines_recorder *r, struct source_lines *l, uint64_t addr,
		 unsigned int bytes)
{
	int rc = 0;

	r->nr_last = 0; /* @l may be another one */
	for (unsigned int i = 0; i < bytes && !rc && addr + i >= addr; i++) {
		if (addr + i < r->next)
			continue;
		rc = take(r, l, addr + i);
		r->next = addr + i + 1;
	}
	return rc;
}

int lines_recorder_encode(const struct lines_recorder *r, struct buf *b)
{
	return r->out.nr_runs ? pd_symbol_lines_encode(&r->out, b) : 0;
}
