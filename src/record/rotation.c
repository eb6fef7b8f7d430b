// SPDX-License-Identifier: Apache-2.0
#include "record/rotation.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "data/earlier.h"

int rotation_init(struct rotation *r, const struct record_opts *opts, const struct plan *plan,
		  const struct notes *notes, struct error *err)
{
	*r = (struct rotation){.opts = opts, .notes = notes};
	if (!opts->switch_output)
		return 0;
	r->sideband = sideband_new(&plan->events[0].attr);
	return r->sideband ? 0 : error_set(err, -ENOMEM, "out of memory");
}

void rotation_release(struct rotation *r)
{
	sideband_free(r->sideband);
	while (r->nr_kept)
		free(r->kept[--r->nr_kept]);
	free(r->kept);
	free(r->last);
	loss_release(&r->loss);
	*r = (struct rotation){0};
}

void rotation_watch(const struct rotation *r, const struct output *out)
{
	uint64_t now, limit = r->opts->max_size;

	lane_measure(&out->lanes[0]);
	now = output_metered(out);
	if (r->opts->switch_size && (!limit || now + r->opts->switch_size < limit))
		limit = now + r->opts->switch_size;
	output_limit(out, limit);
}

int rotation_settle(struct rotation *r, struct error *err)
{
	if (r->sideband && sideband_settle(r->sideband))
		return error_set(err, -ENOMEM, "out of memory");
	return 0;
}

/* --- names ---------------------------------------------------------------------------------------
 */

/* NAME.YYYYMMDDhhmmsscc of @tv, which moves on by a hundredth. */
static char *stamped(const char *name, size_t len, struct timeval *tv)
{
	char stamp[32], *path;
	struct tm tm;

	localtime_r(&tv->tv_sec, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d%H%M%S", &tm);
	if (asprintf(&path, "%.*s.%s%02u", (int)len, name, stamp,
		     (unsigned int)tv->tv_usec / 10000) < 0)
		return NULL;
	tv->tv_usec += 10000;
	if (tv->tv_usec >= 1000000) {
		tv->tv_usec -= 1000000;
		tv->tv_sec++;
	}
	return path;
}

/* Some file systems cannot rename without replacing. */
static int rename_to_new(const char *from, const char *to)
{
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL)
		return -errno;
	if (!faccessat(AT_FDCWD, to, F_OK, AT_SYMLINK_NOFOLLOW))
		return -EEXIST;
	return rename(from, to) ? -errno : 0;
}

/* Gives the output its name with the time of now. Returns 0 or a negative errno with @err filled.
 */
static int move_away(struct rotation *r, char **ret, struct error *err)
{
	const char *name = r->opts->output;
	size_t len = strlen(name);
	struct timeval tv;
	char *path;
	int code;

	while (len > 1 && name[len - 1] == '/')
		len--;
	gettimeofday(&tv, NULL);
	do {
		path = stamped(name, len, &tv);
		if (!path)
			return error_set(err, -ENOMEM, "out of memory");
		code = rename_to_new(name, path);
		if (!code)
			break;
		if (code != -EEXIST)
			error_sys(err, code, "%s: cannot rename it to %s", name, path);
		free(path);
	} while (code == -EEXIST);
	if (!code)
		*ret = path;
	return code;
}

static void delete_output(const struct rotation *r, const char *path)
{
	if (r->opts->threads)
		earlier_undo_directory(path);
	else
		unlink(path);
}

/* Takes over @path. Returns 0 or -ENOMEM. */
static int keep(struct rotation *r, char *path)
{
	free(r->last);
	r->last = path;
	if (!r->opts->switch_max_files)
		return 0;
	if (array_grow(&r->kept, &r->capacity, r->nr_kept + 1, sizeof(*r->kept)))
		return -ENOMEM;
	r->kept[r->nr_kept] = strdup(path);
	if (!r->kept[r->nr_kept])
		return -ENOMEM;
	r->nr_kept++;
	if (r->nr_kept <= r->opts->switch_max_files)
		return 0;
	delete_output(r, r->kept[0]);
	free(r->kept[0]);
	r->nr_kept--;
	memmove(r->kept, r->kept + 1, r->nr_kept * sizeof(*r->kept));
	return 0;
}

