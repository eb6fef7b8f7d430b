// SPDX-License-Identifier: Apache-2.0
#include "symbol/lines/lines.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "symbol/demangle/demangle.h"
#include "symbol/elf/elf_image.h"
#include "symbol/lines/debug.h"
#include "symbol/lines/debug_file.h"
#include "symbol/lines/unit.h"
#include "symbol/lines/unit_index.h"
#include "symbol/lines/unit_list.h"

/* Bytes of names in all tables: strings may share their ends, so these are not bounded by the file.
 */
#define TEXT_FACTOR 16
#define TEXT_LEAST  ((size_t)16 << 20)

struct source_lines {
	pthread_mutex_t lock; /* guards the rest after opening */
	struct debug debug;   /* open once a unit is needed that the index lacks */
	bool debug_failed;
	struct debug_space space; /* of asked addresses */
	struct unit_names names;
	struct range_set ranges; /* of units */
	struct unit *units;
	size_t nr_units;
	size_t text_left;
	struct unit_index index;
	struct index_key key; /* made before libdw decompresses sections */
	const char *cache;    /* the user's; borrowed; NULL: keep no index */
	bool is_new;	      /* there is something to keep */
	bool unread;	      /* memory or the disk failed: what is known is not all */

	const struct pd_symbol_lines *recorded; /* the recording's own, asked first; NULL: none */
	const char **shown;			/* its texts, as functions; NULL: not asked for */
	const struct resolver *resolver;	/* of @disk */
	const struct dso *dso;
	struct source_lines *disk; /* for what @recorded lacks; NULL: none */
	bool disk_tried;
};

/* Gives the units of an index their DIEs. */
static int match_units(struct source_lines *l, const struct unit_list *list)
{
	if (l->nr_units != list->nr)
		return -EBADMSG;
	for (size_t i = 0; i < list->nr; i++)
		l->units[i].die = list->die[i];
	return 0;
}

/* Makes the units of @list, and takes over its ranges. */
static int make_units(struct source_lines *l, struct unit_list *list)
{
	l->units = calloc(list->nr ? list->nr : 1, sizeof(*l->units));
	if (!l->units)
		return -ENOMEM;
	l->nr_units = list->nr;
	l->ranges = list->ranges;
	list->ranges = (struct range_set){0};
	return match_units(l, list);
}

/* Opens the debug information, and lists the units, if no index did. */
static int open_debug(struct source_lines *l)
{
	struct unit_list list = {0};
	int rc = l->debug_failed ? -EBADMSG : debug_open(&l->debug);

	if (!rc)
		rc = unit_list_make(&l->debug, &list);
	if (!rc)
		rc = l->index.map ? match_units(l, &list) : make_units(l, &list);
	l->debug_failed = rc;
	unit_list_release(&list);
	return rc;
}

static int open_lines(struct source_lines *l)
{
	const struct elf_image *img = &l->debug.image;
	uint64_t text = debug_size(img) * TEXT_FACTOR;
	int rc = debug_check(img);

	if (rc)
		return rc;
	l->text_left = text > TEXT_LEAST ? text : TEXT_LEAST;
	l->names.pool = strpool_new();
	if (!l->names.pool)
		return -ENOMEM;
	if (l->cache && index_key_of(img, &l->key))
		l->cache = NULL;
	if (l->cache &&
	    !index_load(l->cache, &l->key, &l->index, &l->ranges, &l->units, &l->nr_units))
		return 0;
	return open_debug(l);
}

int lines_open_image(struct elf_image *img, bool demangle, const char *cache,
		     struct source_lines **ret)
{
	struct source_lines *l = calloc(1, sizeof(*l));
	int rc = l ? 0 : -ENOMEM;

	if (rc) {
		elf_image_close(img);
		return rc;
	}
	pthread_mutex_init(&l->lock, NULL);
	l->debug.image = *img;
	l->debug.alt = (struct elf_image)ELF_IMAGE_INIT;
	*img = (struct elf_image)ELF_IMAGE_INIT;
	l->names.demangle = demangle;
	l->cache = cache;
	rc = open_lines(l);
	if (rc)
		lines_free(l);
	else
		*ret = l;
	return rc;
}

static int open_disk(const struct resolver *r, const struct dso *dso, const struct buf *kept,
		     bool demangle, struct source_lines **ret)
{
	struct elf_image img = ELF_IMAGE_INIT;
	struct debug_space space = {0};
	int rc = debug_file_open(r, dso, kept, &img, &space);

	if (!rc)
		rc = lines_open_image(&img, demangle, resolver_cache(r), ret);
	if (rc)
		debug_space_release(&space);
	else
		(*ret)->space = space;
	return rc;
}

static int open_recorded(const struct resolver *r, const struct dso *dso, bool demangle,
			 const struct pd_symbol_lines *recorded, struct source_lines **ret)
{
	struct source_lines *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	pthread_mutex_init(&l->lock, NULL);
	l->debug.image = l->debug.alt = (struct elf_image)ELF_IMAGE_INIT;
	l->names.demangle = demangle;
	l->recorded = recorded;
	l->resolver = r;
	l->dso = dso;
	*ret = l;
	return 0;
}

