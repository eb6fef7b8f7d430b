// SPDX-License-Identifier: Apache-2.0
#include "report/archive/archive.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "report/archive/tar.h"
#include "report/trace/dso_hits.h"
#include "symbol/elf/elf_image.h"
#include "symbol/resolve/resolver.h"

#define COPY_BYTES ((size_t)256 << 10)

struct archive_job {
	struct trace *trace;
	struct tar *tar;
	const char *path; /* of the archive */
	char *copy;	  /* COPY_BYTES */
	archive_missing_fn missing;
	void *arg;
	struct archive_counts counts;
};

/* The folder of a dso in the archive, and its build-id as text. */
struct archive_place {
	char id[2 * PD_BUILD_ID_MAX + 1];
	char folder[PATH_MAX];
};

static int begin_file(struct archive_job *j, const char *path, uint64_t size, struct error *err)
{
	int rc = tar_begin_file(j->tar, path, size);

	return rc ? error_sys(err, rc, "%s", j->path) : 0;
}

static int put_bytes(struct archive_job *j, const void *p, size_t len, struct error *err)
{
	int rc = tar_put(j->tar, p, len);

	return rc ? error_sys(err, rc, "%s", j->path) : 0;
}

/* A file that shrinks meanwhile keeps the size that its entry names: the rest is zeros. */
static int put_image(struct archive_job *j, const char *path, const struct elf_image *img,
		     struct error *err)
{
	int rc = begin_file(j, path, img->size, err);
	uint64_t at = 0;

	while (!rc && at < img->size) {
		uint64_t left = img->size - at;
		size_t n = MIN(left, COPY_BYTES);
		ssize_t got = elf_image_read(img, at, j->copy, n);

		if (got < (ssize_t)n)
			memset(j->copy + (got > 0 ? got : 0), 0, n - (got > 0 ? (size_t)got : 0));
		rc = put_bytes(j, j->copy, n, err);
		at += n;
	}
	return rc;
}

static int put_link(struct archive_job *j, const struct archive_place *place, struct error *err)
{
	char path[sizeof(place->id) + sizeof(".build-id//")], target[PATH_MAX + sizeof("../../")];
	int rc;

	snprintf(path, sizeof(path), ".build-id/%.2s/%s", place->id, place->id + 2);
	snprintf(target, sizeof(target), "../../%s", place->folder);
	rc = tar_add_link(j->tar, path, target);
	return rc ? error_sys(err, rc, "%s", j->path) : 0;
}

/* --- dsos ----------------------------------------------------------------------------------------
 */

/* Names come from the recording: none may lead out of the folder in which the archive is unpacked.
 */
static bool leads_out(const char *name)
{
	for (const char *part = name; part; part = strchr(part, '/')) {
		part += *part == '/';
		if (!strncmp(part, "..", 2) && (part[2] == '/' || !part[2]))
			return true;
	}
	return false;
}

static const char *folder_of(const struct dso *dso)
{
	if (dso->kind == DSO_KERNEL)
		return "[kernel.kallsyms]";
	if (dso->kind == DSO_VDSO)
		return "[vdso]";
	return dso->name + strspn(dso->name, "/");
}

/* Returns NULL with @ret filled, or why the dso has no place in the archive. */
static const char *find_place(const struct dso *dso, struct archive_place *ret)
{
	const char *folder = folder_of(dso);
	int n;

	if (!dso->build_id_size)
		return "the recording has no build-id of it";
	for (size_t i = 0; i < dso->build_id_size; i++)
		snprintf(ret->id + 2 * i, 3, "%02x", dso->build_id[i]);
	n = snprintf(ret->folder, sizeof(ret->folder), "%s/%s", folder, ret->id);
	if (!*folder || leads_out(folder) || n < 0 || (size_t)n >= sizeof(ret->folder))
		return "its name is no path that an archive can have";
	return NULL;
}

static void file_path(const struct archive_place *place, const char *file, char ret[PATH_MAX + 16])
{
	snprintf(ret, PATH_MAX + 16, "%s/%s", place->folder, file);
}

static int put_kernel(struct archive_job *j, const struct dso *dso,
		      const struct archive_place *place, struct error *why, struct error *err)
{
	char path[PATH_MAX + 16];
	struct buf text = {0};
	int rc = resolver_kallsyms(j->trace->resolver, dso, &text, why);

	if (rc)
		return rc == -ENOMEM ? error_sys(err, rc, "%s", dso->name) : 0;
	file_path(place, "kallsyms", path);
	rc = begin_file(j, path, text.len, err);
	for (size_t at = 0; !rc && at < text.len; at += COPY_BYTES)
		rc = put_bytes(j, text.data + at, MIN(text.len - at, COPY_BYTES), err);
	buf_release(&text);
	return rc;
}

