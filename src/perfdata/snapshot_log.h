/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records about snapshots: requests, figures and totals of record -M, and AUX rings. Any thread.
 *
 * A request record with origin and reason precedes a snapshot's records, and a record with its
 * figures follows them. At the end of an output, totals give the number of samples that its losses
 * relate to. A record for each ring of an AUX area gives what a snapshot took of it.
 *
 * The records are of the type HEADER_EVENT_TYPE, which other readers skip (perf since 3.10). Behind
 * the header:
 *
 *   u64 magic, nr; u64 words[nr]; strings, each with its NUL; zeros up to a multiple of 8 bytes
 *
 * A newer writer appends words and strings, which a reader ignores; a missing word reads as 0 and a
 * missing string as empty. Times are ns of the recording's clock.
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
	PD_SNAPSHOT_SWITCH, /* --switch-output: its time or size was reached */
	PD_SNAPSHOT_ORIGINS,
};

/* The part of the history that a request asks for. All zero: everything. */
struct pd_snapshot_bounds {
	uint64_t last_ns;    /* at most this age at the time of the request; 0: all */
	uint64_t last_bytes; /* about this many of the newest bytes; 0: all */
	bool since_last;     /* only what no earlier snapshot has written */
};

/* The sample that triggered a snapshot. */
struct pd_snapshot_cause {
	char event[96]; /* its event; "": no sample did, and the other fields mean nothing */
	char comm[16];
	uint64_t time;
	uint32_t cpu, pid, tid; /* (uint32_t)-1: unknown */
};

struct pd_snapshot_request {
	enum pd_snapshot_origin origin;
	uint64_t asked;	     /* time of the request; of a trigger, of what triggered it */
	uint64_t wall_clock; /* the same time in ns since 1970; 0: unknown */
	struct pd_snapshot_bounds bounds;
	struct pd_snapshot_cause cause;
	char reason[160]; /* "": none */
};

struct pd_snapshot_figures {
	uint64_t begun, took;	/* when writing began, and its duration */
	uint64_t bytes;		/* of records, before compression */
	uint64_t samples;	/* in the snapshot */
	uint64_t first, last;	/* times of the first and last sample; 0: it has none */
	uint64_t lost, evicted; /* samples since the snapshot before */
	uint64_t refused;	/* requests since the snapshot before that found the queue full */
};

/* At the end of an output, which may hold only a part of the recorded samples, or none. */
struct pd_snapshot_totals {
	uint64_t taken; /* samples recorded since the output before, or since the start */
	uint64_t written, passed, held; /* of the whole recording, each sample once: written by a
					 * snapshot, evicted before one, still in memory */
	bool counted; /* LOST_SAMPLES records hold all losses of the rings, by event */
};

/* Numbers of the file format. */
enum pd_aux_mode {
	PD_AUX_FULL,
	PD_AUX_SNAPSHOT,
	PD_AUX_SAMPLE,
	PD_AUX_MODES,
};

/* Which bytes a snapshot writes: see --snapshot-scope in ringtail-record(1). */
enum pd_aux_scope {
	PD_AUX_SCOPE_AREA,
	PD_AUX_SCOPE_ACTIVE,
	PD_AUX_SCOPE_WINDOW,
	PD_AUX_SCOPE_ALL,
	PD_AUX_SCOPES,
};

/*
 * The ring of one AUX area. With the number of a snapshot: what that took of it, which is in
 * AUXTRACE records with the same idx. With the number 0: sums over the recording, at its end.
 */
struct pd_aux_ring {
	uint32_t idx, cpu, tid;	 /* as in AUXTRACE records; (uint32_t)-1: none */
	bool active;		 /* at the request the event was counting */
	enum pd_aux_mode mode;	 /* PD_AUX_MODES: a newer writer's */
	enum pd_aux_scope scope; /* PD_AUX_SCOPES: likewise */
	uint64_t window;	 /* ns, of PD_AUX_SCOPE_WINDOW */
	uint64_t asked;		 /* time of the request */
	uint64_t first, last;	 /* times that the written bytes cover; 0: unknown */
	uint64_t position;	 /* of the end of the written bytes, from the ring's beginning */
	uint64_t fresh;		 /* bytes in the ring that no earlier snapshot found */
	uint64_t old;		 /* bytes in the ring that an earlier one found */
	uint64_t written;	 /* bytes */
	uint64_t area;		 /* bytes of the AUX area */
	uint64_t lost;		 /* bytes that were read and could not be written */
	uint64_t truncated;	 /* AUX records with PERF_AUX_FLAG_TRUNCATED */
	uint64_t restarts;	 /* how often the recorder disabled and enabled a stopped event */
	uint64_t unreported;	 /* stops without a record, and gaps in the records of stops */
	uint64_t lost_records;	 /* of the ring beside the area */
};

enum pd_snapshot_kind {
	PD_SNAPSHOT_REQUEST, /* the first request of a number begins that snapshot */
	PD_SNAPSHOT_END,
	PD_SNAPSHOT_TOTALS,   /* of an output; carries the number of the last snapshot */
	PD_SNAPSHOT_AUX_RING, /* of an AUX area; also without -M, and with the number 0 */
	PD_SNAPSHOT_KINDS,
};

struct pd_snapshot_log {
	enum pd_snapshot_kind kind;
	uint64_t number; /* of the snapshot in the recording, from 1 */
	union {
		struct pd_snapshot_request request;
		struct pd_snapshot_figures figures;
		struct pd_snapshot_totals totals;
		struct pd_aux_ring aux;
	};
};

/* Space for an encoded record, 8-byte aligned. */
struct pd_snapshot_record {
	struct perf_event_header header;
	uint64_t body[64];
};

/* Encodes @log as a native record of header.size bytes. */
void pd_snapshot_encode(const struct pd_snapshot_log *log, struct pd_snapshot_record *ret);

/*
 * Decodes a native record. Returns 0; -ENOENT if the record is not ringtail's, or of an unknown
 * kind; -EBADMSG if its words or strings do not fit.
 */
int pd_snapshot_decode(const struct perf_event_header *hdr, struct pd_snapshot_log *ret);

/* Returns "signal", "control", "exit", "crash", "trigger", "switch", or "?" for other values. */
const char *pd_snapshot_origin_name(enum pd_snapshot_origin origin);

/* Returns "full", "snapshot", "sample", or "?" for other values. */
const char *pd_aux_mode_name(enum pd_aux_mode mode);
/* Returns "area", "active", "window", "all", or "?" for other values. */
const char *pd_aux_scope_name(enum pd_aux_scope scope);

#endif
