// SPDX-License-Identifier: Apache-2.0
#include "symbol/resolve/resolver_pool_priv.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "sys/io/file.h"

/* Of the kernel that a recording names. */
struct pool_kernel {
	bool asked;
	uint8_t build_id_size, build_id[PD_BUILD_ID_MAX];
	uint64_t ref_addr;
	char *ref_name;	      /* NULL: none */
	struct symtab *table; /* NULL: none; see @code and @why */
	int code;
	struct error why;
};

struct resolver_pool {
	atomic_uint references;
	const char *root;
	struct file_tables *files;
	struct module_list *modules;
	uint64_t loaded_modules;      /* hash of their list when the pool was made */
	pthread_mutex_t lock;	      /* guards @kernel */
	struct pool_kernel kernel[2]; /* of the image; with modules and BPF */
};

/* Modules by name and address; 0: the list cannot be read. */
static uint64_t hash_modules(const char *root)
{
	char *text = NULL, *line, *rest;
	uint64_t hash = 0;

	if (file_text(&text, "%s/proc/modules", root))
		return 0;
	/* A line has counts of users behind the name and size, which change all the time. */
	for (rest = text; (line = strsep(&rest, "\n"));) {
		const char *address = strstr(line, " 0x");

		hash = hash_bytes(hash, line, strcspn(line, " ") + 1);
		if (address)
			hash = hash_bytes(hash, address, strlen(address));
	}
	free(text);
	return hash;
}

struct resolver_pool *resolver_pool_new(const char *root)
{
	struct resolver_pool *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	atomic_init(&p->references, 1);
	pthread_mutex_init(&p->lock, NULL);
	p->files = file_tables_new();
	p->modules = module_list_new();
	p->root = root;
	p->loaded_modules = hash_modules(root);
	if (p->files && p->modules)
		return p;
	resolver_pool_put(p);
	return NULL;
}

struct resolver_pool *resolver_pool_get(struct resolver_pool *p)
{
	atomic_fetch_add_explicit(&p->references, 1, memory_order_relaxed);
	return p;
}

void resolver_pool_put(struct resolver_pool *p)
{
	if (!p || atomic_fetch_sub_explicit(&p->references, 1, memory_order_acq_rel) > 1)
		return;
	for (size_t i = 0; i < 2; i++) {
		symtab_free(p->kernel[i].table);
		free(p->kernel[i].ref_name);
	}
	module_list_free(p->modules);
	file_tables_free(p->files);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

void resolver_pool_renew(struct resolver_pool **pool, size_t most)
{
	struct resolver_pool *p;

	if (file_tables_symbols((*pool)->files) <= most &&
	    (*pool)->loaded_modules == hash_modules((*pool)->root))
		return;
	p = resolver_pool_new((*pool)->root);
	if (!p)
		return;
	resolver_pool_put(*pool);
	*pool = p;
}

struct file_tables *resolver_pool_files(const struct resolver_pool *p)
{
	return p->files;
}

struct module_list *resolver_pool_modules(const struct resolver_pool *p)
{
	return p->modules;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool is_of(const struct pool_kernel *k, const struct dso *dso)
{
	return k->build_id_size == dso->build_id_size &&
	       !memcmp(k->build_id, dso->build_id, k->build_id_size) &&
	       k->ref_addr == dso->ref_addr && same_text(k->ref_name, dso->ref_name);
}

/* Returns whether there is memory for it. */
static bool identify(struct pool_kernel *k, const struct dso *dso)
{
	k->build_id_size = dso->build_id_size;
	memcpy(k->build_id, dso->build_id, dso->build_id_size);
	k->ref_addr = dso->ref_addr;
	k->ref_name = dso->ref_name ? strdup(dso->ref_name) : NULL;
	return k->ref_name || !dso->ref_name;
}

int resolver_pool_kernel(struct resolver_pool *p, const struct sources *src, const struct dso *dso,
			 bool whole, struct symtab **ret, bool *ret_borrowed, struct error *why)
{
	struct pool_kernel *k = &p->kernel[whole];
	int rc = 0;

	pthread_mutex_lock(&p->lock);
	if (!k->asked && !src->opts.wanted && identify(k, dso)) {
		k->asked = true;
		k->why = (struct error)ERROR_INIT;
		k->code = whole ? kernel_load_whole(src, dso, &k->table, &k->why)
				: kernel_load(src, dso, &k->table, &k->why);
	}
	*ret_borrowed = k->asked && is_of(k, dso);
	if (*ret_borrowed) {
		rc = k->code;
		*ret = k->table;
		*why = k->why;
	}
	pthread_mutex_unlock(&p->lock);
	if (*ret_borrowed)
		return rc;
	return whole ? kernel_load_whole(src, dso, ret, why) : kernel_load(src, dso, ret, why);
}
