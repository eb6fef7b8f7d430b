// SPDX-License-Identifier: Apache-2.0
#include "record/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static int create_file(struct output *out, const struct record_opts *opts, struct error *err)
{
	struct feature_set set = {0};
	int code;

	code = machine_features(&set, out->list, opts->argc, opts->argv,
				opts->use_clockid ? opts->clockid : -1);
	if (code)
		error_sys(err, code, "describing this machine");
	if (!code)
		code = machine_tracing_data(&set, out->list, err);
	if (!code)
		code = writer_create(opts->output, out->list, set.features, set.count, &out->writer,
				     err);
	feature_set_release(&set);
	return code;
}

/* --- what the tally sees -----------------------------------------------------------------------
 */

static int saw_map(const struct perf_event_header *hdr, void *arg)
{
	return dso_names_add(((struct output *)arg)->dsos, hdr);
}

static int saw_lost(const struct perf_event_header *hdr, int cpu, void *arg)
{
	struct output *out = arg;
	struct pd_record rec;

	if (pd_record_decode(hdr, NULL, &rec))
		return 0;
	if (hdr->type == PERF_RECORD_LOST)
		return loss_add(&out->lost_records, LOSS_RING, LOSS_NO_EVENT, cpu, rec.lost.lost);
	return loss_add(&out->loss, LOSS_PMU, LOSS_NO_EVENT, cpu, rec.lost.lost);
}

int output_create(struct output *out, const struct record_opts *opts, const struct plan *plan,
		  const struct opened *opened, struct error *err)
{
	const struct tally_opts tally = {
		.time_at = plan_sample_time_at(plan),
		.map = saw_map,
		.lost = saw_lost,
		.arg = out,
	};
	int code;

	*out = (struct output){0};
	out->dsos = dso_names_new();
	if (!out->dsos || make_list(out, plan, opened))
		return error_set(err, -ENOMEM, "out of memory");
	code = create_file(out, opts, err);
	if (code)
		return code;
	out->file = sink_file_new(out->writer);
	if (out->file)
		out->chain = tally_new(out->file, &tally);
	return out->chain ? 0 : error_set(err, -ENOMEM, "out of memory");
}

const struct tally *output_tally(const struct output *out)
{
	return tally_get(out->chain);
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
	return sink_record(out->file, (const struct perf_event_header *)record, err);
}

/* By event and CPU where the kernel counts so, else from the LOST records: see record/loss.h. */
static int count_losses(struct output *out, const struct plan *plan, const struct opened *opened,
			struct error *err)
{
	bool by_event = true;
	int code = 0;

	for (size_t i = 0; !code && by_event && i < opened->nr_fds; i++) {
		const struct open_fd *fd = &opened->fds[i];
		uint64_t lost;

		by_event = opened_lost(fd, plan, &lost) == 0;
		if (!by_event || !lost)
			continue;
		loss_add(&out->loss, LOSS_RING, fd->event, fd->cpu, lost);
		code = write_lost(out, plan, fd, lost, err);
	}
	for (size_t i = 0; !by_event && i < out->lost_records.nr; i++) {
		const struct loss_entry *e = &out->lost_records.entries[i];

		loss_add(&out->loss, e->cause, e->event, e->cpu, e->count);
	}
	return code;
}

/* Features that only the end knows. */
static int end_features(struct output *out, struct feature_set *set)
{
	const struct tally *t = output_tally(out);
	struct pd_sample_time time = {t->first, t->last};
	struct buf b = {0};
	int code = dso_names_build_ids(out->dsos, &b);

	if (!code && b.len)
		code = feature_set_add(set, HEADER_BUILD_ID, &b);
	if (!code && t->last) {
		code = pd_feature_sample_time_encode(&b, &time);
		if (!code)
			code = feature_set_add(set, HEADER_SAMPLE_TIME, &b);
	}
	buf_release(&b);
	return code;
}

int output_finish(struct output *out, const struct plan *plan, const struct opened *opened,
		  struct error *err)
{
	struct feature_set set = {0};
	int code = count_losses(out, plan, opened, err);

	/* By way of the tally, for output_save(). */
	if (!code)
		code = sink_flush(out->chain, err);
	if (code)
		return code;
	code = end_features(out, &set);
	if (code)
		error_sys(err, code, "build-ids");
	else
		code = writer_finish(out->writer, set.features, set.count, err);
	feature_set_release(&set);
	return code;
}

uint64_t output_save(struct output *out, int code)
{
	uint64_t flushed = output_tally(out)->flushed, rescued = 0;

	/* A flush makes room for itself by giving up what of the last append is in the file. */
	if (code == -ENOSPC || code == -EDQUOT || code == -EFBIG) {
		writer_rescue(out->writer, &rescued);
		return flushed + rescued;
	}
	if (sink_flush(out->chain, NULL))
		writer_rescue(out->writer, &rescued);
	return output_tally(out)->flushed + rescued;
}

void output_release(struct output *out)
{
	sink_free(out->chain);
	sink_free(out->file);
	writer_close(out->writer);
	dso_names_free(out->dsos);
	pd_evlist_free(out->list);
	loss_release(&out->lost_records);
	loss_release(&out->loss);
	*out = (struct output){0};
}
