// SPDX-License-Identifier: Apache-2.0
#include "report/script/formatters.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "report/script/batch.h"

enum slot_state {
	SLOT_EMPTY, /* the owner's, as without threads all are */
	SLOT_FULL,  /* any thread may take it */
	SLOT_TAKEN, /* a thread's */
	SLOT_TEXT,  /* the owner's: the text is to be written */
};

struct slot {
	struct batch batch;
	size_t number;	      /* of a piece; if there are pieces, no slot has a batch */
	struct outbuf *texts; /* one for each stream */
	int rc;		      /* of the format function */
	enum slot_state state;
};

struct formatter {
	struct formatters *all;
	void *arg;
	pthread_t thread;
};

struct formatters {
	format_fn fn;
	format_piece_fn piece; /* NULL: batches are formatted */
	struct format_out *outs;
	size_t nr_outs;
	struct slot *slots;
	size_t nr_slots;
	/* Counts of batches; a batch is in the slot of its number modulo nr_slots. */
	size_t filled;	/* @filled is being filled; the owner's */
	size_t written; /* the owner's */
	size_t taken;	/* by threads; under @lock, as the states of slots */
	pthread_mutex_t lock;
	pthread_cond_t full, text;
	bool stop;
	struct formatter *threads;
	size_t nr_threads; /* that run */
	void *own;	   /* argument of the owner's thread */
	bool at_once;	   /* each sample is a batch */
};

static struct slot *slot_of(struct formatters *f, size_t batch)
{
	return &f->slots[batch % f->nr_slots];
}

/* --- formatting ----------------------------------------------------------------------------------
 */

struct job {
	struct formatters *all;
	struct slot *slot;
	void *arg;
};

static int format_one(const struct walk_sample *ws, void *arg)
{
	struct job *job = arg;

	return job->all->fn(ws, job->slot->texts, job->arg);
}

static void format_slot(struct formatters *f, struct slot *slot, void *arg)
{
	struct job job = {f, slot, arg};

	for (size_t i = 0; i < f->nr_outs; i++) {
		slot->texts[i].b.len = 0;
		slot->texts[i].failed = false;
	}
	if (f->piece)
		slot->rc = f->piece(slot->number, slot->texts, arg);
	else
		slot->rc = batch_each(&slot->batch, format_one, &job);
	for (size_t i = 0; i < f->nr_outs; i++)
		if (slot->texts[i].failed && !slot->rc)
			slot->rc = -ENOMEM;
}

