// SPDX-License-Identifier: Apache-2.0
/* The table of build-ids: a sequence of HEADER_BUILD_ID records (perf leaves their type at 0). */
#include "perfdata/feature.h"

#include <errno.h>
#include <limits.h>

#include "perfdata/codec.h"
#include "perfdata/feature_codec.h"

#define NAME_AT	       36u /* header, pid, id and size */
#define NAME_AT_NO_PID 32u
#define SIZE_TOLD      (1u << 15)

/*
 * perf before 2.6.35 wrote no pid. The first entry is then the kernel's: read as an entry with a
 * pid, its well-known name lacks as many first letters as a pid has bytes.
 */
static bool table_has_no_pid(const uint8_t *p, size_t len)
{
	static const char cut[] = "nel.kallsyms]";

	return len >= NAME_AT + sizeof(cut) && !memcmp(p + NAME_AT, cut, sizeof(cut));
}

static int decode_no_pid(const uint8_t *p, const struct perf_event_header *hdr,
			 struct pd_build_id *ret)
{
	unsigned int mode = hdr->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	if (hdr->size <= NAME_AT_NO_PID ||
	    !memchr(p + NAME_AT_NO_PID, 0, hdr->size - NAME_AT_NO_PID))
		return -EBADMSG;
	*ret = (struct pd_build_id){
		.pid = mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER
			       ? 0
			       : -1,
		.size = PD_BUILD_ID_MAX,
		.filename = (const char *)p + NAME_AT_NO_PID,
	};
	memcpy(ret->build_id, p + sizeof(*hdr), PD_BUILD_ID_MAX);
	return 0;
}

int pd_feature_build_ids_decode(const uint8_t *p, size_t len, bool swap,
				int (*next)(const struct pd_build_id *id, uint16_t misc, void *arg),
				void *arg)
{
	bool no_pid = table_has_no_pid(p, len);
	struct perf_event_header hdr;
	struct pd_record record;
	int err;

	for (size_t at = 0; at < len; at += hdr.size) {
		if (len - at < sizeof(hdr))
			return -EBADMSG;
		hdr = pd_record_header(p + at, swap);
		if (hdr.size < sizeof(hdr) || hdr.size > len - at)
			return -EBADMSG;
		hdr.type = PERF_RECORD_HEADER_BUILD_ID;
		if (no_pid) {
			err = decode_no_pid(p + at, &hdr, &record.build_id);
		} else {
			struct cursor c = {.p = p + at, .end = hdr.size, .swap = swap};

			err = pd_record_walk(&c, &hdr, NULL, &record);
		}
		if (!err)
			err = next(&record.build_id, hdr.misc, arg);
		if (err)
			return err;
	}
	return 0;
}

/* Appends device and inode, which tell files of one name apart, at the end of the entry. */
static int put_file(struct buf *b, const struct pd_build_id *id)
{
	struct pd_build_id_file file = {
		.maj = id->maj,
		.min = id->min,
		.ino = id->ino,
		.ino_generation = id->ino_generation,
	};

	memcpy(file.magic, PD_BUILD_ID_FILE_MAGIC, sizeof(file.magic));
	return buf_append(b, &file, sizeof(file));
}

int pd_feature_build_id_encode(struct buf *b, const struct pd_build_id *id, uint16_t misc)
{
	/* perf reads a name into PATH_MAX bytes, padding included. */
	size_t name_len = strnlen(id->filename, PATH_MAX - 1);
	size_t tail = id->ino ? sizeof(struct pd_build_id_file) : 0;
	size_t padded = (name_len + tail + PD_STRING_ALIGN) & ~(size_t)(PD_STRING_ALIGN - 1);
	struct {
		struct perf_event_header hdr;
		int32_t pid;
		uint8_t id[PD_BUILD_ID_MAX];
		uint8_t size, reserved[3];
	} entry = {
		.hdr.type = PERF_RECORD_HEADER_BUILD_ID,
		.hdr.misc = misc | SIZE_TOLD,
		.pid = id->pid,
		.size = id->size < PD_BUILD_ID_MAX ? id->size : PD_BUILD_ID_MAX,
	};
	size_t start = b->len;
	int err;

	_Static_assert(sizeof(entry) == NAME_AT, "perf_record_header_build_id without its name");
	if (padded > PATH_MAX) {
		padded = PATH_MAX;
		tail = 0;
	}
	entry.hdr.size = (uint16_t)(sizeof(entry) + padded);
	memcpy(entry.id, id->build_id, entry.size);
	err = buf_append(b, &entry, sizeof(entry));
	if (!err)
		err = buf_append(b, id->filename, name_len);
	if (!err)
		err = buf_zero(b, padded - tail - name_len);
	if (!err && tail)
		err = put_file(b, id);
	if (err)
		b->len = start;
	return err;
}
