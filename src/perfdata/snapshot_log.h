/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording that is kept in memory (record -M) writes into its output about each snapshot:
 * who asked for it and why, ahead of its records, and what became of it, behind them; and at the
 * end of the output what its losses are a part of.
 *
 * The records are of the type HEADER_EVENT_TYPE, which other readers pass over (perf since 3.10).
 * Behind the header:
 *
 *   u64 magic, nr; u64 words[nr]; text, which is strings that end with a NUL; zeros up to 8 bytes
 *
 * Words and strings that a reader does not know follow those that it does; missing ones are 0 and
 * empty. Times are ns of the recording's clock.
 */
#ifndef RINGTAIL_PERFDATA_SNAPSHOT_LOG_H
#define RINGTAIL_PERFDATA_SNAPSHOT_LOG_H

#include <stdbool.h>

#include "perfdata/record.h"

enum pd_snapshot_origin {
	PD_SNAPSHOT_SIGNAL,
	PD_SNAPSHOT_CONTROL, /* a command */
	PD_SNAPSHOT_EXIT,
	PD_SNAPSHOT_CRASH,
	PD_SNAPSHOT_TRIGGER,
	PD_SNAPSHOT_SWITCH, /* the time or size after which the output is switched */
	PD_SNAPSHOT_ORIGINS,
};

/* What of the memory is asked for. All zero: everything. */
struct pd_snapshot_bounds {
	uint64_t last_ns;    /* what is not older than that, before it was asked; 0: all */
	uint64_t last_bytes; /* about as many of the newest; 0: all */
	bool since_last;     /* only what no snapshot before has written */
};

/* The sample that triggered it. */
struct pd_snapshot_cause {
	char event[96]; /* its event; "": there was none, and the rest means nothing */
	char comm[16];
	uint64_t time;
	uint32_t cpu, pid, tid; /* (uint32_t)-1: not known */
};

struct pd_snapshot_request {
	enum pd_snapshot_origin origin;
	uint64_t asked;	     /* of what has triggered it, when that happened */
	uint64_t wall_clock; /* then, ns since 1970; 0: not known */
	struct pd_snapshot_bounds bounds;
	struct pd_snapshot_cause cause;
	char reason[160]; /* "": none was given */
};

struct pd_snapshot_figures {
	uint64_t begun, took;	/* when writing began, and how long it took */
	uint64_t bytes;		/* of records, before they were compressed */
	uint64_t samples;	/* in it */
	uint64_t first, last;	/* times of samples in it; 0: there are none */
	uint64_t lost, evicted; /* samples since the one before */
	uint64_t refused;	/* requests that found the queue full, since the one before */
};

/* At the end of an output, which may hold no snapshot: more than what is in it was recorded. */
struct pd_snapshot_totals {
	uint64_t taken;			/* samples since the output before, if there is one */
	uint64_t written, passed, held; /* samples of the whole recording, each once */
	bool counted; /* what rings lost is in LOST_SAMPLES records, all of it and by event */
};

enum pd_snapshot_kind {
	PD_SNAPSHOT_REQUEST, /* the first of a number: what follows is that snapshot's */
	PD_SNAPSHOT_END,
	PD_SNAPSHOT_TOTALS, /* of an output, and of no snapshot: the number is that of the last one
			     */
	PD_SNAPSHOT_KINDS,
};

struct pd_snapshot_log {
	enum pd_snapshot_kind kind;
	uint64_t number; /* of the snapshot in the recording, from 1 */
	union {
		struct pd_snapshot_request request;
		struct pd_snapshot_figures figures;
		struct pd_snapshot_totals totals;
	};
};

/* A record in 8-byte aligned memory. */
struct pd_snapshot_record {
	struct perf_event_header header;
	uint64_t body[64];
};

/* Makes @ret, whose size is header.size. */
void pd_snapshot_encode(const struct pd_snapshot_log *log, struct pd_snapshot_record *ret);

/*
 * Reads a native record. Returns 0; -ENOENT when it is nothing of this, or of a kind that is not
 * known; -EBADMSG when its words or strings do not fit.
 */
int pd_snapshot_decode(const struct perf_event_header *hdr, struct pd_snapshot_log *ret);

/* "signal", "control", "exit", "crash", "trigger", "switch"; "?" for others. */
const char *pd_snapshot_origin_name(enum pd_snapshot_origin origin);

#endif
