// SPDX-License-Identifier: Apache-2.0
#include "symbol/elf/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "symbol/demangle/demangle.h"
#include "symbol/elf/binding.h"
#include "symbol/elf/table_priv.h"
#include "symbol/elf/wanted.h"

/* Bytes of the names of PLT entries, which are copies: a bound, whatever the file claims. */
#define PLT_NAME_MAX 4096

static int names_room(struct symtab_builder *b, size_t len)
{
	size_t need;

	if (__builtin_add_overflow(b->names.len, len, &need) || need + 1 > UINT32_MAX)
		return -EFBIG;
	return buf_reserve(&b->names, len + 1);
}

int symtab_blob(struct symtab_builder *b, const void *data, size_t len, uint32_t *ret_base)
{
	uint32_t base = (uint32_t)b->names.len;
	int rc = names_room(b, len);

	if (rc)
		return rc;
	buf_append(&b->names, data, len);
	buf_zero(&b->names, 1);
	*ret_base = base;
	return 0;
}

int symtab_name(struct symtab_builder *b, const char *s, size_t len, uint32_t *ret_name)
{
	return symtab_blob(b, s, len, ret_name);
}

/* Only 255 bytes of a name count, so that a file cannot make ranking slow. */
static uint32_t rank_of(const char *name, uint32_t binding)
{
	uint32_t underscores = 0, len = (uint32_t)strnlen(name, 255);

	while (underscores < len && name[underscores] == '_')
		underscores++;
	return (uint32_t)(binding != SYMTAB_WEAK) << 17 |
	       (uint32_t)(binding == SYMTAB_GLOBAL) << 16 | (255 - underscores) << 8 | len;
}

int symtab_add(struct symtab_builder *b, const struct symtab_entry *e)
{
	const char *name;
	uint64_t end;

	if (e->name >= b->names.len)
		return 0;
	name = (const char *)b->names.data + e->name;
	if (e->size) {
		if (__builtin_add_overflow(e->start, e->size, &end))
			return 0;
	} else {
		end = e->limit;
	}
	if (!*name || end <= e->start)
		return 0;
	return symtab_put(b, &(struct symtab_sym){
				     .start = e->start,
				     .end = end,
				     .name = e->name,
				     .seq = (uint32_t)b->count,
				     .flags = (e->plt ? SYM_PLT : 0) | (e->size ? 0 : SYM_UNSIZED) |
					      e->binding * SYM_BINDING,
			     });
}

int symtab_put(struct symtab_builder *b, const struct symtab_sym *s)
{
	if (b->count >= NO_SYM - 1)
		return 0;
	if (array_grow(&b->syms, &b->cap, b->count + 1, sizeof(*b->syms)))
		return -ENOMEM;
	b->syms[b->count++] = *s;
	return 0;
}

/* Sets the ranks of new symbols. It reads names, so it is left until they are sorted. */
static void rank(struct symtab_builder *b)
{
	for (; b->ranked < b->count; b->ranked++) {
		struct symtab_sym *s = &b->syms[b->ranked];
		const char *name = (const char *)b->names.data + s->name;

		s->rank = b->last_wins ? s->seq : rank_of(name, s->flags / SYM_BINDING);
	}
}

void symtab_builder_release(struct symtab_builder *b)
{
	free(b->syms);
	buf_release(&b->names);
	*b = (struct symtab_builder){0};
}

/* By start; of equal starts the best symbol is last. */
static int sym_cmp(const void *pa, const void *pb)
{
	const struct symtab_sym *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->seq > b->seq ? -1 : 1;
}

/*
 * Sets the ends of symbols without a size to the next start. Drops those inside a symbol with a
 * size: they are labels in a function. Returns the number of symbols left.
 */
static size_t fix_ends(struct symtab_sym *v, size_t n)
{
	uint64_t sized_to = 0; /* end of the symbols with a size so far */
	size_t i, j, k, out = 0;

	for (i = 0; i < n; i = j) {
		uint64_t next;

		for (j = i; j < n && v[j].start == v[i].start; j++) {
			if (!(v[j].flags & SYM_UNSIZED) && v[j].end > sized_to)
				sized_to = v[j].end;
		}
		next = j < n ? v[j].start : UINT64_MAX;
		for (k = i; k < j; k++) {
			if (v[k].flags & SYM_UNSIZED) {
				if (v[k].start < sized_to)
					continue;
				if (v[k].end > next)
					v[k].end = next;
			}
			v[out++] = v[k];
		}
	}
	return out;
}

struct table_sweep {
	uint64_t *start;
	uint32_t *sym;
	size_t n;
	const struct symtab_sym *v;
	uint32_t *stack; /* open symbols, by start; the last is the innermost */
	size_t depth;
};

