/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of code that one decoder reads again and again.
 *
 * struct aux_code is asked once for a page, not for each instruction. After pt_pages_forget_user()
 * and when the code has changed (struct aux_code, version()) a page is used again only if it is the
 * same as before: the recording says that no map of its process changed (steady()), or its bytes
 * are the same.
 *
 * One thread at a time uses the pages. pt_pages_release() accepts an all-zero struct.
 */
#ifndef RINGTAIL_AUXTRACE_INTEL_PT_PAGES_H
#define RINGTAIL_AUXTRACE_INTEL_PT_PAGES_H

#include "auxtrace/decoder/decoder.h"

#define PT_PAGE 4096u

struct pt_page {
	uint64_t addr;	     /* of the page */
	unsigned int lo, hi; /* these bytes of it are code */
	uint64_t age;	     /* as pt_pages_age() when it was read or compared */
	uint64_t version;    /* another one whenever address or bytes are others */
	uint32_t pid, tid;
	uint64_t time, code_version; /* when it was so */
	uint8_t bytes[PT_PAGE];
};

struct pt_pages {
	const struct aux_code *code;
	struct pt_page **slots;	       /* each NULL or a page; allocated at first use */
	struct pt_page *spare;	       /* to compare with */
	uint64_t user_age, kernel_age; /* pages with another age are old */
	bool user_stale;	       /* user code may have changed since @user_time */
	struct aux_task user_task;     /* whose pages those of user_age are */
	uint64_t user_time;	       /* 0: unknown */
	uint64_t versions;	       /* the last one given to a page */
	uint64_t code_version;	       /* as struct aux_code has it */
	char missing[AUX_MISSING_MAX]; /* the file that the last read lacked, or empty */
};

/* No page is known. */
void pt_pages_init(struct pt_pages *p);
/* Code is @code's now, which outlives the use of the pages. All of it may be another one. */
void pt_pages_begin(struct pt_pages *p, const struct aux_code *code);

/* From now on code is as of @time. */
void pt_pages_at(struct pt_pages *p, uint64_t time);
/* User code may have changed: call pt_pages_settle() before the next use. */
void pt_pages_forget_user(struct pt_pages *p);
/* @task runs from now on, at @time. */
void pt_pages_settle(struct pt_pages *p, const struct aux_task *task, uint64_t time);

/* What is remembered of code at @addr is as old as this. */
static inline uint64_t pt_pages_age(const struct pt_pages *p, uint64_t addr)
{
	return addr >> 63 ? p->kernel_age : p->user_age;
}

/* Returns the page with code at @addr of @task, or NULL with *@rc: -ENOENT or -ENOMEM. */
const struct pt_page *pt_pages_get(struct pt_pages *p, const struct aux_task *task, uint64_t time,
				   uint64_t addr, int *rc);

/*
 * Copies code of @task to @buf. Returns how many bytes, less than @size where the code ends;
 * -ENOENT if there is none at @addr; -ENOMEM.
 */
int pt_pages_read(struct pt_pages *p, const struct aux_task *task, uint64_t time, uint64_t addr,
		  uint8_t *buf, size_t size);

/* Frees the pages, not @p. */
void pt_pages_release(struct pt_pages *p);

#endif
