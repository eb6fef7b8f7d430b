/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread does while it waits for one that reads files, which may hang.
 *
 * The main thread of a recording has a watchdog, --duration and signals to serve.
 */
#ifndef RINGTAIL_RECORD_INITIAL_PATIENCE_H
#define RINGTAIL_RECORD_INITIAL_PATIENCE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Time between two calls of go_on(), ms. */
#define PATIENCE_BREATH_MS 100u

struct patience {
	bool (*go_on)(void *arg); /* false: give up; called without locks. NULL: wait on */
	void *arg;
};

/*
 * Waits for @cond, of CLOCK_MONOTONIC, with @lock held; it lets go of the lock while go_on() runs.
 * Returns 0 for the caller to look again, -ETIMEDOUT at @until (ms, of now_ms()), or -ECANCELED
 * where go_on() gives up. @p may be NULL.
 */
int patience_wait(const struct patience *p, pthread_cond_t *cond, pthread_mutex_t *lock,
		  uint64_t until);

#endif
