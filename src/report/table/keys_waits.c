// SPDX-License-Identifier: Apache-2.0
#include "report/table/keys_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/waits/waits.h"

#define ON_CPU	   UINT64_MAX
#define STACK_TEXT 4096 /* bytes */
#define NOBODY	   "[unknown]"

static int string_cell(const struct key_source *src, const char *text, struct hist_cell *ret)
{
	*ret = (struct hist_cell){.a = (uintptr_t)strpool_intern(src->names->pool, text)};
	return ret->a ? 0 : -ENOMEM;
}

static int kind_cell(const struct key_source *src, struct hist_cell *ret)
{
	*ret = (struct hist_cell){.a = src->ws->wait ? (uint64_t)src->wait_kind : ON_CPU};
	return 0;
}

static int kind_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	const char *name = cell.a < WAIT_KINDS ? wait_kind_name((enum wait_kind)cell.a) : "on CPU";

	return buf_append(out, name, strlen(name));
}

/* A thread waits for nobody on a run queue, unless somebody woke it. */
static int waker_cell(const struct key_source *src, struct hist_cell *ret)
{
	const struct wait_info *w = src->ws->wait;
	char unknown[16];

	if (!w || (w->waker.tid == PAIRING_NONE && w->on_queue))
		return string_cell(src, "", ret);
	if (w->waker.tid == PAIRING_NONE)
		return string_cell(src, w->open ? "[none yet]" : NOBODY, ret);
	if (w->waker.interrupt)
		return string_cell(src, "[interrupt]", ret);
	if (w->waker_comm)
		return string_cell(src, w->waker_comm, ret);
	snprintf(unknown, sizeof(unknown), ":%d", (int)w->waker.tid);
	return string_cell(src, unknown, ret);
}

/* a: thread + 1; 0: none. b: process. */
static int waker_tid_cell(const struct key_source *src, struct hist_cell *ret)
{
	const struct wait_info *w = src->ws->wait;

	*ret = (struct hist_cell){0};
	if (w && w->waker.tid != PAIRING_NONE && !w->waker.interrupt)
		*ret = (struct hist_cell){.a = w->waker.tid + 1ull, .b = w->waker.pid};
	return 0;
}

static int waker_tid_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	return cell.a ? buf_printf(out, "%7d", (int)(cell.a - 1)) : 0;
}

static bool is_context(uint64_t ip)
{
	return ip >= (uint64_t)PERF_CONTEXT_MAX;
}

static uint8_t mode_of(uint64_t context, uint8_t mode)
{
	switch (context) {
	case (uint64_t)PERF_CONTEXT_KERNEL: return PERF_RECORD_MISC_KERNEL;
	case (uint64_t)PERF_CONTEXT_USER: return PERF_RECORD_MISC_USER;
	default: return mode;
	}
}

static int add_frame(struct buf *text, const struct frame *f)
{
	if (text->len && buf_append(text, ";", 1))
		return -ENOMEM;
	if (f->sym)
		return buf_append(text, f->sym->name, strlen(f->sym->name));
	return buf_printf(text, "[%s]", f->dso ? f->dso->short_name : "unknown");
}

/* The functions of the waker, the innermost first. */
static int waker_stack_cell(const struct key_source *src, struct hist_cell *ret)
{
	const struct walk_sample *ws = src->ws->wait ? src->ws->wait->wakeup : NULL;
	uint8_t mode = PERF_RECORD_MISC_KERNEL;
	struct buf text = {0};
	struct frame f;
	int rc = 0;

	for (uint64_t i = 0; ws && !rc && i < ws->s.callchain_nr && text.len < STACK_TEXT; i++) {
		uint64_t ip = ws->s.callchain[i];

		if (is_context(ip)) {
			mode = mode_of(ip, mode);
			continue;
		}
		frames_resolve(src->frames, ws->s.pid, mode, ip, ws->rec->at, &f);
		rc = add_frame(&text, &f);
	}
	if (!rc)
		rc = buf_append(&text, "", 1);
	if (!rc)
		rc = string_cell(src, (const char *)text.data, ret);
	buf_release(&text);
	return rc;
}

// clang-format off
const struct sort_key wait_keys[] = {
	{"kind", NULL, "Waits for", false, false, 0, false, kind_cell, kind_text, key_compare_numbers, .of_wait = true},
	{"waker", NULL, "Waker", false, false, 0, true, waker_cell, key_string_text, key_compare_strings, .of_wait = true},
	{"waker_tid", NULL, "  Waker", true, false, 0, false, waker_tid_cell, waker_tid_text, key_compare_numbers, .of_wait = true},
	{"waker_stack", NULL, "Waker's Stack", false, false, 0, true, waker_stack_cell, key_string_text, key_compare_strings, .of_wait = true},
};
// clang-format on

const size_t nr_wait_keys = sizeof(wait_keys) / sizeof(wait_keys[0]);
