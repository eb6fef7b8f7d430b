// SPDX-License-Identifier: Apache-2.0
#include "unwind/cfi.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock_ns.h"
#include "symbol/elf/elf_image.h"
#include "unwind/section.h"

/* All programs and libraries of a desktop have 20 MB of .eh_frame; browsers have 10 MB each. */
#define LOADED_MAX ((size_t)256 << 20)

/* The tables of one dso. */
struct cfi_table {
	struct cfi_section eh, debug;
	struct elf_space space;
	uint16_t machine; /* e_machine; 0: the file was not found */
	uint64_t entry;	  /* e_entry of a dynamic linker; 0: another file */
	size_t bytes;
	uint64_t used; /* cfi_tables.tick of the last use */
	bool debug_tried;
	/* With a loader: */
	bool loaded;		   /* @eh and @machine are known */
	bool wanted, debug_wanted; /* the loader was asked */
	uint64_t failed;	   /* ms; the file could not be opened then. 0: it could */
};

struct cfi_tables {
	struct resolver *resolver;
	pthread_mutex_t lock;	  /* guards all below */
	struct cfi_table **table; /* by dso index; NULL: not loaded yet, or dropped */
	size_t cap;
	size_t loaded, max; /* bytes */
	uint64_t tick;
	bool loads; /* another thread loads, by: */
	struct cfi_loader loader;
	uint64_t generation; /* number of calls of cfi_tables_forget() */
};

#define START_BYTES 64 /* code at the start of a dynamic linker: 61 in glibc's for x86-64 */

#define RETRY_MS 1000 /* a file that could not be opened is not tried again for so long */

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

int cfi_tables_new_loaded(const struct cfi_loader *loader, struct resolver *r,
			  struct cfi_tables **ret)
{
	int rc = cfi_tables_new(r, ret);

	if (rc)
		return rc;
	(*ret)->loads = true;
	(*ret)->loader = *loader;
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

static int open_image(const struct cfi_tables *t, const struct dso *dso, struct elf_image *ret)
{
	return t->loads ? t->loader.open(t->loader.arg, dso, ret)
			: resolver_open_image(t->resolver, dso, ret);
}

/* Reads .debug_frame of the program or of its debug file. Returns 0 or -ENOMEM. */
static int read_debug(const struct cfi_tables *t, const struct dso *dso, uint16_t machine,
		      struct cfi_section *ret)
{
	struct elf_image program = ELF_IMAGE_INIT, debug = ELF_IMAGE_INIT;
	int rc;

	if (open_image(t, dso, &program))
		return 0;
	rc = cfi_section_load(ret, &program, ".debug_frame");
	if (rc == -ENOENT && !resolver_open_debug(t->resolver, dso, &program, &debug) &&
	    debug.ehdr.e_machine == machine)
		rc = cfi_section_load(ret, &debug, ".debug_frame");
	elf_image_close(&debug);
	elf_image_close(&program);
	return rc == -ENOMEM ? rc : 0;
}

static int load_debug(struct cfi_tables *t, const struct dso *dso, struct cfi_table *c)
{
	int rc = read_debug(t, dso, c->machine, &c->debug);

	c->debug_tried = true;
	account(t, c);
	return rc;
}

/*
 * Whether the kernel may start the file for another program. In others, code beside the entry may
 * have callers.
 */
static bool is_dynamic_linker(const struct elf_image *img)
{
	GElf_Phdr phdr;
	size_t n;

	if (img->ehdr.e_type != ET_DYN || elf_getphdrnum(img->elf, &n))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!gelf_getphdr(img->elf, (int)i, &phdr) || phdr.p_type == PT_INTERP)
			return false;
	return true;
}

/*
 * Reads the program of @dso. What cannot be read stays empty. Returns 0, -ESRCH if there is no
 * file, or -ENOMEM.
 */
static int read_program(const struct cfi_tables *t, const struct dso *dso, struct cfi_table *c)
{
	struct elf_image img = ELF_IMAGE_INIT;
	int rc = 0;

	c->debug_tried = true;
	if (open_image(t, dso, &img))
		return -ESRCH;
	if (!elf_space_file(&img, &c->space, NULL)) {
		c->debug_tried = false;
		c->machine = img.ehdr.e_machine;
		c->entry = is_dynamic_linker(&img) ? img.ehdr.e_entry : 0;
		rc = cfi_section_load(&c->eh, &img, ".eh_frame");
	}
	elf_image_close(&img);
	return rc == -ENOMEM ? rc : 0;
}

