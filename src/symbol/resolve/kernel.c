// SPDX-License-Identifier: Apache-2.0
/*
 * Symbols of the recorded kernel.
 *
 * Sources in order: --kallsyms, --vmlinux, this machine's /proc/kallsyms, perf's build-id cache,
 * vmlinux by build-id. This machine's list is used only if it belongs to the recorded kernel: the
 * build-ids are equal. If the recording has none, it must be of this machine and release, and the
 * reference symbol have its address (a reboot moves the kernel, and an update changes it). All
 * symbols are moved by the distance of the reference symbol from its recorded address. A copy of
 * the list in the user's cache saves most reports from reading it (kernel_cache.h).
 */
#include "symbol/resolve/sources.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "symbol/resolve/kallsyms.h"
#include "symbol/resolve/kernel_cache.h"

/* Reads the build-id of the running kernel. Returns its size; 0: there is none. */
static size_t running_build_id(const struct sources *src, uint8_t ret[ELF_BUILD_ID_MAX])
{
	struct buf notes = {0};
	char path[PATH_MAX];
	size_t size;

	if (!source_path(path, "%s/sys/kernel/notes", src->host.root) ||
	    kallsyms_read_notes(path, &notes))
		return 0;
	size = elf_note_build_id(notes.data, notes.len, ret);
	buf_release(&notes);
	return size;
}

bool kernel_is_running(const struct sources *src, const struct dso *dso)
{
	uint8_t id[ELF_BUILD_ID_MAX];

	return dso->build_id_size &&
	       elf_build_id_same(id, running_build_id(src, id), dso->build_id, dso->build_id_size);
}

/* Returns @dso with the running kernel's build-id, where the recording names none. */
static struct dso as_running(const struct sources *src, const struct dso *dso)
{
	uint8_t id[ELF_BUILD_ID_MAX];
	struct dso ret = *dso;

	if (!dso->build_id_size) {
		ret.build_id_size = (uint8_t)running_build_id(src, id);
		memcpy(ret.build_id, id, ret.build_id_size);
	}
	return ret;
}

/* Distance of the recorded kernel from @here, the reference symbol's address now; 0 without one. */
static uint64_t kaslr_delta(const struct dso *dso, bool found, uint64_t here)
{
	return dso->ref_name && dso->ref_addr && found ? dso->ref_addr - here : 0;
}

/*
 * Makes the table of @kallsyms, read from @path, and releases the buffer. If @keep, the table is
 * of the running kernel, and a copy is kept: that is always of all symbols.
 */
static int make_table(const struct sources *src, const struct dso *dso, const char *path,
		      struct buf *kallsyms, bool must_match, bool keep, struct symtab **ret,
		      struct error *why)
{
	bool store = keep && kernel_cache_writable(src);
	const struct symtab_wanted *wanted = store ? NULL : source_wanted(src, dso);
	struct buf text = *kallsyms;
	uint64_t here = 0;
	bool found = dso->ref_name && kallsyms_address(&text, dso->ref_name, &here);
	int rc = 0;

	if (kallsyms_hidden(&text))
		rc = kallsyms_say_hidden(path, why);
	else if (must_match && (!found || here != dso->ref_addr))
		rc = error_set(why, -ESTALE,
			       "the recording has no kernel build-id, and its kernel is not at the "
			       "address of the running one");
	if (!rc) {
		rc = kallsyms_table(&text, NULL, kaslr_delta(dso, found, here), wanted, ret);
		if (rc)
			error_set(why, rc, "%s has no symbols", path);
		else if (store && !kaslr_delta(dso, found, here))
			kernel_cache_store(src, dso, *ret, &text);
	}
	buf_release(&text);
	return rc;
}

/* Loads the kernel's lines of the list that also has the modules. */
static int load_listed(const struct sources *src, const struct dso *dso, const char *path,
		       bool must_match, bool cached, struct symtab **ret, struct error *why)
{
	struct buf text = {0};
	int rc = module_list_text(src->modules, path, &text, why);

	return rc ? rc : make_table(src, dso, path, &text, must_match, cached, ret, why);
}

static int load_kallsyms(const struct sources *src, const struct dso *dso, const char *path,
			 struct symtab **ret)
{
	struct buf text = {0};
	int rc = kallsyms_read(path, &text, NULL);

	return rc ? rc : make_table(src, dso, path, &text, false, false, ret, NULL);
}

/* @whole: the symbols of modules and BPF programs, too, which a copy has not. */
static int load_running(const struct sources *src, const struct dso *dso, bool whole,
			struct symtab **ret, struct error *why)
{
	bool same = kernel_is_running(src, dso);
	const struct dso running = as_running(src, dso);
	char path[PATH_MAX];

