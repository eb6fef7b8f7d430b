// SPDX-License-Identifier: Apache-2.0
/*
 * Symbols of kernel modules. Addresses count from the start of the module's text in memory, which
 * is the start of its map. So neither KASLR nor the load address matters.
 */
#include "symbol/resolve/sources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/resolve/kallsyms.h"

#define NAME_MAX_MODULE 128

/* "/lib/modules/…/snd-pcm.ko.xz" and "[snd_pcm]" are both "snd_pcm". */
static bool module_name(const char *dso_name, char ret[NAME_MAX_MODULE])
{
	const char *base = strrchr(dso_name, '/');
	size_t i, len;

	base = base ? base + 1 : dso_name;
	base += *base == '[';
	len = strcspn(base, "]");
	if (strstr(base, ".ko") && (size_t)(strstr(base, ".ko") - base) < len)
		len = (size_t)(strstr(base, ".ko") - base);
	if (!len || len >= NAME_MAX_MODULE)
		return false;
	for (i = 0; i < len; i++)
		ret[i] = base[i] == '-' ? '_' : base[i];
	ret[len] = 0;
	return true;
}

/* Whether the module loaded on this machine is the recorded one. */
static bool is_loaded(const struct sources *src, const struct dso *dso, const char *name)
{
	uint8_t id[ELF_BUILD_ID_MAX];
	struct buf notes = {0};
	char path[PATH_MAX];
	size_t size;

	if (!dso->build_id_size)
		return src->same_machine;
	if (!source_path(path, "%s/sys/module/%s/notes/.note.gnu.build-id", src->host.root, name) ||
	    kallsyms_read_notes(path, &notes))
		return false;
	size = elf_note_build_id(notes.data, notes.len, id);
	buf_release(&notes);
	return elf_build_id_same(id, size, dso->build_id, dso->build_id_size);
}

static int load_kallsyms(const struct sources *src, const struct dso *dso, const char *path,
			 const char *name, struct symtab **ret, struct error *why)
{
	struct buf lines;
	int rc = module_list_symbols(src->modules, path, name, &lines, why);

	return rc ? rc : kallsyms_table(&lines, name, 0, source_wanted(src, dso), ret);
}

static int open_ko(const struct sources *src, const struct dso *dso, const char *path, bool trusted,
		   struct elf_image *ret, struct error *why)
{
	struct buf mem = {0};
	int rc = source_read(path, &mem, why);

	if (!rc)
		rc = elf_image_memory(&mem, ret, why);
	if (rc)
		return rc;
	if (source_accept(src, dso, ret, trusted, path, why) && ret->ehdr.e_type == ET_REL)
		return 0;
	elf_image_close(ret);
	return -ENOENT;
}

/* Finds the file in the list that depmod made for the release. */
static bool find_ko(const struct sources *src, const char *name, char ret[PATH_MAX])
{
	const char *release = src->opts.osrelease;
	char list[PATH_MAX], file[PATH_MAX];

	return release && !strchr(release, '/') &&
	       source_path(list, "%s/lib/modules/%s/modules.dep", src->host.root, release) &&
	       module_list_file(src->modules, list, name, file) &&
	       source_path(ret, "%s/lib/modules/%s/%s", src->host.root, release, file);
}

int module_open(const struct sources *src, const struct dso *dso, struct elf_image *ret,
		struct error *why)
{
	const char *prefix = src->opts.symfs ? src->opts.symfs : src->host.root;
	bool trusted = src->same_machine || src->opts.symfs;
	char name[NAME_MAX_MODULE], path[PATH_MAX];
	struct error err = ERROR_INIT;
	int rc = -ENOENT;

	if (!module_name(dso->name, name))
		return error_set(why, -EINVAL, "not the name of a module");
	/*
	 * A debug file will do: it has .symtab, too, and sections with their sizes, if not their
	 * contents.
	 */
	if (dso->name[0] == '/' && source_path(path, "%s%s", prefix, dso->name)) {
		rc = open_ko(src, dso, path, trusted, ret, &err);
		if (rc != -ENOENT || *err.text)
			*why = err;
		if (!rc)
			return 0;
	}
	if (source_cache_path(src, dso, "elf", path) && !open_ko(src, dso, path, false, ret, NULL))
		return 0;
	if (find_ko(src, name, path) && !open_ko(src, dso, path, trusted, ret, NULL))
		return 0;
	return rc;
}

static int load_ko(const struct sources *src, const struct dso *dso, struct symtab **ret,
		   struct error *why)
{
	struct elf_image img = ELF_IMAGE_INIT;
	struct elf_space space = {0};
	int rc = module_open(src, dso, &img, why);

	if (rc)
		return rc;
	rc = elf_space_module(&img, &space);
	if (!rc)
		rc = source_symtab(&img, &space, source_wanted(src, dso), dso->name, ret, why);
	elf_space_release(&space);
	elf_image_close(&img);
	return rc;
}

int module_load(const struct sources *src, const struct dso *dso, struct symtab **ret,
		struct error *why)
{
	char name[NAME_MAX_MODULE], path[PATH_MAX];

	if (!module_name(dso->name, name))
		return error_set(why, -EINVAL, "not the name of a module");
	if (src->opts.kallsyms)
		return load_kallsyms(src, dso, src->opts.kallsyms, name, ret, why);
	if (is_loaded(src, dso, name)) {
		if (source_path(path, "%s/proc/kallsyms", src->host.root) &&
		    !load_kallsyms(src, dso, path, name, ret, why))
			return 0;
	} else {
		error_set(why, -ENOENT, "%s%s",
			  dso->build_id_size
				  ? "build-id differs: the loaded module is not the recorded one"
				  : "no build-id recorded, and ",
			  dso->build_id_size ? "" : origin_why_not(&src->opts.origin));
	}
	if (!load_ko(src, dso, ret, why))
		return 0;
	return why->code ? why->code : -ENOENT;
}
