// SPDX-License-Identifier: Apache-2.0
#include "record/output/output_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/writer/output_backup.h"
#include "perfdata/feature.h"
#include "record/initial/kcore.h"

/* --- header ------------------------------------------------------------------------------------
 */

static int list_add(struct pd_evlist *list, const struct plan *plan, unsigned int index,
		    const struct opened *opened)
{
	const struct plan_event *event = &plan->events[index];
	uint64_t *ids = calloc(opened->nr_fds ? opened->nr_fds : 1, sizeof(*ids));
	size_t nr = 0;
	int rc;

	if (!ids)
		return -ENOMEM;
	for (size_t i = 0; i < opened->nr_fds; i++)
		if (opened->fds[i].event == index)
			ids[nr++] = opened->fds[i].id;
	rc = pd_evlist_add(list, &event->attr, event->name, ids, nr);
	free(ids);
	if (!rc) {
		struct pd_evsel *evsel = pd_evlist_at(list, index);

		evsel->leader = event->leader;
		evsel->nr_members = event->members ? event->members : 1;
	}
	return rc;
}

static int make_list(struct output *out, const struct plan *plan, const struct opened *opened)
{
	int rc = 0;

	out->list = pd_evlist_new();
	if (!out->list)
		return -ENOMEM;
	for (unsigned int i = 0; !rc && i < plan->nr; i++)
		rc = list_add(out->list, plan, i, opened);
	return rc;
}

/* Present from the start, without the ratio, because perf cannot decompress without it. */
int output_add_compression(struct feature_set *set, const struct compress_stats *stats)
{
	struct pd_compression feature;
	struct buf b = {0};
	int rc;

	compress_feature(stats, &feature);
	rc = pd_feature_compressed_encode(&b, &feature);
	if (!rc)
		rc = feature_set_add(set, HEADER_COMPRESSED, &b);
	buf_release(&b);
	return rc;
}

/* Encodes the list of parts; its size never changes. */
static int encode_parts(const struct output *out, bool complete, struct buf *b)
{
	struct parts parts = {.complete = complete, .nr = out->nr - 1};
	int rc;

	parts.part = calloc(out->nr, sizeof(*parts.part));
	if (!parts.part)
		return -ENOMEM;
	for (size_t i = 0; i < parts.nr; i++)
		parts.part[i] = lane_flushed_size(&out->lanes[i + 1]);
	rc = parts_encode(&parts, b);
	parts_release(&parts);
	return rc;
}

static int add_parts(const struct output *out, struct feature_set *set)
{
	struct buf b = {0};
	int rc = encode_parts(out, false, &b);

	if (!rc)
		rc = feature_set_add(set, HEADER_DIR_FORMAT, &b);
	buf_release(&b);
	return rc;
}

static int start_features(struct output *out, const struct output_opts *opts,
			  const struct plan *plan, struct feature_set *set, struct error *err)
{
	const struct sample_opts *sample = &plan->opts->sample;
	int rc = machine_features(set, out->list, opts->argc, opts->argv,
				  sample->use_clockid ? sample->clockid : -1);

	if (!rc && opts->compression_level)
		rc = output_add_compression(
			set, &(struct compress_stats){.asked = opts->compression_level});
	if (!rc && opts->directory)
		rc = add_parts(out, set);
	if (rc)
		return error_sys(err, rc, "cannot describe this machine");
	return machine_tracing_data(set, out->list, err);
}

/* --- files -------------------------------------------------------------------------------------
 */

/* Gives @writer to lane @index, also on failure. */
static int make_lane(struct output *out, size_t index, struct writer *writer,
		     const struct output_opts *opts, const struct plan *plan, struct error *err)
{
	const struct lane_opts lane = {
		.writer = writer,
		.borrowed = out->stream && index,
		.shared = out->stream,
		.compression = opts->compression_level,
		.time_at = plan_sample_time_at(plan),
		.own_build_ids = plan_build_ids(plan),
		.named = opts->symbols.names ? out->list : NULL,
		.opened = out->opened,
		/* With -M lanes get copies of records that flight has counted. */
		.throttles = opts->memory.bytes ? NULL : out->opened->throttles,
		.meter = out->meter,
	};
	uint64_t most = opts->rotation.size ? opts->rotation.size : opts->max_size;
	int rc = lane_init(&out->lanes[index], &lane);

	if (rc)
		return error_set(err, rc, "out of memory");
	if (most && !out->lanes[index].borrowed)
		writer_expect(writer, most);
	return opts->aio && !writer_aio(writer)
		       ? writer_async(writer, opts->aio, WRITER_BUFFER_SIZE, err)
		       : 0;
}

