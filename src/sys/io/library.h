/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared libraries that few commands need, loaded when they are needed: those with large tables
 * cost every start some milliseconds and megabytes, because the dynamic linker relocates them.
 *
 * A module lists the functions that it uses and fills a struct of pointers to them:
 *
 *     #define FUNCTIONS(X) X(cs_open) X(cs_close)
 *     struct capstone { FUNCTIONS(LIBRARY_POINTER) };
 *
 * A library stays loaded. Any thread.
 */
#ifndef RINGTAIL_SYS_IO_LIBRARY_H
#define RINGTAIL_SYS_IO_LIBRARY_H

#include <stddef.h>

#include "base/error.h"

/* A pointer to function or variable @name, by that name. */
#define LIBRARY_POINTER(name) __typeof__(name) *(name);
/* Its name, for library_load(). */
#define LIBRARY_NAME(name) #name,
/* Its address, in a program that is linked with the library. */
#define LIBRARY_ADDRESS(name) .name = &(name),

/*
 * Loads @soname and stores the addresses of the @nr functions @names in the struct of pointers
 * @ret. Returns 0, or -ELIBACC with @err filled, which names Debian's @package.
 */
int library_load(const char *soname, const char *package, const char *const *names, size_t nr,
		 void *ret, struct error *err);

#endif
