/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that a service manager has started: what it is told, and when.
 *
 * That we are alive is told by the main thread only: by its loop, and where it waits for workers or
 * writes a snapshot, so that a slow disk is not taken for a hang, and a hang not for life.
 *
 * The main thread's. An all-zero struct has no manager; all calls accept it.
 */
#ifndef RINGTAIL_RECORD_SESSION_SESSION_SERVICE_H
#define RINGTAIL_RECORD_SESSION_SESSION_SERVICE_H

#include <stdbool.h>

#include "record/flight/flight.h"
#include "sys/io/notify.h"

struct session_service {
	bool there;
	struct notify notify;
	int timer;
	uint64_t alive; /* when it was told so last, ms */
};

/* Before a command is forked. */
void session_service_open(struct session_service *s);
void session_service_release(struct session_service *s);

/* Recording has begun. */
void session_service_ready(struct session_service *s);

/* Readable when session_service_tell() is due; -1: never. */
int session_service_fd(const struct session_service *s);

/* What there is. */
struct service_news {
	uint64_t bytes;	       /* written */
	struct flight *flight; /* NULL without -M */
	size_t snapshots, given_up;
	uint64_t lost; /* samples */
};
void session_service_tell(struct session_service *s, const struct service_news *news);

/* Tells that we are alive if it is time to. @service: a struct session_service. */
void session_service_alive(void *service);

/* The end has begun. */
void session_service_stopping(struct session_service *s);

#endif
