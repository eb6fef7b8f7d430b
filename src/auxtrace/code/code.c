// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/code/code.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "symbol/elf/elf_image.h"

#define LOADED_MAX ((size_t)256 << 20)
#define BLOCK	   ((uint64_t)64 << 10) /* bytes of a file that are loaded at once */
#define BLOCKS_MAX (1u << 20)		/* of a file */

struct code_block {
	uint8_t *bytes; /* NULL: not loaded */
	uint32_t len;
};

/* The code of a dso. */
struct code_file {
	bool missing;
	struct code_block *blocks; /* by offset in the file */
	size_t cap;
	struct elf_space space; /* of a kernel: from linked addresses to offsets */
	uint64_t delta;		/* of a kernel */
};

struct code_files {
	const struct state *state;
	const struct resolver *resolver;
	struct aux_code source;
	pthread_rwlock_t lock;	/* guards all below */
	struct code_file *file; /* by index of the dso */
	size_t cap;
	size_t loaded, max; /* bytes */
};

static int read_code(void *arg, const struct aux_task *task, uint64_t time, uint64_t addr,
		     void *buf, size_t len, const char **ret_missing);

static bool task_on(void *arg, uint32_t cpu, uint64_t time, struct aux_task *ret)
{
	const struct code_files *f = arg;

	ret->cpumode = PERF_RECORD_MISC_USER;
	return state_task_on(f->state, cpu, time, &ret->pid, &ret->tid);
}

int code_files_new(const struct state *s, const struct resolver *r, struct code_files **ret)
{
	struct code_files *f = calloc(1, sizeof(*f));
	size_t nr = state_dso_count(s);

	if (!f)
		return -ENOMEM;
	f->state = s;
	f->resolver = r;
	f->source = (struct aux_code){.read = read_code, .task_on = task_on, .arg = f};
	f->max = LOADED_MAX;
	f->file = calloc(nr + 1, sizeof(*f->file));
	f->cap = nr;
	pthread_rwlock_init(&f->lock, NULL);
	if (!f->file) {
		code_files_free(f);
		return -ENOMEM;
	}
	*ret = f;
	return 0;
}

static void drop_blocks(struct code_files *f)
{
	for (size_t i = 0; i < f->cap; i++) {
		struct code_file *file = &f->file[i];

		for (size_t j = 0; j < file->cap; j++) {
			free(file->blocks[j].bytes);
			file->blocks[j] = (struct code_block){0};
		}
	}
	f->loaded = 0;
}

void code_files_free(struct code_files *f)
{
	if (!f)
		return;
	if (f->file)
		drop_blocks(f);
	for (size_t i = 0; f->file && i < f->cap; i++) {
		free(f->file[i].blocks);
		elf_space_release(&f->file[i].space);
	}
	free(f->file);
	pthread_rwlock_destroy(&f->lock);
	free(f);
}

const struct aux_code *code_files_source(const struct code_files *f)
{
	return &f->source;
}

void code_files_limit(struct code_files *f, size_t bytes)
{
	f->max = bytes;
}

size_t code_files_loaded(const struct code_files *f)
{
	return f->loaded;
}

/* --- loading -------------------------------------------------------------------------------------
 */

/* Opens the image of @dso; of a kernel the file's space is made at the first time. */
static int open_image(struct code_files *f, const struct dso *dso, struct elf_image *ret)
{
	struct code_file *file = &f->file[dso->index];
	int rc;

	if (dso->kind != DSO_KERNEL)
		return resolver_open_image(f->resolver, dso, ret);
	rc = resolver_open_kernel(f->resolver, dso, ret, &file->delta);
	if (!rc && !file->space.count) {
		rc = elf_space_file(ret, &file->space, NULL);
		if (rc)
			elf_image_close(ret);
	}
	return rc;
}

/* Reads from the file, or from an image in memory. Returns the bytes read, or a negative errno. */
static ssize_t read_image(const struct elf_image *img, uint64_t at, void *buf, size_t len)
{
	ssize_t n;

	if (img->fd >= 0) {
		n = pread(img->fd, buf, len, (off_t)at);
		return n < 0 ? -errno : n;
	}
	if (at >= img->mem.len)
		return 0;
	if (len > img->mem.len - at)
		len = img->mem.len - at;
	memcpy(buf, img->mem.data + at, len);
	return (ssize_t)len;
}

static uint64_t image_size(const struct elf_image *img)
{
	return img->fd >= 0 ? img->size : img->mem.len;
}

/* Whether another try may succeed. */
static bool is_passing(int rc)
{
	return rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE || rc == -EINTR;
}

/* Loads the block that holds @at. The caller holds the lock for writing. Returns 0 or -ENOMEM. */
static int load(struct code_files *f, const struct dso *dso, uint64_t at)
{
	struct code_file *file = &f->file[dso->index];
	struct elf_image img = ELF_IMAGE_INIT;
	size_t before = file->cap, number = at / BLOCK;
	uint8_t *bytes;
	ssize_t n = 0;
	int rc;

	if (file->missing || (number < file->cap && file->blocks[number].bytes))
		return 0;
	rc = open_image(f, dso, &img);
	if (rc) {
		file->missing = !is_passing(rc);
		return rc == -ENOMEM ? rc : 0;
	}
	/* A recorded map may name any place, also behind the end of its file. */
	if (at >= image_size(&img)) {
		elf_image_close(&img);
		return 0;
	}
	if (f->loaded + BLOCK > f->max)
		drop_blocks(f);
	bytes = malloc(BLOCK);
	if (!bytes || array_grow(&file->blocks, &file->cap, number + 1, sizeof(*file->blocks))) {
		free(bytes);
		elf_image_close(&img);
		return -ENOMEM;
	}
	memset(file->blocks + before, 0, (file->cap - before) * sizeof(*file->blocks));
	n = read_image(&img, number * BLOCK, bytes, BLOCK);
	elf_image_close(&img);
	if (n < 0) {
		free(bytes);
		return 0;
	}
	file->blocks[number] = (struct code_block){.bytes = bytes, .len = (uint32_t)n};
	f->loaded += BLOCK;
	return 0;
}

