// SPDX-License-Identifier: Apache-2.0
/*
 * Finds files: the program itself, and the file with its symbols if they were stripped.
 *
 * It searches the places that gdb, perf and the distributions agreed on: .build-id/xx/yyyy.debug,
 * .gnu_debuglink, and below /usr/lib/debug by path. A file is used only if its build-id is the
 * recorded one; without build-ids, if the checksum in .gnu_debuglink matches.
 */
#include "symbol/resolve/sources.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <zlib.h>

#include "symbol/debuginfod/debuginfod.h"
#include "sys/io/file.h"

bool source_path(char ret[PATH_MAX], const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(ret, PATH_MAX, fmt, ap);
	va_end(ap);
	return n >= 0 && n < PATH_MAX;
}

void source_hex(const uint8_t *id, size_t size, char *ret)
{
	size_t i;

	for (i = 0; i < size; i++)
		sprintf(ret + 2 * i, "%02x", id[i]);
	ret[2 * size] = 0;
}

bool source_cache_file(const struct sources *src, const char *file, char ret[PATH_MAX])
{
	if (src->host.build_ids && *src->host.build_ids)
		return source_path(ret, "%s/%s", src->host.build_ids, file);
	return src->host.home && source_path(ret, "%s/.debug/%s", src->host.home, file);
}

bool source_cache_path(const struct sources *src, const struct dso *dso, const char *file,
		       char ret[PATH_MAX])
{
	char hex[2 * PD_BUILD_ID_MAX + 1], place[PATH_MAX];

	if (dso->build_id_size < 4)
		return false;
	source_hex(dso->build_id, dso->build_id_size, hex);
	return source_path(place, ".build-id/%.2s/%s%s%s", hex, hex + 2, *file ? "/" : "", file) &&
	       source_cache_file(src, place, ret);
}

bool source_accept(const struct sources *src, const struct dso *dso, const struct elf_image *img,
		   bool trusted, const char *path, struct error *why)
{
	if (!dso->build_id_size) {
		if (!trusted)
			error_set(why, -ESTALE,
				  "no build-id recorded, and %s: name the folder of its files with "
				  "--symfs",
				  origin_why_not(&src->opts.origin));
		return trusted;
	}
	if (elf_build_id_same(img->build_id, img->build_id_size, dso->build_id, dso->build_id_size))
		return true;
	error_set(why, -ESTALE, "%s: %s", path,
		  img->build_id_size ? "build-id differs from the recorded one"
				     : "has no build-id");
	return false;
}

bool source_has_symtab(const struct elf_image *img)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(img->elf, scn))) {
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_SYMTAB && shdr.sh_size)
			return true;
	}
	return false;
}

int source_symtab(const struct elf_image *img, const struct elf_space *space,
		  const struct symtab_wanted *wanted, const char *path, struct symtab **ret,
		  struct error *why)
{
	struct symtab_builder b = {.wanted = wanted};
	size_t count = 0;
	int rc = elf_add_symbols(img, SHT_SYMTAB, space, &b, &count);

	if (!rc && !count)
		rc = error_set(why, -ENOENT, "%s has no symbol table", path);
	if (!rc)
		return symtab_build(&b, ret);
	symtab_builder_release(&b);
	return rc;
}

static int open_accepted(const struct sources *src, const struct dso *dso, const char *path,
			 bool trusted, struct elf_image *ret, struct error *why)
{
	struct elf_image img = ELF_IMAGE_INIT;
	int rc = elf_image_open(path, &img, why);

	if (rc)
		return rc;
	if (!source_accept(src, dso, &img, trusted, path, why)) {
		elf_image_close(&img);
		return -ESTALE;
	}
	*ret = img;
	return 0;
}

/* Opens the whole program in perf's build-id cache. @symtab: only if it was not stripped. */
static int open_cached(const struct sources *src, const struct dso *dso, bool symtab,
		       struct elf_image *ret)
{
	static const char *const names[] = {"elf", ""};
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!source_cache_path(src, dso, names[i], path) ||
		    open_accepted(src, dso, path, false, ret, NULL))
			continue;
		if (!symtab || source_has_symtab(ret))
			return 0;
		elf_image_close(ret);
	}
	return -ENOENT;
}

/* Length of the recorded name without the kernel's mark for unlinked files. */
static int name_length(const char *name)
{
	static const char mark[] = " (deleted)";
	size_t len = strlen(name), n = sizeof(mark) - 1;

	return (int)(len > n && !strcmp(name + len - n, mark) ? len - n : len);
}

/* Whether @img has the device and inode of the recorded file. */
static bool same_inode(const struct dso *dso, const struct elf_image *img)
{
	struct stat st;

	return dso->ino && img->fd >= 0 && !fstat(img->fd, &st) && st.st_ino == dso->ino &&
	       major(st.st_dev) == dso->maj && minor(st.st_dev) == dso->min;
}

/*
 * Whether @img replaced the recorded file: it has another inode on the same device, or the same
 * inode, which was reused. If stat() and maps name different devices, as on btrfs, this is not
 * known; of a recording that is cut, which may be of another machine, the inode alone decides then.
 */