	if (!same && dso->build_id_size)
		return error_set(why, -ENOENT,
				 "build-id differs: the running kernel is not the recorded one");
	if (!same && !src->same_machine)
		return error_set(why, -ENOENT,
				 "no kernel build-id recorded, and %s: name its symbols with "
				 "--kallsyms or --vmlinux",
				 origin_why_not(&src->opts.origin));
	if (!source_path(path, "%s/proc/kallsyms", src->host.root))
		return -ENAMETOOLONG;
	if (!whole && !kernel_cache_load(src, &running, !same, ret))
		return 0;
	return load_listed(src, &running, path, !same, !whole, ret, why);
}

/* Opens @path if it is of @dso. *@ret_delta is added to linked addresses. */
static int open_vmlinux(const struct sources *src, const struct dso *dso, const char *path,
			bool trusted, struct elf_image *ret, uint64_t *ret_delta, struct error *why)
{
	uint64_t here = 0;
	bool found;
	int rc = elf_image_open(path, ret, why);

	if (rc)
		return rc;
	if (!source_accept(src, dso, ret, trusted, path, why)) {
		elf_image_close(ret);
		return -ENOENT;
	}
	found = dso->ref_name && elf_symbol_value(ret, dso->ref_name, &here);
	*ret_delta = kaslr_delta(dso, found, here);
	return 0;
}

static int load_vmlinux(const struct sources *src, const struct dso *dso, const char *path,
			bool trusted, struct symtab **ret, struct error *why)
{
	struct elf_image img = ELF_IMAGE_INIT;
	struct elf_space space = {0};
	uint64_t delta;
	int rc = open_vmlinux(src, dso, path, trusted, &img, &delta, why);

	if (rc)
		return rc;
	rc = elf_space_shift(delta, &space);
	if (!rc)
		rc = source_symtab(&img, &space, source_wanted(src, dso), path, ret, why);
	elf_space_release(&space);
	elf_image_close(&img);
	return rc;
}

static int load_cached(const struct sources *src, const struct dso *dso, struct symtab **ret)
{
	char path[PATH_MAX], place[PATH_MAX], hex[2 * PD_BUILD_ID_MAX + 1];

	if (!source_cache_path(src, dso, "kallsyms", path))
		return -ENOENT;
	if (!load_kallsyms(src, dso, path, ret))
		return 0;
	source_hex(dso->build_id, dso->build_id_size, hex);
	if (source_path(place, "[kernel.kallsyms]/%s/kallsyms", hex) &&
	    source_cache_file(src, place, path) && !load_kallsyms(src, dso, path, ret))
		return 0;
	return -ENOENT;
}

/* Tries a file that may be the vmlinux of @dso. Returns whether it is. */
typedef bool (*vmlinux_fn)(const struct dso *dso, const char *path, bool trusted, void *arg);

/* Calls @fn for the places of a vmlinux, until it returns true. Returns 0, or -ENOENT. */
static int each_vmlinux(const struct sources *src, const struct dso *dso, vmlinux_fn fn, void *arg)
{
	static const struct {
		const char *before, *after;
	} places[] = {
		{"/usr/lib/debug/boot/vmlinux-", ""},
		{"/usr/lib/debug/lib/modules/", "/vmlinux"},
		{"/lib/modules/", "/vmlinux"},
		{"/lib/modules/", "/build/vmlinux"},
		{"/boot/vmlinux-", ""},
	};
	const char *release = src->opts.osrelease;
	char path[PATH_MAX], hex[2 * PD_BUILD_ID_MAX + 1];
	size_t i;

	if (src->opts.ignore_vmlinux)
		return -ENOENT;
	if (source_cache_path(src, dso, "vmlinux", path) && fn(dso, path, false, arg))
		return 0;
	if (dso->build_id_size) {
		source_hex(dso->build_id, dso->build_id_size, hex);
		if (source_path(path, "%s/usr/lib/debug/.build-id/%.2s/%s.debug", src->host.root,
				hex, hex + 2) &&
		    fn(dso, path, false, arg))
			return 0;
	}
	if (!release || strchr(release, '/'))
		return -ENOENT;
	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (source_path(path, "%s%s%s%s", src->host.root, places[i].before, release,
				places[i].after) &&
		    fn(dso, path, src->same_machine, arg))
			return 0;
	}
	return -ENOENT;
}

/* Where to make the table of a vmlinux. */
struct making {
	const struct sources *src;
	struct symtab **ret;
};

static bool try_symbols(const struct dso *dso, const char *path, bool trusted, void *arg)
{
	const struct making *m = arg;

	return !load_vmlinux(m->src, dso, path, trusted, m->ret, NULL);
}

struct opened_vmlinux {
	const struct sources *src;
	struct elf_image *img;
	uint64_t delta;
};

