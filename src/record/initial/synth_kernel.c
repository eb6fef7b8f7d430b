// SPDX-License-Identifier: Apache-2.0
/*
 * Synthesizes the maps of the kernel and its modules. The kernel's map has the reference symbol,
 * from which reporters compute the relocation. If addresses read as 0 (kptr_restrict), the maps are
 * left out and counted.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "record/initial/ksyms.h"
#include "record/initial/synth.h"
#include "sys/io/file.h"
#include "sys/kernel/procfs.h"

struct module {
	char *name; /* as /proc/modules spells it: no dashes */
	char *path; /* NULL: not in modules.dep */
	uint64_t addr, size;
};

struct modules {
	struct module *m;
	size_t count, capacity;
};

static void modules_release(struct modules *mods)
{
	for (size_t i = 0; i < mods->count; i++) {
		free(mods->m[i].name);
		free(mods->m[i].path);
	}
	free(mods->m);
}

static int module_add(struct modules *mods, const struct proc_module *from)
{
	struct module *m;

	if (array_grow(&mods->m, &mods->capacity, mods->count + 1, sizeof(*mods->m)))
		return -ENOMEM;
	m = &mods->m[mods->count];
	*m = (struct module){.addr = from->addr, .size = from->size};
	m->name = strndup(from->name, from->name_len);
	if (!m->name)
		return -ENOMEM;
	mods->count++;
	return 0;
}

/* Whether the error is this process's, not the file's. */
static bool is_shortage(int rc)
{
	return rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE;
}

static int modules_read(struct synth *s, struct modules *mods)
{
	struct proc_module m;
	struct text_lines it;
	char *line;
	size_t len;
	int rc;

	s->text.len = 0;
	rc = file_read_at(s->proc_fd, "modules", &s->text);
	if (rc)
		return is_shortage(rc) ? rc : 0;
	it = (struct text_lines){(char *)s->text.data, (char *)s->text.data + s->text.len};
	while (!rc && text_next_line(&it, &line, &len)) {
		if (proc_module_parse(line, len, &m))
			continue;
		if (m.addr)
			rc = module_add(mods, &m);
		else
			s->stats.hidden++;
	}
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct module *)a)->name, ((const struct module *)b)->name);
}

static int by_addr(const void *a, const void *b)
{
	const struct module *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* "kernel/net/foo-bar.ko.xz: …" is the file of module foo_bar. */
static int module_take_path(struct modules *mods, const char *base, const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len);
	size_t path_len = colon ? (size_t)(colon - line) : 0;
	const char *slash = memrchr(line, '/', path_len);
	const char *file = slash ? slash + 1 : line;
	const char *ko = memmem(file, (size_t)(line + path_len - file), ".ko", 3);
	struct module key = {0}, *m;
	char name[64];

	if (!ko || (size_t)(ko - file) >= sizeof(name))
		return 0;
	for (size_t i = 0; file + i < ko; i++)
		name[i] = file[i] == '-' ? '_' : file[i];
	name[ko - file] = '\0';
	key.name = name;
	m = bsearch(&key, mods->m, mods->count, sizeof(*mods->m), by_name);
	if (!m || m->path)
		return 0;
	if (asprintf(&m->path, "%s%.*s", line[0] == '/' ? "" : base, (int)path_len, line) < 0) {
		m->path = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int modules_find_paths(struct synth *s, struct modules *mods)
{
	char base[sizeof("/lib/modules/") + sizeof(((struct utsname *)0)->release) + 1];
	char dep[sizeof(base) + sizeof("modules.dep")], *line;
	struct text_lines it;
	struct utsname uts;
	size_t len;
	int rc;

	if (uname(&uts))
		return 0;
	snprintf(base, sizeof(base), "/lib/modules/%s/", uts.release);
	snprintf(dep, sizeof(dep), "%smodules.dep", base);
	s->text.len = 0;
	rc = file_read_at(AT_FDCWD, dep, &s->text);
	if (rc)
		return rc == -ENOMEM ? rc : 0;
	qsort(mods->m, mods->count, sizeof(*mods->m), by_name);
	it = (struct text_lines){(char *)s->text.data, (char *)s->text.data + s->text.len};
	while (!rc && text_next_line(&it, &line, &len))
		rc = module_take_path(mods, base, line, len);
	return rc;
}

/* Writes MMAP, or MMAP2 if the record may have a build-id. */
static int synth_kernel_map(struct synth *s, uint64_t addr, uint64_t len, uint64_t pgoff,
			    const char *name, const struct build_id *id)
{
	struct {
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
	} body = {.pid = (uint32_t)-1, .addr = addr, .len = len, .pgoff = pgoff};

	if (!s->opts->build_ids) {
		s->stats.maps++;
		return synth_record(s, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, &body,
				    sizeof(body), name, strlen(name));
	}
	return synth_mmap2(s, &(struct synth_map){.misc = PERF_RECORD_MISC_KERNEL,
						  .pid = body.pid,
						  .addr = addr,
						  .len = len,
						  .pgoff = pgoff,
						  .build_id = id,
						  .name = name,
						  .name_len = strlen(name)});
}

static int synth_module(struct synth *s, const struct module *m, uint64_t next_addr)
{
	struct build_id id = {0};
	char bracketed[80];
	uint64_t len = m->size;

	/* The size counts all parts of a module, and other modules may lie between them. */
	if (next_addr > m->addr && next_addr - m->addr < len)
		len = next_addr - m->addr;
	snprintf(bracketed, sizeof(bracketed), "[%s]", m->name);
	if (s->opts->build_ids)
		build_id_of_module(m->name, &id);
	s->stats.modules++;
	return synth_kernel_map(s, m->addr, len, 0, m->path ? m->path : bracketed, &id);
}

/*
 * @syms->start is not 0. The map ends at _etext, else at the first module behind it, else nowhere.
 */
static int synth_core(struct synth *s, const struct kernel_symbols *syms,
		      const struct modules *mods)
{
	uint64_t end = syms->etext > syms->start ? syms->etext : 0;
	struct build_id id = {0};
	char name[64];

	for (size_t i = 0; !end && i < mods->count; i++) {
		if (mods->m[i].addr > syms->start)
			end = mods->m[i].addr;
	}
	if (!end)
		end = UINT64_MAX;
	if (s->opts->build_ids)
		build_id_of_kernel(&id);
	snprintf(name, sizeof(name), "[kernel.kallsyms]%s", syms->start_name);
	return synth_kernel_map(s, syms->start, end - syms->start, syms->start, name, &id);
}

int synth_kernel(struct synth *s)
{
	struct kernel_symbols syms = {0};
	struct modules mods = {0};
	int rc;

	rc = kernel_symbols_read(s->proc, &syms);
	if (!is_shortage(rc)) /* files that cannot be read are left out */
		rc = modules_read(s, &mods);
	if (!rc && mods.count)
		rc = modules_find_paths(s, &mods);
	if (!rc && mods.count)
		qsort(mods.m, mods.count, sizeof(*mods.m), by_addr);
	if (!rc && syms.start)
		rc = synth_core(s, &syms, &mods);
	else if (!rc)
		s->stats.hidden++;
	for (size_t i = 0; !rc && i < mods.count; i++)
		rc = synth_module(s, &mods.m[i], i + 1 < mods.count ? mods.m[i + 1].addr : 0);
	if (!rc)
		rc = synth_bpf(s, &syms);
	modules_release(&mods);
	kernel_symbols_release(&syms);
	return rc;
}
