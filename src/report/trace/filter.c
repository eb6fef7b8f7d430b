// SPDX-License-Identifier: Apache-2.0
#include "report/trace/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/parse.h"
#include "symbol/demangle/demangle.h"

static int parse_part(const char *s, size_t len, uint64_t *ret)
{
	char text[24];

	if (!len || len >= sizeof(text))
		return -EINVAL;
	memcpy(text, s, len);
	text[len] = '\0';
	return parse_u64(text, ret) < 0 ? -EINVAL : 0;
}

int filter_ranges_parse(const char *list, struct filter_ranges *ret)
{
	for (const char *s = list;; s++) {
		size_t len = strcspn(s, ","), first = strcspn(s, ",-");
		struct filter_range r;

		if (parse_part(s, first, &r.first) < 0)
			return -EINVAL;
		r.last = r.first;
		if (first < len && parse_part(s + first + 1, len - first - 1, &r.last) < 0)
			return -EINVAL;
		if (r.last < r.first)
			return -EINVAL;
		if (array_grow(&ret->r, &ret->cap, ret->nr + 1, sizeof(*ret->r)) < 0)
			return -ENOMEM;
		ret->r[ret->nr++] = r;
		s += len;
		if (!*s)
			return 0;
	}
}

/* Parses seconds with up to nine digits behind the point; gives ns. */
static int parse_seconds(const char *s, size_t len, uint64_t *ret)
{
	const char *dot = memchr(s, '.', len);
	size_t whole = dot ? (size_t)(dot - s) : len;
	uint64_t sec, ns = 0, unit = 100000000;

	if (parse_part(s, whole, &sec) < 0)
		return -EINVAL;
	for (size_t i = whole + 1; i < len; i++, unit /= 10) {
		if (s[i] < '0' || s[i] > '9' || !unit)
			return -EINVAL;
		ns += (s[i] - '0') * unit;
	}
	if (__builtin_mul_overflow(sec, 1000000000ull, ret) ||
	    __builtin_add_overflow(*ret, ns, ret))
		return -EINVAL;
	return 0;
}

int filter_time_parse(const char *s, struct filter *ret)
{
	size_t len = strcspn(s, ",");
	uint64_t start = 0, stop = 0;

	if (len && parse_seconds(s, len, &start) < 0)
		return -EINVAL;
	if (s[len] && s[len + 1] && parse_seconds(s + len + 1, strlen(s + len + 1), &stop) < 0)
		return -EINVAL;
	if (stop && stop < start)
		return -EINVAL;
	ret->start = start;
	ret->stop = stop;
	return 0;
}

int filter_check(const struct filter *f, const struct pd_evlist *list, struct error *err)
{
	const struct {
		const char *option;
		bool given;
		uint64_t needs;
		const char *what;
	} parts[] = {
		{"-C", f->cpus.nr, PERF_SAMPLE_CPU, "CPU"},
		{"--time", f->start || f->stop, PERF_SAMPLE_TIME, "time"},
		{"--pid", f->pids.nr, PERF_SAMPLE_TID, "process"},
		{"--tid", f->tids.nr, PERF_SAMPLE_TID, "thread"},
	};
	uint64_t has = pd_evlist_sample_type(list);

	for (size_t i = 0; pd_evlist_count(list) && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].given && !(has & parts[i].needs))
			return error_set(err, -EINVAL,
					 "%s: the samples of this recording have no %s",
					 parts[i].option, parts[i].what);
	return 0;
}

void filter_release(struct filter *f)
{
	free(f->pids.r);
	free(f->tids.r);
	free(f->cpus.r);
	*f = (struct filter){0};
}

bool filter_ranges_have(const struct filter_ranges *ranges, uint64_t v)
{
	for (size_t i = 0; i < ranges->nr; i++)
		if (v >= ranges->r[i].first && v <= ranges->r[i].last)
			return true;
	return !ranges->nr;
}

/* Names of C++ functions contain commas, so an item may begin after any comma. */
static bool in_list(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *s = list;; s++) {
		if (!strncmp(s, name, len) && (!s[len] || s[len] == ','))
			return true;
		s += strcspn(s, ",");
		if (!*s)
			return false;
	}
}

/* Compares the whole name, or the name without its parameters, which differ in overloads. */
static bool symbol_in_list(const char *list, const char *name)
{
	char *reduced;
	bool ret;

	if (in_list(list, name))
		return true;
	reduced = demangle_reduce(name);
	ret = reduced && in_list(list, reduced);
	free(reduced);
	return ret;
}

bool filter_sample(const struct filter *f, const struct pd_sample *s)
{
	return filter_ranges_have(&f->pids, s->pid) && filter_ranges_have(&f->tids, s->tid) &&
	       filter_ranges_have(&f->cpus, s->cpu) && s->time >= f->start &&
	       (!f->stop || s->time <= f->stop);
}

bool filter_place(const struct filter *f, const struct frame *frame)
{
	return !f->resolved || frame->sym;
}

bool filter_comm(const struct filter *f, const char *comm)
{
	return !f->comms || in_list(f->comms, comm ? comm : "");
}

bool filter_frame(const struct filter *f, const struct frame *frame)
{
	if (f->dsos && !(frame->dso && (in_list(f->dsos, frame->dso->short_name) ||
					in_list(f->dsos, frame->dso->line_name) ||
					in_list(f->dsos, frame->dso->name))))
		return false;
	if (f->symbol_part && !(frame->sym && strstr(frame->sym->name, f->symbol_part)))
		return false;
	return !f->symbols || (frame->sym && symbol_in_list(f->symbols, frame->sym->name));
}

bool filter_needs_frame(const struct filter *f)
{
	return f->dsos || f->symbols || f->symbol_part || f->resolved;
}

bool filter_row(const struct filter *f, const char *comm, const struct frame *frame)
{
	return filter_comm(f, comm) && filter_frame(f, frame);
}