static bool try_open(const struct dso *dso, const char *path, bool trusted, void *arg)
{
	struct opened_vmlinux *o = arg;

	return !open_vmlinux(o->src, dso, path, trusted, o->img, &o->delta, NULL);
}

/* "/dev/null" means "no file"; other devices are refused. */
static bool is_none(const char *path)
{
	return !strcmp(path, "/dev/null");
}

int kernel_check_named(const struct resolver_opts *opts, struct error *err)
{
	struct elf_image img = ELF_IMAGE_INIT;
	struct error why = ERROR_INIT;
	int rc;

	if (opts->kallsyms && !is_none(opts->kallsyms)) {
		rc = kallsyms_check(opts->kallsyms, &why);
		if (rc)
			return error_set(err, rc, "--kallsyms: %s", why.text);
	}
	if (opts->vmlinux && !is_none(opts->vmlinux)) {
		rc = elf_image_open(opts->vmlinux, &img, &why);
		elf_image_close(&img);
		if (rc == -EINVAL)
			return error_set(err, rc, "--vmlinux: %s is not a regular file",
					 opts->vmlinux);
		if (rc < 0)
			return error_set(err, rc, "--vmlinux: %s", why.text);
	}
	return 0;
}

int kernel_load(const struct sources *src, const struct dso *dso, struct symtab **ret,
		struct error *why)
{
	struct making making = {src, ret};
	int rc;

	if ((src->opts.kallsyms && is_none(src->opts.kallsyms)) ||
	    (!src->opts.kallsyms && src->opts.vmlinux && is_none(src->opts.vmlinux)))
		return error_set(why, -ENOENT, "left out, as /dev/null asks");
	if (src->opts.kallsyms)
		return load_listed(src, dso, src->opts.kallsyms, false, false, ret, why);
	if (src->opts.vmlinux)
		return load_vmlinux(src, dso, src->opts.vmlinux, true, ret, why);
	rc = load_running(src, dso, false, ret, why);
	if (!rc || rc == -ENOMEM)
		return rc;
	if (!load_cached(src, dso, ret) || !each_vmlinux(src, dso, try_symbols, &making))
		return 0;
	return rc; /* the error of load_running() helps the user most */
}

int kernel_load_whole(const struct sources *src, const struct dso *dso, struct symtab **ret,
		      struct error *why)
{
	return load_running(src, dso, true, ret, why);
}

int kernel_kallsyms(const struct sources *src, const struct dso *dso, struct buf *ret,
		    struct error *why)
{
	char running[PATH_MAX];
	const char *path = src->opts.kallsyms;
	int rc;

	if (!path) {
		if (!kernel_is_running(src, dso))
			return error_set(why, -ENOENT,
					 "the running kernel is not the recorded one: name the "
					 "recorded kernel's list with --kallsyms");
		if (!source_path(running, "%s/proc/kallsyms", src->host.root))
			return -ENAMETOOLONG;
		path = running;
	}
	rc = kallsyms_read(path, ret, why);
	if (!rc && kallsyms_hidden(ret)) {
		buf_release(ret);
		rc = kallsyms_say_hidden(path, why);
	}
	return rc;
}

/* Whether the running kernel is the recorded one, and is where that was. */
static bool is_in_place(const struct sources *src, const struct dso *dso)
{
	struct buf text = {0};
	char path[PATH_MAX];
	uint64_t here;
	bool same;

	if (!dso->ref_name || !dso->ref_addr || !kernel_is_running(src, dso) ||
	    !source_path(path, "%s/proc/kallsyms", src->host.root) ||
	    module_list_text(src->modules, path, &text, NULL))
		return false;
	same = kallsyms_address(&text, dso->ref_name, &here) && here == dso->ref_addr;
	buf_release(&text);
	return same;
}

int kernel_open_kcore(const struct sources *src, const struct dso *dso, struct elf_image *ret)
{
	char path[PATH_MAX];

	if (src->opts.vmlinux && is_none(src->opts.vmlinux))
		return -ENOENT;
	if (src->opts.kcore)
		return elf_image_open(src->opts.kcore, ret, NULL);
	if (!source_path(path, "%s/proc/kcore", src->host.root) || access(path, R_OK) ||
	    !is_in_place(src, dso))
		return -ENOENT;
	return elf_image_open(path, ret, NULL);
}

int kernel_open_image(const struct sources *src, const struct dso *dso, struct elf_image *ret,
		      uint64_t *ret_delta)
{
	struct opened_vmlinux o = {.src = src, .img = ret};
	int rc;

	if (src->opts.vmlinux && is_none(src->opts.vmlinux))
		return -ENOENT;
	if (src->opts.vmlinux)
		return open_vmlinux(src, dso, src->opts.vmlinux, true, ret, ret_delta, NULL);
	rc = each_vmlinux(src, dso, try_open, &o);
	*ret_delta = o.delta;
	return rc;
}
