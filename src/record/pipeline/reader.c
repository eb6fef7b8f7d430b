// SPDX-License-Identifier: Apache-2.0
#include "record/pipeline/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock_ns.h"
#include "perfdata/abi.h"
#include "perfdata/aux_record.h"
#include "ring/ring.h"
#include "sys/io/timer.h"

struct reader_ring {
	struct ring ring;
	unsigned int index;
	int cpu;
	bool sideband;
	const struct cpus *run_on;
	struct sideband_tap *tap; /* or NULL */
	const int *fds;
	uint64_t left;	       /* bytes that this pass still has to drain */
	bool ready, hangup;    /* found by reader_wait(), not yet handled */
	struct aux_area *aux;  /* or NULL */
	bool waits, aux_waits; /* the ring, or its AUX area, waits for room in the fifo */
	bool quiet;	       /* sideband woke the reader; not polled until the timer expires */
	size_t nr_fds, polled; /* fds[polled] is in the epoll set; all before it have hung up */
};

/* epoll's data: the index of a ring, WATCHED with a watched descriptor, or TIMER. */
#define WATCHED (1ull << 32)
#define TIMER	(1ull << 33)

/*
 * Each map of sideband wakes the reader, because the reader should read build-ids before the mapped
 * files are deleted. A sideband ring that woke the reader is not polled for this time, so that a
 * storm of maps does not wake it for each.
 */
#define QUIET_MS 25

/*
 * User stacks are truncated when the fifo, or a ring at its turn, is this full, in percent. A ring
 * wakes its reader at a quarter full or before, so a fuller ring fills faster than the reader
 * copies. Without the stacks a tenth of the bytes goes to memory outside the cache.
 */
#define FIFO_CROWDED_AT 75
#define RING_CROWDED_AT 50

/* What happens to samples that find no room in the fifo. */
enum when_full {
	FULL_LEAVE, /* stay in the ring, up to half of it */
	FULL_DROP,
	FULL_WAIT, /* wait until there is room */
};

/* With stacks, at most this is copied before the reader checks the fill of the ring again. */
#define STACKS_AT_ONCE ((size_t)256 << 10)

/* Packets of a trace do not cross a multiple of so many bytes. */
#define TRACE_PAGE 4096u

struct reader {
	struct reader_ring *rings;
	size_t nr, capacity, hung_up, waiting;
	struct fifo *fifo;
	struct shed *shed;
	uint8_t *scratch;	    /* a piece from which samples or stacks are removed */
	uint64_t least;		    /* bytes; see reader_set_least() */
	const struct cpus *runs_on; /* where the thread moved last */
	int epoll, timer;	    /* the timer ends the quiet of rings */
	bool any_ready, any_quiet;
	bool rounds, marked; /* marked: nothing was drained since the last FINISHED_ROUND */
	bool left_some;	     /* this pass left records in a ring */
	struct reader_stats stats;
};

static int watch_timer(struct reader *r, struct error *err)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = TIMER};

	if (r->timer < 0)
		return error_sys(err, r->timer, "timerfd");
	return epoll_ctl(r->epoll, EPOLL_CTL_ADD, r->timer, &ev) ? error_sys(err, -errno, "epoll")
								 : 0;
}

int reader_new(struct fifo *fifo, struct shed *shed, bool rounds, struct reader **ret,
	       struct error *err)
{
	struct reader *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return error_set(err, -ENOMEM, "out of memory");
	r->fifo = fifo;
	r->shed = shed;
	r->rounds = rounds;
	r->marked = true;
	r->scratch = malloc(fifo_piece_max(fifo));
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	rc = r->epoll < 0 ? error_sys(err, -errno, "epoll") : 0;
	r->timer = timer_open();
	if (!rc)
		rc = watch_timer(r, err);
	if (!rc && !r->scratch)
		rc = error_set(err, -ENOMEM, "out of memory");
	if (rc)
		reader_free(r);
	else
		*ret = r;
	return rc;
}

