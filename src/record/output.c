// SPDX-License-Identifier: Apache-2.0
#include "record/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/earlier.h"
#include "perfdata/feature.h"
#include "record/machine.h"

/* --- header ------------------------------------------------------------------------------------
 */

static int list_add(struct pd_evlist *list, const struct plan *plan, unsigned int index,
		    const struct opened *opened)
{
	const struct plan_event *event = &plan->events[index];
	uint64_t *ids = calloc(opened->nr_fds ? opened->nr_fds : 1, sizeof(*ids));
	size_t nr = 0;
	int code;

	if (!ids)
		return -ENOMEM;
	for (size_t i = 0; i < opened->nr_fds; i++)
		if (opened->fds[i].event == index)
			ids[nr++] = opened->fds[i].id;
	code = pd_evlist_add(list, &event->attr, event->name, ids, nr);
	free(ids);
	if (!code) {
		struct pd_evsel *evsel = pd_evlist_at(list, index);

		evsel->leader = event->leader;
		evsel->nr_members = event->members ? event->members : 1;
	}
	return code;
}

static int make_list(struct output *out, const struct plan *plan, const struct opened *opened)
{
	int code = 0;

	out->list = pd_evlist_new();
	if (!out->list)
		return -ENOMEM;
	for (unsigned int i = 0; !code && i < plan->nr; i++)
		code = list_add(out->list, plan, i, opened);
	return code;
}

/* perf cannot decompress without it: it is there from the start, without the ratio. */
static int add_compression(struct feature_set *set, const struct compress_stats *stats)
{
	struct pd_compression feature;
	struct buf b = {0};
	int code;

	compress_feature(stats, &feature);
	code = pd_feature_compressed_encode(&b, &feature);
	if (!code)
		code = feature_set_add(set, HEADER_COMPRESSED, &b);
	buf_release(&b);
	return code;
}

/* The account of the parts, which stays as large as it is here. */
static int encode_parts(const struct output *out, bool complete, struct buf *b)
{
	struct parts parts = {.complete = complete, .nr = out->nr - 1};
	int code;

	parts.part = calloc(out->nr, sizeof(*parts.part));
	if (!parts.part)
		return -ENOMEM;
	for (size_t i = 0; i < parts.nr; i++)
		parts.part[i] = lane_flushed_size(&out->lanes[i + 1]);
	code = parts_encode(&parts, b);
	parts_release(&parts);
	return code;
}

static int add_parts(const struct output *out, struct feature_set *set)
{
	struct buf b = {0};
	int code = encode_parts(out, false, &b);

	if (!code)
		code = feature_set_add(set, HEADER_DIR_FORMAT, &b);
	buf_release(&b);
	return code;
}

static int start_features(struct output *out, const struct record_opts *opts,
			  struct feature_set *set, struct error *err)
{
	int code = machine_features(set, out->list, opts->argc, opts->argv,
				    opts->use_clockid ? opts->clockid : -1);

	if (!code && opts->compression_level)
		code = add_compression(set,
				       &(struct compress_stats){.asked = opts->compression_level});
	if (!code && opts->threads)
		code = add_parts(out, set);
	if (code)
		return error_sys(err, code, "describing this machine");
	return machine_tracing_data(set, out->list, err);
}

/* --- files -------------------------------------------------------------------------------------
 */

/* Gives @writer to lane @index, also on failure. */
static int make_lane(struct output *out, size_t index, struct writer *writer,
		     const struct record_opts *opts, const struct plan *plan, struct error *err)
{
	const struct lane_opts lane = {
		.writer = writer,
		.compression = opts->compression_level,
		.time_at = plan_sample_time_at(plan),
		.opened = out->opened,
		.throttles = out->opened->throttles,
		.meter = out->meter,
	};
	int code = lane_init(&out->lanes[index], &lane);

	if (code)
		return error_set(err, code, "out of memory");
	return opts->aio ? writer_async(writer, opts->aio, WRITER_BUFFER_SIZE, err) : 0;
}

/* The file with the header: @path. */
static int create_main(struct output *out, const char *path, const struct record_opts *opts,
		       const struct plan *plan, struct error *err)
{
	struct feature_set set = {0};
	struct writer *writer;
	int code = start_features(out, opts, &set, err);

	if (!code)
		code = writer_create(path, out->list, set.features, set.count, &writer, err);
	if (!code)
		code = make_lane(out, 0, writer, opts, plan, err);
	feature_set_release(&set);
	return code;
}

