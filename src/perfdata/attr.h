/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes of events on the wire, and the list of a file's events.
 *
 * An evlist owns its evsels, their names and ids. One thread (reader or recorder) builds it; then
 * any number of threads may read it.
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
 * byte order; the bit fields of the flag word are then reversed too, and precise_ip keeps its
 * value. The attribute's size field limits the valid bytes (0 means 64, as in old kernels).
 * *@ret_unknown is true if a byte beyond struct pd_attr is not zero; such bytes are not decoded.
 * Returns 0 or -EBADMSG (size below 64 or above @len); @ret is untouched on failure.
 */
int pd_attr_decode(const uint8_t *p, size_t len, bool swap, struct pd_attr *ret, bool *ret_unknown);

/*
 * Returns the smallest size that the kernel and old readers know and that holds every used field:
 * 112, 120, 128 (perf 6.1 refuses more), 136 or 144.
 */
uint32_t pd_attr_wire_size(const struct pd_attr *attr);

/*
 * Returns the bytes of the sample_id trailer that the sideband of this attribute carries; 0 without
 * PD_ATTR_SAMPLE_ID_ALL.
 */
size_t pd_attr_id_trailer_size(const struct pd_attr *attr);

/* One event of a recording: an attribute and the ids (of perf_event_open fds) that share it. */
struct pd_evsel {
	struct pd_attr attr;
	char *name; /* recorded (EVENT_DESC, EVENT_UPDATE) or made from attr; UTF-8, not escaped */
	uint64_t *ids;
	size_t nr_ids;
	unsigned int index;	 /* position in the evlist */
	unsigned int leader;	 /* index of the group's leader; own index if none */
	unsigned int nr_members; /* of the group that this event leads, itself included; else 1 */
	uint64_t added_type;	 /* PERF_SAMPLE_* of fields that samples get from elsewhere */
	bool made;		 /* pd_evlist_add_made() */
};

struct pd_evlist;

/* Returns an empty list for pd_evlist_free(), or NULL if memory runs out. */
struct pd_evlist *pd_evlist_new(void);
/* Frees the list and its events. Accepts NULL. */
void pd_evlist_free(struct pd_evlist *list);

/*
 * Appends an event; copies all arguments. With @name NULL it makes a name from the attribute
 * ("cycles", "cpu-clock:u", "raw 0x1a8"; for a tracepoint its number, until pd_evsel_set_name()).
 * Returns 0, -ENOMEM, or -E2BIG past 65536 events.
 */
int pd_evlist_add(struct pd_evlist *list, const struct pd_attr *attr, const char *name,
		  const uint64_t *ids, size_t nr_ids);

/*
 * As pd_evlist_add(), for an event whose samples are made by the reader. It comes after all
 * recorded ones. Records are of the recorded events alone.
 */
int pd_evlist_add_made(struct pd_evlist *list, const struct pd_attr *attr, const char *name);

/*
 * Says that samples of @evsel, which is in @list, get these fields (PERF_SAMPLE_*), too: not from
 * their records.
 */
void pd_evlist_extend(struct pd_evlist *list, struct pd_evsel *evsel, uint64_t sample_type);

/* Returns the fields (PERF_SAMPLE_*) of samples, recorded and added ones. */
uint64_t pd_evsel_fields(const struct pd_evsel *evsel);

/* Replaces the name. Returns 0 or -ENOMEM. */
int pd_evsel_set_name(struct pd_evsel *evsel, const char *name);

/* Returns the number of events. */
size_t pd_evlist_count(const struct pd_evlist *list);
/* Returns the number of recorded events. They are the first ones. */
size_t pd_evlist_recorded(const struct pd_evlist *list);
/* Returns the event at @index, or NULL past the end. The list keeps it until pd_evlist_free(). */
struct pd_evsel *pd_evlist_at(const struct pd_evlist *list, size_t index);

/*
 * Returns the event of @id, or NULL. Id 0, and any id in a list of one recorded event, give the
 * first event, as in perf.
 */
struct pd_evsel *pd_evlist_by_id(const struct pd_evlist *list, uint64_t id);

/*
 * Returns the event whose attribute describes the record at @hdr. The header is native; with @swap
 * the body is of the other byte order. Reads the id at PERF_SAMPLE_IDENTIFIER, else at the common
 * position of PERF_SAMPLE_ID. Without either, and for a record without sample_id trailer, it is the
 * first event. Returns NULL if the list is empty, the id unknown, or the record too short.
 */
struct pd_evsel *pd_evlist_of_record(const struct pd_evlist *list,
				     const struct perf_event_header *hdr, bool swap);

/* The id found last, and its event; all zero: none. */
struct pd_last_id {
	uint64_t id;
	const struct pd_evsel *evsel;
};

/*
 * As pd_evlist_of_record(), for a native record. Records of one id often follow one another: @last,
 * of the caller and of this list alone, saves looking it up again.
 */
const struct pd_evsel *pd_evlist_of_next(const struct pd_evlist *list,
					 const struct perf_event_header *hdr,
					 struct pd_last_id *last);

/* Returns the PERF_SAMPLE_* bits of all events together. */
uint64_t pd_evlist_sample_type(const struct pd_evlist *list);

/*
 * Writes the name that perf gives @attr ("cycles:u", "L1-dcache-load-misses", "mem:0x1234:rw",
 * "raw 0x1a8", "unknown 42/0x7") into @out. Returns the length as snprintf() does.
 */
int pd_attr_name(const struct pd_attr *attr, char *out, size_t size);

#endif