static void *format_run(void *arg)
{
	struct formatter *thread = arg;
	struct formatters *f = thread->all;
	struct slot *slot;

	pthread_mutex_lock(&f->lock);
	for (;;) {
		slot = slot_of(f, f->taken);
		if (f->stop)
			break;
		if (slot->state != SLOT_FULL) {
			pthread_cond_wait(&f->full, &f->lock);
			continue;
		}
		slot->state = SLOT_TAKEN;
		f->taken++;
		pthread_mutex_unlock(&f->lock);
		format_slot(f, slot, thread->arg);
		pthread_mutex_lock(&f->lock);
		slot->state = SLOT_TEXT;
		pthread_cond_signal(&f->text);
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

/* --- writing -------------------------------------------------------------------------------------
 */

static void await_text(struct formatters *f, struct slot *slot)
{
	pthread_mutex_lock(&f->lock);
	while (slot->state != SLOT_TEXT)
		pthread_cond_wait(&f->text, &f->lock);
	slot->state = SLOT_EMPTY;
	pthread_mutex_unlock(&f->lock);
}

/* Writes the text of the oldest batch that is not written. */
static int write_next(struct formatters *f)
{
	struct slot *slot = slot_of(f, f->written);

	if (f->nr_threads)
		await_text(f, slot);
	else
		format_slot(f, slot, f->own);
	f->written++;
	batch_clear(&slot->batch);
	for (size_t i = 0; i < f->nr_outs; i++) {
		const struct buf *text = &slot->texts[i].b;

		if (text->len && fwrite(text->data, 1, text->len, f->outs[i].file) != text->len)
			return errno > 0 ? -errno : -EIO;
		f->outs[i].bytes += text->len;
	}
	return slot->rc;
}

/* Gives the batch to the threads. */
static void hand_over(struct formatters *f)
{
	pthread_mutex_lock(&f->lock);
	slot_of(f, f->filled)->state = SLOT_FULL;
	pthread_cond_signal(&f->full);
	pthread_mutex_unlock(&f->lock);
	f->filled++;
}

/* Begins the next batch. */
static int next_batch(struct formatters *f)
{
	hand_over(f);
	return f->filled - f->written == f->nr_slots ? write_next(f) : 0;
}

int formatters_put(const struct walk_sample *ws, void *formatters)
{
	struct formatters *f = formatters;
	int rc = batch_add(&slot_of(f, f->filled)->batch, ws);

	if (!rc && f->at_once)
		return next_batch(f);
	if (rc != -ENOSPC)
		return rc;
	rc = next_batch(f);
	return rc < 0 ? rc : batch_add(&slot_of(f, f->filled)->batch, ws);
}

int formatters_put_span(const struct walk_span *span, void *formatters)
{
	struct formatters *f = formatters;
	int rc = batch_add_span(&slot_of(f, f->filled)->batch, span);

	if (rc != -ENOSPC)
		return rc;
	rc = next_batch(f);
	return rc < 0 ? rc : batch_add_span(&slot_of(f, f->filled)->batch, span);
}

int formatters_put_piece(struct formatters *f, size_t number)
{
	slot_of(f, f->filled)->number = number;
	return next_batch(f);
}

int formatters_end(struct formatters *f)
{
	int rc = 0;

	if (!f->piece && slot_of(f, f->filled)->batch.nr)
		hand_over(f);
	while (rc >= 0 && f->written < f->filled)
		rc = write_next(f);
	return rc;
}

/* --- life ----------------------------------------------------------------------------------------
 */

static void start(struct formatters *f, void *const *worker, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		f->threads[i] = (struct formatter){.all = f, .arg = worker[i]};
		if (pthread_create(&f->threads[i].thread, NULL, format_run, &f->threads[i]))
			break;
		f->nr_threads++;
	}
}

static int new (const struct formatters *like, void *const *worker, size_t nr,
		struct formatters **ret)
{
	struct formatters *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	*f = *like;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->full, NULL);
	pthread_cond_init(&f->text, NULL);
	f->at_once = !nr;
	f->nr_slots = f->piece || !nr ? nr + 1 : 2 * nr + 2; /* pieces are larger */
	f->slots = calloc(f->nr_slots, sizeof(*f->slots));
	f->threads = calloc(nr + 1, sizeof(*f->threads));
	if (!f->slots || !f->threads) {
		formatters_free(f);
		return -ENOMEM;
	}
	for (size_t i = 0; i < f->nr_slots; i++) {
		f->slots[i].texts = calloc_apart(f->nr_outs, sizeof(*f->slots[i].texts));
		if (!f->slots[i].texts) {
			formatters_free(f);
			return -ENOMEM;
		}
	}
	start(f, worker, nr);
	*ret = f;
	return 0;
}

int formatters_new(format_fn fn, void *const *worker, size_t nr, struct format_out *outs,
		   size_t nr_outs, struct formatters **ret)
{
	const struct formatters like = {
		.fn = fn, .outs = outs, .nr_outs = nr_outs, .own = worker[0]};

	return new (&like, worker, nr, ret);
}

int formatters_new_pieces(format_piece_fn fn, void *const *worker, size_t nr,
			  struct format_out *outs, size_t nr_outs, struct formatters **ret)
{
	const struct formatters like = {
		.piece = fn, .outs = outs, .nr_outs = nr_outs, .own = worker[0]};

	return new (&like, worker, nr, ret);
}

void formatters_free(struct formatters *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	f->stop = true;
	pthread_cond_broadcast(&f->full);
	pthread_mutex_unlock(&f->lock);
	for (size_t i = 0; i < f->nr_threads; i++)
		pthread_join(f->threads[i].thread, NULL);
	for (size_t i = 0; f->slots && i < f->nr_slots; i++) {
		for (size_t j = 0; f->slots[i].texts && j < f->nr_outs; j++)
			buf_release(&f->slots[i].texts[j].b);
		free(f->slots[i].texts);
		batch_release(&f->slots[i].batch);
	}
	free(f->slots);
	free(f->threads);
	pthread_cond_destroy(&f->text);
	pthread_cond_destroy(&f->full);
	pthread_mutex_destroy(&f->lock);
	free(f);
}