static int create_part(struct output *out, size_t number, const char *directory,
		       const struct record_opts *opts, const struct plan *plan, struct error *err)
{
	struct writer *writer;
	char *path;
	int code;

	if (asprintf(&path, "%s/data.%zu", directory, number) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	code = writer_create_plain(path, &writer, err);
	if (!code)
		code = make_lane(out, number + 1, writer, opts, plan, err);
	free(path);
	return code;
}

/* Perf refuses a "data" without data.N beside it, so it comes last. */
static int create_directory(struct output *out, const struct record_opts *opts,
			    const struct plan *plan, struct error *err)
{
	char *directory = strdup(opts->output), *path = NULL;
	size_t len = directory ? strlen(directory) : 0;
	bool made;
	int code;

	while (len > 1 && directory[len - 1] == '/')
		directory[--len] = '\0';
	if (!directory || asprintf(&path, "%s/data", directory) < 0) {
		free(directory);
		return error_set(err, -ENOMEM, "out of memory");
	}
	code = earlier_replace_directory(directory, err);
	made = !code;
	for (size_t i = 0; !code && i + 1 < out->nr; i++)
		code = create_part(out, i, directory, opts, plan, err);
	if (!code)
		code = create_main(out, path, opts, plan, err);
	if (code && made)
		earlier_undo_directory(directory);
	free(path);
	free(directory);
	return code;
}

int output_create(struct output *out, const struct record_opts *opts, const struct plan *plan,
		  const struct opened *opened, size_t workers, struct error *err)
{
	*out = (struct output){.nr = opts->threads ? workers + 1 : 1, .opened = opened};
	out->lanes = calloc(out->nr, sizeof(*out->lanes));
	out->meter = calloc(1, sizeof(*out->meter));
	out->counted = calloc(opened->nr_fds ? opened->nr_fds : 1, sizeof(*out->counted));
	if (!out->lanes || !out->meter || !out->counted || make_list(out, plan, opened))
		return error_set(err, -ENOMEM, "out of memory");
	if (opts->threads)
		return create_directory(out, opts, plan, err);
	return create_main(out, opts->output, opts, plan, err);
}

struct lane *output_lane(const struct output *out, size_t number)
{
	return &out->lanes[out->nr > 1 ? number + 1 : 0];
}

static int publish(struct output *out, bool complete, struct error *err)
{
	struct buf b = {0};
	int code;

	if (out->nr == 1)
		return 0;
	code = encode_parts(out, complete, &b);
	if (code)
		error_set(err, code, "out of memory");
	else
		code = writer_replace(out->lanes[0].writer, HEADER_DIR_FORMAT, b.data, b.len, err);
	buf_release(&b);
	return code;
}

int output_checkpoint(struct output *out, struct error *err)
{
	return publish(out, false, err);
}

/* --- end ---------------------------------------------------------------------------------------
 */

/*
 * A LOST_SAMPLES record with time 0, as perf writes it: the kernel's counter of one descriptor.
 * It is written past the tally, which counts the LOST_SAMPLES of the kernel.
 */
static int write_lost(struct output *out, const struct plan *plan, const struct open_fd *fd,
		      uint64_t lost, struct error *err)
{
	uint64_t type = plan->events[fd->event].attr.sample_type;
	uint64_t record[2 + 6] = {0};
	struct perf_event_header hdr = {.type = PERF_RECORD_LOST_SAMPLES};
	size_t n = 1;

	/* The order of the trailer: TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER. */
	record[n++] = lost;
	n += !!(type & PERF_SAMPLE_TID) + !!(type & PERF_SAMPLE_TIME);
	if (type & PERF_SAMPLE_ID)
		record[n++] = fd->id;
	n += !!(type & PERF_SAMPLE_STREAM_ID);
	if (type & PERF_SAMPLE_CPU)
		record[n++] = (uint32_t)fd->cpu;
	if (type & PERF_SAMPLE_IDENTIFIER)
		record[n++] = fd->id;
	hdr.size = (uint16_t)(n * sizeof(record[0]));
	memcpy(record, &hdr, sizeof(hdr));
	return sink_record(out->lanes[0].file, (const struct perf_event_header *)record, err);
}

/* By event and CPU where the kernel counts so, else from the LOST records: see record/loss.h. */
static int count_losses(struct output *out, const struct plan *plan, const struct opened *opened,
			struct error *err)
{
	const struct loss *records = &out->lanes[0].lost_records;
	const struct loss *dropped = &out->lanes[0].dropped;
	uint64_t *now = calloc(opened->nr_fds + 1, sizeof(*now));
	bool by_event = true; /* all counters can be read: both ways at once would count twice */
	int code = 0;

	if (!now)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; by_event && i < opened->nr_fds; i++) {
		struct open_count count = {0};

		by_event = opened_count(&opened->fds[i], plan, &count) == 0;
		now[i] = count.lost;
	}
	for (size_t i = 0; !code && by_event && i < opened->nr_fds; i++) {
		const struct open_fd *fd = &opened->fds[i];
		uint64_t lost = now[i] - out->counted[i];

		if (!lost)
			continue;
		out->counted[i] = now[i];
		loss_add(&out->loss, LOSS_RING, fd->event, fd->cpu, lost);
		code = write_lost(out, plan, fd, lost, err);
	}
	free(now);
	for (size_t i = 0; !by_event && i < records->nr; i++) {
		const struct loss_entry *e = &records->entries[i];

		loss_add(&out->loss, e->cause, e->event, e->cpu, e->count);
	}
	for (size_t i = 0; i < dropped->nr; i++) {
		const struct loss_entry *e = &dropped->entries[i];

		loss_add(&out->loss, e->cause, e->event, e->cpu, e->count);
	}
	return code;
}

