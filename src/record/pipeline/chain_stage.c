// SPDX-License-Identifier: Apache-2.0
#include "record/pipeline/chain_stage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock_ns.h"

/* The stage is behind from so many percent of the fifo, and of the time of SHARE_NS. */
#define BEHIND_FULL  50u
#define BEHIND_SHARE 50u
#define SHARE_NS     (250 * NS_PER_MS)
/*
 * It waits so long for the files of a run, while the fifo is less full than PATIENT_FULL; and so
 * long for those of all runs up to a flush or the end, which bring all samples of a short program.
 */
#define PATIENCE_MS  100u
#define HURRIED_MS   500u
#define PATIENT_FULL 10u

struct chain_stage {
	struct sink sink;
	struct sink *next;
	struct chain_maker *maker;
	struct chain_walker *walker;
	const struct opened *opened;
	struct id_table ids;	/* to indices of descriptors */
	struct pd_evsel *evsel; /* by event of the plan */
	bool *keep_regs;	/* likewise: the user wants the registers */
	struct fifo *fifo;
	unsigned int full, share;
	uint64_t since, busy; /* ns: start of the period, and time of unwinding in it */
	uint64_t hurried;     /* ms: until when runs may wait in this hurry; 0: there is none */
	bool heavy;	      /* unwinding took more than its share in the last period */
	uint64_t nsec;	      /* CPU time */
	uint8_t *run, *out;   /* a run in one piece, and what it becomes */
	size_t run_size, out_size;
};

/* --- a run ---------------------------------------------------------------------------------------
 */

static const struct pd_evsel *evsel_of(const struct chain_stage *c, const uint8_t *sample,
				       size_t size, unsigned int *ret_event)
{
	uint64_t id;
	uint32_t at;

	if (size < sizeof(struct perf_event_header) + sizeof(id))
		return NULL;
	memcpy(&id, sample + sizeof(struct perf_event_header), sizeof(id));
	at = id_table_find(&c->ids, id);
	if (at == ID_TABLE_NONE)
		return NULL;
	*ret_event = c->opened->fds[at].event;
	return &c->evsel[*ret_event];
}

static bool has_samples(const uint8_t *p, size_t len)
{
	struct perf_event_header hdr;

	for (size_t at = 0; pd_record_at(p + at, len - at, &hdr); at += hdr.size)
		if (hdr.type == PERF_RECORD_SAMPLE)
			return true;
	return false;
}

/* Whether the writer is late because of this stage. */
static bool is_behind(struct chain_stage *c, unsigned int full)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);

	if (now - c->since >= SHARE_NS) {
		c->heavy = c->busy * 100 >= (now - c->since) * c->share;
		c->since = now;
		c->busy = 0;
	}
	return c->heavy && full >= c->full;
}

static size_t put_sample(struct chain_stage *c, const uint8_t *p, size_t size, bool behind,
			 uint64_t deadline, uint8_t *out)
{
	unsigned int event;
	const struct pd_evsel *evsel = evsel_of(c, p, size, &event);

	if (evsel && !behind)
		return chain_walker_put(c->walker, (const void *)p, evsel, c->keep_regs[event],
					deadline, out);
	if (evsel)
		chain_walker_skip(c->walker, (const void *)p, evsel);
	memcpy(out, p, size);
	return size;
}

/* Until when a run may wait for files: ms, as now_ms(); 0: not at all. */
static uint64_t patience(struct chain_stage *c, unsigned int full)
{
	bool hurried = c->fifo && fifo_is_hurried(c->fifo);

	if (!hurried)
		c->hurried = 0;
	else if (!c->hurried)
		c->hurried = now_ms() + HURRIED_MS;
	if (full >= PATIENT_FULL)
		return 0;
	return hurried ? c->hurried : now_ms() + PATIENCE_MS;
}

