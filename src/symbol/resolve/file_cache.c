// SPDX-License-Identifier: Apache-2.0
#include "symbol/resolve/file_cache.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "sys/io/cache.h"

#define COPY_MAX     ((size_t)64 << 20)
#define NAME_MAX_LEN (sizeof("symbols-") + 2 * ELF_BUILD_ID_MAX)

/* Files of a program that is being built are not worth a copy. */
#define SETTLED_MAX ((uint64_t)64 << 20)
#define SETTLED_S   3600

/* Written behind the image of the table, in this machine's byte order. */
struct file_copy_end {
	struct file_cache_key key;
	uint64_t few; /* 0 or 1 */
};

static_assert(sizeof(struct file_cache_key) == 96 + ELF_BUILD_ID_MAX, "no padding");

static const char magic[8] = "RTFSYM2";

static bool identify(const struct elf_image *img, struct file_cache_file *ret)
{
	struct stat st;

	if (img->fd < 0 || fstat(img->fd, &st))
		return false;
	*ret = (struct file_cache_file){st.st_dev, st.st_ino, (uint64_t)st.st_size,
					st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
	return true;
}

bool file_cache_key(const struct sources *src, const struct elf_image *program,
		    const struct elf_image *debug, struct file_cache_key *ret)
{
	*ret = (struct file_cache_key){.build_id_size = program->build_id_size};
	if (!src->host.cache || !program->build_id_size || !identify(program, &ret->program) ||
	    (debug->elf && !identify(debug, &ret->debug)))
		return false;
	memcpy(ret->magic, magic, sizeof(magic));
	memcpy(ret->build_id, program->build_id, program->build_id_size);
	return true;
}

static void name_copy(const struct file_cache_key *key, char ret[NAME_MAX_LEN])
{
	size_t n = (size_t)snprintf(ret, NAME_MAX_LEN, "symbols-");

	source_hex(key->build_id, key->build_id_size, ret + n);
}

int file_cache_load(const struct sources *src, const struct file_cache_key *key,
		    struct symtab **ret, bool *ret_few)
{
	struct file_copy_end end = {0};
	char name[NAME_MAX_LEN];
	size_t size;
	void *copy;
	int rc;

	name_copy(key, name);
	rc = cache_map(src->host.cache, name, COPY_MAX, &copy, &size);
	if (rc)
		return rc;
	if (size > sizeof(end))
		memcpy(&end, (const char *)copy + size - sizeof(end), sizeof(end));
	if (memcmp(&end.key, key, sizeof(*key)) || end.few > 1) {
		munmap(copy, size);
		return -ESTALE;
	}
	*ret_few = end.few;
	return symtab_of_image(copy, size, size - sizeof(end), 0, ret);
}

static bool is_settled(const struct file_cache_file *f)
{
	return f->size <= SETTLED_MAX && f->seconds < time(NULL) - SETTLED_S;
}

bool file_cache_worthwhile(const struct sources *src, const struct file_cache_key *key)
{
	return is_settled(&key->program) && is_settled(&key->debug) &&
	       cache_writable(src->host.cache);
}

void file_cache_store(const struct sources *src, const struct file_cache_key *key,
		      const struct symtab *t, bool few)
{
	struct file_copy_end end = {.key = *key, .few = few};
	struct buf copy = {0};
	char name[NAME_MAX_LEN];

	if (!cache_writable(src->host.cache))
		return;
	name_copy(key, name);
	if (!symtab_to_whole_image(t, &copy) && copy.len <= COPY_MAX - sizeof(end) &&
	    !buf_append(&copy, &end, sizeof(end)))
		cache_write(src->host.cache, name, &copy);
	buf_release(&copy);
}