static void sweep_emit(struct table_sweep *s, uint64_t start, uint32_t sym)
{
	if (s->n && s->start[s->n - 1] == start)
		s->n--;
	s->start[s->n] = start;
	s->sym[s->n++] = sym;
}

/* Closes the symbols that end at or before @to, so that the outer ones are visible again. */
static void sweep_close(struct table_sweep *s, uint64_t to)
{
	while (s->depth && s->v[s->stack[s->depth - 1]].end <= to) {
		uint64_t end = s->v[s->stack[s->depth - 1]].end;

		while (s->depth && s->v[s->stack[s->depth - 1]].end <= end)
			s->depth--;
		sweep_emit(s, end, s->depth ? s->stack[s->depth - 1] : NO_SYM);
	}
}

/* Each symbol opens one segment and closes at most one: 2n segments are enough. */
static int flatten(struct symtab *t, const struct symtab_sym *v, size_t n)
{
	struct table_sweep s = {.v = v};
	size_t i;
	int rc = -ENOMEM;

	s.start = malloc((2 * n + 1) * sizeof(*s.start));
	s.sym = malloc((2 * n + 1) * sizeof(*s.sym));
	s.stack = malloc((n + 1) * sizeof(*s.stack));
	if (!s.start || !s.sym || !s.stack)
		goto out;
	for (i = 0; i < n; i++) {
		sweep_close(&s, v[i].start);
		s.stack[s.depth++] = (uint32_t)i;
		sweep_emit(&s, v[i].start, (uint32_t)i);
	}
	sweep_close(&s, UINT64_MAX);
	t->seg_start = s.start;
	t->seg_sym = s.sym;
	t->nsegs = s.n;
	s.start = NULL;
	s.sym = NULL;
	rc = 0;
out:
	free(s.start);
	free(s.sym);
	free(s.stack);
	return rc;
}

/* Keeps the symbols that segments refer to, and renumbers the segments. */
static int pack(struct symtab *t, const struct symtab_sym *v, size_t n)
{
	uint32_t *number = malloc((n + 1) * sizeof(*number));
	size_t i, used = 0;

	if (!number)
		return -ENOMEM;
	memset(number, 0xff, (n + 1) * sizeof(*number));
	for (i = 0; i < t->nsegs; i++) {
		if (t->seg_sym[i] == NO_SYM)
			continue;
		if (number[t->seg_sym[i]] == NO_SYM)
			number[t->seg_sym[i]] = (uint32_t)used++;
		t->seg_sym[i] = number[t->seg_sym[i]];
	}
	t->syms = malloc((used + 1) * sizeof(*t->syms));
	t->made = calloc(used + 1, sizeof(*t->made));
	if (!t->syms || !t->made) {
		free(number);
		return -ENOMEM;
	}
	t->nsyms = used;
	for (i = 0; i < n; i++) {
		if (number[i] != NO_SYM)
			t->syms[number[i]] =
				(struct packed_sym){v[i].start, v[i].end, v[i].name, v[i].flags};
	}
	free(number);
	return 0;
}

/*
 * Copies the names in use to a table of their own if that is smaller than the string tables. Names
 * may share bytes, so the sum may exceed the tables; then counting stops and the tables are kept.
 * So neither time nor memory exceeds the size of the tables.
 */
static void shrink_names(struct symtab *t)
{
	struct buf small = {0};
	size_t i, sum = 0, len;

	for (i = 0; i < t->nsyms; i++) {
		sum += strnlen((const char *)t->names.data + t->syms[i].name, t->names.len - sum) +
		       1;
		if (sum >= t->names.len)
			return;
	}
	if (buf_reserve(&small, sum + 1))
		return;
	for (i = 0; i < t->nsyms; i++) {
		len = strlen((const char *)t->names.data + t->syms[i].name) + 1;
		memcpy(small.data + small.len, t->names.data + t->syms[i].name, len);
		t->syms[i].name = (uint32_t)small.len;
		small.len += len;
	}
	buf_release(&t->names);
	t->names = small;
}

static void *shrink(void *p, size_t bytes)
{
	void *q = realloc(p, bytes ? bytes : 1);

	return q ? q : p;
}

static bool is_sorted(const struct symtab_sym *v, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++) {
		if (sym_cmp(&v[i - 1], &v[i]) > 0)
			return false;
	}
	return true;
}

size_t symtab_sort(struct symtab_builder *b)
{
	rank(b);
	if (!is_sorted(b->syms, b->count))
		qsort(b->syms, b->count, sizeof(*b->syms), sym_cmp);
	return b->count;
}

