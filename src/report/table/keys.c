// SPDX-License-Identifier: Apache-2.0
#include "report/table/keys_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/parse.h"

static const struct moment the_end = {.time = UINT64_MAX, .seq = UINT64_MAX};

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

int key_compare_numbers(const struct trace *t, struct hist_cell a, struct hist_cell b)
{
	return compare_u64(a.a, b.a);
}

static int comm_cell(const struct key_source *src, struct hist_cell *ret)
{
	size_t slot = (uintptr_t)src->comm / 8 %
		      (sizeof(src->names->recent) / sizeof(src->names->recent[0]));
	const char *comm;
	char unknown[16];

	ret->b = 0;
	if (src->comm && src->names->recent[slot].name == src->comm) {
		ret->a = (uintptr_t)src->names->recent[slot].interned;
		return 0;
	}
	snprintf(unknown, sizeof(unknown), ":%d", (int)src->ws->s.tid);
	comm = strpool_intern(src->names->pool, src->comm ? src->comm : unknown);
	ret->a = (uintptr_t)comm;
	if (comm && src->comm) {
		src->names->recent[slot].name = src->comm;
		src->names->recent[slot].interned = comm;
	}
	return comm ? 0 : -ENOMEM;
}

/* The comm with "<N>" for each number in it. */
static int comm_nodigit_cell(const struct key_source *src, struct hist_cell *ret)
{
	char text[64];
	size_t n = 0;

	if (!src->comm)
		return comm_cell(src, ret);
	for (const char *s = src->comm; *s && n + sizeof("<N>") < sizeof(text);) {
		size_t digits = strspn(s, "0123456789");

		if (digits)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "<N>");
		else
			text[n++] = *s;
		s += digits ?: 1;
	}
	*ret = (struct hist_cell){
		.a = (uintptr_t)strpool_intern_len(src->names->pool, text, n),
	};
	return ret->a ? 0 : -ENOMEM;
}

int key_string_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	const char *text = (const char *)(uintptr_t)cell.a;

	return buf_append(out, text, strlen(text));
}

int key_compare_strings(const struct trace *t, struct hist_cell a, struct hist_cell b)
{
	/* Equal strings of a table are one. */
	return a.a == b.a ? 0 : strcmp((const char *)(uintptr_t)a.a, (const char *)(uintptr_t)b.a);
}

static int tid_cell(const struct key_source *src, struct hist_cell *ret)
{
	*ret = (struct hist_cell){.a = src->ws->s.tid, .b = src->ws->s.pid};
	return 0;
}

/* As perf: the number, and the last name that the task had. */
static int task_text(const struct trace *t, uint32_t pid, uint32_t tid, struct buf *out)
{
	const char *comm = state_comm(t->state, pid, tid, the_end);

	if (comm)
		return buf_printf(out, "%7d:%s", (int)tid, comm);
	return buf_printf(out, "%7d::%d", (int)tid, (int)tid);
}

static int tid_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	return task_text(t, cell.b, cell.a, out);
}

static int tgid_cell(const struct key_source *src, struct hist_cell *ret)
{
	*ret = (struct hist_cell){.a = src->ws->s.pid, .b = src->ws->s.pid};
	return 0;
}

/* a: index of the first dso of that short name + 1; 0: no dso. */
int key_dso_cell(const struct trace *t, const struct frame *f, struct hist_cell *ret)
{
	*ret = (struct hist_cell){0};
	if (f->dso)
		ret->a = 1 + dso_alias_group(t->aliases, f->dso);
	return 0;
}

static int dso_cell(const struct key_source *src, struct hist_cell *ret)
{
	return key_dso_cell(src->trace, src->frame, ret);
}

static const char *dso_name(const struct trace *t, struct hist_cell cell)
{
	return cell.a ? state_dso_at(t->state, cell.a - 1)->short_name : "[unknown]";
}

int key_dso_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	const char *name = dso_name(t, cell);

	return buf_append(out, name, strlen(name));
}

int key_dso_compare(const struct trace *t, struct hist_cell a, struct hist_cell b)
{
	return a.a == b.a ? 0 : strcmp(dso_name(t, a), dso_name(t, b));
}

/* a: the symbol, with its mode in b; without symbol the mode (below any pointer), b the address. */
int key_sym_cell(const struct frame *f, struct hist_cell *ret)
{
	if (f->sym)
		*ret = (struct hist_cell){.a = (uintptr_t)f->sym, .b = f->cpumode};
	else
		*ret = (struct hist_cell){.a = f->cpumode, .b = f->addr};
	return 0;
}

static int sym_cell(const struct key_source *src, struct hist_cell *ret)
{
	return key_sym_cell(src->frame, ret);
}

static const struct symbol *sym_of(struct hist_cell cell)
{
	return cell.a > PERF_RECORD_MISC_CPUMODE_MASK ? (const void *)(uintptr_t)cell.a : NULL;
}

