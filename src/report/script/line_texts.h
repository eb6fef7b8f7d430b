/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of a thread that writes lines: places (a symbol with its offset, and a dso), names of
 * events and of branches, and the beginning of the newest line of each CPU. Programs execute the
 * same code again, and a CPU runs a task for many samples, so most lines find theirs.
 *
 * The writer of lines fills it. The size is fixed, and a newer text replaces an older one. All zero
 * is empty. One thread uses a struct line_texts, with one recording.
 */
#ifndef RINGTAIL_REPORT_SCRIPT_LINE_TEXTS_H
#define RINGTAIL_REPORT_SCRIPT_LINE_TEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/trace/frame.h"

#define LINE_TEXTS_BITS	      11
#define LINE_TEXTS_FLAGS_BITS 5
#define LINE_TEXTS_HEADS      64
#define LINE_TEXTS_NAMES      16

struct kept_place {
	uint64_t addr; /* in the dso, as are the next two of a struct frame */
	const struct dso *dso;
	const struct symbol *sym;
	uint32_t fields; /* SCRIPT_* that decide about the text */
	uint32_t len;	 /* 0: empty */
	char text[104];	 /* without NUL */
};

struct kept_flags {
	uint32_t flags, len; /* @len 0: empty */
	char text[40];
};

/* What a line begins with: the task, and the seconds of its time. */
struct kept_head {
	const char *comm; /* NULL: unknown */
	uint64_t second, fields;
	uint32_t pid, tid, cpu;
	uint32_t len; /* 0: empty */
	char text[96];
};

/* The name of an event, as all its lines have it. */
struct kept_name {
	const struct pd_evsel *evsel;
	uint32_t len; /* 0: empty */
	char text[84];
};

struct line_texts {
	struct kept_head head[LINE_TEXTS_HEADS];
	struct kept_name name[LINE_TEXTS_NAMES];
	struct kept_place place[1u << LINE_TEXTS_BITS];
	struct kept_flags flags[1u << LINE_TEXTS_FLAGS_BITS];
};

/* Returns the slot for the place of @f. The caller checks with kept_place_is() what is in it. */
static inline struct kept_place *line_texts_place(struct line_texts *t, const struct frame *f)
{
	uint64_t hash = (f->addr ^ (uint64_t)(uintptr_t)f->sym << 20) * 0x9e3779b97f4a7c15ull;

	return &t->place[hash >> (64 - LINE_TEXTS_BITS)];
}

/* Returns whether @p has the text of the place of @f with these fields. */
static inline bool kept_place_is(const struct kept_place *p, const struct frame *f, uint32_t fields)
{
	return p->len && p->addr == f->addr && p->dso == f->dso && p->sym == f->sym &&
	       p->fields == fields;
}

/* Returns the slot for lines of this CPU. */
static inline struct kept_head *line_texts_head(struct line_texts *t, uint32_t cpu)
{
	return &t->head[cpu % LINE_TEXTS_HEADS];
}

/* Returns the slot for the name of @e. */
static inline struct kept_name *line_texts_name(struct line_texts *t, const struct pd_evsel *e)
{
	return &t->name[e->index % LINE_TEXTS_NAMES];
}

/* Returns the slot for branches with these flags. */
static inline struct kept_flags *line_texts_flags(struct line_texts *t, uint32_t flags)
{
	return &t->flags[flags * 0x9e3779b1u >> (32 - LINE_TEXTS_FLAGS_BITS)];
}

#endif