bool symtab_name_at(const struct symtab_builder *b, size_t n, uint64_t addr, uint32_t *ret_name)
{
	size_t low = 0, high = n;

	while (low < high) { /* the best symbol of an address is its last */
		size_t mid = low + (high - low) / 2;

		if (b->syms[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || b->syms[low - 1].start != addr)
		return false;
	*ret_name = b->syms[low - 1].name;
	return true;
}

/* Replaces the symbols of @b by those that are wanted. */
static int pick(struct symtab_builder *b)
{
	struct symtab_builder few = {0};
	int rc = symtab_pick(b, b->wanted, &few);

	symtab_builder_release(b);
	*b = few;
	return rc;
}

int symtab_build(struct symtab_builder *b, struct symtab **ret)
{
	struct symtab *t = calloc(1, sizeof(*t));
	int rc = -ENOMEM;
	size_t n;

	if (!t)
		goto out;
	symtab_init(t);
	rc = b->wanted ? pick(b) : 0;
	if (rc)
		goto out;
	n = fix_ends(b->syms, symtab_sort(b));
	rc = flatten(t, b->syms, n);
	if (!rc)
		rc = pack(t, b->syms, n);
	if (rc)
		goto out;
	t->names = b->names;
	b->names = (struct buf){0};
	shrink_names(t);
	t->text = (const char *)t->names.data;
	t->text_len = t->names.len;
	t->seg_start = shrink(t->seg_start, t->nsegs * sizeof(*t->seg_start));
	t->seg_sym = shrink(t->seg_sym, t->nsegs * sizeof(*t->seg_sym));
	*ret = t;
	t = NULL;
out:
	symtab_free(t);
	symtab_builder_release(b);
	return rc;
}

void symtab_init(struct symtab *t)
{
	pthread_mutex_init(&t->lock, NULL);
	t->to = UINT64_MAX;
}

void symtab_free(struct symtab *t)
{
	struct made_sym *made, *next;

	if (!t)
		return;
	for (made = t->last_made; made; made = next) {
		next = made->next;
		free(made);
	}
	free(t->made);
	if (!t->image) {
		free(t->seg_start);
		free(t->seg_sym);
		free(t->syms);
	}
	if (t->image)
		munmap(t->image, t->image_size);
	buf_release(&t->names);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

size_t symtab_count(const struct symtab *t)
{
	return t->nsyms;
}

bool symtab_covers(const struct symtab *t, uint64_t addr)
{
	return addr - t->delta >= t->from && addr - t->delta <= t->to;
}

static uint32_t segment_at(const struct symtab *t, uint64_t addr)
{
	const uint64_t *v = t->seg_start;
	size_t base = 0, n = t->nsegs;

	if (!n || addr < v[0])
		return NO_SYM;
	while (n > 1) {
		size_t half = n / 2;

		if (v[base + half] <= addr)
			base += half;
		n -= half;
	}
	return t->seg_sym[base] < t->nsyms ? t->seg_sym[base] : NO_SYM;
}

/* Makes a symbol; its name follows in the same allocation unless it is the table's own. */
static struct made_sym *make(const struct symtab *t, const struct packed_sym *p, bool demangle)
{
	const char *raw = p->name < t->text_len ? t->text + p->name : "";
	const char *suffix = p->flags & SYM_PLT ? "@plt" : "";
	char *nice = demangle ? demangle_text(raw) : NULL;
	size_t len = 0, slen = strlen(suffix);
	struct made_sym *s;

	if (nice || slen)
		len = nice ? strlen(nice) : strnlen(raw, PLT_NAME_MAX);
	s = malloc(sizeof(*s) + (nice || slen ? len + slen + 1 : 0));
	if (!s)
		goto out;
	s->symbol = (struct symbol){p->start + t->delta, p->end + t->delta, raw};
	if (nice || slen) {
		char *name = (char *)(s + 1);

		memcpy(name, nice ? nice : raw, len);
		memcpy(name + len, suffix, slen + 1);
		s->symbol.name = name;
	}
out:
	free(nice);
	return s;
}

const struct symbol *symtab_find(struct symtab *t, uint64_t addr, bool demangle)
{
	uint32_t i = segment_at(t, addr - t->delta);
	struct made_sym *s;

	if (i == NO_SYM)
		return NULL;
	s = atomic_load_explicit(&t->made[i],
				 memory_order_acquire); /* pairs with the release below */
	if (s)
		return &s->symbol;
	pthread_mutex_lock(&t->lock);
	s = atomic_load_explicit(&t->made[i], memory_order_relaxed);
	if (!s) {
		s = make(t, &t->syms[i], demangle);
		if (s) {
			s->next = t->last_made;
			t->last_made = s;
		}
		atomic_store_explicit(&t->made[i], s, memory_order_release);
	}
	pthread_mutex_unlock(&t->lock);
	return s ? &s->symbol : NULL;
}

int symtab_binding(const struct symtab *t, uint64_t addr)
{
	uint32_t i = segment_at(t, addr - t->delta);

	return i == NO_SYM ? -ENOENT : (int)(t->syms[i].flags / SYM_BINDING);
}
