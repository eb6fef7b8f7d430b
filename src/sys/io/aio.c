// SPDX-License-Identifier: Apache-2.0
/*
 * Shared by both engines: remainders of short writes, retries, the order of streams.
 *
 * A write is in one slot from its submission until it is reaped:
 *
 *   FREE ──submit──► QUEUED ──► STARTED ──► ENDED ──reap──► FREE
 *                      ▲          │
 *                      └── remainder, EINTR, EAGAIN (stalled)
 *
 * A QUEUED write to a stream waits until all earlier writes to its descriptor have ended.
 */
#include "sys/io/aio_engine.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* How long a descriptor rests that poll() calls ready and that still returns EAGAIN. */
#define STALL_NS 1000000

enum aio_state {
	FREE,
	QUEUED,
	STARTED,
	ENDED,
};

struct aio_slot {
	enum aio_state state;
	struct aio_part rest; /* the bytes not yet written */
	uint64_t number;      /* counts up with submissions; when the write has ended, with ends */
	unsigned int stalls;  /* number of EAGAIN since it last wrote a byte */
	struct aio_completion completion;
};

struct aio {
	const struct aio_engine *engine;
	void *state; /* the engine's */
	int uring_refused;
	int broken; /* the errno that the engine failed with; 0 while it works */
	unsigned int depth, pending;
	uint64_t numbers;
	struct aio_slot slots[];
};

int aio_new_engine(const struct aio_engine *engine, void *arg, unsigned int depth, struct aio **ret)
{
	struct aio *a;
	int rc;

	if (!depth || depth > AIO_DEPTH_MAX)
		return -EINVAL;
	a = calloc(1, sizeof(*a) + depth * sizeof(a->slots[0]));
	if (!a)
		return -ENOMEM;
	a->engine = engine;
	a->depth = depth;
	rc = engine->open(arg, depth, &a->state);
	if (rc)
		free(a);
	else
		*ret = a;
	return rc;
}

int aio_new(enum aio_kind kind, unsigned int depth, struct aio **ret, struct error *err)
{
	int rc = 0, refused = 0;

	if (kind != AIO_POSIX) {
		rc = aio_new_engine(&aio_engine_uring, NULL, depth, ret);
		refused = rc;
	}
	if (kind == AIO_POSIX || (rc && kind == AIO_AUTOMATIC))
		rc = aio_new_engine(&aio_engine_posix, NULL, depth, ret);
	if (rc)
		return error_sys(err, rc, "cannot write asynchronously, %u writes at a time",
				 depth);
	(*ret)->uring_refused = refused;
	return 0;
}

void aio_free(struct aio *a)
{
	if (!a)
		return;
	aio_barrier(a);
	a->engine->close(a->state);
	free(a);
}

const char *aio_engine_name(const struct aio *a)
{
	return a->engine->name;
}

int aio_uring_refused(const struct aio *a)
{
	return a->uring_refused;
}

unsigned int aio_pending(const struct aio *a)
{
	return a->pending;
}

static bool is_stream(const struct aio_slot *s)
{
	return s->rest.offset == AIO_STREAM;
}

/* Whether an earlier write to the stream of @s has not ended. */
static bool stream_busy(const struct aio *a, const struct aio_slot *s)
{
	unsigned int i;

	for (i = 0; i < a->depth && is_stream(s); i++) {
		const struct aio_slot *o = &a->slots[i];

		if ((o->state == QUEUED || o->state == STARTED) && o->number < s->number &&
		    is_stream(o) && o->rest.fd == s->rest.fd)
			return true;
	}
	return false;
}

/* Cancels the writes queued behind a failed write of a stream. */
static void cancel_behind(struct aio *a, int fd)
{
	struct aio_slot *next;
	unsigned int i;

	do {
		next = NULL;
		for (i = 0; i < a->depth; i++) {
			struct aio_slot *s = &a->slots[i];

			if (s->state == QUEUED && is_stream(s) && s->rest.fd == fd &&
			    (!next || s->number < next->number))
				next = s;
		}
		if (next) {
			next->state = ENDED;
			next->completion.result = -ECANCELED;
			next->number = a->numbers++;
		}
	} while (next);
}

static void slot_end(struct aio *a, struct aio_slot *s, int result)
{
	s->state = ENDED;
	s->completion.result = result;
	s->number = a->numbers++;
	if (result && is_stream(s))
		cancel_behind(a, s->rest.fd);
}

