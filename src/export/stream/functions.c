// SPDX-License-Identifier: Apache-2.0
#include "export/stream/functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/text.h"

static bool is_kernel(uint8_t cpumode)
{
	return cpumode == PERF_RECORD_MISC_KERNEL || cpumode == PERF_RECORD_MISC_GUEST_KERNEL;
}

uint32_t export_function_of(struct export_functions *f, const struct frame *frame)
{
	const struct export_function key = {
		.sym = frame->sym,
		.dso = frame->dso,
		.is_kernel = !frame->dso && is_kernel(frame->cpumode),
	};

	return intern_put(&f->keys, &key);
}

int export_name(const char *name, struct buf *ret)
{
	ret->len = 0;
	return name ? text_escape(ret, name) : buf_append(ret, "[unknown]", 9);
}

int export_function_name(const struct export_function *fn, struct buf *ret)
{
	const char *dso = fn->dso ? fn->dso->short_name : NULL;

	if (fn->sym)
		return export_name(fn->sym->name, ret);
	if (!dso)
		return export_name(fn->is_kernel ? "[unknown kernel]" : NULL, ret);
	if (*dso == '[')
		return export_name(dso, ret);
	ret->len = 0;
	return buf_append(ret, "[", 1) || text_escape(ret, dso) || buf_append(ret, "]", 1) ? -ENOMEM
											   : 0;
}

int export_comm(const char *comm, uint32_t tid, struct buf *ret)
{
	ret->len = 0;
	return comm ? text_escape(ret, comm) : buf_printf(ret, ":%d", (int)tid);
}

int export_build_id(const struct dso *dso, struct buf *ret)
{
	int rc = 0;

	ret->len = 0;
	for (size_t i = 0; !rc && i < dso->build_id_size; i++)
		rc = buf_printf(ret, "%02x", dso->build_id[i]);
	return rc;
}

/* Lines come as "FILE:LINE". */
uint32_t export_line_of(const struct frame *frame)
{
	const char *line = frame->lines ? frame->lines->frame[frame->line].srcline : NULL;
	const char *colon = line ? strrchr(line, ':') : NULL;

	return colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
}

bool export_is_time(const struct pd_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
						    attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

void export_functions_release(struct export_functions *f)
{
	intern_release(&f->keys);
}
