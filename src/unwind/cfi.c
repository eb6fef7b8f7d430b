// SPDX-License-Identifier: Apache-2.0
#include "unwind/cfi.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/buf.h"
#include "symbol/elf/elf_image.h"
#include "unwind/section.h"

/* All programs and libraries of a desktop have 20 MB of .eh_frame; browsers have 10 MB each. */
#define LOADED_MAX ((size_t)256 << 20)

/* The tables of one dso. */
struct cfi_table {
	struct cfi_section eh, debug;
	struct elf_space space;
	uint16_t machine; /* e_machine; 0: the file was not found */
	size_t bytes;
	uint64_t used; /* cfi_tables.tick of the last use */
	bool debug_tried;
};

struct cfi_tables {
	struct resolver *resolver;
	pthread_mutex_t lock;	  /* guards all below */
	struct cfi_table **table; /* by dso index; NULL: not loaded yet, or dropped */
	size_t cap;
	size_t loaded, max; /* bytes */
	uint64_t tick;
};

int cfi_tables_new(struct resolver *r, struct cfi_tables **ret)
{
	struct cfi_tables *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->resolver = r;
	t->max = LOADED_MAX;
	pthread_mutex_init(&t->lock, NULL);
	*ret = t;
	return 0;
}

static void table_free(struct cfi_table *c)
{
	if (!c)
		return;
	cfi_section_release(&c->eh);
	cfi_section_release(&c->debug);
	elf_space_release(&c->space);
	free(c);
}

void cfi_tables_free(struct cfi_tables *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->cap; i++)
		table_free(t->table[i]);
	free(t->table);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

void cfi_tables_limit(struct cfi_tables *t, size_t bytes)
{
	t->max = bytes;
}

size_t cfi_tables_loaded(const struct cfi_tables *t)
{
	return t->loaded;
}

static void account(struct cfi_tables *t, struct cfi_table *c)
{
	t->loaded -= c->bytes;
	c->bytes = sizeof(*c) + cfi_section_memory(&c->eh) + cfi_section_memory(&c->debug);
	t->loaded += c->bytes;
}

/* Loads .debug_frame of the program or of its debug file. Returns 0 or -ENOMEM. */
static int load_debug(struct cfi_tables *t, const struct dso *dso, struct cfi_table *c)
{
	struct elf_image program = ELF_IMAGE_INIT, debug = ELF_IMAGE_INIT;
	int rc;

	c->debug_tried = true;
	if (resolver_open_image(t->resolver, dso, &program))
		return 0;
	rc = cfi_section_load(&c->debug, &program, ".debug_frame");
	if (rc == -ENOENT && !resolver_open_debug(t->resolver, dso, &program, &debug) &&
	    debug.ehdr.e_machine == c->machine)
		rc = cfi_section_load(&c->debug, &debug, ".debug_frame");
	elf_image_close(&debug);
	elf_image_close(&program);
	account(t, c);
	return rc == -ENOMEM ? rc : 0;
}

/* Loads the tables of @dso. A table that cannot be loaded stays empty. Returns 0 or -ENOMEM. */
static int load(struct cfi_tables *t, const struct dso *dso, struct cfi_table *c)
{
	struct elf_image img = ELF_IMAGE_INIT;
	int rc = 0;

	c->debug_tried = true;
	if (!resolver_open_image(t->resolver, dso, &img) &&
	    !elf_space_file(&img, &c->space, NULL)) {
		c->debug_tried = false;
		c->machine = img.ehdr.e_machine;
		rc = cfi_section_load(&c->eh, &img, ".eh_frame");
	}
	elf_image_close(&img);
	account(t, c);
	return rc == -ENOMEM ? rc : 0;
}

/* Drops the least recently used tables until the bound holds again; @keep stays. */
static void shrink(struct cfi_tables *t, const struct cfi_table *keep)
{
	while (t->loaded > t->max) {
		size_t oldest = t->cap;

		for (size_t i = 0; i < t->cap; i++)
			if (t->table[i] && t->table[i] != keep &&
			    (oldest == t->cap || t->table[i]->used < t->table[oldest]->used))
				oldest = i;
		if (oldest == t->cap)
			return;
		t->loaded -= t->table[oldest]->bytes;
		table_free(t->table[oldest]);
		t->table[oldest] = NULL;
	}
}

/* Returns the table of @dso, loaded; NULL when out of memory. */
static struct cfi_table *table_get(struct cfi_tables *t, const struct dso *dso)
{
	size_t old = t->cap;
	struct cfi_table *c;

	if (array_grow(&t->table, &t->cap, (size_t)dso->index + 1, sizeof(*t->table)))
		return NULL;
	for (; old < t->cap; old++)
		t->table[old] = NULL;
	c = t->table[dso->index];
	if (!c) {
		c = calloc(1, sizeof(*c));
		if (!c)
			return NULL;
		t->table[dso->index] = c;
		if (load(t, dso, c))
			return NULL;
	}
	c->used = ++t->tick;
	return c;
}

/* Finds the row of @addr, as linked. .debug_frame serves only if .eh_frame has no entry. */
static int find_row(struct cfi_tables *t, struct cfi_table *c, const struct unwind_arch *arch,
		    const struct dso *dso, uint64_t addr, struct cfi_row **ret)
{
	int rc = cfi_section_row(&c->eh, arch, addr, ret);

	if (rc != -ENOENT)
		return rc;
	rc = c->debug_tried ? 0 : load_debug(t, dso, c);
	return rc ? rc : cfi_section_row(&c->debug, arch, addr, ret);
}

int cfi_tables_row(struct cfi_tables *t, const struct unwind_arch *arch, const struct dso *dso,
		   uint64_t addr, struct cfi_row **ret)
{
	struct cfi_table *c;
	int rc = -ENOENT;

	pthread_mutex_lock(&t->lock);
	c = table_get(t, dso);
	if (!c)
		rc = -ENOMEM;
	else if (c->machine == arch->machine && elf_space_unmap(&c->space, addr, &addr))
		rc = find_row(t, c, arch, dso, addr, ret);
	shrink(t, c);
	pthread_mutex_unlock(&t->lock);
	return rc;
}
