// SPDX-License-Identifier: Apache-2.0
#include "record/session/rotation.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/human.h"
#include "base/plural.h"
#include "data/writer/output_backup.h"
#include "record/aux/info.h"
#include "record/pipeline/overwrite_tally.h"
#include "sys/io/file.h"

void rotation_release(struct rotation *r)
{
	sideband_free(r->sideband);
	lost_carryover_free(r->late);
	while (r->nr_kept)
		free(r->kept[--r->nr_kept]);
	free(r->kept);
	free(r->taken);
	free(r->last);
	free(r->moved);
	loss_release(&r->loss);
	names_wait_release(&r->wait);
	*r = (struct rotation){0};
}

void rotation_watch(const struct rotation *r, const struct output *out)
{
	uint64_t now, limit = r->opts->max_size;

	lane_measure(&out->lanes[0]);
	now = output_metered(out);
	if (r->opts->rotation.size && (!limit || now + r->opts->rotation.size < limit))
		limit = now + r->opts->rotation.size;
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

#define STAMP_LEN 16

/* Length without trailing slashes, which the name of a directory may have. */
static size_t name_length(const char *name)
{
	size_t len = strlen(name);

	while (len > 1 && name[len - 1] == '/')
		len--;
	return len;
}

/* Returns NAME.YYYYMMDDhhmmsscc for @tv, and advances @tv by a hundredth of a second. */
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

/*
 * Renames the output to its name with the present time. Returns 0 or a negative errno with @err
 * filled.
 */
static int move_away(struct rotation *r, char **ret, struct error *err)
{
	const char *name = r->opts->path;
	size_t len = name_length(name);
	struct timeval tv;
	char *path;
	int rc;

	gettimeofday(&tv, NULL);
	do {
		path = stamped(name, len, &tv);
		if (!path)
			return error_set(err, -ENOMEM, "out of memory");
		rc = file_rename_new(name, path);
		if (!rc)
			break;
		if (rc != -EEXIST)
			error_sys(err, rc, "%s: cannot rename it to %s", name, path);
		free(path);
	} while (rc == -EEXIST);
	if (!rc)
		*ret = path;
	return rc;
}

static void delete_output(const struct rotation *r, const char *path)
{
	if (r->opts->directory)
		output_backup_undo_directory(path);
	else
		unlink(path);
}

static int add_kept(struct rotation *r, const char *path)
{
	if (array_grow(&r->kept, &r->capacity, r->nr_kept + 1, sizeof(*r->kept)))
		return -ENOMEM;
	r->kept[r->nr_kept] = strdup(path);
	if (!r->kept[r->nr_kept])
		return -ENOMEM;
	r->nr_kept++;
	return 0;
}

/* Deletes the oldest outputs until @most are left. */
static void delete_oldest(struct rotation *r, size_t most)
{
	size_t nr = r->nr_kept > most ? r->nr_kept - most : 0;

	for (size_t i = 0; i < nr; i++) {
		delete_output(r, r->kept[i]);
		free(r->kept[i]);
		if (r->nr_earlier)
			r->nr_earlier--;
		else
			r->deleted++;
	}
	r->nr_kept -= nr;
	if (nr)
		memmove(r->kept, r->kept + nr, r->nr_kept * sizeof(*r->kept));
}

/*
 * Makes room for one more output to keep. It does so before the next one is made, because the disk
 * may not have room for both.
 */
static void make_room(struct rotation *r)
{
	if (r->opts->rotation.max_files)
		delete_oldest(r, r->opts->rotation.max_files - 1);
}

/* Adds @path to the kept outputs and takes it over. Returns 0 or -ENOMEM. */
static int keep(struct rotation *r, char *path)
{
	free(r->last);
	r->last = path;
	if (!r->opts->rotation.max_files)
		return 0;
	make_room(r);
	return add_kept(r, path);
}

/* --- outputs that somebody moved, deleted or truncated -------------------------------------------
 */

/* Reports it, once. @path is that of output_place(). */
static void say_strayed(struct rotation *r, enum writer_place place, const char *path,
			const char *then)
{
	static const char *const how[] = {
		[WRITER_MOVED] = "moved",
		[WRITER_DELETED] = "deleted",
		[WRITER_TRUNCATED] = "truncated",
	};
	bool lost = place >= WRITER_DELETED && !r->opts->memory.bytes;
	enum message_level level = lost ? MESSAGE_WARNING : MESSAGE_INFO;

	if (!r->strayed && path)
		messages_say(r->messages, level, "another program moved %s to %s%s", r->opts->path,
			     path, then);
	else if (!r->strayed)
		messages_say(r->messages, level, "another program %s %s%s", how[place],
			     r->opts->path, then);
	r->strayed = true;
}

void rotation_look(struct rotation *r, const struct output *out)
{
	enum writer_place place;
	const char *then;
	char *path;

	if (r->strayed || r->opts->memory.bytes)
		return;
	place = output_place(out, &path);
	if (r->opts->rotation.enabled)
		then = "; the next rotation begins a new one";
	else
		then = place == WRITER_MOVED ? "; the recording goes on there"
					     : "; its samples are lost";
	/* A truncated output is reported by the next flush. */
	if (place == WRITER_MOVED || place == WRITER_DELETED)
		say_strayed(r, place, path, then);
	free(path);
}

/* Subtracts a deleted output, which was finished and added, from the sums. */
static void count_deleted(struct rotation *r, const struct output *out)
{
	uint64_t samples = output_deleted_samples(out);

	r->samples -= samples;
	if (samples == out->tally.samples)
		r->bytes -= output_size(out);
	loss_add(&r->loss, LOSS_DELETED, LOSS_NO_EVENT, -1, samples);
}

/*
 * Ends @out, which somebody moved, deleted or truncated. It is complete unless it has @failed. It
 * lies at @path, which is taken over, or at an unknown place. With -M, whoever deleted it had seen
 * the snapshot.
 */
static void leave_strayed(struct rotation *r, const struct output *out, bool failed,
			  enum writer_place place, char *path)
{
	if (place >= WRITER_DELETED && !r->opts->memory.bytes) {
		r->lost++;
		if (!failed)
			count_deleted(r, out);
	}
	r->strayed = false;
	free(r->last);
	r->last = path;
}

/* --- outputs of earlier recordings ---------------------------------------------------------------
 */

/* Whether @path is a file or directory of this user, as this recording makes them; no link. */
static bool is_output(const struct rotation *r, const char *path)
{
	struct stat st;

	if (lstat(path, &st) || st.st_uid != geteuid())
		return false;
	return r->opts->directory ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode);
}