/* Handles the result of one write(2) of @s. Queues @s again if bytes remain. */
static void slot_result(struct aio *a, struct aio_slot *s, ssize_t result)
{
	s->state = QUEUED;
	/* The kernel cancels a write only when the thread that began it ends. */
	if (result == -EINTR || result == -ECANCELED)
		return;
	if (result == -EAGAIN) {
		s->stalls++;
		return;
	}
	/* A descriptor that writes nothing would make us retry for ever. */
	if (result <= 0 || (size_t)result > s->rest.len) {
		slot_end(a, s, result < 0 ? (int)result : -EIO);
		return;
	}
	s->stalls = 0;
	s->rest.data = (const char *)s->rest.data + result;
	s->rest.len -= (size_t)result;
	if (!is_stream(s))
		s->rest.offset += result;
	if (!s->rest.len)
		slot_end(a, s, 0);
}

/* Whether to try again after EAGAIN. With @wait: waits until that makes sense. */
static bool stall_over(const struct aio_slot *s, bool wait)
{
	const struct timespec nap = {.tv_nsec = STALL_NS};
	struct pollfd pfd = {.fd = s->rest.fd, .events = POLLOUT};

	if (wait && s->stalls > 1)
		nanosleep(&nap, NULL);
	return poll(&pfd, 1, wait ? -1 : 0) != 0;
}

static void slot_start(struct aio *a, struct aio_slot *s)
{
	int rc;

	s->state = STARTED;
	rc = a->engine->start(a->state, (unsigned int)(s - a->slots), &s->rest);
	if (rc)
		slot_result(a, s, rc);
}

/*
 * Starts all writes that may start. With @wait it may wait for one stalled write, if nothing else
 * can go on. Returns whether any write is STARTED.
 */
static bool start_queued(struct aio *a, bool wait)
{
	struct aio_slot *stalled = NULL;
	bool started = false;
	unsigned int i;

	for (i = 0; i < a->depth; i++) {
		struct aio_slot *s = &a->slots[i];

		if (s->state == QUEUED && !stream_busy(a, s)) {
			if (!s->stalls || stall_over(s, false))
				slot_start(a, s);
			else
				stalled = s;
		}
		started |= s->state == STARTED;
	}
	if (wait && !started && stalled && stall_over(stalled, true))
		slot_start(a, stalled);
	return started || (stalled && stalled->state == STARTED);
}

int aio_submit(struct aio *a, int fd, const void *data, size_t len, off_t offset, void *cookie)
{
	struct aio_slot *s = a->slots;

	if (a->pending == a->depth)
		return -EBUSY;
	while (s->state != FREE)
		s++;
	a->pending++;
	*s = (struct aio_slot){
		.state = QUEUED,
		.rest = {fd, data, len, offset},
		.number = a->numbers++,
		.completion = {.cookie = cookie},
	};
	if (!stream_busy(a, s))
		slot_start(a, s);
	return 0;
}

/*
 * Makes progress with the writes. Returns 1: went on; 0: none has ended; negative: the engine
 * failed.
 */
static int step(struct aio *a, bool wait)
{
	unsigned int slot;
	ssize_t result;
	int rc;

	if (a->broken)
		return a->broken;
	if (!start_queued(a, wait))
		return wait;
	rc = a->engine->collect(a->state, wait, &slot, &result);
	if (rc < 0)
		a->broken = rc;
	if (rc == 1)
		slot_result(a, &a->slots[slot], result);
	return rc || !wait ? rc : 1;
}

/* Returns the write that ended first. */
static struct aio_slot *first_ended(struct aio *a)
{
	struct aio_slot *first = NULL;
	unsigned int i;

	for (i = 0; i < a->depth; i++) {
		struct aio_slot *s = &a->slots[i];

		if (s->state == ENDED && (!first || s->number < first->number))
			first = s;
	}
	return first;
}

int aio_reap(struct aio *a, bool wait, struct aio_completion *ret)
{
	struct aio_slot *s = NULL;
	int rc = 1;

	if (!a->pending)
		return 0;
	while (!(s = first_ended(a)) && rc == 1)
		rc = step(a, wait);
	if (!s)
		return rc;
	*ret = s->completion;
	s->state = FREE;
	a->pending--;
	return 1;
}

static bool any_unended(const struct aio *a)
{
	unsigned int i;

	for (i = 0; i < a->depth; i++) {
		if (a->slots[i].state == QUEUED || a->slots[i].state == STARTED)
			return true;
	}
	return false;
}

int aio_barrier(struct aio *a)
{
	int rc = 1;

	while (rc == 1 && any_unended(a))
		rc = step(a, true);
	return rc < 0 ? rc : 0;
}
