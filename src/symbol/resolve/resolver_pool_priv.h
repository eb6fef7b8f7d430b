/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What resolvers take from their pool. It lives as long as the pool. Internal to symbol/.
 */
#ifndef RINGTAIL_SYMBOL_RESOLVE_RESOLVER_POOL_PRIV_H
#define RINGTAIL_SYMBOL_RESOLVE_RESOLVER_POOL_PRIV_H

#include "symbol/resolve/resolver_pool.h"
#include "symbol/resolve/sources.h"

struct file_tables *resolver_pool_files(const struct resolver_pool *p);
struct module_list *resolver_pool_modules(const struct resolver_pool *p);

/*
 * Loads the symbols of the kernel, or returns those that the pool has: *@ret_borrowed says that it
 * owns them. @whole: as kernel_load_whole(), else as kernel_load(), which returns, too.
 */
int resolver_pool_kernel(struct resolver_pool *p, const struct sources *src, const struct dso *dso,
			 bool whole, struct symtab **ret, bool *ret_borrowed, struct error *why);

#endif
