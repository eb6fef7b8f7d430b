/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of code that one decoder reads again and again.
 *
 * struct aux_code is asked once for a page, not for each instruction. A page of a process is asked
 * for again when its thread comes back from the kernel, which may have changed the maps. All pages
 * are when the code has changed (struct aux_code, version()).
 *
 * One thread at a time uses the pages. pt_pages_release() accepts an all-zero struct.
 */
#ifndef RINGTAIL_AUXTRACE_INTEL_PT_PAGES_H
#define RINGTAIL_AUXTRACE_INTEL_PT_PAGES_H

#include "auxtrace/decoder/decoder.h"

struct pt_page;

struct pt_pages {
	const struct aux_code *code;
	struct pt_page **slots;	       /* each NULL or a page; allocated at first use */
	uint64_t time, version;	       /* of the last read */
	uint64_t user_age;	       /* pages of processes with another age are old */
	char missing[AUX_MISSING_MAX]; /* the file that the last read lacked, or empty */
};

/* @code outlives the pages. */
void pt_pages_init(struct pt_pages *p, const struct aux_code *code);

/* User code may have changed. */
void pt_pages_forget_user(struct pt_pages *p);

/*
 * Copies code of @task to @buf. Returns how many bytes, less than @size where the code ends;
 * -ENOENT if there is none at @addr; -ENOMEM.
 */
int pt_pages_read(struct pt_pages *p, const struct aux_task *task, uint64_t time, uint64_t addr,
		  uint8_t *buf, size_t size);

/* Frees the pages, not @p. */
void pt_pages_release(struct pt_pages *p);

#endif