/* Creates the file with the header at @path. */
static int create_main(struct output *out, const char *path, const struct feature_set *set,
		       const struct output_opts *opts, const struct plan *plan, struct error *err)
{
	struct writer *writer;
	int rc;

	if (strcmp(path, "-"))
		rc = writer_create(path, out->list, set->features, set->count, &writer, err);
	else
		rc = writer_create_stream(out->list, set->features, set->count, out->patience,
					  &writer, err);
	return rc ? rc : make_lane(out, 0, writer, opts, plan, err);
}

static int create_part(struct output *out, size_t number, const char *directory,
		       const struct output_opts *opts, const struct plan *plan, struct error *err)
{
	struct writer *writer;
	char *path;
	int rc;

	if (asprintf(&path, "%s/data.%zu", directory, number) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	rc = writer_create_plain(path, &writer, err);
	if (!rc)
		rc = make_lane(out, number + 1, writer, opts, plan, err);
	free(path);
	return rc;
}

/* Closes files, because listing the directory needs descriptors, which may be short. */
static void close_lanes(struct output *out)
{
	for (size_t i = 0; out->lanes && i < out->nr; i++)
		lane_release(&out->lanes[i]);
}

/* Creates "data" last, because perf refuses it without data.N beside it. */
static int create_directory(struct output *out, const struct feature_set *set,
			    const struct output_opts *opts, const struct plan *plan,
			    struct error *err)
{
	char *directory = strdup(opts->path), *path = NULL;
	size_t len = directory ? strlen(directory) : 0;
	bool made;
	int rc;

	while (len > 1 && directory[len - 1] == '/')
		directory[--len] = '\0';
	if (!directory || asprintf(&path, "%s/data", directory) < 0) {
		free(directory);
		return error_set(err, -ENOMEM, "out of memory");
	}
	rc = output_backup_replace_directory(directory, err);
	made = !rc;
	for (size_t i = 0; !rc && i + 1 < out->nr; i++)
		rc = create_part(out, i, directory, opts, plan, err);
	if (!rc)
		rc = create_main(out, path, set, opts, plan, err);
	/* This takes long: until "data" exists, a directory is not recognized as a recording. */
	if (!rc && opts->kcore)
		rc = kcore_copy("/proc", directory, err);
	if (rc && made) {
		close_lanes(out);
		output_backup_undo_directory(directory);
	}
	free(path);
	free(directory);
	return rc;
}

/* Creates one stream, shared by the lanes of all workers and of the main thread. */
static int create_stream(struct output *out, const struct feature_set *set,
			 const struct output_opts *opts, const struct plan *plan, struct error *err)
{
	int rc;

	/* NOLINTNEXTLINE(misc-non-copyable-objects): sizeof copies nothing */
	out->stream = calloc(1, sizeof(*out->stream));
	if (!out->stream)
		return error_set(err, -ENOMEM, "out of memory");
	pthread_mutex_init(out->stream, NULL);
	rc = create_main(out, opts->path, set, opts, plan, err);
	for (size_t i = 1; !rc && i < out->nr; i++)
		rc = make_lane(out, i, out->lanes[0].writer, opts, plan, err);
	return rc;
}

int output_create(struct output *out, const struct output_opts *opts, const struct plan *plan,
		  const struct opened *opened, size_t workers, struct writer_patience *patience,
		  struct error *err)
{
	struct feature_set set = {0};
	int rc;

	*out = (struct output){
		.nr = workers > 1 ? workers + 1 : 1,
		.directory = opts->directory,
		.opened = opened,
		.patience = patience,
		.no_build_ids = plan->opts->no_build_ids,
		.pipe = !strcmp(opts->path, "-"),
		.symbols = opts->symbols,
	};
	out->lanes = calloc(out->nr, sizeof(*out->lanes));
	out->meter = calloc(1, sizeof(*out->meter));
	out->counted = calloc(opened->nr_fds ? opened->nr_fds : 1, sizeof(*out->counted));
	if (!out->lanes || !out->meter || !out->counted || make_list(out, plan, opened))
		return error_set(err, -ENOMEM, "out of memory");
	/* Before the directory exists, because this takes long: until "data" exists, a directory
	 * is not recognized as a recording. */
	rc = start_features(out, opts, plan, &set, err);
	if (!rc && opts->directory)
		rc = create_directory(out, &set, opts, plan, err);
	else if (!rc && out->nr > 1)
		rc = create_stream(out, &set, opts, plan, err);
	else if (!rc)
		rc = create_main(out, opts->path, &set, opts, plan, err);
	feature_set_release(&set);
	return rc;
}

int output_persist(struct output *out, struct error *err)
{
	return writer_persist(out->lanes[0].writer, err);
}

struct lane *output_lane(const struct output *out, size_t number)
{
	return &out->lanes[out->nr > 1 ? number + 1 : 0];
}

int output_publish(struct output *out, bool complete, struct error *err)
{
	struct buf b = {0};
	int rc;

	/* With one file the list has nothing that changes, and its writer is the worker's. */
	if (!out->directory || out->nr == 1)
		return 0;
	rc = encode_parts(out, complete, &b);
	if (rc)
		error_set(err, rc, "out of memory");
	else
		rc = writer_replace(out->lanes[0].writer, HEADER_DIR_FORMAT, b.data, b.len, err);
	buf_release(&b);
	return rc;
}

int output_checkpoint(struct output *out, struct error *err)
{
	return output_publish(out, false, err);
}

int output_rest(struct output *out, bool rests)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < out->nr; i++)
		rc = lane_rest(&out->lanes[i], rests);
	return rc;
}