void reader_free(struct reader *r)
{
	if (!r)
		return;
	if (r->epoll >= 0)
		close(r->epoll);
	if (r->timer >= 0)
		close(r->timer);
	free(r->scratch);
	free(r->rings);
	free(r);
}

static struct epoll_event ring_interest(const struct reader *r, size_t i)
{
	return (struct epoll_event){
		.events = EPOLLIN | (r->rings[i].sideband ? EPOLLONESHOT : 0u),
		.data.u64 = i,
	};
}

/* Polls the next event of the ring, or counts the ring as hung up if there is none. */
static int ring_poll(struct reader *r, size_t i)
{
	struct reader_ring *rr = &r->rings[i];
	struct epoll_event ev = ring_interest(r, i);

	rr->quiet = false;
	if (rr->polled >= rr->nr_fds) {
		r->hung_up++;
		return 0;
	}
	return epoll_ctl(r->epoll, EPOLL_CTL_ADD, rr->fds[rr->polled], &ev) ? -errno : 0;
}

void reader_set_least(struct reader *r, uint64_t bytes)
{
	r->least = bytes;
}

int reader_watch(struct reader *r, int fd, struct error *err)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = WATCHED | (unsigned int)fd};

	return epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &ev) ? error_sys(err, -errno, "epoll") : 0;
}

/*
 * A CPU that was offline has another event behind the same descriptor (record/open/revive.h), and
 * epoll has forgotten the old event.
 */
