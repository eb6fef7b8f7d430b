// SPDX-License-Identifier: Apache-2.0
#include "record/initial/buildid.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <uthash.h>

#include "base/buf.h"
#include "sys/io/file.h"

#ifndef BCACHEFS_SUPER_MAGIC
#define BCACHEFS_SUPER_MAGIC 0xca451a4e
#endif

/* Real note segments have some hundred bytes; a hostile file may claim more. */
#define NOTES_MAX (64 * 1024)

static size_t align_up(size_t n, size_t align)
{
	return (n + align - 1) & ~(align - 1);
}

void build_id_of_notes(const uint8_t *notes, size_t len, size_t align, struct build_id *ret)
{
	size_t at = 0;

	*ret = (struct build_id){0};
	while (at <= len && len - at >= sizeof(Elf32_Nhdr)) {
		size_t name = at + sizeof(Elf32_Nhdr), desc;
		Elf32_Nhdr note; /* the same in 64-bit files */

		memcpy(&note, notes + at, sizeof(note));
		if (note.n_namesz > len - name)
			return;
		desc = align_up(name + note.n_namesz, align);
		if (desc > len || note.n_descsz > len - desc)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
		    !memcmp(notes + name, "GNU", sizeof("GNU")) && note.n_descsz &&
		    note.n_descsz <= PD_BUILD_ID_MAX) {
			ret->size = (uint8_t)note.n_descsz;
			memcpy(ret->id, notes + desc, note.n_descsz);
			return;
		}
		at = align_up(desc + note.n_descsz, align);
	}
}

static bool build_id_of_range(Elf *elf, uint64_t offset, uint64_t size, uint64_t align,
			      struct build_id *ret)
{
	Elf_Data *data;

	if (!size || size > NOTES_MAX || offset > INT64_MAX)
		return false;
	data = elf_getdata_rawchunk(elf, (int64_t)offset, size,
				    align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	if (data && data->d_buf)
		build_id_of_notes(data->d_buf, data->d_size, align == 8 ? 8 : 4, ret);
	return ret->size > 0;
}

static bool build_id_of_segments(Elf *elf, struct build_id *ret)
{
	size_t n;

	if (elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph))
			return false;
		if (ph.p_type == PT_NOTE &&
		    build_id_of_range(elf, ph.p_offset, ph.p_filesz, ph.p_align, ret))
			return true;
	}
	return false;
}

/* For relocatable objects, such as kernel modules, which have no segments. */
static void build_id_of_sections(Elf *elf, struct build_id *ret)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn))) {
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_NOTE &&
		    build_id_of_range(elf, sh.sh_offset, sh.sh_size, sh.sh_addralign, ret))
			return;
	}
}

void build_id_of_fd(int fd, struct build_id *ret)
{
	Elf *elf;

	*ret = (struct build_id){0};
	elf_version(EV_CURRENT);
	/* ELF_C_READ does not map the file: truncating a mapped file would cause SIGBUS. */
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return;
	if (elf_kind(elf) == ELF_K_ELF && !build_id_of_segments(elf, ret))
		build_id_of_sections(elf, ret);
	elf_end(elf);
}

/*
 * On some file systems stat() returns other device numbers than maps have: one for each subvolume,
 * or for each layer.
 */
static bool shows_other_devices(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) &&
	       (fs.f_type == BTRFS_SUPER_MAGIC || fs.f_type == OVERLAYFS_SUPER_MAGIC ||
		fs.f_type == BCACHEFS_SUPER_MAGIC);
}

static bool is_file(int fd, const struct stat *st, const struct build_id_key *file)
{
	if (!file || !file->ino)
		return true;
	if (st->st_ino != file->ino)
		return false;
	if (major(st->st_dev) == file->maj && minor(st->st_dev) == file->min)
		return file_has_generation(fd, file->generation);
	return shows_other_devices(fd);
}

