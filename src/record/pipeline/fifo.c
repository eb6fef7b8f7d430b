// SPDX-License-Identifier: Apache-2.0
/*
 * No lock: a reader of high priority must not wait for a writer that was preempted while it held
 * one.
 *
 * Both ends count the bytes of all pieces ever: @produced and @consumed never fall, and the bytes
 * between them are in memory. Byte n is at offset (n - @origin) modulo the size. The producer moves
 * the origin only while the fifo is empty, before it counts the next piece, so the consumer never
 * uses a stale origin.
 */
#include "record/pipeline/fifo.h"

#include <assert.h>
#include <errno.h>
#include <semaphore.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

/* The header before a piece. */
struct piece {
	uint32_t len; /* bytes of records; PIECE_SKIP: the next piece is at the start of the memory
		       */
	uint32_t ring;
	int32_t cpu;
	uint32_t room; /* bytes to the next piece, this header included; 0 in a PIECE_SKIP */
};

#define PIECE_SKIP UINT32_MAX

/*
 * A thread sleeps here until another one publishes something. The sleeper sets @asleep and then
 * checks once more; the publisher publishes and then checks @asleep. All four accesses are
 * sequentially consistent, so at least one of them sees the other. bell_ring() posts once each time
 * that it clears @asleep.
 */
struct bell {
	_Atomic bool asleep;
	sem_t sem;
};

#define CACHE_LINE 64

/* In percent: a piece takes at most a quarter, may skip as much, and a sixteenth is kept. */
#define ROOM_BELOW 40

struct fifo {
	uint8_t *memory;
	size_t size, kept, piece_max;
	uint64_t origin; /* the producer's, see above */
	struct bell filled, freed;

	/* Written by the producer. */
	alignas(CACHE_LINE) _Atomic uint64_t produced;
	uint64_t skipped; /* bytes at the end of the memory before the reserved piece */
	_Atomic uint64_t mark, mark_at; /* 0: none; due when @consumed reaches mark_at */
	_Atomic bool wants_room;

	_Atomic bool nudged, hurried; /* any thread's */

	/* Written by the consumer. */
	alignas(CACHE_LINE) _Atomic uint64_t consumed;
};

/* --- sleeping ------------------------------------------------------------------------------------
 */

static void bell_ring(struct bell *b)
{
	if (atomic_load(&b->asleep) && atomic_exchange(&b->asleep, false))
		sem_post(&b->sem);
}

static void bell_lie_down(struct bell *b)
{
	atomic_store(&b->asleep, true);
}

static void bell_sleep(struct bell *b)
{
	while (sem_wait(&b->sem) < 0 && errno == EINTR)
		;
}

/* Cancels the sleep. If bell_ring() has cleared @asleep meanwhile, consumes its post. */
static void bell_get_up(struct bell *b)
{
	if (!atomic_exchange(&b->asleep, false))
		bell_sleep(b);
}

/* --- memory --------------------------------------------------------------------------------------
 */

struct fifo *fifo_new(size_t bytes)
{
	struct fifo *f = aligned_alloc(CACHE_LINE, sizeof(*f));
	void *memory;

	assert(bytes >= FIFO_MIN);
	if (!f)
		return NULL;
	bytes &= ~(sizeof(struct piece) - 1);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		free(f);
		return NULL;
	}
	*f = (struct fifo){
		.memory = memory,
		.size = bytes,
		.kept = bytes / 16,
		/* Even a small fifo must hold a few pieces, and a piece the largest record. */
		.piece_max = bytes / 4 < FIFO_PIECE_MAX ? bytes / 4 : FIFO_PIECE_MAX,
	};
	sem_init(&f->filled.sem, 0, 0);
	sem_init(&f->freed.sem, 0, 0);
	return f;
}

void fifo_free(struct fifo *f)
{
	if (!f)
		return;
	munmap(f->memory, f->size);
	sem_destroy(&f->freed.sem);
	sem_destroy(&f->filled.sem);
	free(f);
}

size_t fifo_bytes(const struct fifo *f)
{
	return f->size;
}

size_t fifo_piece_max(const struct fifo *f)
{
	return f->piece_max;
}

static struct piece *piece_at(const struct fifo *f, uint64_t at)
{
	return (struct piece *)(f->memory + (at - f->origin) % f->size);
}

/* Rounds up, so that the next piece begins at an aligned header. */
static size_t room_for(size_t len)
{
	return (sizeof(struct piece) + len + sizeof(struct piece) - 1) &
	       ~(sizeof(struct piece) - 1);
}

/* --- the producer --------------------------------------------------------------------------------
 */

/* Finds room in one span. Skips the end of the memory if the piece fits only at its start. */
static uint8_t *reserve(struct fifo *f, size_t len, size_t limit)
{
	uint64_t at = atomic_load_explicit(&f->produced, memory_order_relaxed);
	size_t used = at - atomic_load(&f->consumed), room = room_for(len), to_end;

	assert(len <= f->piece_max);
	if (!used)
		f->origin = at;
	to_end = f->size - (at - f->origin) % f->size;
	f->skipped = room > to_end ? to_end : 0;
	if (used + f->skipped + room > limit)
		return NULL;
	return (uint8_t *)(piece_at(f, at + f->skipped) + 1);
}