/* Makes the run at @p of @len bytes in c->out. Returns its new bytes. */
static size_t make_run(struct chain_stage *c, const uint8_t *p, size_t len)
{
	unsigned int full = c->fifo ? fifo_fullness(c->fifo) : 0;
	bool behind = is_behind(c, full);
	uint64_t deadline = patience(c, full);
	uint64_t cpu = now_ns(CLOCK_THREAD_CPUTIME_ID), began = now_ns(CLOCK_MONOTONIC);
	struct perf_event_header hdr;
	size_t at = 0, made = 0;

	if (behind)
		chain_maker_settle(c->maker);
	else
		chain_walker_begin(c->walker);
	for (; pd_record_at(p + at, len - at, &hdr); at += hdr.size) {
		if (hdr.type == PERF_RECORD_SAMPLE) {
			made += put_sample(c, p + at, hdr.size, behind, deadline, c->out + made);
		} else {
			memcpy(c->out + made, p + at, hdr.size);
			made += hdr.size;
		}
	}
	if (!behind)
		chain_walker_end(c->walker);
	/* What is no record is counted by the tally. */
	memcpy(c->out + made, p + at, len - at);
	c->busy += now_ns(CLOCK_MONOTONIC) - began;
	c->nsec += now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	return made + len - at;
}

static int make_room(uint8_t **room, size_t *size, size_t len)
{
	uint8_t *more;

	if (*size >= len)
		return 0;
	more = realloc(*room, len);
	if (!more)
		return -ENOMEM;
	*room = more;
	*size = len;
	return 0;
}

static int stage_write(struct sink *s, const struct run *run, struct error *err)
{
	struct chain_stage *c = (struct chain_stage *)s;
	size_t len = run_bytes(run);
	struct run made = *run;
	const uint8_t *p = run->a;

	if (run_is_aux(run) || !len)
		return sink_write(c->next, run, err);
	if (run->b_len) {
		if (make_room(&c->run, &c->run_size, len))
			return error_set(err, -ENOMEM, "out of memory");
		run_copy(run, 0, c->run, len);
		p = c->run;
	}
	if (!has_samples(p, len)) {
		chain_maker_settle(c->maker);
		return sink_write(c->next, run, err);
	}
	if (make_room(&c->out, &c->out_size, len))
		return error_set(err, -ENOMEM, "out of memory");
	made.a_len = make_run(c, p, len);
	made.a = c->out;
	made.b = NULL;
	made.b_len = 0;
	return sink_write(c->next, &made, err);
}

static int stage_flush(struct sink *s, struct error *err)
{
	return sink_flush(((struct chain_stage *)s)->next, err);
}

static void stage_free(struct sink *s)
{
	struct chain_stage *c = (struct chain_stage *)s;

	chain_walker_free(c->walker);
	id_table_release(&c->ids);
	free(c->evsel);
	free(c->keep_regs);
	free(c->run);
	free(c->out);
	free(c);
}

static const struct sink_ops stage_ops = {
	.write = stage_write,
	.flush = stage_flush,
	.free = stage_free,
};

/* --- making --------------------------------------------------------------------------------------
 */

struct sink *chain_stage_new(struct chain_maker *maker, const struct plan *plan,
			     const struct opened *opened, struct sink *next)
{
	struct chain_stage *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->sink.ops = &stage_ops;
	c->next = next;
	c->maker = maker;
	c->opened = opened;
	c->full = BEHIND_FULL;
	c->share = BEHIND_SHARE;
	c->since = now_ns(CLOCK_MONOTONIC);
	c->walker = chain_walker_new(maker);
	c->evsel = calloc(plan->nr + 1, sizeof(*c->evsel));
	c->keep_regs = calloc(plan->nr + 1, sizeof(*c->keep_regs));
	if (!c->walker || !c->evsel || !c->keep_regs ||
	    open_fds_by_id(opened->fds, opened->nr_fds, &c->ids)) {
		stage_free(&c->sink);
		return NULL;
	}
	for (size_t i = 0; i < plan->nr; i++) {
		c->evsel[i].attr = plan->events[i].attr;
		c->keep_regs[i] = plan->opts->sample.user_regs;
	}
	return &c->sink;
}

void chain_stage_retarget(struct sink *s, struct sink *next)
{
	((struct chain_stage *)s)->next = next;
}

void chain_stage_watch(struct sink *s, struct fifo *fifo)
{
	((struct chain_stage *)s)->fifo = fifo;
}

void chain_stage_limits(struct sink *s, unsigned int full, unsigned int share)
{
	struct chain_stage *c = (struct chain_stage *)s;

	c->full = full;
	c->share = share;
	c->since = 0;
}

void chain_stage_stats(const struct sink *s, struct chain_stats *ret)
{
	const struct chain_stage *c = (const struct chain_stage *)s;

	*ret = *chain_walker_stats(c->walker);
	ret->nsec = c->nsec;
}
