// SPDX-License-Identifier: Apache-2.0
#include "report/trace/filter.h"

#include <errno.h>
#include <math.h>
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

/* Parses "10%" and sets *@s behind it. Returns 0 with 0.1, or -EINVAL. */
static int parse_percent(const char **s, double *ret)
{
	char *end;
	double v = **s >= '0' && **s <= '9' ? strtod(*s, &end) : -1;

	if (!(v >= 0 && v <= 100) || *end != '%')
		return -EINVAL;
	*s = end + 1;
	*ret = v / 100;
	return 0;
}

/* Parses "10%/2", "10%" or "0%-10%", and sets *@s behind it. */
static int parse_time_part(const char **s, struct filter_part *ret)
{
	uint64_t nth = 1;
	double size;

	if (parse_percent(s, &size) < 0)
		return -EINVAL;
	if (**s == '-') {
		++*s;
		*ret = (struct filter_part){.first = size};
		return parse_percent(s, &ret->last) < 0 || ret->last < size ? -EINVAL : 0;
	}
	if (**s == '/') {
		size_t len = strspn(++*s, "0123456789");

		if (parse_part(*s, len, &nth) < 0 || !nth)
			return -EINVAL;
		*s += len;
	}
	*ret = (struct filter_part){.first = (double)(nth - 1) * size, .last = (double)nth * size};
	return size > 0 && ret->last < 1 + 1e-9 ? 0 : -EINVAL;
}

static int parse_time_parts(const char *s, struct filter *ret)
{
	ret->nr_parts = 0;
	for (;; s++) {
		struct filter_part part;

		if (parse_time_part(&s, &part) < 0)
			return -EINVAL;
		if (array_grow(&ret->parts, &ret->cap_parts, ret->nr_parts + 1,
			       sizeof(*ret->parts)) < 0)
			return -ENOMEM;
		ret->parts[ret->nr_parts++] = part;
		if (*s != ',')
			return *s ? -EINVAL : 0;
	}
}

int filter_place_parts(struct filter *f, uint64_t first, uint64_t last)
{
	double all = (double)(last - first);

	if (!f->nr_parts)
		return 0;
	f->times.nr = 0;
	for (size_t i = 0; i < f->nr_parts; i++) {
		struct filter_range r = {
			.first = first + (uint64_t)llround(f->parts[i].first * all),
			.last = first + (uint64_t)llround(f->parts[i].last * all),
		};

		/* The next part begins there. */
		if (r.last > r.first && r.last < last)
			r.last--;
		if (array_grow(&f->times.r, &f->times.cap, i + 1, sizeof(*f->times.r)) < 0)
			return -ENOMEM;
		f->times.r[f->times.nr++] = r;
	}
	return 0;
}

/* Parses the @len characters "start,stop". *@ret_stop is 0 if there is none. */
static int parse_span(const char *s, size_t len, uint64_t *ret_start, uint64_t *ret_stop)
{
	const char *comma = memchr(s, ',', len);
	size_t first = comma ? (size_t)(comma - s) : len;

	*ret_start = *ret_stop = 0;
	if (first && parse_seconds(s, first, ret_start) < 0)
		return -EINVAL;
	if (first + 1 < len && parse_seconds(s + first + 1, len - first - 1, ret_stop) < 0)
		return -EINVAL;
	return *ret_stop && *ret_stop < *ret_start ? -EINVAL : 0;
}

/* As perf, accepts spans in order that do not overlap; all but the last leave out their stop. */
static int parse_spans(const char *s, struct filter *ret)
{
	struct filter_ranges *times = &ret->times;

	ret->start = ret->stop = ret->nr_parts = 0;
	times->nr = 0;
	for (s += strspn(s, " "); *s; s += strspn(s, " ")) {
		struct filter_range *before = times->nr ? &times->r[times->nr - 1] : NULL;
		size_t len = strcspn(s, " ");
		uint64_t start, stop;

		if (parse_span(s, len, &start, &stop) < 0 ||
		    (before && (before->last == UINT64_MAX || start < before->last)))
			return -EINVAL;
		if (before)
			before->last -= before->last > before->first;
		if (array_grow(&times->r, &times->cap, times->nr + 1, sizeof(*times->r)) < 0)
			return -ENOMEM;
		times->r[times->nr++] = (struct filter_range){start, stop ? stop : UINT64_MAX};
		s += len;
	}
	if (!times->nr)
		return -EINVAL;
	ret->start = times->r[0].first;
	ret->stop = times->r[times->nr - 1].last;
	return 0;
}

int filter_time_parse(const char *s, struct filter *ret)
{
	uint64_t start, stop;

	if (strchr(s, '%'))
		return parse_time_parts(s, ret);
	if (strchr(s, ' '))
		return parse_spans(s, ret);
	if (parse_span(s, strlen(s), &start, &stop) < 0)
		return -EINVAL;
	ret->times.nr = ret->nr_parts = 0;
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
		{"--time", f->start || f->stop || f->nr_parts, PERF_SAMPLE_TIME, "time"},
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
	free(f->addresses.r);
	free(f->parallelism.r);
	free(f->times.r);
	free(f->parts);
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
	       filter_ranges_have(&f->cpus, s->cpu) && filter_ranges_have(&f->addresses, s->ip) &&
	       s->time >= f->start && (!f->stop || s->time <= f->stop) &&
	       filter_ranges_have(&f->times, s->time);
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
