// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/intel_pt/pages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 512u

void pt_pages_init(struct pt_pages *p)
{
	*p = (struct pt_pages){0};
}

void pt_pages_begin(struct pt_pages *p, const struct aux_code *code)
{
	p->code = code;
	p->user_age++;
	p->kernel_age++;
	p->user_stale = true;
	p->user_time = 0;
	/* Times of another stretch are no times of this one. */
	for (size_t i = 0; p->slots && i < SLOTS; i++)
		if (p->slots[i])
			p->slots[i]->time = 0;
}

void pt_pages_forget_user(struct pt_pages *p)
{
	p->user_stale = true;
}

/* Whether both run the same code. A process that is not known may be any. */
static bool same_process(uint32_t pid, uint32_t tid, const struct aux_task *task)
{
	return pid == task->pid && (pid != UINT32_MAX || tid == task->tid);
}

/* The recording says that what was known at @first, of a process, is so at @time. */
static bool is_steady(const struct pt_pages *p, const struct aux_task *task, uint64_t first,
		      uint64_t time)
{
	return first && (time == first || (p->code->steady && time > first &&
					   p->code->steady(p->code->arg, task, first, time)));
}

void pt_pages_settle(struct pt_pages *p, const struct aux_task *task, uint64_t time)
{
	struct aux_task user = *task;

	user.cpumode = PERF_RECORD_MISC_USER;
	if (!p->user_stale && same_process(p->user_task.pid, p->user_task.tid, task))
		return;
	if (!same_process(p->user_task.pid, p->user_task.tid, task) ||
	    !is_steady(p, &user, p->user_time, time))
		p->user_age++;
	p->user_stale = false;
	p->user_task = user;
	p->user_time = time;
}

void pt_pages_at(struct pt_pages *p, uint64_t time)
{
	uint64_t version = p->code->version ? p->code->version(p->code->arg, time) : 0;

	if (version == p->code_version)
		return;
	p->code_version = version;
	p->user_age++;
	p->kernel_age++;
}

void pt_pages_release(struct pt_pages *p)
{
	for (size_t i = 0; p->slots && i < SLOTS; i++)
		free(p->slots[i]);
	free(p->slots);
	free(p->spare);
	p->slots = NULL;
	p->spare = NULL;
}

/* Fills @page from @page->lo on. Returns how many bytes it has then, or a negative errno. */
static int fill(struct pt_pages *p, const struct aux_task *task, uint64_t time,
		struct pt_page *page)
{
	const char *missing = NULL;
	int n = p->code->read(p->code->arg, task, time, page->addr + page->lo,
			      page->bytes + page->lo, PT_PAGE - page->lo, &missing);

	page->hi = page->lo + (n > 0 ? n : 0);
	if (n <= 0)
		snprintf(p->missing, sizeof(p->missing), "%s", missing ? missing : "");
	return n ? n : -ENOENT;
}

/* Reads a page so that it has the byte at @at. Maps need not begin or end with a page. */
static int load(struct pt_pages *p, const struct aux_task *task, uint64_t time,
		struct pt_page *page, unsigned int at)
{
	int rc;

	page->lo = 0;
	rc = fill(p, task, time, page);
	if (at >= page->hi) {
		page->lo = at;
		rc = fill(p, task, time, page);
	}
	page->pid = task->pid;
	page->tid = task->tid;
	page->time = time;
	page->code_version = p->code_version;
	page->age = pt_pages_age(p, page->addr);
	return rc < 0 ? rc : 0;
}

static struct pt_page **slot_of(struct pt_pages *p, uint64_t addr)
{
	if (!p->slots)
		p->slots = calloc(SLOTS, sizeof(*p->slots));
	return p->slots ? &p->slots[(addr / PT_PAGE ^ addr / PT_PAGE / SLOTS) % SLOTS] : NULL;
}

/* The recording says that the bytes of @page are still these. */
static bool is_same(const struct pt_pages *p, const struct aux_task *task, uint64_t time,
		    const struct pt_page *page)
{
	return same_process(page->pid, page->tid, task) && page->code_version == p->code_version &&
	       is_steady(p, task, page->time, time);
}

/* Reads a page again. It is the same version if it has the same bytes. Returns 0 or an errno. */
static int reload(struct pt_pages *p, const struct aux_task *task, uint64_t time,
		  struct pt_page **slot, uint64_t addr)
{
	struct pt_page *old = *slot, *page = p->spare ? p->spare : malloc(sizeof(*page));
	int rc;

	if (!page)
		return -ENOMEM;
	p->spare = page;
	page->addr = addr & ~(uint64_t)(PT_PAGE - 1);
	rc = load(p, task, time, page, addr % PT_PAGE);
	if (rc)
		return rc;
	if (old && old->addr == page->addr && old->lo == page->lo && old->hi == page->hi &&
	    !memcmp(old->bytes + old->lo, page->bytes + page->lo, page->hi - page->lo))
		page->version = old->version;
	else
		page->version = ++p->versions;
	*slot = page;
	p->spare = old;
	return 0;
}

const struct pt_page *pt_pages_get(struct pt_pages *p, const struct aux_task *task, uint64_t time,
				   uint64_t addr, int *rc)
{
	uint64_t start = addr & ~(uint64_t)(PT_PAGE - 1), age = pt_pages_age(p, addr);
	struct pt_page **slot = slot_of(p, start), *page;
	unsigned int at = addr - start;

	*rc = -ENOMEM;
	if (!slot)
		return NULL;
	page = *slot;
	if (page && page->addr == start && at >= page->lo && at < page->hi) {
		if (page->age == age)
			return page;
		if (is_same(p, task, time, page)) {
			page->age = age;
			return page;
		}
	}
	*rc = reload(p, task, time, slot, addr);
	return *rc ? NULL : *slot;
}

int pt_pages_read(struct pt_pages *p, const struct aux_task *task, uint64_t time, uint64_t addr,
		  uint8_t *buf, size_t size)
{
	size_t done = 0;

	while (done < size) {
		int rc;
		const struct pt_page *page = pt_pages_get(p, task, time, addr + done, &rc);
		size_t at = (addr + done) % PT_PAGE, n;

		if (!page)
			return done ? (int)done : rc;
		n = page->hi - at < size - done ? page->hi - at : size - done;
		memcpy(buf + done, page->bytes + at, n);
		done += n;
	}
	return done;
}