static int poll_again(struct reader *r, size_t i)
{
	int fd = r->rings[i].fds[r->rings[i].polled];
	struct epoll_event ev = ring_interest(r, i);
	int rc = epoll_ctl(r->epoll, EPOLL_CTL_MOD, fd, &ev) ? -errno : 0;

	if (rc != -ENOENT)
		return rc;
	return epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

/*
 * Polls the quiet rings again when the timer has expired, and drains them. epoll does not report
 * the records that came meanwhile: EPOLL_CTL_MOD calls perf_poll(), which clears the report, and
 * epoll_wait() calls it again.
 */
static int end_quiet(struct reader *r, struct error *err)
{
	int rc = 0;

	if (!timer_rang(r->timer))
		return 0;
	r->any_quiet = false;
	for (size_t i = 0; !rc && i < r->nr; i++) {
		if (!r->rings[i].quiet)
			continue;
		r->rings[i].quiet = false;
		r->rings[i].ready = true;
		r->any_ready = true;
		rc = poll_again(r, i);
	}
	return rc ? error_sys(err, rc, "epoll") : 0;
}

static int begin_quiet(struct reader *r, struct reader_ring *rr, struct error *err)
{
	int rc;

	rr->quiet = true;
	if (r->any_quiet)
		return 0;
	rc = timer_set(r->timer, QUIET_MS, false);
	r->any_quiet = !rc;
	return rc ? error_sys(err, rc, "timerfd") : 0;
}

int reader_add(struct reader *r, const struct reader_source *source, struct error *err)
{
	struct reader_ring rr = {
		.index = source->ring,
		.cpu = source->cpu,
		.sideband = source->sideband,
		.aux = source->aux,
		.tap = source->tap,
		.run_on = source->run_on,
		.fds = source->fds,
		.nr_fds = source->nr_fds,
	};
	int rc = ring_init(&rr.ring, source->memory,
			   (const uint8_t *)source->memory + source->page_size, source->data_size);

	if (rc)
		return error_set(err, rc, "cannot read a ring of %zu bytes", source->data_size);
	if (array_grow(&r->rings, &r->capacity, r->nr + 1, sizeof(*r->rings)))
		return error_set(err, -ENOMEM, "out of memory");
	r->rings[r->nr++] = rr;
	rc = ring_poll(r, r->nr - 1);
	if (rc)
		return error_sys(err, rc, "epoll");
	/* EPOLL_CTL_ADD has cleared the report of records already in the ring: see end_quiet(). */
	return rr.sideband && rr.nr_fds ? begin_quiet(r, &r->rings[r->nr - 1], err) : 0;
}

static int ring_is_ready(struct reader *r, struct reader_ring *rr, uint32_t events,
			 struct error *err)
{
	rr->ready = true;
	rr->hangup = events & (EPOLLHUP | EPOLLERR);
	r->any_ready = true;
	return rr->sideband && !rr->hangup ? begin_quiet(r, rr, err) : 0;
}

int reader_wait(struct reader *r, int *fds, size_t max, struct error *err)
{
	struct epoll_event events[64];
	int n = epoll_wait(r->epoll, events, 64, -1), found = 0, rc = 0;

	if (n < 0)
		return errno == EINTR ? 0 : error_sys(err, -errno, "epoll");
	for (int i = 0; !rc && i < n; i++) {
		uint64_t what = events[i].data.u64;

		if (what & TIMER)
			rc = end_quiet(r, err);
		else if (!(what & WATCHED))
			rc = ring_is_ready(r, &r->rings[what], events[i].events, err);
		else if ((size_t)found < max)
			fds[found++] = (int)(what & ~WATCHED);
	}
	return rc ? rc : found;
}

bool reader_waits(const struct reader *r)
{
	return r->waiting;
}

bool reader_hung_up(const struct reader *r)
{
	return r->hung_up == r->nr;
}

const struct reader_stats *reader_stats(const struct reader *r)
{
	return &r->stats;
}

/* --- from a ring into the fifo -------------------------------------------------------------------
 */

/*
 * Writes LOST_SAMPLES records for dropped samples, as far as there is room. A later pass writes the
 * others; the patient pass at the end leaves none.
 */
static void report_dropped(struct reader *r, bool patient)
{
	size_t len = 1;
	int cpu;

	while (r->shed && len) {
		uint8_t *p = patient ? fifo_reserve_patiently(r->fifo, SHED_RECORD_MAX)
				     : fifo_reserve(r->fifo, SHED_RECORD_MAX, true);

		if (!p)
			break;
		len = shed_report_next(r->shed, p, &cpu);
		fifo_commit(r->fifo, len, RUN_NO_RING, cpu);
	}
}

/* A ring's contents at its turn, and the parts that may be shed. */
struct turn {
	struct reader_ring *rr;
	struct ring_spans spans;
	size_t total;  /* bytes of both spans */
	bool can_shed; /* samples may be dropped */
	enum when_full full;
	bool no_stacks; /* the ring is too full: stacks are truncated */
};

/*
 * Copies the first @len bytes to @to and releases the whole records among them. Returns their
 * bytes. Finding the end of the last whole record takes 2 ns a record, in memory just cached: less
 * than a fifth of the copy, with the smallest records.
 */
static size_t copy_out(const struct turn *t, size_t len, uint8_t *to)
{
	ring_spans_copy(&t->spans, 0, to, len);
	/* The kernel ends a full span on a record boundary. */
	if (len < t->total)
		len = ring_whole_records(to, len);
	ring_release(&t->rr->ring, len);
	return len;
}

static void commit(struct reader *r, const struct turn *t, size_t len)
{
	fifo_commit(r->fifo, len, t->rr->index, t->rr->cpu);
	r->stats.pieces++;
}

/*
 * Returns how many of the first @len bytes must leave the ring although the fifo has no room: with
 * FULL_LEAVE those beyond half of the ring, at least one record; else all. The kernel wakes the
 * reader for each quarter, so it comes back in time.
 */
static size_t too_much(const struct turn *t, size_t len)
{
	size_t may_stay = t->full == FULL_LEAVE ? t->rr->ring.size / 2 : 0, over;
	struct perf_event_header first;

	if (t->total <= may_stay)
		return 0;
	over = t->total - may_stay;
	ring_spans_copy(&t->spans, 0, &first, sizeof(first));
	if (over < first.size)
		over = first.size;
	return over < len ? over : len;
}

/*
 * When the fifo has no room for the first @len bytes: of those that must leave the ring, drops the
 * samples, and copies the other records to the part of the fifo kept for them. Returns the bytes
 * released; 0: the ring stays as it is.
 */
static size_t take_without_samples(struct reader *r, const struct turn *t, size_t len)
{
	size_t others;
	uint8_t *p = NULL;

	len = t->can_shed ? too_much(t, len) : 0;
	if (!len)
		return 0;
	ring_spans_copy(&t->spans, 0, r->scratch, len);
	others = shed_others(r->scratch, len, &len);
	if (others)
		p = fifo_reserve(r->fifo, others, true);
	if (others && !p)
		return 0;
	ring_release(&t->rr->ring, len);
	shed_samples(r->shed, r->scratch, len, t->rr->cpu);
	if (p) {
		memcpy(p, r->scratch, others);
		commit(r, t, others);
	}
	return len;
}

/*
 * As take_copy(), but through scratch memory in the cache: the removed stacks touch no other
 * memory.
 */
static size_t take_without_stacks(struct reader *r, const struct turn *t, size_t len, uint8_t *p)
{
	enum loss_cause cause = t->rr->waits ? LOSS_STACK : LOSS_STACK_RING;

	len = copy_out(t, len, r->scratch);
	commit(r, t, shed_stacks(r->shed, p, r->scratch, len, cause, t->rr->cpu));
	return len;
}

static size_t take_copy(struct reader *r, const struct turn *t, size_t len, uint8_t *p)
{
	size_t left;

	len = copy_out(t, len, p);
	left = len;
	if (t->can_shed && t->full != FULL_WAIT && shed_has_stacks(r->shed) &&
	    fifo_fullness(r->fifo) >= FIFO_CROWDED_AT)
		left = shed_stacks(r->shed, p, p, len, LOSS_STACK, t->rr->cpu);
	commit(r, t, left);
	return len;
}

/* Drains up to @len bytes. Returns the bytes released in the ring. */
static size_t take_piece(struct reader *r, const struct turn *t, size_t len)
{
	uint8_t *p = t->full == FULL_WAIT ? fifo_reserve_patiently(r->fifo, len)
					  : fifo_reserve(r->fifo, len, t->rr->sideband);

	if (!p) {
		r->stats.full++;
		return take_without_samples(r, t, len);
	}
	return t->no_stacks ? take_without_stacks(r, t, len, p) : take_copy(r, t, len, p);
}

/*
 * Moves the thread to the CPUs of the ring. Without success it drains the ring from where it runs.
 */
static void move_to(struct reader *r, const struct reader_ring *rr)
{
	if (!rr->run_on || rr->run_on == r->runs_on)
		return;
	r->runs_on = rr->run_on;
	if (!cpus_run_on(rr->run_on))
		r->stats.moves++;
}

static void set_flag(struct reader *r, bool *flag, bool waits)
{
	r->waiting += waits;
	r->waiting -= *flag;
	*flag = waits;
}

static void set_waits(struct reader *r, struct reader_ring *rr, bool waits)
{
	set_flag(r, &rr->waits, waits);
}

/*
 * Sets the bytes to drain in this pass: all that the ring holds now, or none if below @least. AUX
 * records do not wait: one of them may report a stop, and events that stopped start again here.
 */
static void ring_begin(struct reader *r, struct reader_ring *rr, uint64_t least)
{
	struct ring_spans spans;

	rr->left = ring_peek(&rr->ring, &spans);
	if (!rr->left)
		set_waits(r, rr, false);
	if (!rr->aux && rr->left && rr->left < least && rr->left < rr->ring.size / 4) {
		rr->left = 0;
		r->left_some = true;
	}
}

/* Drains a piece of the ring. Returns its bytes. */
static uint64_t ring_turn(struct reader *r, struct reader_ring *rr, enum when_full full)
{
	struct turn t = {.rr = rr, .can_shed = r->shed && !rr->sideband, .full = full};
	bool stacks = t.can_shed && shed_has_stacks(r->shed);
	size_t n, want = stacks ? STACKS_AT_ONCE : fifo_piece_max(r->fifo);

	if (want > fifo_piece_max(r->fifo))
		want = fifo_piece_max(r->fifo);
	t.total = ring_peek(&rr->ring, &t.spans);
	if (rr->tap)
		sideband_tap_keep(rr->tap);
	if (rr->aux)
		aux_area_look(rr->aux);
	t.no_stacks =
		stacks && full != FULL_WAIT && t.total >= rr->ring.size / 100 * RING_CROWDED_AT;
	move_to(r, rr);
	n = take_piece(r, &t, t.total < want ? t.total : want);
	rr->left -= n < rr->left ? n : rr->left;
	if (!n) {
		rr->left = 0;
		r->left_some = true;
	}
	if (!rr->left)
		set_waits(r, rr, !n);
	r->stats.bytes += n;
	return n;
}

/*
 * Drains sideband first: if the output fails amid the samples, it still has the records that
 * resolve them.
 */
static uint64_t take_sideband(struct reader *r, enum when_full full)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < r->nr; i++)
		while (r->rings[i].sideband && r->rings[i].left)
			bytes += ring_turn(r, &r->rings[i], full);
	return bytes;
}