/*
 * Adds @entry of the output's directory if its name is NAME.YYYYMMDDhhmmsscc. The directory's path
 * is the first @prefix bytes of the output's path.
 */
static int look_at_earlier(struct rotation *r, size_t prefix, const char *entry)
{
	size_t len = name_length(r->opts->path);
	char *path;
	int rc = 0;

	if (strncmp(entry, r->opts->path + prefix, len - prefix))
		return 0;
	entry += len - prefix;
	if (*entry != '.' || strspn(entry + 1, "0123456789") != STAMP_LEN || entry[1 + STAMP_LEN])
		return 0;
	if (asprintf(&path, "%.*s%s", (int)len, r->opts->path, entry) < 0)
		return -ENOMEM;
	if (is_output(r, path))
		rc = add_kept(r, path);
	free(path);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Finds none if the directory cannot be read. */
static int find_earlier(struct rotation *r)
{
	size_t prefix = name_length(r->opts->path);
	struct dirent *d;
	char *dir;
	DIR *stream;
	int rc = 0;

	while (prefix && r->opts->path[prefix - 1] != '/')
		prefix--;
	dir = strndup(r->opts->path, prefix);
	if (!dir)
		return -ENOMEM;
	stream = opendir(prefix ? dir : ".");
	while (stream && !rc && (d = readdir(stream)))
		rc = look_at_earlier(r, prefix, d->d_name);
	if (stream)
		closedir(stream);
	if (r->nr_kept)
		qsort(r->kept, r->nr_kept, sizeof(*r->kept), by_name);
	r->nr_earlier = r->nr_kept;
	free(dir);
	return rc;
}

int rotation_init(struct rotation *r, const struct output_opts *opts, const struct plan *plan,
		  const struct messages *messages, const struct patience *patience,
		  struct error *err)
{
	*r = (struct rotation){.opts = opts, .messages = messages};
	if (patience)
		r->wait.patience = *patience;
	r->taken = calloc(plan->nr, sizeof(*r->taken));
	if (!r->taken || (opts->rotation.max_all && find_earlier(r)))
		return error_set(err, -ENOMEM, "out of memory");
	if (!opts->rotation.enabled || opts->memory.bytes)
		return 0;
	r->sideband = sideband_new(&plan->events[0].attr);
	r->late = lost_carryover_new();
	return r->sideband && r->late ? 0 : error_set(err, -ENOMEM, "out of memory");
}

/* --- rotate --------------------------------------------------------------------------------------
 */

/* Writes records for all living tasks to the first lane of @next. */
static int write_live(struct rotation *r, struct output *next, struct error *err)
{
	struct sink_emit to = {next->lanes[0].chain, err};
	int rc = sideband_emit(r->sideband, sink_emit, &to);

	if (rc == -ENOMEM)
		error_set(err, rc, "out of memory");
	return rc;
}

static int all_do(struct rotation *r, struct crew *crew, enum worker_command command,
		  struct error *err)
{
	int rc;

	crew_ask(crew, command);
	rc = crew_await(crew, err);
	return rc ? rc : rotation_settle(r, err);
}

static void say_live(struct rotation *r)
{
	struct task_table_stats live;
	size_t waiting;

	if (!r->sideband)
		return;
	sideband_stats(r->sideband, &live, &waiting);
	messages_say(r->messages, MESSAGE_DETAIL,
		     "the new output begins with %zu tasks of %zu processes, %zu maps and %zu "
		     "other records; %zu records came since",
		     live.tasks, live.processes, live.maps, live.others, waiting);
}

/*
 * Adds an output to the sums. With -M, one without a snapshot does not count, but its size does if
 * it is the only one. With @stays it counts in any case.
 */
static void count(struct rotation *r, const struct output *out, bool stays)
{
	bool none = r->opts->memory.bytes && !out->tally.samples && !stays;

	if (none && r->outputs)
		return;
	if (!r->outputs)
		r->bytes = 0;
	r->bytes += output_size(out);
	r->outputs += !none;
}

static int add_sums(struct rotation *r, const struct output *out, bool stays, struct error *err)
{
	count(r, out, stays);
	r->samples += out->tally.samples;
	r->trace += out->tally.trace;
	for (size_t i = 0; i < out->nr; i++)
		if (out->lanes[i].overwrite_tally)
			overwrite_tally_add(out->lanes[i].overwrite_tally, r->taken);
	return loss_merge(&r->loss, &out->loss) ? error_set(err, -ENOMEM, "out of memory") : 0;
}

static int finish(struct rotation *r, struct output *out, bool stays, const struct plan *plan,
		  const struct opened *opened, struct error *err)
{
	int rc;

	out->wait = &r->wait;
	rc = output_finish(out, plan, opened, err);
	return rc ? rc : add_sums(r, out, stays, err);
}

/* Drains all samples up to now to the output being finished, and pauses the workers. */
static int pause_all(struct rotation *r, struct crew *crew, struct error *err)
{
	int rc;

	crew_hold(crew, false);
	/* The first flush sets the time up to which the second one has everything. */
	rc = all_do(r, crew, WORKER_FLUSH, err);
	return rc ? rc : all_do(r, crew, WORKER_PAUSE, err);
}

/* Switches the workers to @next. Nothing has changed for them until they pause. */
static int switch_over(struct rotation *r, struct crew *crew, struct output *out,
		       struct output *next, const struct plan *plan, const struct opened *opened,
		       struct error *err)
{
	struct sink_emit to = {next->lanes[0].chain, err};
	int rc = aux_info_emit(plan, opened, sink_emit, &to, err);

	if (rc)
		return rc;
	if (!r->sideband) {
		/* Workers write to memory; only the main thread writes to the output. */
		rotation_watch(r, next);
		return lane_flush(&next->lanes[0], err);
	}
	if (r->full && crew->hold)
		crew_hold(crew, true);
	else
		rc = pause_all(r, crew, err);
	if (!rc)
		rc = write_live(r, next, err);
	if (!rc)
		rc = lane_flush(&next->lanes[0], err);
	if (!rc && output_count(out, plan, r->late))
		rc = error_set(err, -ENOMEM, "out of memory");
	if (rc)
		return rc;
	output_listen(next, r->sideband);
	rotation_watch(r, next);
	crew_retarget(crew, next);
	crew_resume(crew);
	return 0;
}

/*
 * Handles the failure to make the next output. If workers write to memory, nothing has changed,
 * provided that the output gets its name back or was @strayed before.
 */
static enum outcome turn_back(struct rotation *r, char *path, bool strayed)
{
	if (!r->sideband && (strayed || !file_rename_new(path, r->opts->path))) {
		free(path);
		return OUTCOME_UNDONE;
	}
	free(r->moved);
	r->moved = path;
	return OUTCOME_BROKEN;
}

static void say_finished(const struct rotation *r, const struct output *old, const char *path)
{
	char samples[HUMAN_COUNT_SIZE], lost[HUMAN_COUNT_SIZE], size[HUMAN_SIZE_SIZE];

	messages_say(r->messages, MESSAGE_INFO, "%s: %s sample%s, %s lost, %s", path,
		     human_count(old->tally.samples, samples), plural_s(old->tally.samples),
		     human_count(old->loss.total, lost), human_size(output_size(old), size));
}

enum outcome rotation_rotate(struct rotation *r, struct crew *crew, struct output *out,
			     const struct plan *plan, const struct opened *opened,
			     struct error *err)
{
	struct output next, old;
	char *path;
	enum writer_place place = output_place(out, &path);
	bool stays = place == WRITER_THERE || !r->opts->memory.bytes;
	int rc = 0;

	if (place != WRITER_THERE)
		say_strayed(r, place, path, "; the recording goes on in a new one");
	else
		rc = move_away(r, &path, err);
	if (rc)
		return OUTCOME_UNDONE;
	if (place == WRITER_THERE)
		make_room(r);
	rc = output_create(&next, r->opts, plan, opened, crew->nr, NULL, err);
	if (!rc) {
		rc = switch_over(r, crew, out, &next, plan, opened, err);
		if (rc)
			delete_output(r, r->opts->path);
	}
	if (rc) {
		output_release(&next);
		return turn_back(r, path, place != WRITER_THERE);
	}
	say_live(r);
	old = *out;
	*out = next;
	rc = finish(r, &old, stays, plan, opened, err);
	output_follow(out, &old);
	if (!rc && path && (old.tally.samples || stays))
		say_finished(r, &old, path);
	else if (rc && !r->sideband) /* the records of a snapshot are already flushed */
		add_sums(r, &old, stays, NULL);
	if (place != WRITER_THERE)
		leave_strayed(r, &old, rc, place, path);
	else if (keep(r, path) && !rc)
		rc = error_set(err, -ENOMEM, "out of memory");
	output_release(&old);
	return rc ? OUTCOME_FLAWED : OUTCOME_DONE;
}

int rotation_end(struct rotation *r, struct output *out, const struct plan *plan,
		 const struct opened *opened, struct error *err)
{
	enum writer_place place;
	char *path;
	int rc = finish(r, out, !r->opts->rotation.enabled && !r->strayed, plan, opened, err);

	if (rc)
		return rc;
	/*
	 * The empty output behind the last snapshot: it does not count as an output, nor as one to
	 * keep.
	 */
	if (r->opts->memory.bytes && r->opts->rotation.enabled && !out->tally.samples)
		return 0;
	place = output_place(out, &path);
	if (place != WRITER_THERE) {
		say_strayed(r, place, path, "");
		leave_strayed(r, out, false, place, path);
		return 0;
	}
	if (!r->opts->rotation.enabled && !r->opts->timestamp_filename) {
		free(r->last);
		r->last = NULL;
		return 0;
	}
	rc = move_away(r, &path, err);
	if (!rc && keep(r, path))
		rc = error_set(err, -ENOMEM, "out of memory");
	return rc;
}
