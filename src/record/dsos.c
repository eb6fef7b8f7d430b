// SPDX-License-Identifier: Apache-2.0
#include "record/dsos.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "perfdata/feature.h"
#include "perfdata/record.h"
#include "record/buildid.h"

struct dso_name {
	UT_hash_handle hh;
	bool kernel;
	char name[];
};

struct dso_names {
	struct dso_name *table;
};

static const char kernel_name[] = "[kernel.kallsyms]";

struct dso_names *dso_names_new(void)
{
	return calloc(1, sizeof(struct dso_names));
}

void dso_names_free(struct dso_names *names)
{
	struct dso_name *n, *next;

	if (!names)
		return;
	HASH_ITER (hh, names->table, n, next) {
		HASH_DEL(names->table, n);
		free(n);
	}
	free(names);
}

static int add_name(struct dso_names *names, const char *name, size_t len, bool kernel)
{
	struct dso_name *n;

	HASH_FIND(hh, names->table, name, len, n);
	if (n)
		return 0;
	n = calloc(1, sizeof(*n) + len + 1);
	if (!n)
		return -ENOMEM;
	memcpy(n->name, name, len);
	n->kernel = kernel;
	HASH_ADD_KEYPTR(hh, names->table, n->name, len, n);
	if (!n->hh.tbl) {
		free(n);
		return -ENOMEM;
	}
	return 0;
}

int dso_names_add(struct dso_names *names, const struct perf_event_header *hdr)
{
	unsigned int mode = hdr->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct pd_record rec;

	if (pd_record_decode(hdr, NULL, &rec))
		return 0;
	if (rec.mmap.build_id_size && mode != PERF_RECORD_MISC_KERNEL)
		return 0;
	/* "[kernel.kallsyms]_text" names the reference symbol behind the dso. */
	if (mode == PERF_RECORD_MISC_KERNEL &&
	    !strncmp(rec.mmap.filename, kernel_name, sizeof(kernel_name) - 1))
		return add_name(names, kernel_name, sizeof(kernel_name) - 1, true);
	if (mode == PERF_RECORD_MISC_KERNEL)
		return add_name(names, rec.mmap.filename, strlen(rec.mmap.filename), true);
	/* Anonymous memory and shared memory have names that look like paths. */
	if (rec.mmap.filename[0] != '/' || rec.mmap.filename[1] == '/')
		return 0;
	return add_name(names, rec.mmap.filename, strlen(rec.mmap.filename), false);
}

int dso_names_merge(struct dso_names *names, const struct dso_names *from)
{
	int code = 0;

	for (const struct dso_name *n = from->table; n && !code; n = n->hh.next)
		code = add_name(names, n->name, strlen(n->name), n->kernel);
	return code;
}

/* "/lib/modules/…/snd-pcm.ko.xz" or "[snd_pcm]": the name in /sys/module is snd_pcm. */
static void module_build_id(const char *name, struct build_id *ret)
{
	const char *base = strrchr(name, '/');
	char module[NAME_MAX + 1];
	size_t len;

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

static void name_build_id(const struct dso_name *n, struct build_id *ret)
{
	ret->size = 0;
	if (!n->kernel) {
		if (build_id_of_path(AT_FDCWD, n->name, ret))
			ret->size = 0;
	} else if (!strcmp(n->name, kernel_name)) {
		build_id_of_kernel(ret);
	} else {
		module_build_id(n->name, ret);
	}
}

int dso_names_build_ids(const struct dso_names *names, struct buf *out)
{
	int code = 0;

	for (const struct dso_name *n = names->table; n && !code; n = n->hh.next) {
		struct pd_build_id id = {.pid = -1, .filename = n->name};
		struct build_id found;

		name_build_id(n, &found);
		if (!found.size)
			continue;
		id.size = found.size;
		memcpy(id.build_id, found.id, found.size);
		code = pd_feature_build_id_encode(
			out, &id, n->kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER);
	}
	return code;
}
