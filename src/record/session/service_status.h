/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that a service manager has started: what it is told, and when.
 *
 * That we are alive is told by the main thread only: by its loop, and where it waits for workers or
 * writes a snapshot, so that a slow disk is not taken for a hang, and a hang not for life.
 *
 * The main thread's. An all-zero struct has no manager; all calls accept it.
 */
#ifndef RINGTAIL_RECORD_SESSION_SERVICE_STATUS_H
#define RINGTAIL_RECORD_SESSION_SERVICE_STATUS_H

#include <stdbool.h>

#include "record/flight/flight.h"
#include "sys/io/notify.h"

struct service_status {
	bool there;
	const struct notify *notify;
	int timer;
	uint64_t alive; /* when it was told so last, ms */
};

/* Sends to @notify, which must outlive it; NULL: there is no manager. */
void service_status_open(struct service_status *s, const struct notify *notify);
void service_status_release(struct service_status *s);

/* Recording has begun. */
void service_status_ready(struct service_status *s);

/* Readable when service_status_tell() is due; -1: never. */
int service_status_fd(const struct service_status *s);

/* What there is. */
struct service_news {
	uint64_t bytes;	       /* written */
	struct flight *flight; /* NULL without -M */
	size_t snapshots, given_up;
	uint64_t lost; /* samples */
};
void service_status_tell(struct service_status *s, const struct service_news *news);

/* Tells that we are alive if it is time to. @service: a struct service_status. */
void service_status_alive(void *service);

/* The end has begun. */
void service_status_stopping(struct service_status *s);

#endif
