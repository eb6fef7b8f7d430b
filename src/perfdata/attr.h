/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes of events on the wire, and the set of events of a file.
 *
 * An evlist owns its evsels, their names and ids. It is built by one thread (reader or recorder)
 * and may then be read by any number of threads.
 */
#ifndef RINGTAIL_PERFDATA_ATTR_H
#define RINGTAIL_PERFDATA_ATTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "perfdata/abi.h"

/*
 * Reads an attribute of @len bytes at @p (any alignment). With @swap the bytes are of the other
 * byte order; the flag word is then also reversed as bit fields are, precise_ip kept right.
 * The attribute's own size says how much of @len is valid (0 means 64, as old kernels did).
 * Bytes beyond struct pd_attr are not read; *@ret_unknown is true when one of them is not zero.
 * Returns 0 or -EBADMSG (size below 64 or above @len); @ret is untouched on failure.
 */
int pd_attr_decode(const uint8_t *p, size_t len, bool swap, struct pd_attr *ret, bool *ret_unknown);

/*
 * The smallest size that the kernel and old readers know and that holds every field in use:
 * 112, 120, 128 (perf 6.1 refuses more), 136 or 144.
 */
uint32_t pd_attr_wire_size(const struct pd_attr *attr);

/*
 * Bytes of the sample_id trailer that records other than samples carry under this attribute
 * (0 without PD_ATTR_SAMPLE_ID_ALL).
 */
size_t pd_attr_id_trailer_size(const struct pd_attr *attr);

/* One event of a recording: an attribute and the ids (of perf_event_open fds) that share it. */
struct pd_evsel {
	struct pd_attr attr;
	char *name; /* as recorded (EVENT_DESC, EVENT_UPDATE) or made from attr; UTF-8, unescaped */
	uint64_t *ids;
	size_t nr_ids;
	unsigned int index;	 /* position in the evlist */
	unsigned int leader;	 /* index of the group's leader; own index if none */
	unsigned int nr_members; /* of the group that this one leads, itself included; else 1 */
};

struct pd_evlist;

struct pd_evlist *pd_evlist_new(void);	     /* NULL when out of memory */
void pd_evlist_free(struct pd_evlist *list); /* accepts NULL */

/*
 * Appends an event. @name NULL: one is made from the attribute ("cycles", "cpu-clock:u",
 * "raw 0x1a8", a tracepoint's number until pd_evsel_set_name()). Copies everything.
 * Returns 0, -ENOMEM, or -E2BIG past 65536 events.
 */
int pd_evlist_add(struct pd_evlist *list, const struct pd_attr *attr, const char *name,
		  const uint64_t *ids, size_t nr_ids);

/* Replaces the name. Returns 0 or -ENOMEM. */
int pd_evsel_set_name(struct pd_evsel *evsel, const char *name);

/* The number of events, and the event at @index, which must be below it. */
size_t pd_evlist_count(const struct pd_evlist *list);
struct pd_evsel *pd_evlist_at(const struct pd_evlist *list, size_t index);

/* The event an id belongs to, or NULL. Id 0 and files with one event: the first, as perf does. */
struct pd_evsel *pd_evlist_by_id(const struct pd_evlist *list, uint64_t id);

/*
 * The event whose attribute describes the record @hdr (native byte order or not: @swap says
 * which, and only for the body; hdr itself is native). Looks at PERF_SAMPLE_IDENTIFIER, else at
 * the common position of PERF_SAMPLE_ID, else takes the first event. For a record without
 * sample_id trailer: the first event. NULL: the id is unknown, or the record too short for it.
 */
struct pd_evsel *pd_evlist_of_record(const struct pd_evlist *list,
				     const struct perf_event_header *hdr, bool swap);

/* All PERF_SAMPLE_* bits that any event has. */
uint64_t pd_evlist_sample_type(const struct pd_evlist *list);

/*
 * Writes a name for @attr as perf spells it ("cycles:u", "L1-dcache-load-misses", "mem:0x1234:rw",
 * "raw 0x1a8", "unknown 42/0x7") into @out. Returns the length as snprintf does.
 */
int pd_attr_name(const struct pd_attr *attr, char *out, size_t size);

#endif
