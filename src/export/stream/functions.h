/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of an export: numbers for the functions of frames, and their names.
 *
 * Names are escaped as in text (render/text.h), so they are UTF-8 without control characters. A
 * frame without a symbol belongs to a function of its dso, "[libc.so.6]"; without a dso to
 * "[unknown]". The table grows by distinct functions. One thread.
 */
#ifndef RINGTAIL_EXPORT_STREAM_FUNCTIONS_H
#define RINGTAIL_EXPORT_STREAM_FUNCTIONS_H

#include "export/wire/intern.h"
#include "report/trace/frame.h"

/* The key of a function; without padding. */
struct export_function {
	const struct symbol *sym; /* NULL: none */
	const struct dso *dso;	  /* NULL: none */
	uint64_t is_kernel;	  /* only without a dso; else 0 */
};

/* EXPORT_FUNCTIONS_INIT: empty. */
struct export_functions {
	struct intern keys;
};

#define EXPORT_FUNCTIONS_INIT                                     \
	{                                                         \
		.keys = {.size = sizeof(struct export_function) } \
	}

/* Returns the number of the function of @frame, or INTERN_NONE if memory runs out. */
uint32_t export_function_of(struct export_functions *f, const struct frame *frame);

/* Returns function @number, which is in the table. */
static inline const struct export_function *export_function_at(const struct export_functions *f,
							       uint32_t number)
{
	return intern_at(&f->keys, number);
}

/* Sets @ret to the name of a function, escaped. Returns 0 or -ENOMEM. */
int export_function_name(const struct export_function *fn, struct buf *ret);

/* Sets @ret to @name, escaped; to "[unknown]" if it is NULL. Returns 0 or -ENOMEM. */
int export_name(const char *name, struct buf *ret);

/* Sets @ret to the name of a thread: its comm, or ":TID". Returns 0 or -ENOMEM. */
int export_comm(const char *comm, uint32_t tid, struct buf *ret);

/* Sets @ret to the build-id in hexadecimal digits; to "" if it is not known. Returns 0 or -ENOMEM.
 */
int export_build_id(const struct dso *dso, struct buf *ret);

/*
 * Returns the address of the code of @frame: of a return address the byte before, which belongs to
 * the call.
 */
static inline uint64_t export_address_of(const struct frame *frame)
{
	return frame->addr - (frame->is_return && frame->sym && frame->addr > frame->sym->start);
}

/* Returns the source file of @frame, not escaped; NULL: unknown. */
static inline const char *export_file_of(const struct frame *frame)
{
	return frame->lines ? frame->lines->frame[frame->line].srcfile : NULL;
}

/* Returns the line of @frame in its source file; 0: unknown. */
uint32_t export_line_of(const struct frame *frame);

/* Returns whether an event counts time, in nanoseconds. */
bool export_is_time(const struct pd_attr *attr);

/* Frees the table. */
void export_functions_release(struct export_functions *f);

#endif
