// SPDX-License-Identifier: Apache-2.0
#include "symbol/resolve/kernel_cache.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "symbol/elf/elf_image.h"
#include "sys/io/cache.h"
#include "symbol/resolve/kallsyms.h"
#include "sys/io/file.h"

#define COPY_MAX ((size_t)64 << 20)
#define BOOT_ID	 36 /* characters */
/* Bytes of a line that have to be equal; they leave no padding in struct copy_end. */
#define FIRST_MAX  (512 - (8 + BOOT_ID + 1 + ELF_BUILD_ID_MAX))
#define SEARCH_MAX 65536 /* bytes at the beginning of /proc/kallsyms that have an address */

/* What a copy is of. Bytes alone, to be compared as they are. */
struct copy_key {
	char magic[8]; /* with the version */
	char boot_id[BOOT_ID];
	uint8_t build_id_size;
	uint8_t build_id[ELF_BUILD_ID_MAX];
	char first[FIRST_MAX]; /* the first line with an address */
};

/* Written behind the image of the table, in this machine's byte order. */
struct copy_end {
	struct copy_key key;
	uint64_t text, stext; /* addresses of _text and _stext; 0: none */
	uint64_t sum;	      /* of the two, which have no check otherwise */
};

static_assert(sizeof(struct copy_key) == 512, "no padding");

static const char magic[8] = "RTKSYM2";

static int read_boot_id(const struct sources *src, char ret[BOOT_ID + 1])
{
	char *text = NULL;
	int rc = file_text(&text, "%s/proc/sys/kernel/random/boot_id", src->host.root);

	if (!rc && (strlen(text) != BOOT_ID || strspn(text, "0123456789abcdef-") != BOOT_ID))
		rc = -EBADMSG;
	if (!rc)
		memcpy(ret, text, BOOT_ID + 1);
	free(text);
	return rc;
}

/* Copies the first line of @text with an address into @ret; returns whether there is one. */
static bool first_line(const struct buf *text, char ret[FIRST_MAX])
{
	struct kallsyms_line line;
	size_t pos = 0, begin = 0;

	for (; kallsyms_next(text, &pos, &line); begin = pos) {
		size_t len = pos - 1 - begin;

		if (!line.addr)
			continue;
		memset(ret, 0, FIRST_MAX);
		memcpy(ret, text->data + begin, len < FIRST_MAX ? len : FIRST_MAX - 1);
		return true;
	}
	return false;
}

/* Fills what a copy must have to be of this kernel, as this process may see it. */
static int describe(const struct sources *src, const struct dso *dso, const struct buf *text,
		    struct copy_key *ret)
{
	char boot_id[BOOT_ID + 1];
	int rc = read_boot_id(src, boot_id);

	*ret = (struct copy_key){.build_id_size = dso->build_id_size};
	if (rc)
		return rc;
	if (!dso->build_id_size || dso->build_id_size > sizeof(ret->build_id))
		return -ENOENT;
	memcpy(ret->magic, magic, sizeof(magic));
	memcpy(ret->boot_id, boot_id, BOOT_ID);
	memcpy(ret->build_id, dso->build_id, dso->build_id_size);
	return first_line(text, ret->first) ? 0 : -EACCES;
}

static void name_copy(const struct copy_key *key, char ret[BOOT_ID + 16])
{
	snprintf(ret, BOOT_ID + 16, "kernel-%.*s", BOOT_ID, key->boot_id);
}

/* Finds how far the recorded kernel is from the running one; false: the copy cannot tell. */
static bool find_delta(const struct copy_end *end, const struct dso *dso, uint64_t *ret)
{
	uint64_t here = 0;

	*ret = 0;
	if (!dso->ref_name || !dso->ref_addr)
		return true;
	if (!strcmp(dso->ref_name, "_text"))
		here = end->text;
	else if (!strcmp(dso->ref_name, "_stext"))
		here = end->stext;
	*ret = dso->ref_addr - here;
	return here;
}

/* Makes the table of a mapped copy, if it is of @key; takes the mapping over. */
static int take_copy(void *copy, size_t size, const struct copy_key *key, const struct dso *dso,
		     bool must_match, struct symtab **ret)
{
	bool has_reference = dso->ref_name && dso->ref_addr;
	struct copy_end end = {0};
	uint64_t delta = 0;

	if (size > sizeof(end))
		memcpy(&end, (const char *)copy + size - sizeof(end), sizeof(end));
	if (!memcmp(key, &end.key, sizeof(*key)) && end.sum == end.text + end.stext &&
	    find_delta(&end, dso, &delta) && (!must_match || (has_reference && !delta)))
		return symtab_of_image(copy, size, size - sizeof(end), delta, ret);
	munmap(copy, size);
	return -ESTALE;
}

int kernel_cache_load(const struct sources *src, const struct dso *dso, bool must_match,
		      struct symtab **ret)
{
	char path[PATH_MAX], name[BOOT_ID + 16];
	struct buf beginning = {0};
	struct copy_key key;
	size_t size;
	void *copy;
	int rc;

	if (!src->host.cache || !source_path(path, "%s/proc/kallsyms", src->host.root))
		return -ENOENT;
	rc = kallsyms_read_beginning(path, SEARCH_MAX, &beginning)
		     ?: describe(src, dso, &beginning, &key);
	buf_release(&beginning);
	if (rc)
		return rc;
	name_copy(&key, name);
	rc = cache_map(src->host.cache, name, COPY_MAX, &copy, &size);
	return rc ? rc : take_copy(copy, size, &key, dso, must_match, ret);
}

bool kernel_cache_writable(const struct sources *src)
{
	return src->host.cache && cache_writable(src->host.cache);
}

void kernel_cache_store(const struct sources *src, const struct dso *dso, const struct symtab *t,
			const struct buf *kallsyms)
{
	struct copy_end end = {0};
	struct buf copy = {0};
	char name[BOOT_ID + 16];
	uint64_t from, to;

	if (!kernel_cache_writable(src) || describe(src, dso, kallsyms, &end.key) ||
	    !kallsyms_image(kallsyms, &from, &to))
		return;
	kallsyms_address(kallsyms, "_text", &end.text);
	kallsyms_address(kallsyms, "_stext", &end.stext);
	end.sum = end.text + end.stext;
	name_copy(&end.key, name);
	if (!symtab_to_image(t, from, to, &copy) && !buf_append(&copy, &end, sizeof(end)))
		cache_write(src->host.cache, name, &copy);
	buf_release(&copy);
}