/* Loads the tables of @dso. A table that cannot be loaded stays empty. Returns 0 or -ENOMEM. */
static int load(struct cfi_tables *t, const struct dso *dso, struct cfi_table *c)
{
	int rc = t->loads ? 0 : read_program(t, dso, c);

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

/* Asks the loader for @part, once. Returns -EAGAIN. */
static int want(struct cfi_tables *t, bool *wanted, const struct dso *dso, enum cfi_part part)
{
	if (!*wanted)
		*wanted = t->loader.want(t->loader.arg, dso, part, t->generation);
	return -EAGAIN;
}

/*
 * Whether a dynamic linker starts with the code at @addr, as linked. The assembly of glibc's, which
 * goes on to the program, has no entries, other than its functions.
 */
static bool is_start(const struct cfi_table *c, uint64_t addr)
{
	return c->entry && addr - c->entry < START_BYTES && cfi_section_memory(&c->eh);
}

/* Finds the row of @addr, as linked. .debug_frame serves only if .eh_frame has no entry. */
static int find_row(struct cfi_tables *t, struct cfi_table *c, const struct unwind_arch *arch,
		    const struct dso *dso, uint64_t addr, struct cfi_row **ret)
{
	int rc = cfi_section_row(&c->eh, arch, addr, ret);

	if (rc != -ENOENT)
		return rc;
	if (!c->debug_tried && t->loads)
		return want(t, &c->debug_wanted, dso, CFI_DEBUG);
	rc = c->debug_tried ? 0 : load_debug(t, dso, c);
	if (!rc)
		rc = cfi_section_row(&c->debug, arch, addr, ret);
	return rc == -ENOENT && is_start(c, addr) ? -ENXIO : rc;
}

/* Whether the table of @dso is there. Returns 0, -EAGAIN or -ESRCH. */
static int check_loaded(struct cfi_tables *t, struct cfi_table *c, const struct dso *dso)
{
	if (!t->loads || c->loaded)
		return 0;
	if (c->failed && now_ms() - c->failed < RETRY_MS)
		return -ESRCH;
	if (c->failed)
		c->wanted = false;
	c->failed = 0;
	return want(t, &c->wanted, dso, CFI_EH);
}

/* Takes what another thread has read into @from. */
static void install(struct cfi_tables *t, struct cfi_table *c, struct cfi_table *from,
		    enum cfi_part part, int rc)
{
	struct cfi_section *section = part == CFI_EH ? &from->eh : &from->debug;

	if (cfi_section_memory(section) > t->max / 2)
		cfi_section_release(section);
	if (part == CFI_DEBUG && c->loaded && !c->debug_tried) {
		c->debug = *section;
		*section = (struct cfi_section){0};
		c->debug_tried = true;
	} else if (part == CFI_EH && rc == -ESRCH) {
		c->failed = now_ms();
	} else if (part == CFI_EH && !c->loaded) {
		c->eh = *section;
		c->space = from->space;
		*section = (struct cfi_section){0};
		from->space = (struct elf_space){0};
		c->machine = from->machine;
		c->entry = from->entry;
		c->debug_tried = from->debug_tried;
		c->loaded = true;
	}
	account(t, c);
}

void cfi_tables_load(struct cfi_tables *t, const struct dso *dso, enum cfi_part part,
		     uint64_t generation)
{
	struct cfi_table from = {0}, *c = NULL;
	uint16_t machine = 0;
	int rc;

	pthread_mutex_lock(&t->lock);
	if (generation == t->generation && dso->index < t->cap)
		c = t->table[dso->index];
	if (c)
		machine = c->machine;
	pthread_mutex_unlock(&t->lock);
	if (!c)
		return;
	rc = part == CFI_EH ? read_program(t, dso, &from)
			    : read_debug(t, dso, machine, &from.debug);
	pthread_mutex_lock(&t->lock);
	c = generation == t->generation && dso->index < t->cap ? t->table[dso->index] : NULL;
	if (c) {
		install(t, c, &from, part, rc);
		shrink(t, c);
	}
	pthread_mutex_unlock(&t->lock);
	cfi_section_release(&from.eh);
	cfi_section_release(&from.debug);
	elf_space_release(&from.space);
}

void cfi_tables_give_up(struct cfi_tables *t, uint32_t index, enum cfi_part part,
			uint64_t generation)
{
	struct cfi_table *c = NULL;

	pthread_mutex_lock(&t->lock);
	if (generation == t->generation && index < t->cap)
		c = t->table[index];
	if (c && (part == CFI_EH) == !c->loaded) {
		c->loaded = true;
		c->debug_tried = true;
	}
	pthread_mutex_unlock(&t->lock);
}

void cfi_tables_forget(struct cfi_tables *t)
{
	pthread_mutex_lock(&t->lock);
	for (size_t i = 0; i < t->cap; i++) {
		table_free(t->table[i]);
		t->table[i] = NULL;
	}
	t->loaded = 0;
	t->generation++;
	pthread_mutex_unlock(&t->lock);
}

int cfi_tables_row(struct cfi_tables *t, const struct unwind_arch *arch, const struct dso *dso,
		   uint64_t addr, struct cfi_row **ret)
{
	struct cfi_table *c;
	int rc;

	pthread_mutex_lock(&t->lock);
	c = table_get(t, dso);
	if (!c)
		rc = -ENOMEM;
	else
		rc = check_loaded(t, c, dso);
	if (!rc)
		rc = c->machine == arch->machine && elf_space_unmap(&c->space, addr, &addr)
			     ? find_row(t, c, arch, dso, addr, ret)
			     : -ENOENT;
	shrink(t, c);
	pthread_mutex_unlock(&t->lock);
	return rc;
}