/* Drains a piece of each ring in turn, so that no ring waits until another one is empty. */
static uint64_t take_turns(struct reader *r, enum when_full full)
{
	uint64_t bytes = take_sideband(r, full);
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < r->nr; i++) {
			if (r->rings[i].left)
				bytes += ring_turn(r, &r->rings[i], full);
			more |= r->rings[i].left;
		}
	}
	return bytes;
}

static size_t aux_piece(size_t len)
{
	return sizeof(struct pd_auxtrace_record) + pd_auxtrace_padded(len);
}

/* Copies @len bytes of trace behind their header. */
static void put_trace(struct reader *r, const struct aux_area *area, const struct ring_spans *spans,
		      size_t len, uint8_t *p)
{
	const struct pd_auxtrace trace = {
		.size = len,
		.offset = area->ring.tail,
		.reference = aux_area_reference(area, now_ns(CLOCK_MONOTONIC)),
		.idx = area->index,
		.tid = (uint32_t)area->task,
		.cpu = (uint32_t)area->cpu,
	};
	struct pd_auxtrace_record header;

	pd_auxtrace_encode(&trace, &header);
	memcpy(p, &header, sizeof(header));
	ring_spans_copy(spans, 0, p + sizeof(header), len);
	memset(p + sizeof(header) + len, 0, header.size - len);
	fifo_commit(r->fifo, sizeof(header) + header.size, area->index, area->cpu);
	r->stats.pieces++;
}