bool output_compression(const struct output *out, struct compress_stats *ret)
{
	*ret = (struct compress_stats){0};
	for (size_t i = 0; i < out->nr; i++)
		if (out->lanes[i].compress)
			compress_stats_add(ret, compress_stats(out->lanes[i].compress));
	return out->nr && out->lanes[0].compress;
}

/* Features that only the end knows. */
static int end_features(struct output *out, struct feature_set *set)
{
	struct pd_sample_time time = {out->tally.first, out->tally.last};
	struct compress_stats compression;
	struct buf b = {0};
	int code = dso_names_build_ids(out->lanes[0].dsos, &b);

	if (!code && b.len)
		code = feature_set_add(set, HEADER_BUILD_ID, &b);
	if (!code && time.last) {
		code = pd_feature_sample_time_encode(&b, &time);
		if (!code)
			code = feature_set_add(set, HEADER_SAMPLE_TIME, &b);
	}
	if (!code && output_compression(out, &compression))
		code = add_compression(set, &compression);
	buf_release(&b);
	return code;
}

/* What all lanes learnt comes to the first, and what they hold into their files. */
static int gather(struct output *out, struct error *err)
{
	int code = 0;

	for (size_t i = 0; !code && i < out->nr; i++) {
		code = lane_flush(&out->lanes[i], err);
		if (!code && i)
			code = writer_finish(out->lanes[i].writer, NULL, 0, err);
		if (!code && i && lane_merge(&out->lanes[0], &out->lanes[i]))
			code = error_set(err, -ENOMEM, "out of memory");
		tally_add(&out->tally, tally_get(out->lanes[i].chain));
	}
	return code;
}

int output_finish(struct output *out, const struct plan *plan, const struct opened *opened,
		  struct error *err)
{
	struct feature_set set = {0};
	int code = gather(out, err);

	if (!code)
		code = count_losses(out, plan, opened, err);
	if (code)
		return code;
	code = end_features(out, &set);
	if (code)
		error_sys(err, code, "build-ids");
	else
		code = writer_finish(out->lanes[0].writer, set.features, set.count, err);
	feature_set_release(&set);
	return code ? code : publish(out, true, err);
}

void output_listen(struct output *out, struct sideband *sideband)
{
	for (size_t i = 0; i < out->nr; i++)
		out->lanes[i].sideband = sideband;
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

	out->counted = before->counted;
	before->counted = none;
}

uint64_t output_size(const struct output *out)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < out->nr; i++)
		bytes += out->lanes[i].writer ? writer_size(out->lanes[i].writer) : 0;
	return bytes;
}

void output_release(struct output *out)
{
	for (size_t i = 0; out->lanes && i < out->nr; i++)
		lane_release(&out->lanes[i]);
	free(out->lanes);
	free(out->meter);
	free(out->counted);
	pd_evlist_free(out->list);
	loss_release(&out->loss);
	*out = (struct output){0};
}
