// SPDX-License-Identifier: Apache-2.0
#include "cli/input/wall_time.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock_ns.h"
#include "cli/input/input.h"
#include "perfdata/feature.h"

#define DAY (24 * 3600)

/* A time of day, with or without its date. */
struct wall {
	struct tm tm;
	bool dated;
	uint64_t ns; /* of the second */
};

/* Reads the digits behind the point of seconds. Returns the end, or NULL. */
static const char *parse_fraction(const char *s, uint64_t *ret)
{
	uint64_t unit = NS_PER_SEC / 10;

	*ret = 0;
	for (; *s >= '0' && *s <= '9' && unit; s++, unit /= 10)
		*ret += (uint64_t)(*s - '0') * unit;
	return *s ? NULL : s;
}

/* Reads "[YYYY-MM-DD(T| )]HH:MM[:SS[.FRACTION]]". */
static bool parse_wall(const char *text, struct wall *ret)
{
	struct wall w = {.tm.tm_isdst = -1};
	const char *s = strptime(text, "%Y-%m-%d", &w.tm), *end;

	w.dated = s;
	if (s && *s != 'T' && *s != ' ')
		return false;
	s = s ? s + 1 : text;
	end = strptime(s, "%H:%M:%S", &w.tm);
	if (!end)
		end = strptime(s, "%H:%M", &w.tm);
	if (end && *end == '.')
		end = parse_fraction(end + 1, &w.ns);
	w.tm.tm_isdst = -1;
	if (!end || *end)
		return false;
	*ret = w;
	return true;
}

/* Splits @arg at its comma. Returns whether both sides are empty or times. */
static bool parse_span(const char *arg, struct wall *ret_start, bool *ret_has_start,
		       struct wall *ret_stop, bool *ret_has_stop)
{
	const char *comma = strchr(arg, ',');
	size_t len = comma ? (size_t)(comma - arg) : strlen(arg);
	char start[64];

	if (len >= sizeof(start))
		return false;
	memcpy(start, arg, len);
	start[len] = '\0';
	*ret_has_start = len;
	*ret_has_stop = comma && comma[1];
	return (!*ret_has_start || parse_wall(start, ret_start)) &&
	       (!*ret_has_stop || parse_wall(comma + 1, ret_stop));
}

bool wall_time_is(const char *arg)
{
	struct wall start, stop;
	bool has_start, has_stop;

	return strchr(arg, ':') && parse_span(arg, &start, &has_start, &stop, &has_stop);
}

/* Finds the time of day, in ns, at time 0 of the recording. */
static uint64_t wall_at_zero(const struct trace *t, bool *ret_guessed)
{
	struct pd_snapshot_log log;
	struct pd_clock_data data;
	const uint8_t *p;
	size_t len;

	*ret_guessed = false;
	if (!data_feature(t->df, HEADER_CLOCK_DATA, &p, &len) &&
	    !pd_feature_clock_data_decode(p, len, data_swapped(t->df), &data))
		return data.wall_clock_ns - data.clockid_time_ns;
	for (size_t i = 0; i < t->snapshots.nr_records; i++) {
		snapshots_read(&t->snapshots, i, &log);
		if (log.kind == PD_SNAPSHOT_REQUEST && log.request.wall_clock && log.request.asked)
			return log.request.wall_clock - log.request.asked;
	}
	*ret_guessed = true;
	return (uint64_t)input_captured(t->opts.path) * NS_PER_SEC - t->counts.last_time;
}

/* Returns the time of the recording's clock; times before its start become 0. */
static uint64_t place(struct wall w, const struct trace *t, uint64_t zero)
{
	time_t first = (time_t)((zero + t->counts.first_time) / NS_PER_SEC), at;
	time_t last = (time_t)((zero + t->counts.last_time) / NS_PER_SEC);
	struct tm day;
	uint64_t ns;

	if (!w.dated && localtime_r(&first, &day)) {
		w.tm.tm_year = day.tm_year;
		w.tm.tm_mon = day.tm_mon;
		w.tm.tm_mday = day.tm_mday;
	}
	at = mktime(&w.tm);
	if (!w.dated && at < first && at + DAY <= last)
		at += DAY;
	ns = (uint64_t)at * NS_PER_SEC + w.ns;
	return ns > zero ? ns - zero : 0;
}

int wall_time_apply(const char *arg, const struct trace *t, struct filter *f, bool *ret_guessed,
		    struct error *err)
{
	struct wall start, stop;
	bool has_start, has_stop;
	uint64_t zero;

	if (!parse_span(arg, &start, &has_start, &stop, &has_stop))
		return error_set(err, -EINVAL, "--time: '%.64s' is no span of times of day", arg);
	if (!t->counts.last_time)
		return error_set(err, -EINVAL,
				 "%s: times of day need samples that were recorded with times, and "
				 "there are none",
				 t->opts.path);
	zero = wall_at_zero(t, ret_guessed);
	f->start = has_start ? place(start, t, zero) : 0;
	f->stop = has_stop ? place(stop, t, zero) : 0;
	if (has_stop && (!f->stop || f->stop < f->start))
		return error_set(
			err, -EINVAL,
			"--time %.64s: that ends before the recording, or before its start", arg);
	return 0;
}