/*
 * Whether an area with @held bytes is so full that the kernel may have stopped its events without
 * a record. Drivers stop them up to a page before the end. In areas of few pages that is much, and
 * a running event that is restarted loses trace.
 */
static bool is_full(const struct aux_ring *ring, uint64_t held)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), part = ring->size / 64;

	return held >= ring->size - (page < part ? page : part);
}

/*
 * Returns the bytes of the next of several pieces. A piece ends at a page of the area, so that no
 * packet of SPE is split: perf decodes each AUXTRACE record by itself.
 */
static size_t part_of_trace(const struct reader *r, const struct aux_ring *ring)
{
	size_t most = fifo_piece_max(r->fifo) - sizeof(struct pd_auxtrace_record);

	return most - (size_t)((ring->tail + most) % TRACE_PAGE);
}

/*
 * Drains what the AUX area holds now. Before the end it leaves the bytes behind the last multiple
 * of 8, so that only a trace's last record is padded. Returns the bytes drained.
 */
static uint64_t take_trace(struct reader *r, struct reader_ring *rr, bool patient)
{
	struct aux_ring *ring = &rr->aux->ring;
	struct ring_spans spans;
	uint64_t held = aux_ring_peek(ring, &spans), left;
	uint64_t take = patient ? held : held - held % PD_AUXTRACE_ALIGN;
	size_t len;
	uint8_t *p;

	for (left = take; left; left -= len) {
		len = part_of_trace(r, ring);
		len = left < len ? left : len;
		p = patient ? fifo_reserve_patiently(r->fifo, aux_piece(len))
			    : fifo_reserve(r->fifo, aux_piece(len), false);
		if (!p)
			break;
		aux_ring_peek(ring, &spans);
		put_trace(r, rr->aux, &spans, len, p);
		aux_ring_release(ring, len);
	}
	rr->aux->bytes += take - left;
	r->stats.full += left > 0;
	set_flag(r, &rr->aux_waits, left);
	if (is_full(ring, held))
		aux_area_full(rr->aux);
	if (!left)
		aux_area_restart(rr->aux);
	return take - left;
}

