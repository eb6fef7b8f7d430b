// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/code/blocks.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"

/* uthash's own function takes no key: see base/hash.h. */
#define HASH_FUNCTION(p, n, ret) ((ret) = (unsigned int)hash_bytes(hash_key(), p, n))
#include <uthash.h>

#define BLOCK ((uint64_t)64 << 10)

struct block_key {
	uint64_t file, number;
};

struct code_block {
	struct block_key key;
	uint32_t len; /* less than BLOCK at the end of the file; 0 behind it */
	UT_hash_handle hh;
	uint8_t bytes[];
};

struct code_blocks {
	code_open_fn open;
	void *arg;
	pthread_rwlock_t lock; /* guards all below */
	struct code_block *blocks;
	size_t loaded, max; /* bytes */
};

struct code_blocks *code_blocks_new(code_open_fn open, void *arg, size_t max)
{
	struct code_blocks *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->open = open;
	b->arg = arg;
	b->max = max;
	pthread_rwlock_init(&b->lock, NULL);
	return b;
}

static void drop(struct code_blocks *b)
{
	struct code_block *block, *next;

	HASH_ITER (hh, b->blocks, block, next) {
		HASH_DEL(b->blocks, block);
		free(block);
	}
	b->loaded = 0;
}

void code_blocks_free(struct code_blocks *b)
{
	if (!b)
		return;
	drop(b);
	pthread_rwlock_destroy(&b->lock);
	free(b);
}

void code_blocks_limit(struct code_blocks *b, size_t bytes)
{
	b->max = bytes;
}

size_t code_blocks_loaded(const struct code_blocks *b)
{
	return b->loaded;
}

static struct code_block *find(const struct code_blocks *b, const struct block_key *key)
{
	struct code_block *block;

	HASH_FIND(hh, b->blocks, key, sizeof(*key), block);
	return block;
}

/* Fills @buf from the image, as far as it goes. Returns the bytes read. */
static size_t read_image(const struct elf_image *img, uint64_t at, uint8_t *buf, size_t len)
{
	size_t done = 0;
	ssize_t n;

	while (done < len && (n = elf_image_read(img, at + done, buf + done, len - done)) > 0)
		done += (size_t)n;
	return done;
}

/* Adds a block of an open image. Returns 0 or -ENOMEM. */
static int add(struct code_blocks *b, const struct elf_image *img, const struct block_key *key)
{
	struct code_block *block = malloc(sizeof(*block) + BLOCK), *fitting;

	if (!block)
		return -ENOMEM;
	*block = (struct code_block){.key = *key};
	block->len = (uint32_t)read_image(img, key->number * BLOCK, block->bytes, BLOCK);
	fitting = realloc(block, sizeof(*block) + block->len);
	block = fitting ? fitting : block;
	if (b->loaded + sizeof(*block) + block->len > b->max)
		drop(b);
	HASH_ADD(hh, b->blocks, key, sizeof(block->key), block);
	if (!block->hh.tbl) {
		free(block);
		return -ENOMEM;
	}
	b->loaded += sizeof(*block) + block->len;
	return 0;
}

/* Loads the block with @key. The caller holds the lock for writing. Returns as @b->open() does. */
static int load(struct code_blocks *b, const struct block_key *key)
{
	struct elf_image img = ELF_IMAGE_INIT;
	struct block_key other = *key;
	int rc;

	if (find(b, key))
		return 0;
	rc = b->open(b->arg, key->file, &img);
	if (rc)
		return rc;
	/* What was unpacked is not unpacked again for each block. */
	for (other.number = 0; img.fd < 0 && !rc && other.number < img.mem.len / BLOCK + 1 &&
			       b->loaded + BLOCK < b->max / 2;
	     other.number++)
		if (!find(b, &other))
			rc = add(b, &img, &other);
	if (!rc && !find(b, key))
		rc = add(b, &img, key);
	elf_image_close(&img);
	return rc;
}

/* Copies from a loaded block. Returns the bytes, or -EAGAIN if it is not loaded. */
static int copy(const struct code_blocks *b, const struct block_key *key, uint64_t from,
		uint8_t *buf, size_t len)
{
	const struct code_block *block = find(b, key);

	if (!block)
		return -EAGAIN;
	if (from >= block->len)
		return 0;
	if (len > block->len - from)
		len = block->len - from;
	memcpy(buf, block->bytes + from, len);
	return (int)len;
}

int code_blocks_read(struct code_blocks *b, size_t number, uint64_t at, uint8_t *buf, size_t len)
{
	size_t done = 0;
	int rc = 0;

	while (done < len && at + done >= at) {
		const struct block_key key = {number, (at + done) / BLOCK};
		uint64_t from = (at + done) % BLOCK;

		pthread_rwlock_rdlock(&b->lock);
		rc = copy(b, &key, from, buf + done, len - done);
		pthread_rwlock_unlock(&b->lock);
		if (rc == -EAGAIN) {
			/* What another thread drops at once is copied under its own lock. */
			pthread_rwlock_wrlock(&b->lock);
			rc = load(b, &key);
			if (!rc)
				rc = copy(b, &key, from, buf + done, len - done);
			pthread_rwlock_unlock(&b->lock);
		}
		if (rc <= 0)
			break;
		done += (size_t)rc;
	}
	if (done)
		return (int)done;
	return rc == -ENOMEM || !rc ? rc : -ENOENT;
}
