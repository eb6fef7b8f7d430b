// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/code/code.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auxtrace/code/blocks.h"
#include "auxtrace/code/made.h"
#include "symbol/elf/elf_image.h"

#define LOADED_MAX ((size_t)256 << 20)
#define NAME_SHOWN 48 /* characters of a long path, its last ones */

/* The file of a dso, or a kcore. */
struct code_file {
	bool missing;		/* guarded by the lock of the blocks: only open_file() uses it */
	bool placed;		/* @space, @delta and @fd are known, if the kernel's file exists */
	int fd;			/* of a kernel: it stays open, since to find it takes long; or -1 */
	struct elf_space space; /* of a kernel: from linked addresses to offsets */
	uint64_t delta;		/* of a kernel: added to linked addresses */
	char *label;		/* for messages; NULL: not yet made */
};

struct code_files {
	const struct state *state;
	const struct resolver *resolver;
	struct aux_code source;
	struct code_blocks *blocks;
	/* Guards the files, but for @missing; and @fd is constant for those who read blocks. */
	pthread_mutex_t lock;
	struct code_file *file; /* by index of the dso; the last one is the kcore */
	size_t nr;		/* of dsos */
	struct code_made made;	/* constant while code is read */
};

static int read_code(void *arg, const struct aux_task *task, uint64_t time, uint64_t addr,
		     void *buf, size_t len, const char **ret_missing);

static bool task_on(void *arg, uint32_t cpu, uint64_t time, struct aux_task *ret)
{
	const struct code_files *f = arg;

	ret->cpumode = PERF_RECORD_MISC_USER;
	return state_task_on(f->state, cpu, time, &ret->pid, &ret->tid);
}

/* Records of the same time come before the code that they change. */
static struct moment moment_of(uint64_t time)
{
	return (struct moment){time ? time : UINT64_MAX, UINT64_MAX};
}

static uint64_t version(void *arg, uint64_t time)
{
	const struct code_files *f = arg;

	return state_code_version(f->state, moment_of(time));
}

/* The kernel's own dso, which names the kcore. */
static const struct dso *kernel_dso(const struct code_files *f)
{
	const struct map *image = state_image(f->state);

	return image ? image->dso : NULL;
}

static int open_image(const struct code_files *f, size_t number, struct elf_image *ret,
		      uint64_t *ret_delta)
{
	const struct dso *dso = number < f->nr ? state_dso_at(f->state, number) : kernel_dso(f);

	*ret_delta = 0;
	if (!dso)
		return -ENOENT;
	if (number == f->nr)
		return resolver_open_kcore(f->resolver, dso, ret);
	if (dso->kind == DSO_KERNEL)
		return resolver_open_kernel(f->resolver, dso, ret, ret_delta);
	return resolver_open_code(f->resolver, dso, ret);
}

/* Whether another try may succeed. */
static bool is_passing(int rc)
{
	return rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE || rc == -EINTR;
}

static int open_file(void *arg, size_t number, struct elf_image *ret)
{
	struct code_files *f = arg;
	struct code_file *file = &f->file[number];
	uint64_t unused;
	int rc;

	if (file->missing)
		return -ENOENT;
	if (file->fd >= 0) {
		ret->fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
		return ret->fd < 0 ? -errno : 0;
	}
	rc = open_image(f, number, ret, &unused);
	file->missing = rc && !is_passing(rc);
	return rc;
}

/* The process of @task; the context of some traces names threads alone. */
static uint32_t pid_of(const struct code_files *f, const struct aux_task *task, struct moment at)
{
	uint32_t pid = task->pid;

	if (pid == UINT32_MAX && task->tid != UINT32_MAX)
		state_pid(f->state, task->tid, at, &pid);
	return pid;
}

static bool is_steady(void *arg, const struct aux_task *task, uint64_t first, uint64_t last)
{
	const struct code_files *f = arg;
	struct moment from = moment_of(first), to = moment_of(last);
	uint32_t pid = pid_of(f, task, from);

	return first && first <= last && pid == pid_of(f, task, to) &&
	       state_maps_steady(f->state, pid, task->cpumode, from, to);
}

int code_files_new(const struct state *s, const struct resolver *r, struct code_files **ret)
{
	struct code_files *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->state = s;
	f->resolver = r;
	f->source = (struct aux_code){.read = read_code,
				      .version = version,
				      .steady = is_steady,
				      .task_on = task_on,
				      .arg = f};
	f->nr = state_dso_count(s);
	f->file = calloc(f->nr + 1, sizeof(*f->file));
	for (size_t i = 0; f->file && i <= f->nr; i++)
		f->file[i].fd = -1;
	f->blocks = code_blocks_new(open_file, f, LOADED_MAX);
	pthread_mutex_init(&f->lock, NULL);
	if (!f->file || !f->blocks) {
		code_files_free(f);
		return -ENOMEM;
	}
	*ret = f;
	return 0;
}