static bool has_replaced(const struct sources *src, const struct dso *dso,
			 const struct elf_image *img)
{
	struct stat st;

	if (!dso->ino || img->fd < 0 || fstat(img->fd, &st))
		return false;
	if (major(st.st_dev) != dso->maj || minor(st.st_dev) != dso->min)
		return src->opts.origin.kind != ORIGIN_NAMED && st.st_ino != dso->ino;
	if (st.st_ino != dso->ino)
		return true;
	return !file_has_generation(img->fd, dso->ino_generation);
}

/* Whether a path of @pid, a running process, may be another file than the same path here. */
static bool has_mounts_of_its_own(const struct sources *src, uint32_t pid)
{
	char path[PATH_MAX];
	struct stat own, its;

	return source_path(path, "%s/proc/self/ns/mnt", src->host.root) && !stat(path, &own) &&
	       source_path(path, "%s/proc/%u/ns/mnt", src->host.root, pid) && !stat(path, &its) &&
	       own.st_ino != its.st_ino;
}

/* Opens the file through processes that mapped it, mostly for containers. */
static int open_in_processes(const struct sources *src, const struct dso *dso, int len,
			     struct elf_image *ret)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < DSO_PIDS && dso->pids[i]; i++) {
		if (!has_mounts_of_its_own(src, dso->pids[i]) ||
		    !source_path(path, "%s/proc/%u/root%.*s", src->host.root, dso->pids[i], len,
				 dso->name) ||
		    elf_image_open(path, ret, NULL))
			continue;
		if (dso->build_id_size ? source_accept(src, dso, ret, false, path, NULL)
				       : same_inode(dso, ret))
			return 0;
		elf_image_close(ret);
	}
	return -ENOENT;
}

/*
 * Whether the path may be another file in a process that mapped it. Without a build-id, the path
 * alone identifies the file.
 */
static bool is_path_of_others(const struct sources *src, const struct dso *dso)
{
	for (size_t i = 0; i < DSO_PIDS && dso->pids[i]; i++)
		if (has_mounts_of_its_own(src, dso->pids[i]))
			return true;
	return false;
}

static int open_in_place(const struct sources *src, const struct dso *dso, int len,
			 struct elf_image *ret, struct error *why)
{
	bool is_cut = src->opts.origin.kind != ORIGIN_NAMED;
	/* The inode tells of a file whether it is the recorded one, whatever machine this is. */
	bool trusted = src->opts.symfs || src->same_machine || (is_cut && dso->ino);
	const char *prefix = src->opts.symfs ? src->opts.symfs : src->host.root;
	bool named = dso->build_id_size || src->opts.symfs;
	char path[PATH_MAX];
	int rc;

	if (dso->name[0] != '/')
		return error_set(why, -ENOENT, "not the path of a file");
	if (is_cut && !named && !dso->ino)
		return error_set(why, -ENOENT,
				 "the recording is cut, and has neither a build-id nor an inode "
				 "of the file");
	if (!trusted && !dso->build_id_size) {
		source_accept(src, dso, NULL, false, dso->name, why);
		return -ENOENT;
	}
	if (dso->name[len] && !dso->build_id_size)
		return error_set(why, -ENOENT, "the file was deleted, and no build-id is recorded");
	if (!source_path(path, "%s%.*s", prefix, len, dso->name))
		return -ENOENT;
	rc = open_accepted(src, dso, path, trusted, ret, why);
	if (!rc && !named && is_path_of_others(src, dso) && !same_inode(dso, ret)) {
		elf_image_close(ret);
		rc = error_set(why, -ESTALE,
			       "its processes had other mounts, and no build-id is recorded");
	}
	if (!rc && !named && has_replaced(src, dso, ret)) {
		elf_image_close(ret);
		rc = error_set(why, -ESTALE,
			       "%s: another file has this name now, and no build-id is recorded",
			       path);
	}
	if (rc && src->same_machine && !src->opts.symfs && !open_in_processes(src, dso, len, ret))
		rc = 0;
	return rc;
}

int source_open_program(const struct sources *src, const struct dso *dso, struct elf_image *ret,
			struct error *why)
{
	int rc = open_in_place(src, dso, name_length(dso->name), ret, why);

	return rc && open_cached(src, dso, false, ret) ? rc : 0;
}

static bool crc_matches(const struct elf_image *img, uint32_t want)
{
	uint32_t crc = 0;
	off_t at = 0;
	uint8_t b[65536];
	ssize_t n;

	if (img->fd < 0)
		return false;
	while ((n = pread(img->fd, b, sizeof(b), at)) > 0) {
		crc = (uint32_t)crc32(crc, b, (uInt)n);
		at += n;
	}
	return !n && crc == want;
}

