// SPDX-License-Identifier: Apache-2.0
#include "report/latency/functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* Ids of those without a symbol; pointers are larger. */
enum {
	ID_UNKNOWN,
	ID_SYSCALL,
	ID_INTERRUPT,
	ID_UNTRACED,
};

static const char *const names[] = {
	[ID_UNKNOWN] = "[unknown]",
	[ID_SYSCALL] = "[system call]",
	[ID_INTERRUPT] = "[interrupt]",
	[ID_UNTRACED] = "[not traced]",
};

static uint64_t outside(const struct callstack_frame *frame)
{
	if (!(frame->flags & CALLSTACK_KERNEL))
		return ID_UNTRACED;
	return frame->ret == frame->from ? ID_INTERRUPT : ID_SYSCALL;
}

uint32_t functions_find(struct function_list *f, const struct callstack_frame *frame,
			const struct frame *at)
{
	const void *place = at->sym ? (const void *)at->sym : (const void *)at->dso;
	uint64_t id = frame->entry ? (uint64_t)(uintptr_t)place : outside(frame);
	uint32_t before = id_table_count(&f->numbers), number;

	if (array_grow(&f->list, &f->cap, before + (size_t)1, sizeof(*f->list)))
		return ID_TABLE_NONE;
	number = id_table_add(&f->numbers, id);
	if (number != before)
		return number;
	f->list[number] = (struct function){
		.dso = frame->entry ? at->dso : NULL,
		.name = id <= ID_UNTRACED ? names[id]
			: at->sym	  ? at->sym->name
					  : names[ID_UNKNOWN],
		.is_symbol = id > ID_UNTRACED && at->sym,
	};
	return number;
}

bool function_has_name(const struct function *f, const char *name)
{
	size_t len = strlen(name);

	return f->is_symbol && !strncmp(f->name, name, len) &&
	       (!f->name[len] || f->name[len] == '(');
}

void functions_release(struct function_list *f)
{
	id_table_release(&f->numbers);
	free(f->list);
	*f = (struct function_list){0};
}