void code_files_free(struct code_files *f)
{
	if (!f)
		return;
	for (size_t i = 0; f->file && i <= f->nr; i++) {
		elf_space_release(&f->file[i].space);
		if (f->file[i].fd >= 0)
			close(f->file[i].fd);
		free(f->file[i].label);
	}
	free(f->file);
	code_blocks_free(f->blocks);
	code_made_release(&f->made);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

int code_files_add(struct code_files *f, uint64_t addr, const uint8_t *bytes, size_t size)
{
	return code_made_add(&f->made, addr, bytes, size);
}

const struct aux_code *code_files_source(const struct code_files *f)
{
	return &f->source;
}

void code_files_limit(struct code_files *f, size_t bytes)
{
	code_blocks_limit(f->blocks, bytes);
}

size_t code_files_loaded(const struct code_files *f)
{
	return code_blocks_loaded(f->blocks);
}

/* --- the kernel ----------------------------------------------------------------------------------
 */

/* Learns where the kernel's code is in its file. Returns 0, or -ENOMEM. */
static int place_file(struct code_files *f, size_t number)
{
	struct code_file *file = &f->file[number];
	struct elf_image img = ELF_IMAGE_INIT;
	int rc;

	if (file->placed)
		return 0;
	rc = open_image(f, number, &img, &file->delta);
	if (!rc)
		rc = elf_space_file(&img, &file->space, NULL);
	file->placed = !is_passing(rc);
	if (!rc) {
		file->fd = img.fd;
		img.fd = -1;
	}
	elf_image_close(&img);
	return rc == -ENOMEM ? rc : 0;
}

/* Reads the kernel's code at @addr from file @number. Returns as code_blocks_read() does. */
static int read_kernel(struct code_files *f, size_t number, uint64_t addr, uint8_t *buf, size_t len)
{
	const struct code_file *file = &f->file[number];
	uint64_t offset, last;
	bool found = false;
	int rc;

	pthread_mutex_lock(&f->lock);
	rc = place_file(f, number);
	if (!rc)
		found = elf_space_map(&file->space, 0, addr - file->delta, &offset);
	/* Segments next to each other may be apart in the file. */
	while (found && len > 1 &&
	       (!elf_space_map(&file->space, 0, addr + len - 1 - file->delta, &last) ||
		last != offset + len - 1))
		len /= 2;
	pthread_mutex_unlock(&f->lock);
	if (rc)
		return rc;
	return found ? code_blocks_read(f->blocks, number, offset, buf, len) : -ENOENT;
}

/* --- reading -------------------------------------------------------------------------------------
 */

/*
 * Reads from the files that have the code of @place. A kcore has the kernel as it ran, with its
 * modules; a vmlinux that the user named is preferred.
 */
static int read_files(struct code_files *f, const struct location *place, uint64_t addr,
		      uint8_t *buf, size_t len)
{
	const struct dso *dso = place->map->dso;
	bool kernel = dso->kind == DSO_KERNEL;
	int rc = -ENOENT;

	switch (dso->kind) {
	case DSO_ELF:
	case DSO_JIT:
	case DSO_VDSO: return code_blocks_read(f->blocks, dso->index, place->addr, buf, len);
	case DSO_KERNEL:
	case DSO_MODULE:
	case DSO_KSYMBOL:
		/* The running kernel may have another program there. */
		rc = dso->kind == DSO_KSYMBOL ? code_made_read(&f->made, addr, buf, len) : rc;
		if (rc > 0)
			return rc;
		if (kernel && resolver_names_vmlinux(f->resolver))
			rc = read_kernel(f, dso->index, addr, buf, len);
		if (rc <= 0 && rc != -ENOMEM)
			rc = read_kernel(f, f->nr, addr, buf, len);
		if (kernel && rc <= 0 && rc != -ENOMEM)
			rc = read_kernel(f, dso->index, addr, buf, len);
		return rc;
	case DSO_ANON:
	case DSO_GUEST: break;
	}
	return -ENOENT;
}

/* Returns "FILE (build-id HEX)"; the name alone when memory is short. */
static const char *label_of(struct code_files *f, const struct dso *dso)
{
	struct code_file *file = &f->file[dso->index];
	char hex[2 * PD_BUILD_ID_MAX + 1] = "";
	size_t len = strlen(dso->name);
	const char *label;

	for (size_t i = 0; i < dso->build_id_size; i++)
		snprintf(hex + 2 * i, 3, "%02x", dso->build_id[i]);
	pthread_mutex_lock(&f->lock);
	if (!file->label && asprintf(&file->label, "%s%s%s%s%s", len > NAME_SHOWN ? "..." : "",
				     dso->name + (len > NAME_SHOWN ? len - NAME_SHOWN : 0),
				     *hex ? " (build-id " : "", hex, *hex ? ")" : "") < 0)
		file->label = NULL;
	label = file->label ? file->label : dso->name;
	pthread_mutex_unlock(&f->lock);
	return label;
}

static int read_code(void *arg, const struct aux_task *task, uint64_t time, uint64_t addr,
		     void *buf, size_t len, const char **ret_missing)
{
	struct code_files *f = arg;
	struct moment at = moment_of(time);
	struct location place;
	uint32_t pid = pid_of(f, task, at);
	int rc;

	if (ret_missing)
		*ret_missing = NULL;
	if (!state_find(f->state, pid, task->cpumode, addr, at, &place))
		return -ENOENT;
	if (len > place.map->end - addr)
		len = place.map->end - addr;
	rc = place.map->dso->index < f->nr ? read_files(f, &place, addr, buf, len) : -ENOENT;
	if (task->cpumode == PERF_RECORD_MISC_KERNEL && rc != -ENOMEM) {
		size_t known = rc > 0 ? (size_t)rc : 0;

		known = state_patch_code(f->state, addr, at, buf, known, len);
		rc = known ? (int)known : rc;
	}
	if (!rc)
		rc = -ENOENT;
	if (rc < 0 && ret_missing)
		*ret_missing = label_of(f, place.map->dso);
	return rc;
}