/* After the rings, because an AUX record there may report a stop. */
static uint64_t take_traces(struct reader *r, bool patient)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < r->nr; i++) {
		struct reader_ring *rr = &r->rings[i];

		if (rr->aux && rr->aux->mode == AUX_FULL)
			bytes += take_trace(r, rr, patient);
		else if (rr->aux)
			aux_area_restart(rr->aux);
	}
	return bytes;
}

/*
 * Handles the end of an event of ring @i, whose tasks have ended: polls another event of the ring.
 */
static int ring_hangup(struct reader *r, size_t i, struct error *err)
{
	struct reader_ring *rr = &r->rings[i];
	int rc;

	epoll_ctl(r->epoll, EPOLL_CTL_DEL, rr->fds[rr->polled], NULL);
	rr->polled++;
	rc = ring_poll(r, i);
	return rc ? error_sys(err, rc, "epoll") : 0;
}

static void pass_end(struct reader *r, bool patient, uint64_t bytes)
{
	report_dropped(r, patient);
	r->stats.passes++;
	if (bytes)
		r->marked = false;
}

int reader_pass_ready(struct reader *r, uint64_t *ret_bytes, struct error *err)
{
	bool some = r->any_ready || r->waiting;
	int rc = 0;

	for (size_t i = 0; some && i < r->nr; i++) {
		struct reader_ring *rr = &r->rings[i];

		if (rr->ready || rr->waits || rr->sideband)
			ring_begin(r, rr, rr->sideband || rr->hangup || rr->waits ? 0 : r->least);
	}
	*ret_bytes = some ? take_turns(r, FULL_LEAVE) : 0;
	if (some)
		*ret_bytes += take_traces(r, false);
	for (size_t i = 0; !rc && r->any_ready && i < r->nr; i++) {
		struct reader_ring *rr = &r->rings[i];

		if (rr->ready && rr->hangup)
			rc = ring_hangup(r, i, err);
		rr->ready = false;
	}
	r->any_ready = false;
	pass_end(r, false, *ret_bytes);
	return rc;
}

/* Writes no mark after a pass that left records in a ring: the next pass may bring older ones. */
static void round_mark(struct reader *r)
{
	const struct perf_event_header mark = {
		.type = PERF_RECORD_FINISHED_ROUND,
		.size = sizeof(mark),
	};
	uint8_t *p;

	if (!r->rounds || r->marked || r->left_some)
		return;
	p = fifo_reserve(r->fifo, sizeof(mark), true);
	if (!p)
		return;
	memcpy(p, &mark, sizeof(mark));
	fifo_commit(r->fifo, sizeof(mark), RUN_NO_RING, -1);
	r->marked = true;
	r->stats.rounds++;
}

static uint64_t pass(struct reader *r, enum when_full full, uint64_t least)
{
	uint64_t bytes;

	r->left_some = false;
	for (size_t i = 0; i < r->nr; i++)
		ring_begin(r, &r->rings[i], least);
	bytes = take_turns(r, full);
	bytes += take_traces(r, full == FULL_WAIT);
	pass_end(r, full == FULL_WAIT, bytes);
	round_mark(r);
	return bytes;
}

uint64_t reader_pass_all(struct reader *r, bool patient)
{
	return pass(r, patient ? FULL_WAIT : FULL_DROP, 0);
}

uint64_t reader_pass_round(struct reader *r)
{
	return pass(r, FULL_LEAVE, r->least);
}