/* Reads .gnu_debuglink: a file name, padded to four bytes, and a CRC. */
static bool read_debuglink(const struct elf_image *img, const char **ret_name, uint32_t *ret_crc)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elf_section(img, ".gnu_debuglink", &shdr);
	Elf_Data *data = scn ? elf_section_data(scn, &shdr) : NULL;
	const char *name;
	size_t len;

	if (!data)
		return false;
	name = data->d_buf;
	len = strnlen(name, data->d_size);
	if (!len || ((len + 4) & ~(size_t)3) + 4 > data->d_size || memchr(name, '/', len))
		return false;
	memcpy(ret_crc, name + ((len + 4) & ~(size_t)3), 4);
	if (img->ehdr.e_ident[EI_DATA] !=
	    (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB))
		*ret_crc = __builtin_bswap32(*ret_crc);
	*ret_name = name;
	return true;
}

/* @program must be open: its own build-id is compared if the recording has none. */
static int try_link(const struct sources *src, const struct dso *dso,
		    const struct elf_image *program, const char *path, uint32_t crc,
		    struct elf_image *ret)
{
	struct elf_image img = ELF_IMAGE_INIT;
	bool ok;

	if (elf_image_open(path, &img, NULL))
		return -ENOENT;
	if (dso->build_id_size)
		ok = source_accept(src, dso, &img, false, path, NULL);
	else if (program->build_id_size)
		ok = elf_build_id_same(img.build_id, img.build_id_size, program->build_id,
				       program->build_id_size);
	else
		ok = crc_matches(&img, crc);
	if (ok && source_has_symtab(&img)) {
		*ret = img;
		return 0;
	}
	elf_image_close(&img);
	return -ENOENT;
}

static int open_linked(const struct sources *src, const struct dso *dso,
		       const struct elf_image *program, struct elf_image *ret)
{
	const char *prefix = src->opts.symfs ? src->opts.symfs : src->host.root, *link = NULL;
	const char *slash = strrchr(dso->name, '/');
	int dir = slash ? (int)(slash - dso->name) : 0, len = name_length(dso->name);
	char path[PATH_MAX];
	uint32_t crc = 0;

	if (dso->name[0] != '/')
		return -ENOENT;
	if (read_debuglink(program, &link, &crc)) {
		static const char *const between[][2] = {
			{"", ""}, {"", "/.debug"}, {"/usr/lib/debug", ""}};
		size_t i;

		for (i = 0; i < sizeof(between) / sizeof(*between); i++) {
			if (source_path(path, "%s%s%.*s%s/%s", prefix, between[i][0], dir,
					dso->name, between[i][1], link) &&
			    !try_link(src, dso, program, path, crc, ret))
				return 0;
		}
	}
	/* without a link, only a build-id proves that a file belongs to the program */
	if (!dso->build_id_size && !program->build_id_size)
		return -ENOENT;
	if (source_path(path, "%s/usr/lib/debug%.*s.debug", prefix, len, dso->name) &&
	    !try_link(src, dso, program, path, 0, ret))
		return 0;
	if (source_path(path, "%s/usr/lib/debug%.*s", prefix, len, dso->name))
		return try_link(src, dso, program, path, 0, ret);
	return -ENOENT;
}

int source_open_debug(const struct sources *src, const struct dso *dso,
		      const struct elf_image *program, struct elf_image *ret)
{
	const char *prefix = src->opts.symfs ? src->opts.symfs : src->host.root;
	const uint8_t *id = dso->build_id;
	size_t size = dso->build_id_size;
	struct dso known = *dso;
	char path[PATH_MAX], hex[2 * PD_BUILD_ID_MAX + 1];

	/* if the recording has no build-id, use that of the accepted program */
	if (!size && program && program->build_id_size &&
	    program->build_id_size <= PD_BUILD_ID_MAX) {
		memcpy(known.build_id, program->build_id, program->build_id_size);
		known.build_id_size = (uint8_t)program->build_id_size;
		id = known.build_id;
		size = known.build_id_size;
	}
	if (size >= 4) {
		source_hex(id, size, hex);
		if (source_path(path, "%s/usr/lib/debug/.build-id/%.2s/%s.debug", prefix, hex,
				hex + 2) &&
		    !open_accepted(src, &known, path, false, ret, NULL))
			return 0;
		if (source_cache_path(src, &known, "debug", path) &&
		    !open_accepted(src, &known, path, false, ret, NULL))
			return 0;
		/* Or the whole program, copied before it was stripped. */
		if (!open_cached(src, &known, true, ret))
			return 0;
	}
	if (program && program->elf && !open_linked(src, dso, program, ret))
		return 0;
	if (!src->host.debuginfod || size < 4 ||
	    debuginfod_open(DEBUGINFOD_DEBUGINFO, id, size, ret))
		return -ENOENT;
	if (source_accept(src, &known, ret, false, "", NULL))
		return 0;
	elf_image_close(ret);
	return -ENOENT;
}

int source_open_downloaded(const struct sources *src, const struct dso *dso, struct elf_image *ret)
{
	int rc;

	if (!src->host.debuginfod || dso->build_id_size < 4)
		return -ENOENT;
	rc = debuginfod_open(DEBUGINFOD_EXECUTABLE, dso->build_id, dso->build_id_size, ret);
	if (rc || source_accept(src, dso, ret, false, "", NULL))
		return rc;
	elf_image_close(ret);
	return -ENOENT;
}