uint8_t *fifo_reserve(struct fifo *f, size_t len, bool urgent)
{
	return reserve(f, len, urgent ? f->size : f->size - f->kept);
}

uint8_t *fifo_reserve_patiently(struct fifo *f, size_t len)
{
	uint8_t *ret;

	while (!(ret = fifo_reserve(f, len, false))) {
		bell_lie_down(&f->freed);
		ret = fifo_reserve(f, len, false);
		if (ret) {
			bell_get_up(&f->freed);
			break;
		}
		bell_sleep(&f->freed);
	}
	return ret;
}

void fifo_commit(struct fifo *f, size_t len, unsigned int ring, int cpu)
{
	uint64_t at = atomic_load_explicit(&f->produced, memory_order_relaxed);
	size_t room = room_for(len);

	if (!len)
		return;
	if (f->skipped)
		*piece_at(f, at) = (struct piece){.len = PIECE_SKIP};
	*piece_at(f, at + f->skipped) = (struct piece){
		.len = (uint32_t)len, .ring = ring, .cpu = cpu, .room = (uint32_t)room};
	atomic_store(&f->produced, at + f->skipped + room);
	bell_ring(&f->filled);
}

void fifo_mark(struct fifo *f, uint64_t mark)
{
	/*
	 * Stores the place first, so a consumer that sees the mark sees its place. A consumer that
	 * sees the older mark with the new place returns it later, which does no harm.
	 */
	atomic_store(&f->mark_at, atomic_load_explicit(&f->produced, memory_order_relaxed));
	atomic_store(&f->mark, mark);
	bell_ring(&f->filled);
}

static bool has_room(struct fifo *f)
{
	return fifo_fullness(f) < ROOM_BELOW;
}

/* As with a bell: the producer sets the flag, then checks; the consumer frees, then checks it. */
bool fifo_want_room(struct fifo *f)
{
	atomic_store(&f->wants_room, true);
	return !has_room(f) || !atomic_exchange(&f->wants_room, false);
}

/* --- the consumer --------------------------------------------------------------------------------
 */

static void consume(struct fifo *f, size_t bytes)
{
	uint64_t at = atomic_load_explicit(&f->consumed, memory_order_relaxed);

	atomic_store(&f->consumed, at + bytes);
	bell_ring(&f->freed);
}

/* Returns the next mark, or 0 with the next piece in *@ret (NULL: there is none). */
static uint64_t next(struct fifo *f, const struct piece **ret)
{
	uint64_t mark = atomic_load(&f->mark);
	uint64_t at = atomic_load_explicit(&f->consumed, memory_order_relaxed);
	struct piece *p = NULL;

	*ret = NULL;
	if (atomic_load(&f->nudged) && atomic_exchange(&f->nudged, false))
		return FIFO_NUDGE;
	if (mark && atomic_load(&f->mark_at) <= at &&
	    atomic_compare_exchange_strong(&f->mark, &mark, 0))
		return mark;
	if (atomic_load(&f->produced) == at)
		return 0;
	p = piece_at(f, at);
	/* The producer publishes a skip together with the piece behind it. */
	if (p->len == PIECE_SKIP) {
		consume(f, f->size - (size_t)((uint8_t *)p - f->memory));
		p = (struct piece *)f->memory;
	}
	*ret = p;
	return 0;
}

uint64_t fifo_wait(struct fifo *f, struct run *ret)
{
	const struct piece *p;
	uint64_t mark;

	while (!(mark = next(f, &p)) && !p) {
		bell_lie_down(&f->filled);
		mark = next(f, &p);
		if (mark || p) {
			bell_get_up(&f->filled);
			break;
		}
		bell_sleep(&f->filled);
	}
	if (!mark)
		*ret = (struct run){
			.a = (const uint8_t *)(p + 1),
			.a_len = p->len,
			.ring = p->ring,
			.cpu = p->cpu,
		};
	return mark;
}

bool fifo_done(struct fifo *f)
{
	consume(f, piece_at(f, atomic_load_explicit(&f->consumed, memory_order_relaxed))->room);
	return atomic_load(&f->wants_room) && has_room(f) && atomic_exchange(&f->wants_room, false);
}

/* --- any thread ----------------------------------------------------------------------------------
 */

void fifo_nudge(struct fifo *f)
{
	atomic_store(&f->nudged, true);
	bell_ring(&f->filled);
}

unsigned int fifo_fullness(struct fifo *f)
{
	uint64_t consumed = atomic_load(&f->consumed);
	uint64_t used = atomic_load(&f->produced) - consumed;

	/* The consumer may have moved on between the two loads, so @used may be too large. */
	return used < f->size ? (unsigned int)(used * 100 / f->size) : 100;
}

void fifo_hurry(struct fifo *f, bool hurry)
{
	atomic_store(&f->hurried, hurry);
}

bool fifo_is_hurried(const struct fifo *f)
{
	return atomic_load(&f->hurried);
}
