// SPDX-License-Identifier: Apache-2.0
#include "export/stream/threads.h"

#include <stdlib.h>

#include "export/stream/functions.h"

uint32_t export_thread_put(struct export_threads *t, uint32_t pid, uint32_t tid, const char *comm)
{
	const struct export_thread key = {pid, tid};
	uint32_t known = intern_count(&t->keys), number = intern_put(&t->keys, &key), name;

	if (number == INTERN_NONE ||
	    array_grow(&t->newest, &t->cap, (size_t)number + 1, sizeof(*t->newest)))
		return INTERN_NONE;
	if (number != known && !comm)
		return number;
	if (export_comm(comm, tid, &t->text))
		return INTERN_NONE;
	name = intern_string(&t->names, (const char *)t->text.data, t->text.len);
	t->newest[number] = name;
	return name == INTERN_NONE ? INTERN_NONE : number;
}

void export_threads_release(struct export_threads *t)
{
	intern_release(&t->keys);
	intern_strings_release(&t->names);
	buf_release(&t->text);
	free(t->newest);
}
