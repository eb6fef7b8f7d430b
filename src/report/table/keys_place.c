// SPDX-License-Identifier: Apache-2.0
#include "report/table/keys_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* The symbol of the code around: an inlined function has neither a start nor an end. */
static const struct symbol *code_of(const struct frame *f)
{
	return f->in ?: f->sym;
}

/* The name, and the offset in the function; at its start only @always. */
static int place_text(const struct frame *f, bool always, struct buf *out)
{
	const struct symbol *sym = code_of(f);
	uint64_t offset = sym ? f->addr - sym->start : 0;
	int rc = buf_printf(out, "[%c] ", frame_level(f->cpumode));

	if (!rc && !sym)
		return buf_printf(out, "0x%016" PRIx64, f->addr);
	if (!rc)
		rc = buf_printf(out, "%s%s", f->sym->name,
				symbol_is_inlined(f->sym) ? INLINED_MARK : "");
	if (!rc && (offset || always))
		rc = buf_printf(out, "+0x%" PRIx64, offset);
	return rc;
}

static int place_cell(const struct key_source *src, const struct frame *f, bool always,
		      struct hist_cell *ret)
{
	struct buf text = {0};
	int rc = place_text(f, always, &text);

	if (!rc)
		*ret = (struct hist_cell){
			.a = (uintptr_t)strpool_intern_len(src->names->pool,
							   (const char *)text.data, text.len),
		};
	buf_release(&text);
	return rc ?: ret->a ? 0 : -ENOMEM;
}

static int symoff_cell(const struct key_source *src, struct hist_cell *ret)
{
	return place_cell(src, src->frame, true, ret);
}

static int addr_from_cell(const struct key_source *src, struct hist_cell *ret)
{
	return place_cell(src, src->from, false, ret);
}

static int addr_to_cell(const struct key_source *src, struct hist_cell *ret)
{
	return place_cell(src, src->frame, false, ret);
}

static int addr_cell(const struct key_source *src, struct hist_cell *ret)
{
	*ret = (struct hist_cell){.a = src->frame->ip};
	return 0;
}

static int addr_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	return buf_printf(out, "0x%" PRIx64, cell.a);
}

static int iaddr_cell(const struct key_source *src, struct hist_cell *ret)
{
	return key_sym_cell(src->frame, ret);
}

/* Cells of sizes: b is whether a is known. */
static int symbol_size_cell(const struct key_source *src, struct hist_cell *ret)
{
	const struct symbol *sym = code_of(src->frame);

	*ret = (struct hist_cell){0};
	if (sym)
		*ret = (struct hist_cell){.a = sym->end - sym->start, .b = true};
	return 0;
}

static int dso_size_cell(const struct key_source *src, struct hist_cell *ret)
{
	const struct walk_sample *ws = src->ws;
	const struct frame *f = src->frame;
	struct location place;

	*ret = (struct hist_cell){0};
	if (f->dso &&
	    state_find(src->trace->state, ws->s.pid, f->cpumode, f->ip, ws->rec->at, &place))
		*ret = (struct hist_cell){.a = place.map->end - place.map->start, .b = true};
	return 0;
}

static int size_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	return cell.b ? buf_printf(out, "%" PRIu64, cell.a) : buf_printf(out, "unknown");
}

static int size_compare(const struct trace *t, struct hist_cell a, struct hist_cell b)
{
	return a.b == b.b ? key_compare_numbers(t, a, b) : a.b ? 1 : -1;
}

#define STACK PERF_SAMPLE_BRANCH_STACK

// clang-format off
const struct sort_key place_keys[] = {
	{"addr", NULL, "Address", false, true, 0, false, addr_cell, addr_text, key_compare_numbers, .of_place = true},
	{"symoff", NULL, "Symbol Offset", false, true, 0, true, symoff_cell, key_string_text, key_compare_strings, .of_place = true},
	{"symbol_size", NULL, "Symbol size", true, true, 0, false, symbol_size_cell, size_text, size_compare},
	{"dso_size", NULL, "DSO size", true, true, 0, false, dso_size_cell, size_text, size_compare, .of_place = true},
	{"symbol_iaddr", NULL, "Code Symbol", false, true, 0, false, iaddr_cell, key_sym_text, key_sym_compare},
	{"addr_from", NULL, "Source Address", false, false, STACK, true, addr_from_cell, key_string_text, key_compare_strings, .of_branch = true},
	{"addr_to", NULL, "Target Address", false, false, STACK, true, addr_to_cell, key_string_text, key_compare_strings, .of_branch = true},
};
// clang-format on

const size_t nr_place_keys = sizeof(place_keys) / sizeof(place_keys[0]);

/* Keys of perf, up to 7.2, that ringtail lacks. */
static const struct {
	const char *name, *why;
} refused[] = {
	{"op", "the parts of memory accesses are rows here: sort by mem"},
	{"cache", "the parts of memory accesses are rows here: sort by mem"},
	{"memory", "the parts of memory accesses are rows here: sort by mem"},
	{"dtlb", "the parts of memory accesses are rows here: sort by tlb"},
};

const char *sort_key_refused(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (strlen(refused[i].name) == len && !memcmp(refused[i].name, name, len))
			return refused[i].why;
	return NULL;
}