/* @file NULL: any file. Returns a descriptor or a negative errno. */
static int open_path(int dirfd, const char *path, const struct build_id_key *file)
{
	struct stat st;
	int fd, rc = 0;

	/* Opening a device can have side effects, so check first. */
	if (fstatat(dirfd, path, &st, 0))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		rc = -errno;
	else if (!S_ISREG(st.st_mode))
		rc = -EINVAL;
	else if (!is_file(fd, &st, file))
		rc = -ESTALE;
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

static int read_path(int dirfd, const char *path, const struct build_id_key *file,
		     struct build_id *ret)
{
	int fd = open_path(dirfd, path, file);

	if (fd < 0)
		return fd;
	build_id_of_fd(fd, ret);
	close(fd);
	return 0;
}

int build_id_open(const char *path, const struct build_id_key *file)
{
	return open_path(AT_FDCWD, path, file);
}

int build_id_of_path(int dirfd, const char *path, struct build_id *ret)
{
	return read_path(dirfd, path, NULL, ret);
}

int build_id_of_file(const char *path, const struct build_id_key *file, struct build_id *ret)
{
	return read_path(AT_FDCWD, path, file, ret);
}

static void build_id_of_note_file(const char *path, struct build_id *ret)
{
	struct buf b = {0};

	*ret = (struct build_id){0};
	if (!file_read_at(AT_FDCWD, path, &b))
		build_id_of_notes(b.data, b.len, 4, ret);
	buf_release(&b);
}

void build_id_of_kernel(struct build_id *ret)
{
	build_id_of_note_file("/sys/kernel/notes", ret);
}

void build_id_of_module(const char *name, struct build_id *ret)
{
	char path[256];

	*ret = (struct build_id){0};
	if ((size_t)snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", name) <
	    sizeof(path))
		build_id_of_note_file(path, ret);
}

/* "/lib/modules/…/snd-pcm.ko.xz" or "[snd_pcm]": the name in /sys/module is snd_pcm. */
void build_id_of_kernel_map(const char *name, struct build_id *ret)
{
	static const char kernel[] = "[kernel.kallsyms]";
	const char *base = strrchr(name, '/');
	char module[NAME_MAX + 1];
	size_t len;

	if (!strncmp(name, kernel, sizeof(kernel) - 1)) {
		build_id_of_kernel(ret);
		return;
	}
	base = base ? base + 1 : name + (*name == '[');
	len = strcspn(base, ".]");
	ret->size = 0;
	if (len >= sizeof(module))
		return;
	for (size_t i = 0; i < len; i++)
		module[i] = base[i] == '-' ? '_' : base[i];
	module[len] = '\0';
	build_id_of_module(module, ret);
}

struct cache_entry {
	struct build_id_key key;
	struct build_id id;
	UT_hash_handle hh;
};

struct build_id_cache {
	struct cache_entry *entries;
};

struct build_id_cache *build_id_cache_new(void)
{
	return calloc(1, sizeof(struct build_id_cache));
}

void build_id_cache_free(struct build_id_cache *cache)
{
	struct cache_entry *e, *tmp;

	if (!cache)
		return;
	HASH_ITER (hh, cache->entries, e, tmp) {
		HASH_DEL(cache->entries, e);
		free(e);
	}
	free(cache);
}

const struct build_id *build_id_cache_find(const struct build_id_cache *cache,
					   const struct build_id_key *key)
{
	struct cache_entry *e;

	HASH_FIND(hh, cache->entries, key, sizeof(*key), e);
	return e ? &e->id : NULL;
}

int build_id_cache_add(struct build_id_cache *cache, const struct build_id_key *key,
		       const struct build_id *id)
{
	struct cache_entry *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->key = *key;
	e->id = *id;
	HASH_ADD(hh, cache->entries, key, sizeof(e->key), e);
	if (!e->hh.tbl) { /* uthash ran out of memory */
		free(e);
		return -ENOMEM;
	}
	return 0;
}
