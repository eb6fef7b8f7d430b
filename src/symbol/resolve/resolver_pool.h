/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbol tables of this machine's files and kernel, shared by resolvers that come one after
 * another.
 *
 * A program that opens a new recording of this machine every few seconds (ringtail top) would read
 * and sort the same symbols each time. The pool keeps the tables of files (by file, name and
 * build-id), the kernel's, and the index of its modules; what a process writes for profilers
 * (perf-PID.map, jitdump) grows, so resolvers read it themselves.
 *
 * Resolvers with one pool must have equal symfs, kallsyms, vmlinux, no_demangle and no_debuginfod.
 * Reference-counted: each resolver has a reference, so its symbols live as long as it does. Any
 * thread may call.
 */
#ifndef RINGTAIL_SYMBOL_RESOLVE_RESOLVER_POOL_H
#define RINGTAIL_SYMBOL_RESOLVE_RESOLVER_POOL_H

#include <stddef.h>

struct resolver_pool;

/*
 * Returns an empty pool with one reference, or NULL when memory is short. @root is "" or, in tests,
 * the directory above /proc; it must outlive the pool.
 */
struct resolver_pool *resolver_pool_new(const char *root);
struct resolver_pool *resolver_pool_get(struct resolver_pool *p);
void resolver_pool_put(struct resolver_pool *p); /* accepts NULL */

/*
 * Replaces *@pool, of which the caller has a reference, by an empty one if it holds more than
 * @most symbols of files, or the kernel has other modules than when the pool was made. If memory is
 * short, *@pool stays.
 */
void resolver_pool_renew(struct resolver_pool **pool, size_t most);

#endif