static int put_debug(struct archive_job *j, const struct dso *dso,
		     const struct archive_place *place, const struct elf_image *program,
		     struct error *err)
{
	struct elf_image debug = ELF_IMAGE_INIT;
	char path[PATH_MAX + 16];
	int rc;

	if (resolver_open_debug(j->trace->resolver, dso, program, &debug))
		return 0;
	file_path(place, "debug", path);
	rc = put_image(j, path, &debug, err);
	elf_image_close(&debug);
	return rc;
}

static int put_program(struct archive_job *j, const struct dso *dso,
		       const struct archive_place *place, struct error *why, struct error *err)
{
	struct elf_image img = ELF_IMAGE_INIT;
	char path[PATH_MAX + 16];
	int rc;

	if (dso->kind == DSO_MODULE)
		rc = resolver_open_module(j->trace->resolver, dso, &img, why);
	else
		rc = resolver_open_code_why(j->trace->resolver, dso, &img, why);
	if (rc) {
		if (!*why->text)
			error_set(why, rc, "%s", strerror(-rc));
		return 0;
	}
	file_path(place, dso->kind == DSO_VDSO ? "vdso" : "elf", path);
	rc = put_image(j, path, &img, err);
	if (!rc && dso->kind == DSO_ELF)
		rc = put_debug(j, dso, place, &img, err);
	elf_image_close(&img);
	return rc;
}

/* Code that has no file: what names it, if anything, is not for an archive. */
static bool has_file(const struct dso *dso)
{
	return dso->kind == DSO_KERNEL || dso->kind == DSO_MODULE || dso->kind == DSO_ELF ||
	       dso->kind == DSO_VDSO;
}

static int put_dso(struct archive_job *j, const struct dso *dso, struct error *err)
{
	struct error why = ERROR_INIT;
	struct archive_place place;
	const char *text = find_place(dso, &place);
	int rc = 0;

	if (!text) {
		if (dso->kind == DSO_KERNEL)
			rc = put_kernel(j, dso, &place, &why, err);
		else
			rc = put_program(j, dso, &place, &why, err);
		text = *why.text ? why.text : NULL;
	}
	if (rc)
		return rc;
	if (text) {
		j->counts.missing++;
		if (j->missing)
			j->missing(dso, text, j->arg);
		return 0;
	}
	j->counts.dsos++;
	return put_link(j, &place, err);
}

static int compare(const void *a, const void *b)
{
	const struct dso *const *x = a, *const *y = b;
	int order = strcmp((*x)->name, (*y)->name);

	if (!order)
		order = (*x)->build_id_size - (*y)->build_id_size;
	return order ?: memcmp((*x)->build_id, (*y)->build_id, (*x)->build_id_size);
}

/* One file may be several dsos, as it is on several devices: neighbours here. */
static int put_all(struct archive_job *j, const bool *hit, struct error *err)
{
	const struct state *state = j->trace->state;
	size_t n = state_dso_count(state), nr = 0;
	const struct dso **dsos = calloc(n + 1, sizeof(*dsos));
	int rc = 0;

	if (!dsos)
		return error_sys(err, -ENOMEM, "%s", j->trace->opts.path);
	for (size_t i = 0; i < n; i++)
		if (hit[i] && has_file(state_dso_at(state, i)))
			dsos[nr++] = state_dso_at(state, i);
	qsort(dsos, nr, sizeof(*dsos), compare);
	for (size_t i = 0; !rc && i < nr; i++)
		if (!i || compare(&dsos[i - 1], &dsos[i]))
			rc = put_dso(j, dsos[i], err);
	free(dsos);
	return rc;
}

int archive_write(struct trace *t, FILE *out, const char *path, archive_missing_fn missing,
		  void *arg, struct archive_counts *ret, struct error *err)
{
	struct archive_job j = {.trace = t, .path = path, .missing = missing, .arg = arg};
	bool *hit = NULL;
	int rc = dso_hits(t, true, &hit, err);

	if (rc)
		return rc;
	j.copy = malloc(COPY_BYTES);
	if (!j.copy || tar_new(out, &j.tar))
		rc = error_sys(err, -ENOMEM, "%s", t->opts.path);
	if (!rc)
		rc = put_all(&j, hit, err);
	if (!rc && !j.counts.dsos)
		rc = error_set(err, -ENOENT,
			       "%s: this machine has none of the files in which samples fell: "
			       "nothing was written",
			       t->opts.path);
	if (!rc && (rc = tar_end(j.tar)))
		error_sys(err, rc, "%s", path);
	*ret = j.counts;
	tar_free(j.tar);
	free(j.copy);
	free(hit);
	return rc;
}
