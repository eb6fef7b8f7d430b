/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports of a recording to the service manager that started it.
 *
 * Only the main thread reports that the recorder is alive: in its loop, while it waits for workers,
 * and while it writes a snapshot. So a slow disk does not look like a hang, and a hang is not
 * hidden.
 *
 * For the main thread only. An all-zero struct has no manager; all calls accept it.
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
	uint64_t alive; /* time of the last such report, ms */
};

/* Sends to @notify, which must outlive it; NULL: there is no manager. */
void service_status_open(struct service_status *s, const struct notify *notify);
void service_status_release(struct service_status *s);

/* Recording has begun. */
void service_status_ready(struct service_status *s);

/* Readable when the loop must call service_status_tell(); -1: never. */
int service_status_fd(const struct service_status *s);

/* The figures of the status line. */
struct service_news {
	uint64_t bytes;	       /* written */
	struct flight *flight; /* NULL without -M */
	size_t snapshots, given_up;
	uint64_t lost; /* samples */
};
void service_status_tell(struct service_status *s, const struct service_news *news);

/* Reports that we are alive if that is due. */
void service_status_alive(struct service_status *s);

/* The end has begun. */
void service_status_stopping(struct service_status *s);

#endif