int lines_open(const struct resolver *r, const struct dso *dso, bool demangle,
	       struct source_lines **ret)
{
	const struct pd_symbol_lines *recorded = resolver_recorded_lines(r, dso);

	if (recorded)
		return open_recorded(r, dso, demangle, recorded, ret);
	return open_disk(r, dso, NULL, demangle, ret);
}

int lines_open_kept(const struct resolver *r, const struct dso *dso, const struct buf *kept,
		    bool demangle, struct source_lines **ret)
{
	return open_disk(r, dso, kept, demangle, ret);
}

/* Keeps what this process has read, if all that belongs to the file was there. */
static void keep(const struct source_lines *l)
{
	if (l->is_new && !l->unread && l->cache && debug_is_whole(&l->debug))
		index_store(l->cache, &l->key, &l->ranges, l->units, l->nr_units);
}

static void free_one(struct source_lines *l)
{
	keep(l);
	free(l->shown);
	for (size_t i = 0; i < l->nr_units; i++)
		unit_release(&l->units[i]);
	free(l->units);
	range_set_release(&l->ranges);
	index_release(&l->index);
	debug_close(&l->debug);
	debug_space_release(&l->space);
	strpool_free(l->names.pool);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

void lines_free(struct source_lines *l)
{
	if (!l)
		return;
	if (l->disk)
		free_one(l->disk);
	free_one(l);
}

/* Makes the table of @u ready: from the index, or from the debug information. */
static int open_unit(struct source_lines *l, struct unit *u)
{
	int rc;

	if (u->is_open || (u->block && !unit_open(u)))
		return 0;
	u->block = NULL;
	rc = l->debug.dwarf && !l->debug_failed ? 0 : open_debug(l);
	if (rc)
		return rc;
	l->is_new = true;
	return unit_read(u, &l->debug.split, &l->text_left);
}

static size_t find_on_disk(struct source_lines *l, uint64_t addr, struct line_frame *ret,
			   size_t max)
{
	uint32_t at;
	size_t nr = 0;
	int rc;

	if (!debug_space_linked(&l->space, addr, &addr))
		return 0;
	at = range_set_find(&l->ranges, addr);
	if (at == RANGE_NONE)
		return 0;
	pthread_mutex_lock(&l->lock);
	rc = open_unit(l, &l->units[at]);
	l->unread |= rc == -ENOMEM || rc == -EIO;
	if (!rc)
		nr = unit_find(&l->units[at], &l->names, addr, ret, max);
	pthread_mutex_unlock(&l->lock);
	return nr;
}

/* Returns a function of the recording's own as it is shown. */
static const char *shown(struct source_lines *l, uint32_t text)
{
	const char *raw;
	char *demangled;

	if (!text)
		return NULL;
	raw = l->recorded->text[text - 1];
	if (!l->names.demangle)
		return raw;
	if (!l->shown)
		l->shown = calloc(l->recorded->nr_texts, sizeof(*l->shown));
	if (!l->names.pool)
		l->names.pool = strpool_new();
	if (!l->shown || !l->names.pool)
		return NULL;
	if (!l->shown[text - 1]) {
		demangled = demangle_text(raw);
		l->shown[text - 1] = demangled ? strpool_intern(l->names.pool, demangled) : raw;
		free(demangled);
	}
	return l->shown[text - 1];
}

static size_t put_recorded(struct source_lines *l, const struct pd_line_run *run,
			   struct line_frame *ret, size_t max)
{
	const struct pd_line_chain *chain = &l->recorded->chain[run->chain];
	size_t nr = chain->nr < max ? chain->nr : max;

	for (size_t i = 0; i < nr; i++) {
		const struct pd_line_frame *f = &l->recorded->frame[chain->first + i];

		ret[i] = (struct line_frame){
			.function = shown(l, f->function),
			.file = f->file ? l->recorded->text[f->file - 1] : NULL,
			.line = f->line,
			.inlined = f->inlined,
		};
	}
	return nr;
}

/* What the recording lacks comes from this machine. */
static size_t find_recorded(struct source_lines *l, uint64_t addr, struct line_frame *ret,
			    size_t max)
{
	const struct pd_line_run *run = pd_symbol_lines_find(l->recorded, addr);
	size_t nr = 0;

	pthread_mutex_lock(&l->lock);
	if (run) {
		nr = put_recorded(l, run, ret, max);
	} else if (!l->disk_tried) {
		l->disk_tried = true;
		if (open_disk(l->resolver, l->dso, NULL, l->names.demangle, &l->disk))
			l->disk = NULL;
	}
	pthread_mutex_unlock(&l->lock);
	return run || !l->disk ? nr : find_on_disk(l->disk, addr, ret, max);
}

size_t lines_find(struct source_lines *l, uint64_t addr, struct line_frame *ret, size_t max)
{
	return l->recorded ? find_recorded(l, addr, ret, max) : find_on_disk(l, addr, ret, max);
}

bool lines_are_recorded(const struct source_lines *l)
{
	return l->recorded;
}