/* Learns where the kernel's code is in its file. Returns 0 or -ENOMEM. */
static int learn_kernel(struct code_files *f, const struct dso *dso)
{
	struct code_file *file = &f->file[dso->index];
	struct elf_image img = ELF_IMAGE_INIT;
	int rc = file->missing || file->space.count ? 0 : open_image(f, dso, &img);

	file->missing |= rc && !is_passing(rc);
	elf_image_close(&img);
	return rc == -ENOMEM ? rc : 0;
}

/* --- reading -------------------------------------------------------------------------------------
 */

static bool has_code(const struct dso *dso)
{
	return dso->kind == DSO_ELF || dso->kind == DSO_VDSO || dso->kind == DSO_KERNEL;
}

/*
 * Copies what the block of @at has loaded. Returns the bytes, 0 at the end of the file, -EAGAIN if
 * the block is not loaded, or -ENOENT.
 */
static int copy_loaded(const struct code_files *f, const struct dso *dso, uint64_t at, void *buf,
		       size_t len)
{
	const struct code_file *file = &f->file[dso->index];
	size_t number = at / BLOCK, from = at % BLOCK;
	const struct code_block *block;

	if (file->missing)
		return -ENOENT;
	if (number >= file->cap || !file->blocks[number].bytes)
		return -EAGAIN;
	block = &file->blocks[number];
	if (from >= block->len)
		return 0;
	if (len > block->len - from)
		len = block->len - from;
	memcpy(buf, block->bytes + from, len);
	return (int)len;
}

/* Copies from the place @at of the file, across blocks. Returns the bytes or a negative errno. */
static int copy_code(struct code_files *f, const struct dso *dso, uint64_t at, uint8_t *buf,
		     size_t len)
{
	size_t done = 0;
	int rc = 0;

	while (done < len) {
		if ((at + done) / BLOCK >= BLOCKS_MAX)
			break;
		pthread_rwlock_rdlock(&f->lock);
		rc = copy_loaded(f, dso, at + done, buf + done, len - done);
		pthread_rwlock_unlock(&f->lock);
		if (rc == -EAGAIN) {
			/* What another thread drops at once is copied under its own lock. */
			pthread_rwlock_wrlock(&f->lock);
			rc = load(f, dso, at + done);
			if (!rc)
				rc = copy_loaded(f, dso, at + done, buf + done, len - done);
			pthread_rwlock_unlock(&f->lock);
		}
		if (rc == -EAGAIN)
			rc = -ENOENT;
		if (rc <= 0)
			break;
		done += (size_t)rc;
	}
	return done ? (int)done : rc ? rc : -ENOENT;
}

/* Finds the place of a kernel's address in its file. Returns 0 or a negative errno. */
static int kernel_place(struct code_files *f, const struct dso *dso, uint64_t addr, uint64_t *ret)
{
	const struct code_file *file = &f->file[dso->index];
	bool known, missing, found;
	int rc = 0;

	pthread_rwlock_rdlock(&f->lock);
	known = file->missing || file->space.count;
	pthread_rwlock_unlock(&f->lock);
	if (!known) {
		pthread_rwlock_wrlock(&f->lock);
		rc = learn_kernel(f, dso);
		pthread_rwlock_unlock(&f->lock);
	}
	pthread_rwlock_rdlock(&f->lock);
	missing = file->missing;
	found = !missing && elf_space_map(&file->space, 0, addr - file->delta, ret);
	pthread_rwlock_unlock(&f->lock);
	return rc ? rc : found ? 0 : -ENOENT;
}

static int read_code(void *arg, const struct aux_task *task, uint64_t time, uint64_t addr,
		     void *buf, size_t len, const char **ret_missing)
{
	struct code_files *f = arg;
	/* Records of the same time come before the code that they map. */
	struct moment at = {time ? time : UINT64_MAX, UINT64_MAX};
	struct location place;
	uint32_t pid = task->pid;
	uint64_t offset;
	int rc = -ENOENT;

	if (ret_missing)
		*ret_missing = NULL;
	/* The context of some traces names threads. */
	if (pid == UINT32_MAX && task->tid != UINT32_MAX)
		state_pid(f->state, task->tid, at, &pid);
	if (!state_find(f->state, pid, task->cpumode, addr, at, &place))
		return -ENOENT;
	if (len > place.map->end - addr)
		len = place.map->end - addr;
	offset = place.addr;
	if (has_code(place.map->dso) && place.map->dso->index < f->cap) {
		rc = place.map->dso->kind == DSO_KERNEL
			     ? kernel_place(f, place.map->dso, addr, &offset)
			     : 0;
		if (!rc)
			rc = copy_code(f, place.map->dso, offset, buf, len);
	}
	if (rc < 0 && ret_missing)
		*ret_missing = place.map->dso->name;
	return rc;
}