int key_sym_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	const struct symbol *sym = sym_of(cell);
	const char level[] = {'[', sym ? frame_level(cell.b) : '?', ']', ' '};
	int rc;

	if (sym) {
		rc = buf_append(out, level, sizeof(level))
			     ?: buf_append(out, sym->name, strlen(sym->name));
		return rc || !symbol_is_inlined(sym)
			       ? rc
			       : buf_append(out, INLINED_MARK, strlen(INLINED_MARK));
	}
	return buf_printf(out, "[%c] 0x%016" PRIx64, frame_level(cell.a), cell.b);
}

bool sort_key_is_name(const struct sort_key *key)
{
	return key->text == key_sym_text || key->of_line;
}

int sort_key_common_text(const struct sort_key *key, const struct trace *t, struct hist_cell cell,
			 struct buf *out)
{
	if (key->text == key_sym_text && !sym_of(cell))
		return buf_printf(out, "[%c] [unknown]", frame_level(cell.a));
	return key->text(t, cell, out);
}

const struct symbol *sort_key_symbol(const struct sort_key *key, struct hist_cell cell,
				     uint8_t *ret_mode, uint64_t *ret_addr)
{
	const struct symbol *sym = key->text == key_sym_text ? sym_of(cell) : NULL;

	*ret_mode = (uint8_t)(sym ? cell.b : cell.a);
	*ret_addr = sym ? sym->start : cell.b;
	return sym;
}

int key_sym_compare(const struct trace *t, struct hist_cell a, struct hist_cell b)
{
	const struct symbol *x = sym_of(a), *y = sym_of(b);

	if (!x || !y)
		return x || y ? (x ? -1 : 1) : compare_u64(a.b, b.b);
	return strcmp(x->name, y->name) ?: compare_u64(x->start, y->start);
}

static int set_string(const struct key_source *src, const char *text, struct hist_cell *ret)
{
	const char *own = text ? strpool_intern(src->names->pool, text) : NULL;

	*ret = (struct hist_cell){.a = (uintptr_t)own};
	return own ? 0 : -ENOMEM;
}

/* As perf, falls back to the place in the symbol or file. */
int key_line_cell(const struct key_source *src, const struct frame *f, struct hist_cell *ret)
{
	char text[4096];

	if (f->lines && f->lines->frame[0].srcline)
		return set_string(src, f->lines->frame[0].srcline, ret);
	if (f->sym)
		snprintf(text, sizeof(text), "%s+%" PRIu64, f->sym->name, f->addr - f->sym->start);
	else
		snprintf(text, sizeof(text), "%s[%" PRIx64 "]",
			 f->dso ? f->dso->short_name : "[unknown]", f->addr);
	return set_string(src, text, ret);
}

static int srcline_cell(const struct key_source *src, struct hist_cell *ret)
{
	return key_line_cell(src, src->frame, ret);
}

static int srcfile_cell(const struct key_source *src, struct hist_cell *ret)
{
	const struct frame *f = src->frame;
	const char *name = f->lines ? f->lines->frame[0].srcfile : NULL;

	return set_string(src, name ? name : "[unknown]", ret);
}

static int cpu_cell(const struct key_source *src, struct hist_cell *ret)
{
	*ret = (struct hist_cell){.a = src->ws->s.cpu};
	return 0;
}

static int cpu_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	return cell.a == UINT32_MAX ? buf_printf(out, "-1")
				    : buf_printf(out, "%03u", (unsigned)cell.a);
}

static int event_cell(const struct key_source *src, struct hist_cell *ret)
{
	*ret = (struct hist_cell){.a = src->ws->evsel->index};
	return 0;
}

static int event_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	const char *name = pd_evlist_at(t->evlist, cell.a)->name;

	return buf_append(out, name, strlen(name));
}

// clang-format off
static const struct sort_key keys[] = {
	{"comm",  NULL,     "Command",       false, false, 0,               true,  comm_cell,  key_string_text, key_compare_strings},
	/* perf's sort key pid shows threads. */
	{"pid",   NULL,     "    Pid:Command", false, false, PERF_SAMPLE_TID, false, tid_cell,   tid_text,   key_compare_numbers},
	{"tid",   NULL,     "    Tid:Command", false, false, PERF_SAMPLE_TID, false, tid_cell,   tid_text,   key_compare_numbers},
	{"tgid",  NULL,     "   Tgid:Command", false, false, PERF_SAMPLE_TID, false, tgid_cell,  tid_text,   key_compare_numbers},
	{"comm_nodigit", NULL, "CommandNoDigit", false, false, 0,     true,  comm_nodigit_cell, key_string_text, key_compare_strings},
	{"dso",   NULL,     "Shared Object", false, true,  0,               false, dso_cell,   key_dso_text, key_dso_compare},
	{"sym",   "symbol", "Symbol",        false, true,  0,               false, sym_cell,   key_sym_text, key_sym_compare},
	{"cpu",   NULL,     "CPU",           true,  false, PERF_SAMPLE_CPU, false, cpu_cell,   cpu_text,   key_compare_numbers},
	{"event", NULL,     "Event",         false, false, 0,               false, event_cell, event_text, key_compare_numbers},
	{"srcline", NULL,   "Source:Line",   false, true,  0,               true,  srcline_cell, key_string_text, key_compare_strings, .of_line = true},
	{"srcfile", NULL,   "Source File",   false, true,  0,               true,  srcfile_cell, key_string_text, key_compare_strings, .of_line = true},
};
// clang-format on

