// SPDX-License-Identifier: Apache-2.0
#include "symbol/resolve/resolver_origin.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "symbol/resolve/kallsyms.h"
#include "symbol/resolve/sources.h"
#include "sys/io/file.h"

#define FILES_MAX     256 /* files whose inodes are compared */
#define X86_IN_PLACE  0xffffffff81000000
#define KASLR_MASK    0x7ffffffu /* arm64 links kernels to multiples of 128 MB */
#define IN_PLACE_MOST 0x200000u

time_t origin_machine_start(const char *root)
{
	char *text = NULL;
	const char *line = NULL;
	time_t ret = 0;

	if (!file_text(&text, "%s/proc/stat", root))
		line = strstr(text, "\nbtime ");
	if (line)
		ret = (time_t)strtoll(line + 7, NULL, 10);
	free(text);
	return ret;
}

/* --- the kernel ----------------------------------------------------------------------------------
 */

/* Finds where the running kernel has the recorded one's reference symbol. */
static bool find_reference(const struct dso *kernel, const char *root, uint64_t *ret)
{
	struct buf text = {0};
	char path[PATH_MAX];
	bool found;

	if (!kernel->ref_name || !kernel->ref_addr ||
	    !source_path(path, "%s/proc/kallsyms", root) || kallsyms_read(path, &text, NULL))
		return false;
	found = !kallsyms_hidden(&text) && kallsyms_address(&text, kernel->ref_name, ret);
	buf_release(&text);
	return found;
}

/* Whether a kernel at @addr is not where it was linked to, which is the same on many machines. */
static bool is_moved(uint64_t addr)
{
	return addr != X86_IN_PLACE && (addr & KASLR_MASK) > IN_PLACE_MOST;
}

/* --- files ---------------------------------------------------------------------------------------
 */

static bool has_generation(const char *path, uint64_t generation)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	bool same = fd < 0 || file_has_generation(fd, generation);

	if (fd >= 0)
		close(fd);
	return same;
}

/*
 * Compares a mapped file with the file of its name here. A file of another device that has another
 * inode says nothing: a container had it.
 */
static void count_file(struct origin *o, const struct dso *dso, const char *root)
{
	char path[PATH_MAX];
	struct stat st;
	bool same_device;

	if (!source_path(path, "%s%s", root, dso->name) || stat(path, &st) || !S_ISREG(st.st_mode))
		return;
	same_device = major(st.st_dev) == dso->maj && minor(st.st_dev) == dso->min;
	if (st.st_ino == dso->ino && (!same_device || has_generation(path, dso->ino_generation)))
		o->same++;
	else if (same_device)
		o->other++;
}

static void count_files(struct origin *o, const struct state *maps, const char *root)
{
	size_t n = state_dso_count(maps), seen = 0;

	for (size_t i = 0; i < n && seen < FILES_MAX; i++) {
		const struct dso *dso = state_dso_at(maps, i);

		if (dso->kind != DSO_ELF || !dso->ino || dso->name[0] != '/')
			continue;
		count_file(o, dso, root);
		seen++;
	}
}

/* --- both ----------------------------------------------------------------------------------------
 */

/* @elsewhere: the recording's kernel was not at the address of the running one. */
static enum origin_kind judge(const struct origin *o, bool elsewhere, time_t start)
{
	if (elsewhere)
		return ORIGIN_KERNEL;
	if (o->moved && (o->same || !o->other))
		return ORIGIN_HERE;
	if (o->written && start && o->written < start - ORIGIN_SLACK)
		return ORIGIN_EARLIER;
	if (o->same > o->other)
		return ORIGIN_HERE;
	return o->other ? ORIGIN_FILES : ORIGIN_UNKNOWN;
}

struct origin origin_of_cut(const struct state *maps, time_t written, const char *root)
{
	const struct map *image = state_image(maps);
	struct origin o = {.written = written};
	uint64_t here = 0;
	bool known = image && find_reference(image->dso, root, &here);

	count_files(&o, maps, root);
	o.moved = known && here == image->dso->ref_addr && is_moved(here);
	o.kind = judge(&o, known && here != image->dso->ref_addr, origin_machine_start(root));
	return o;
}

const char *origin_why_not(const struct origin *o)
{
	switch (o->kind) {
	case ORIGIN_KERNEL:
		return "the recording, which is cut, has a kernel that was not at the address of "
		       "the running one";
	case ORIGIN_EARLIER:
		return "the recording, which is cut, is from before this machine restarted";
	case ORIGIN_FILES:
		return "the recording, which is cut, has files with other inodes than here";
	case ORIGIN_UNKNOWN:
		return "the recording, which is cut, does not show that it is of this machine";
	default: return "the recording is from another machine or kernel release";
	}
}
