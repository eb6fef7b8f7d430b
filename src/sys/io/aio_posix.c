// SPDX-License-Identifier: Apache-2.0
#include "sys/io/aio_engine.h"

#include <aio.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct aio_request {
	struct aiocb cb;
	bool stream;
};

struct posix {
	unsigned int depth;
	const struct aiocb **started; /* by slot, NULL if free, for aio_suspend() */
	struct aio_request requests[];
};

static int posix_open(void *arg, unsigned int depth, void **ret)
{
	struct posix *p = calloc(1, sizeof(*p) + depth * sizeof(p->requests[0]));

	if (!p)
		return -ENOMEM;
	p->depth = depth;
	p->started = calloc(depth, sizeof(*p->started));
	if (!p->started) {
		free(p);
		return -ENOMEM;
	}
	*ret = p;
	return 0;
}

static int posix_start(void *engine, unsigned int slot, const struct aio_part *part)
{
	struct posix *p = engine;
	struct aio_request *q = &p->requests[slot];

	memset(q, 0, sizeof(*q));
	q->stream = part->offset == AIO_STREAM;
	q->cb.aio_fildes = part->fd;
	q->cb.aio_buf = (void *)(uintptr_t)part->data;
	q->cb.aio_nbytes = part->len;
	q->cb.aio_offset = part->offset;
	q->cb.aio_sigevent.sigev_notify = SIGEV_NONE;
	/* glibc calls pwrite(2), and write(2) where the descriptor cannot seek. */
	if (q->stream) {
		q->cb.aio_offset = lseek(part->fd, 0, SEEK_CUR);
		if (q->cb.aio_offset < 0)
			q->cb.aio_offset = 0;
	}
	if (aio_write(&q->cb))
		return -errno;
	p->started[slot] = &q->cb;
	return 0;
}

/* Returns a write that has ended, or NULL. */
static struct aio_request *posix_ended(struct posix *p, unsigned int *ret_slot)
{
	unsigned int i;

	for (i = 0; i < p->depth; i++) {
		if (p->started[i] && aio_error(&p->requests[i].cb) != EINPROGRESS) {
			*ret_slot = i;
			return &p->requests[i];
		}
	}
	return NULL;
}

static int posix_collect(void *engine, bool wait, unsigned int *ret_slot, ssize_t *ret_result)
{
	struct posix *p = engine;
	struct aio_request *q = posix_ended(p, ret_slot);
	int error;

	if (!q && wait) {
		if (aio_suspend(p->started, (int)p->depth, NULL) && errno != EINTR &&
		    errno != EAGAIN)
			return -errno;
		q = posix_ended(p, ret_slot);
	}
	if (!q)
		return 0;
	p->started[*ret_slot] = NULL;
	error = aio_error(&q->cb);
	*ret_result = aio_return(&q->cb);
	if (error)
		*ret_result = -error;
	/*
	 * The next write of the stream begins at the file position, which pwrite(2) does not move.
	 */
	else if (q->stream)
		lseek(q->cb.aio_fildes, q->cb.aio_offset + *ret_result, SEEK_SET);
	return 1;
}

static void posix_close(void *engine)
{
	struct posix *p = engine;

	free(p->started);
	free(p);
}

const struct aio_engine aio_engine_posix = {
	.name = "POSIX AIO",
	.open = posix_open,
	.start = posix_start,
	.collect = posix_collect,
	.close = posix_close,
};