int output_mark(const struct output *out, struct output_mark *ret)
{
	int rc = 0;

	*ret = (struct output_mark){.lanes = calloc(out->nr, sizeof(*ret->lanes))};
	if (!ret->lanes)
		return -ENOMEM;
	for (; !rc && ret->nr < out->nr; ret->nr++)
		rc = lane_mark(&out->lanes[ret->nr], &ret->lanes[ret->nr]);
	return rc;
}

void output_mark_release(struct output_mark *mark)
{
	while (mark->nr)
		lane_mark_release(&mark->lanes[--mark->nr]);
	free(mark->lanes);
	mark->lanes = NULL;
}

int output_roll_back(struct output *out, const struct output_mark *mark, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < out->nr; i++)
		rc = lane_roll_back(&out->lanes[i], &mark->lanes[i], err);
	/* The lanes are in an unknown state: only what was flushed is in the files. */
	for (size_t i = 0; rc && i < out->nr; i++)
		out->lanes[i].saved = true;
	return rc ? rc : output_checkpoint(out, err);
}

/* --- other functions ---------------------------------------------------------------------------
 */

void output_listen(struct output *out, struct sideband *sideband)
{
	for (size_t i = 0; i < out->nr; i++)
		out->lanes[i].sideband = sideband;
}

enum writer_place output_place(const struct output *out, char **ret_path)
{
	enum writer_place place = WRITER_THERE;
	char *slash;

	*ret_path = NULL;
	for (size_t i = 0; place == WRITER_THERE && i < out->nr; i++)
		place = writer_place(out->lanes[i].writer, ret_path);
	slash = *ret_path && out->directory ? strrchr(*ret_path, '/') : NULL;
	if (slash)
		*slash = '\0';
	return place;
}

static bool is_gone(const struct lane *lane)
{
	char *path;
	enum writer_place place = writer_place(lane->writer, &path);

	free(path);
	return place >= WRITER_DELETED;
}

uint64_t output_deleted_samples(const struct output *out)
{
	bool all = is_gone(&out->lanes[0]);
	uint64_t samples = 0;

	for (size_t i = 0; i < out->nr; i++)
		if (all || is_gone(&out->lanes[i]))
			samples += lane_view(&out->lanes[i]).samples;
	return samples;
}

uint64_t output_metered(const struct output *out)
{
	return atomic_load(&out->meter->bytes);
}

void output_limit(const struct output *out, uint64_t bytes)
{
	atomic_store(&out->meter->limit, bytes);
}

void output_follow(struct output *out, struct output *before)
{
	uint64_t *none = out->counted;

	out->lost_records = before->lost_records;
	out->dropped = before->dropped;
	out->history = before->history;
	out->taken = before->taken;
	out->counted = before->counted;
	before->counted = none;
}

bool output_compression(const struct output *out, struct compress_stats *ret)
{
	*ret = (struct compress_stats){0};
	for (size_t i = 0; i < out->nr; i++)
		if (out->lanes[i].compress)
			compress_stats_add(ret, compress_stats(out->lanes[i].compress));
	return out->nr && out->lanes[0].compress;
}

uint64_t output_size(const struct output *out)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < out->nr; i++)
		bytes += out->lanes[i].writer && !out->lanes[i].borrowed
				 ? writer_size(out->lanes[i].writer)
				 : 0;
	return bytes;
}

void output_discard(struct output *out, const struct output_opts *opts)
{
	close_lanes(out);
	if (out->directory)
		output_backup_undo_directory(opts->path);
	else if (strcmp(opts->path, "-"))
		unlink(opts->path);
}

void output_release(struct output *out)
{
	close_lanes(out);
	free(out->lanes);
	if (out->stream)
		pthread_mutex_destroy(out->stream);
	free(out->stream);
	free(out->meter);
	free(out->counted);
	free(out->now);
	pd_evlist_free(out->list);
	loss_release(&out->loss);
	*out = (struct output){0};
}