#define NR_KEYS (sizeof(keys) / sizeof(keys[0]))

const struct sort_key *sort_key_at(size_t index)
{
	if (index < NR_KEYS)
		return &keys[index];
	index -= NR_KEYS;
	if (index < nr_sample_keys)
		return &sample_keys[index];
	index -= nr_sample_keys;
	if (index < nr_place_keys)
		return &place_keys[index];
	index -= nr_place_keys;
	if (index < nr_ipc_keys)
		return &ipc_keys[index];
	index -= nr_ipc_keys;
	if (index < nr_data_keys)
		return &data_keys[index];
	index -= nr_data_keys;
	if (index < nr_mem_keys)
		return &mem_keys[index];
	index -= nr_mem_keys;
	return index < nr_wait_keys ? &wait_keys[index] : NULL;
}

static bool is_name(const char *known, const char *name, size_t len)
{
	return known && !strncmp(known, name, len) && !known[len];
}

const struct sort_key *sort_key_find(const char *name, size_t len)
{
	const struct sort_key *key;

	for (size_t i = 0; (key = sort_key_at(i)); i++)
		if (is_name(key->name, name, len) || is_name(key->alias, name, len))
			return key;
	return NULL;
}

/* Writes as nearest_write(). */
static void suggest(const char *name, size_t len, const char *const *more, char *out, size_t size)
{
	const struct sort_key *key;
	struct nearest nearest;

	*out = '\0';
	if (!nearest_init_len(&nearest, name, len))
		return;
	for (size_t i = 0; (key = sort_key_at(i)); i++) {
		nearest_offer(&nearest, key->name);
		if (key->alias)
			nearest_offer(&nearest, key->alias);
	}
	for (; more && *more; more++)
		nearest_offer(&nearest, *more);
	nearest_write(&nearest, out, size);
}

int sort_key_unknown(const char *what, const char *name, size_t len, const char *const *more,
		     struct error *err)
{
	const char *why = sort_key_refused(name, len);
	char all[640], near[256];
	size_t n = 0;

	if (why)
		return error_set(err, -EINVAL, "%s '%.*s': %s", what, (int)len, name, why);
	suggest(name, len, more, near, sizeof(near));
	if (*near)
		return error_set(
			err, -EINVAL,
			"unknown %s '%.*s'%s ringtail-report(1) lists them under SORT KEYS", what,
			(int)len, name, near);
	for (size_t i = 0; i < NR_KEYS && n < sizeof(all); i++)
		n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s", i ? ", " : "",
				      keys[i].name);
	for (size_t i = 0; more && more[i] && n < sizeof(all); i++)
		n += (size_t)snprintf(all + n, sizeof(all) - n, ", %s", more[i]);
	return error_set(err, -EINVAL,
			 "unknown %s '%.*s'; there are %s, and those under SORT KEYS in "
			 "ringtail-report(1)%s",
			 what, (int)len, name, all,
			 more ? "" : " but overhead and fields of tracepoints");
}

int sort_keys_check(const struct sort_key *const *list_keys, size_t nr,
		    const struct pd_evlist *list, struct error *err)
{
	uint64_t has = pd_evlist_sample_type(list);

	for (size_t i = 0; pd_evlist_count(list) && i < nr; i++)
		if (list_keys[i]->needs && !(list_keys[i]->needs & has))
			return error_set(
				err, -EINVAL,
				"--sort %s: the samples of this recording have no such field",
				list_keys[i]->name);
	return 0;
}

int sort_keys_parse(const char *list, const struct sort_key **ret, size_t there, struct error *err)
{
	static const char first[] = "overhead";
	const size_t first_len = sizeof(first) - 1;
	bool more = *list == '+';
	int nr = more ? (int)there : 0;

	/* perf names the first column, too. */
	list += more;
	if (!more && !strncmp(list, first, first_len) &&
	    (list[first_len] == ',' || list[first_len] == ' '))
		list += first_len + 1;
	for (const char *s = list;; s++) {
		size_t len = strcspn(s, ", ");
		const struct sort_key *key = sort_key_find(s, len);

		if (!key && len == first_len && !strncmp(s, first, len))
			return error_set(err, -EINVAL,
					 "overhead is always the first column: name it first, with "
					 "other keys behind it, or not at all");
		if (!key)
			return sort_key_unknown("sort key", s, len, NULL, err);
		if (nr == SORT_KEYS_MAX)
			return error_set(err, -EINVAL, "more than %d sort keys", SORT_KEYS_MAX);
		for (int i = 0; i < nr; i++)
			if (ret[i] == key)
				return error_set(err, -EINVAL, "sort key '%s' is given twice",
						 key->name);
		ret[nr++] = key;
		s += len;
		if (!*s)
			return nr;
	}
}
