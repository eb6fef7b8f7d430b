// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/intel_pt/pages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE  4096u
#define SLOTS 512u

struct pt_page {
	uint64_t addr;	     /* of the page */
	unsigned int lo, hi; /* these bytes of it are code */
	uint64_t age;	     /* of user code; 0: of the kernel */
	uint64_t version;
	uint8_t bytes[PAGE];
};

void pt_pages_init(struct pt_pages *p, const struct aux_code *code)
{
	*p = (struct pt_pages){.code = code, .user_age = 1};
}

void pt_pages_forget_user(struct pt_pages *p)
{
	p->user_age++;
}

void pt_pages_release(struct pt_pages *p)
{
	for (size_t i = 0; p->slots && i < SLOTS; i++)
		free(p->slots[i]);
	free(p->slots);
	p->slots = NULL;
}

/* Fills @page from @page->lo on. Returns how many bytes it has then, or a negative errno. */
static int fill(struct pt_pages *p, const struct aux_task *task, uint64_t time,
		struct pt_page *page)
{
	const char *missing = NULL;
	int n = p->code->read(p->code->arg, task, time, page->addr + page->lo,
			      page->bytes + page->lo, PAGE - page->lo, &missing);

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
	return rc < 0 ? rc : 0;
}

static struct pt_page **slot_of(struct pt_pages *p, uint64_t addr)
{
	if (!p->slots)
		p->slots = calloc(SLOTS, sizeof(*p->slots));
	return p->slots ? &p->slots[(addr / PAGE ^ addr / PAGE / SLOTS) % SLOTS] : NULL;
}

/* Returns the page with code at @addr, or NULL with *@rc. */
static const struct pt_page *find(struct pt_pages *p, const struct aux_task *task, uint64_t time,
				  uint64_t addr, int *rc)
{
	uint64_t start = addr & ~(uint64_t)(PAGE - 1), age = addr >> 63 ? 0 : p->user_age;
	struct pt_page **slot = slot_of(p, start), *page;
	unsigned int at = addr - start;

	*rc = -ENOMEM;
	if (!slot)
		return NULL;
	page = *slot;
	if (page && page->addr == start && page->age == age && page->version == p->version &&
	    at >= page->lo && at < page->hi)
		return page;
	if (!page)
		page = *slot = malloc(sizeof(*page));
	if (!page)
		return NULL;
	page->addr = start;
	page->age = age;
	page->version = p->version;
	*rc = load(p, task, time, page, at);
	return *rc ? NULL : page;
}

int pt_pages_read(struct pt_pages *p, const struct aux_task *task, uint64_t time, uint64_t addr,
		  uint8_t *buf, size_t size)
{
	size_t done = 0;

	if (p->code->version && time != p->time) {
		p->time = time;
		p->version = p->code->version(p->code->arg, time);
	}
	while (done < size) {
		int rc;
		const struct pt_page *page = find(p, task, time, addr + done, &rc);
		size_t at = (addr + done) % PAGE, n;

		if (!page)
			return done ? (int)done : rc;
		n = page->hi - at < size - done ? page->hi - at : size - done;
		memcpy(buf + done, page->bytes + at, n);
		done += n;
	}
	return done;
}
