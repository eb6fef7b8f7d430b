/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clock readings and deadlines as unsigned integers, in ns or ms. Any thread.
 *
 * Deadlines are readings of CLOCK_MONOTONIC in ms, as now_ms() returns them. 64 bits of ns last 584
 * years, so nothing here overflows.
 */
#ifndef RINGTAIL_BASE_CLOCK_NS_H
#define RINGTAIL_BASE_CLOCK_NS_H

#include <stdint.h>
#include <time.h>

#define NS_PER_SEC 1000000000ull
#define NS_PER_MS  1000000ull

/* Converts a time, which must not be negative, to ns. */
static inline uint64_t timespec_to_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * NS_PER_SEC + (uint64_t)t->tv_nsec;
}

/* Converts ns to a struct timespec. */
static inline struct timespec timespec_from_ns(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / NS_PER_SEC), (long)(ns % NS_PER_SEC)};
}

/* Reads @clock, in ns. Returns 0 if the machine does not have the clock. */
static inline uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	return clock_gettime(clock, &t) ? 0 : timespec_to_ns(&t);
}

/* Reads CLOCK_MONOTONIC, in ms. */
static inline uint64_t now_ms(void)
{
	return now_ns(CLOCK_MONOTONIC) / NS_PER_MS;
}

/* Returns the ms left until @deadline; 0 once it has passed. */
static inline uint64_t ms_until(uint64_t deadline)
{
	uint64_t now = now_ms();

	return deadline > now ? deadline - now : 0;
}

/* Converts @deadline for functions that take an absolute time of CLOCK_MONOTONIC. */
static inline struct timespec timespec_of_deadline(uint64_t deadline)
{
	return timespec_from_ns(deadline * NS_PER_MS);
}

#endif
