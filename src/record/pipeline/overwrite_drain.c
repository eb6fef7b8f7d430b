// SPDX-License-Identifier: Apache-2.0
#include "record/pipeline/overwrite_drain.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "ring/backward.h"
#include "sys/kernel/perf_event.h"

struct overwrite_ring {
	struct backward ring;
	unsigned int index;
	int cpu;
	int owner; /* the descriptor that mapped the ring */
};

struct overwrite_drain {
	struct fifo *fifo;
	struct overwrite_ring *rings;
	size_t nr, capacity;
	struct overwrite_drain_stats stats;
};

struct overwrite_drain *overwrite_drain_new(struct fifo *fifo)
{
	struct overwrite_drain *d = calloc(1, sizeof(*d));

	if (d)
		d->fifo = fifo;
	return d;
}

void overwrite_drain_free(struct overwrite_drain *d)
{
	if (!d)
		return;
	free(d->rings);
	free(d);
}

int overwrite_drain_add(struct overwrite_drain *d, const struct reader_source *source,
			struct error *err)
{
	struct overwrite_ring r = {
		.index = source->ring,
		.cpu = source->cpu,
		.owner = source->nr_fds ? source->fds[0] : -1,
	};
	int rc = backward_init(&r.ring, source->memory,
			       (const uint8_t *)source->memory + source->page_size,
			       source->data_size);

	if (rc)
		return error_set(err, rc, "cannot read a ring of %zu bytes", source->data_size);
	if (array_grow(&d->rings, &d->capacity, d->nr + 1, sizeof(*d->rings)))
		return error_set(err, -ENOMEM, "out of memory");
	d->rings[d->nr++] = r;
	return 0;
}

size_t overwrite_drain_rings(const struct overwrite_drain *d)
{
	return d->nr;
}

const struct overwrite_drain_stats *overwrite_drain_stats(const struct overwrite_drain *d)
{
	return &d->stats;
}

static int set_paused(const struct overwrite_ring *r, bool paused, struct error *err)
{
	int rc = perf_event_pause_output(r->owner, paused);

	return rc ? error_sys(err, rc, "cannot %s the ring of CPU %d", paused ? "pause" : "resume",
			      r->cpu)
		  : 0;
}

int overwrite_drain_pause(struct overwrite_drain *d, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < d->nr; i++)
		rc = set_paused(&d->rings[i], true, err);
	if (!rc && d->nr) {
		perf_event_await_writers();
		d->stats.drains++;
	}
	return rc;
}

/*
 * Copies in pieces of whole records. Returns the bytes copied: fewer than all only where the ring
 * is damaged.
 */
static size_t copy_records(struct overwrite_drain *d, const struct overwrite_ring *r,
			   const struct ring_spans *spans)
{
	size_t total = spans->a_len + spans->b_len, max = fifo_piece_max(d->fifo), done = 0;

	while (done < total) {
		size_t len = total - done < max ? total - done : max;
		uint8_t *p = fifo_reserve_patiently(d->fifo, len);

		ring_spans_copy(spans, done, p, len);
		len = ring_whole_records(p, len);
		fifo_commit(d->fifo, len, r->index, r->cpu);
		if (!len)
			break;
		done += len;
	}
	return done;
}

int overwrite_drain_take(struct overwrite_drain *d, size_t i, bool go_on, struct error *err)
{
	struct overwrite_ring *r = &d->rings[i];
	struct backward_records found;
	size_t bytes = backward_find(&r->ring, &found);
	size_t taken = copy_records(d, r, &found.spans);

	d->stats.taken += taken;
	d->stats.overwritten += found.overwritten + bytes - taken;
	backward_done(&r->ring, &found);
	return go_on ? set_paused(r, false, err) : 0;
}
