// SPDX-License-Identifier: Apache-2.0
#include "record/initial/kcore.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/elf/elf_image.h"
#include "symbol/resolve/kallsyms.h"
#include "sys/io/file.h"

/* kallsyms has no sizes; a function ends within so many bytes. */
#define FUNCTION_MAX ((uint64_t)1 << 20)
#define PAGE	     ((uint64_t)4096)
#define SPANS_MAX    200u		 /* readers look at no more segments than 256 */
#define BRIDGED_MAX  ((uint64_t)4 << 30) /* bytes; modules are within 2 GB of the kernel */
#define BLOCK	     ((size_t)1 << 16)

/* --- where code is -------------------------------------------------------------------------------
 */

struct kcore_part {
	uint64_t start, end;
	uint64_t from, to; /* offsets in the kernel's file and in the copy */
};

struct kcore_parts {
	struct kcore_part *at;
	size_t nr, capacity;
};

static int add_span(struct kcore_parts *s, const struct kcore_part *span)
{
	if (array_grow(&s->at, &s->capacity, s->nr + 1, sizeof(*s->at)))
		return -ENOMEM;
	s->at[s->nr++] = *span;
	return 0;
}

/* Adds the pages from @start to @end, which may overflow. Pages near the last span extend it. */
static int add_code(struct kcore_parts *s, uint64_t start, uint64_t end)
{
	const struct kcore_part span = {
		.start = start & -PAGE,
		.end = end < start || end > -PAGE ? -PAGE : (end + PAGE - 1) & -PAGE,
	};
	struct kcore_part *last = s->nr ? &s->at[s->nr - 1] : NULL;

	if (!last || span.start < last->start || span.start > last->end)
		return add_span(s, &span);
	if (last->end < span.end)
		last->end = span.end;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct kcore_part *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Makes one of spans that touch, which @s has in order. */
static void merge_touching(struct kcore_parts *s)
{
	size_t nr = 0;

	for (size_t i = 1; i < s->nr; i++) {
		struct kcore_part *last = &s->at[nr];

		if (s->at[i].start > last->end)
			s->at[++nr] = s->at[i];
		else if (last->end < s->at[i].end)
			last->end = s->at[i].end;
	}
	s->nr = s->nr ? nr + 1 : 0;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * Bridges the @nr smallest gaps between the spans. Returns 0; -ENOMEM; or -E2BIG if more than
 * BRIDGED_MAX bytes would have to be read for it: the spans are then as they were.
 */
static int bridge_gaps(struct kcore_parts *s, size_t nr)
{
	uint64_t *gaps = calloc(s->nr, sizeof(*gaps)), bridged = 0, widest;
	size_t equal = 0, kept = 0;

	if (!gaps)
		return -ENOMEM;
	for (size_t i = 1; i < s->nr; i++)
		gaps[i - 1] = s->at[i].start - s->at[i - 1].end;
	qsort(gaps, s->nr - 1, sizeof(*gaps), by_size);
	widest = gaps[nr - 1];
	for (size_t i = 0; i < nr; i++) {
		bridged += gaps[i] < BRIDGED_MAX ? gaps[i] : BRIDGED_MAX;
		equal += gaps[i] == widest;
	}
	free(gaps);
	if (bridged > BRIDGED_MAX)
		return -E2BIG;
	for (size_t i = 1; i < s->nr; i++) {
		struct kcore_part *last = &s->at[kept];
		uint64_t gap = s->at[i].start - last->end;

		if (gap < widest || (gap == widest && equal && equal--))
			last->end = s->at[i].end;
		else
			s->at[++kept] = s->at[i];
	}
	s->nr = kept + 1;
	return 0;
}

/* Finds code by the text of kallsyms, which was read from @path. */
static int find_code(const struct buf *text, const char *path, struct kcore_parts *ret,
		     struct error *err)
{
	struct kallsyms_line line;
	uint64_t start, end;
	size_t pos = 0;
	int rc;

	if (kallsyms_hidden(text))
		return kallsyms_say_hidden(path, err);
	if (!kallsyms_address(text, "_stext", &start) || !kallsyms_address(text, "_etext", &end))
		return error_set(err, -ENOENT, "%s has no _stext and _etext", path);
	rc = add_code(ret, start, end);
	while (!rc && kallsyms_next(text, &pos, &line))
		if (line.module && kallsyms_is_code(&line))
			rc = add_code(ret, line.addr, line.addr + FUNCTION_MAX);
	if (rc)
		return error_set(err, rc, "out of memory");
	qsort(ret->at, ret->nr, sizeof(*ret->at), by_start);
	merge_touching(ret);
	if (ret->nr > SPANS_MAX)
		rc = bridge_gaps(ret, ret->nr - SPANS_MAX);
	if (rc == -E2BIG)
		return error_set(err, rc,
				 "--kcore: the kernel's code is in %zu pieces too far apart for a "
				 "copy of %u",
				 ret->nr, SPANS_MAX);
	return rc ? error_set(err, rc, "out of memory") : 0;
}

/* --- the copy ------------------------------------------------------------------------------------
 */

/* Makes @ret of the parts of @code that @img has. */
static int place_code(const struct elf_image *img, const struct kcore_parts *code,
		      struct kcore_parts *ret)
{
	GElf_Phdr ph;
	size_t n;
	int rc = 0;

	if (elf_getphdrnum(img->elf, &n))
		n = 0;
	for (size_t i = 0; !rc && i < n && gelf_getphdr(img->elf, (int)i, &ph); i++) {
		uint64_t end = ph.p_vaddr + ph.p_memsz;

		for (size_t j = 0; !rc && ph.p_type == PT_LOAD && j < code->nr; j++) {
			struct kcore_part part = code->at[j];

			if (part.start < ph.p_vaddr)
				part.start = ph.p_vaddr;
			/* The last segment may end where addresses do. */
			if (end && part.end > end)
				part.end = end;
			part.from = ph.p_offset + (part.start - ph.p_vaddr);
			if (part.start < part.end)
				rc = add_span(ret, &part);
		}
	}
	return rc;
}

/* Writes the headers of a core file that has @parts, and sets where their bytes go. */
static bool write_headers(int fd, const struct elf_image *img, struct kcore_parts *parts)
{
	Elf *elf = elf_begin(fd, ELF_C_WRITE, NULL);
	uint64_t at = (sizeof(Elf64_Ehdr) + parts->nr * sizeof(Elf64_Phdr) + PAGE - 1) & -PAGE;
	GElf_Ehdr ehdr;
	bool done = elf && gelf_newehdr(elf, gelf_getclass(img->elf)) && gelf_getehdr(elf, &ehdr);

	if (done) {
		ehdr.e_ident[EI_DATA] = img->ehdr.e_ident[EI_DATA];
		ehdr.e_type = ET_CORE;
		ehdr.e_machine = img->ehdr.e_machine;
		ehdr.e_flags = img->ehdr.e_flags;
		ehdr.e_version = EV_CURRENT;
		done = gelf_update_ehdr(elf, &ehdr) && gelf_newphdr(elf, parts->nr);
	}
	for (size_t i = 0; done && i < parts->nr; i++) {
		struct kcore_part *part = &parts->at[i];
		GElf_Phdr ph = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = at,
			.p_vaddr = part->start,
			.p_filesz = part->end - part->start,
			.p_memsz = part->end - part->start,
			.p_align = PAGE,
		};

		part->to = at;
		at += ph.p_filesz;
		done = gelf_update_phdr(elf, (int)i, &ph);
	}
	done = done && elf_update(elf, ELF_C_WRITE) >= 0;
	elf_end(elf);
	return done;
}

static bool is_zero(const uint8_t *p, size_t len)
{
	return !p[0] && !memcmp(p, p + 1, len - 1);
}

static int write_whole(int fd, const uint8_t *p, size_t len, uint64_t at)
{
	while (len) {
		ssize_t n = pwrite(fd, p, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		len -= (size_t)n;
		at += (uint64_t)n;
	}
	return 0;
}

/* Copies the bytes of @part. Where nothing is mapped, the kernel gives zeros: these stay holes. */
static int copy_part(const struct elf_image *img, int fd, const struct kcore_part *part)
{
	uint8_t block[BLOCK];
	int rc = 0;

	for (uint64_t done = 0, size = part->end - part->start; !rc && done < size;) {
		size_t want = size - done < BLOCK ? (size_t)(size - done) : BLOCK;
		ssize_t n = elf_image_read(img, part->from + done, block, want);

		if (n <= 0)
			return n ? (int)n : -ENODATA;
		if (!is_zero(block, (size_t)n))
			rc = write_whole(fd, block, (size_t)n, part->to + done);
		done += (uint64_t)n;
	}
	return rc;
}

static int make_file(int dir, const char *name, struct error *err)
{
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? error_sys(err, -errno, "kcore_dir/%s: cannot create it", name) : fd;
}

static int write_text(int dir, const char *name, const struct buf *text, struct error *err)
{
	int rc, fd = make_file(dir, name, err);

	if (fd < 0)
		return fd;
	rc = write_whole(fd, text->data, text->len, 0);
	close(fd);
	return rc ? error_sys(err, rc, "kcore_dir/%s: cannot write it", name) : 0;
}

static int write_kcore(int dir, const struct elf_image *img, struct kcore_parts *parts,
		       struct error *err)
{
	const struct kcore_part *last = &parts->at[parts->nr - 1];
	int rc = 0, fd = make_file(dir, "kcore", err);

	if (fd < 0)
		return fd;
	if (!write_headers(fd, img, parts))
		rc = error_set(err, -EIO, "kcore_dir/kcore: cannot write it: %s", elf_errmsg(-1));
	else if (ftruncate(fd, (off_t)(last->to + (last->end - last->start))))
		rc = error_sys(err, -errno, "kcore_dir/kcore: cannot write it");
	for (size_t i = 0; !rc && i < parts->nr; i++) {
		rc = copy_part(img, fd, &parts->at[i]);
		if (rc)
			error_sys(err, rc,
				  "kcore_dir/kcore: cannot copy the kernel's code at 0x%llx",
				  (unsigned long long)parts->at[i].start);
	}
	close(fd);
	return rc;
}

static int copy_kcore(const char *proc, int dir, const struct kcore_parts *code, struct error *err)
{
	struct elf_image img = ELF_IMAGE_INIT;
	struct kcore_parts parts = {0};
	char path[PATH_MAX];
	int rc;

	snprintf(path, sizeof(path), "%s/kcore", proc);
	rc = elf_image_open(path, &img, err);
	if (rc)
		return error_prefix(err, "--kcore: cannot read the kernel's code (as root, where "
					 "the kernel has it): ");
	rc = place_code(&img, code, &parts);
	if (rc)
		error_set(err, rc, "out of memory");
	else if (!parts.nr)
		rc = error_set(err, -ENOENT, "%s has no code of the kernel", path);
	else
		rc = write_kcore(dir, &img, &parts, err);
	elf_image_close(&img);
	free(parts.at);
	return rc;
}

/* A kernel without modules has no list of them; the copy is empty then, because perf needs it. */
static int copy_modules(const char *proc, int dir, struct error *err)
{
	struct buf text = {0};
	char path[PATH_MAX];
	int rc;

	snprintf(path, sizeof(path), "%s/modules", proc);
	rc = file_read_at(AT_FDCWD, path, &text);
	if (rc && rc != -ENOENT)
		error_sys(err, rc, "%s", path);
	else
		rc = write_text(dir, "modules", &text, err);
	buf_release(&text);
	return rc;
}

static int make_kcore_dir(const char *dir, struct error *err)
{
	char path[PATH_MAX];
	int fd = -1;

	if ((size_t)snprintf(path, sizeof(path), "%s/kcore_dir", dir) >= sizeof(path))
		return error_sys(err, -ENAMETOOLONG, "%s", dir);
	if (!mkdir(path, 0700))
		fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? error_sys(err, -errno, "%s: cannot create it", path) : fd;
}

int kcore_copy(const char *proc, const char *dir, struct error *err)
{
	struct kcore_parts code = {0};
	struct buf text = {0};
	char path[PATH_MAX];
	int rc, at;

	elf_version(EV_CURRENT);
	snprintf(path, sizeof(path), "%s/kallsyms", proc);
	rc = kallsyms_read(path, &text, err);
	if (!rc)
		rc = find_code(&text, path, &code, err);
	at = rc ? rc : make_kcore_dir(dir, err);
	if (at >= 0) {
		rc = write_text(at, "kallsyms", &text, err);
		if (!rc)
			rc = copy_modules(proc, at, err);
		if (!rc)
			rc = copy_kcore(proc, at, &code, err);
		close(at);
	}
	buf_release(&text);
	free(code.at);
	return at < 0 ? at : rc;
}
