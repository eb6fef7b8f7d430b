// SPDX-License-Identifier: Apache-2.0
#include "sys/io/aio_engine.h"

#include <errno.h>
#include <liburing.h>
#include <stdlib.h>

/* The kernel also limits write(2) to about that much, and io_uring's length has 32 bits. */
#define PART_MAX (1u << 30)

struct uring {
	struct io_uring ring;
	int broken; /* io_uring_enter() refuses: the queue's entries cannot be taken back */
};

/* Submits the entries of the queue, now or (after EAGAIN) with the next call. */
static int uring_send(struct uring *u)
{
	int rc = io_uring_submit(&u->ring);

	if (rc < 0 && rc != -EINTR && rc != -EAGAIN && rc != -EBUSY)
		u->broken = rc;
	return u->broken;
}

static int uring_wait(struct uring *u, bool wait, struct io_uring_cqe **ret)
{
	if (u->broken || (io_uring_sq_ready(&u->ring) && uring_send(u)))
		return u->broken;
	return wait ? io_uring_wait_cqe(&u->ring, ret) : io_uring_peek_cqe(&u->ring, ret);
}

/* Tries the ring: a seccomp filter may allow its setup and refuse its use. */
static int uring_try(struct uring *u)
{
	struct io_uring_cqe *cqe;
	int rc;

	/* IORING_OP_WRITE and offset -1 came with 5.6, as did this feature. */
	if (!(u->ring.features & IORING_FEAT_RW_CUR_POS))
		return -EOPNOTSUPP;
	io_uring_prep_nop(io_uring_get_sqe(&u->ring));
	do {
		rc = uring_wait(u, true, &cqe);
	} while (rc == -EINTR);
	if (!rc)
		io_uring_cqe_seen(&u->ring, cqe);
	return rc;
}

static int uring_open(void *arg, unsigned int depth, void **ret)
{
	struct uring *u = calloc(1, sizeof(*u));
	int rc;

	if (!u)
		return -ENOMEM;
	rc = io_uring_queue_init(depth, &u->ring, 0);
	if (rc)
		goto fail;
	rc = uring_try(u);
	if (rc) {
		io_uring_queue_exit(&u->ring);
		goto fail;
	}
	*ret = u;
	return 0;
fail:
	free(u);
	return rc;
}

static int uring_start(void *engine, unsigned int slot, const struct aio_part *part)
{
	struct uring *u = engine;
	struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);

	if (!sqe)
		return -EAGAIN; /* the next uring_wait() submits the queue's entries */
	io_uring_prep_write(sqe, part->fd, part->data,
			    part->len < PART_MAX ? (unsigned int)part->len : PART_MAX,
			    (uint64_t)part->offset);
	sqe->user_data = slot;
	uring_send(u);
	return 0;
}

static int uring_collect(void *engine, bool wait, unsigned int *ret_slot, ssize_t *ret_result)
{
	struct uring *u = engine;
	struct io_uring_cqe *cqe;
	int rc = uring_wait(u, wait, &cqe);

	if (rc)
		return rc == -EAGAIN || rc == -EINTR ? 0 : rc;
	*ret_slot = (unsigned int)cqe->user_data;
	*ret_result = cqe->res;
	io_uring_cqe_seen(&u->ring, cqe);
	return 1;
}

static void uring_close(void *engine)
{
	struct uring *u = engine;

	io_uring_queue_exit(&u->ring);
	free(u);
}

const struct aio_engine aio_engine_uring = {
	.name = "io_uring",
	.open = uring_open,
	.start = uring_start,
	.collect = uring_collect,
	.close = uring_close,
};
