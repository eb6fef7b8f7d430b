/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to session.c (the steps between states) and session_loop.c (RUNNING). */
#ifndef RINGTAIL_RECORD_SESSION_SESSION_PRIV_H
#define RINGTAIL_RECORD_SESSION_SESSION_PRIV_H

#include <time.h>

#include "data/writer/output_backup.h"
#include "record/session/crew.h"
#include "record/open/hotplug.h"
#include "record/initial/buildid_reader.h"
#include "record/output/output.h"
#include "record/session/rotation.h"
#include "record/session/session.h"
#include "record/session/session_budget.h"
#include "record/session/session_control.h"
#include "record/session/snapshot_service.h"
#include "record/session/service_status.h"
#include "record/session/session_triggers.h"
#include "record/session/workload.h"

struct session {
	enum session_state state;
	const struct record_opts *opts;
	const struct messages *messages;
	struct limits limits;
	struct plan *plan;
	struct opened *opened;
	struct buildid_reader *buildid_reader; /* NULL: none wanted, or all read at the end */
	struct hotplug hotplug;
	struct renumber *renumber; /* of events that were opened again; NULL: none can be */
	struct session_triggers triggers;
	struct output_backup earlier; /* the file in the output's place, until recording starts */
	struct output output;
	struct crew crew;
	struct snapshot_service memory;
	struct session_budget budget;
	struct service_status service;
	struct rotation rotation;
	struct session_control control;
	struct workload workload;
	bool command_stopped; /* it still ran when the recording ended */
	struct overwrite_count overwritten;
	struct session_host host;
	int tick, delay, turn, limit; /* descriptors; -1: none */
	size_t span_step;	      /* of -D FROM-TO,…: even ones enable, odd ones disable */
	uint64_t began, ended;	      /* ns of CLOCK_MONOTONIC; 0: not yet */
	bool stop, started;
	uint64_t hurry_ms;		 /* when a wait for names first knew of the end; 0: none */
	bool hurry;			 /* no more waits for names */
	struct error command_error;	 /* why a command to rotate failed */
	bool misused;			 /* the options are wrong */
	bool flushing;			 /* the crew was asked to flush; an answer is due */
	struct writer_patience patience; /* for a pipe whose reader takes nothing */
	bool slow_said; /* it was printed that the next signal ends without writing the rest */
	uint64_t saved; /* samples in the last output of a session that failed */
	uint64_t saved_trace;  /* bytes of AUX areas in it */
	struct loss truncated; /* user stacks */
};

/* session.c: the workers have visited all their rings. Returns 0 or -ENOMEM with @err filled. */
int session_settle(struct session *s, struct error *err);

/* session_loop.c. Each returns 0 or a negative errno with @err filled. */
int session_open_memory(struct session *s, struct error *err);
int session_open_hotplug(struct session *s, struct error *err);
int session_start_control(struct session *s, struct error *err);
int session_loop(struct session *s, struct error *err);	       /* RUNNING -> DRAINING */
int session_rotate_full(struct session *s, struct error *err); /* the writer is held */

/*
 * The events on @cpu are dead: opens them again, those of triggers, too. A failure of triggers is
 * only a message. Returns as revive_cpu().
 */
int session_revive(struct session *s, int cpu);

/* -D FROM-TO,…: enables or disables the events, and sets the timer for the next step. */
int session_next_span(struct session *s, struct error *err);

/* Whether all outputs together have the size of --max-size. */
bool session_at_max_size(const struct session *s);

/*
 * Empties a descriptor of the host, which becomes -1 at its end (or when it fails): poll(2) would
 * report it for ever. Returns whether it had anything.
 */
bool session_empty(int *fd);

/*
 * While the end of an output waits for threads that read files: a struct patience. The end of the
 * recording leaves a rotation a second more; a later signal ends all such waits.
 */
bool session_wait_for_names(void *session);

/* While a pipe is written to from the main thread: as struct writer_patience. */
bool session_wait_for_pipe(void *session, uint64_t ms);

#endif