/* --- the cut -------------------------------------------------------------------------------------
 */

struct emit_to {
	struct sink *sink;
	struct error *err;
};

static int emit_record(const struct perf_event_header *hdr, void *arg)
{
	struct emit_to *to = arg;

	return sink_record(to->sink, hdr, to->err);
}

/* What is alive, into the first lane. */
static int write_live(struct rotation *r, struct output *next, struct error *err)
{
	struct emit_to to = {next->lanes[0].chain, err};
	int code = sideband_emit(r->sideband, emit_record, &to);

	if (code == -ENOMEM)
		error_set(err, code, "out of memory");
	return code;
}

static int all_do(struct rotation *r, struct crew *crew, enum worker_command command,
		  struct error *err)
{
	int code;

	crew_ask(crew, command);
	code = crew_await(crew, err);
	return code ? code : rotation_settle(r, err);
}

static void say_live(struct rotation *r)
{
	struct live_stats live;
	size_t waiting;

	sideband_stats(r->sideband, &live, &waiting);
	notes_say(r->notes, NOTE_DETAIL,
		  "alive: %zu tasks of %zu processes with %zu maps, %zu others; %zu records since",
		  live.tasks, live.processes, live.maps, live.others, waiting);
}

static int finish(struct rotation *r, struct output *out, const struct plan *plan,
		  const struct opened *opened, struct error *err)
{
	int code = output_finish(out, plan, opened, err);

	if (code)
		return code;
	r->outputs++;
	r->samples += out->tally.samples;
	r->bytes += output_size(out);
	return loss_merge(&r->loss, &out->loss) ? error_set(err, -ENOMEM, "out of memory") : 0;
}

/* The workers go over to @next. Until they pause, nothing has changed for them. */
static int switch_over(struct rotation *r, struct crew *crew, struct output *next,
		       struct error *err)
{
	/* The first visit makes known up to which time the second one has everything. */
	int code = all_do(r, crew, WORKER_FLUSH, err);

	if (!code)
		code = all_do(r, crew, WORKER_PAUSE, err);
	if (!code)
		code = write_live(r, next, err);
	if (!code)
		code = lane_flush(&next->lanes[0], err);
	if (code)
		return code;
	output_listen(next, r->sideband);
	rotation_watch(r, next);
	crew_retarget(crew, next);
	crew_resume(crew);
	return 0;
}

int rotation_cut(struct rotation *r, struct crew *crew, struct output *out, const struct plan *plan,
		 const struct opened *opened, struct error *err)
{
	struct output next, old;
	char *path = NULL;
	int code = move_away(r, &path, err);

	if (code)
		return code;
	code = output_create(&next, r->opts, plan, opened, crew->nr, err);
	if (!code) {
		code = switch_over(r, crew, &next, err);
		if (code)
			delete_output(r, r->opts->output);
	}
	if (code) {
		output_release(&next);
		free(path);
		return code;
	}
	say_live(r);
	old = *out;
	*out = next;
	code = finish(r, &old, plan, opened, err);
	output_follow(out, &old);
	if (!code)
		notes_say(r->notes, NOTE_INFO, "%s: %llu samples, %llu lost, %llu KB", path,
			  (unsigned long long)old.tally.samples, (unsigned long long)old.loss.total,
			  (unsigned long long)output_size(&old) / 1024);
	output_release(&old);
	if (keep(r, path) && !code)
		code = error_set(err, -ENOMEM, "out of memory");
	return code;
}

int rotation_end(struct rotation *r, struct output *out, const struct plan *plan,
		 const struct opened *opened, struct error *err)
{
	char *path;
	int code = finish(r, out, plan, opened, err);

	if (code || (!r->opts->switch_output && !r->opts->timestamp_filename))
		return code;
	code = move_away(r, &path, err);
	if (!code && keep(r, path))
		code = error_set(err, -ENOMEM, "out of memory");
	return code;
}
