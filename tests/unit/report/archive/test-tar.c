// SPDX-License-Identifier: Apache-2.0
/* Reads archives of tar.h back, block by block, by the rules of POSIX. */
#include "report/archive/tar.h"

#include <bzlib.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BLOCK	  512u
#define MAX_BYTES (1u << 20)

struct unpacked {
	char *bytes;
	unsigned int len, at;
};

struct entry {
	char type;
	char path[2048], target[2048];
	unsigned long size;
	const char *bytes;
};

static void unpack(char *packed, size_t len, struct unpacked *ret)
{
	ret->bytes = malloc(MAX_BYTES);
	assert_non_null(ret->bytes);
	ret->len = MAX_BYTES;
	ret->at = 0;
	assert_int_equal(
		BZ2_bzBuffToBuffDecompress(ret->bytes, &ret->len, packed, (unsigned int)len, 0, 0),
		BZ_OK);
	assert_int_equal(ret->len % (20 * BLOCK), 0);
}

/* Takes a value of the lines of an extended header, each of which names its own length. */
static void take_keywords(const char *lines, size_t len, struct entry *e)
{
	for (const char *line = lines; line < lines + len;) {
		char *rest;
		size_t n = strtoul(line, &rest, 10);
		const char *value = strchr(rest, '=') + 1;
		char *field = !strncmp(rest, " path=", 6) ? e->path : e->target;

		assert_true(n && line + n <= lines + len && line[n - 1] == '\n');
		memcpy(field, value, (size_t)(line + n - 1 - value));
		field[line + n - 1 - value] = '\0';
		line += n;
	}
}

static void check_sum(const char *header)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < BLOCK; i++)
		sum += i >= 148 && i < 156 ? ' ' : (unsigned char)header[i];
	assert_int_equal(strtoul(header + 148, NULL, 8), sum);
}

/* Returns false at the end, which is two blocks of zeros. */
static bool next_entry(struct unpacked *u, struct entry *ret)
{
	static const char zeros[2 * BLOCK];
	const char *h = u->bytes + u->at;
	bool extended;

	memset(ret, 0, sizeof(*ret));
	if (!memcmp(h, zeros, sizeof(zeros)))
		return false;
	do {
		h = u->bytes + u->at;
		check_sum(h);
		assert_memory_equal(h + 257,
				    "ustar\0"
				    "00",
				    8);
		ret->type = h[156];
		ret->size = strtoul(h + 124, NULL, 8);
		ret->bytes = h + BLOCK;
		extended = ret->type == 'x';
		if (extended)
			take_keywords(ret->bytes, ret->size, ret);
		u->at += BLOCK + (unsigned int)((ret->size + BLOCK - 1) / BLOCK * BLOCK);
	} while (extended);
	if (!*ret->path)
		memcpy(ret->path, h, 100);
	if (!*ret->target)
		memcpy(ret->target, h + 157, 100);
	return true;
}

static char *name_of(size_t len)
{
	char *name = calloc(1, len + 1);

	memset(name, 'n', len);
	return name;
}

/* Files of sizes around a block, and names around what a header holds. */
static void entries_come_back(void **state)
{
	static const size_t sizes[] = {0, 1, 511, 512, 513, 70000};
	static const size_t lengths[] = {1, 99, 100, 101, 986, 987, 988, 1500};
	struct unpacked u;
	struct entry e;
	struct tar *t;
	char *packed, bytes[70000];
	size_t len;
	FILE *f = open_memstream(&packed, &len);

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7);
	assert_int_equal(tar_new(f, &t), 0);
	for (size_t i = 0; i < 6; i++)
		for (size_t k = 0; k < 8; k++) {
			char *name = name_of(lengths[k]);

			assert_int_equal(tar_begin_file(t, name, sizes[i]), 0);
			/* In two pieces, of which one may be empty. */
			if (sizes[i])
				assert_int_equal(tar_put(t, bytes, sizes[i] / 2), 0);
			if (sizes[i])
				assert_int_equal(
					tar_put(t, bytes + sizes[i] / 2, sizes[i] - sizes[i] / 2),
					0);
			assert_int_equal(tar_add_link(t, "link", name), 0);
			free(name);
		}
	assert_int_equal(tar_end(t), 0);
	tar_free(t);
	fclose(f);
	unpack(packed, len, &u);
	for (size_t i = 0; i < 6; i++)
		for (size_t k = 0; k < 8; k++) {
			assert_true(next_entry(&u, &e));
			assert_int_equal(e.type, '0');
			assert_int_equal(strlen(e.path), lengths[k]);
			assert_int_equal(e.size, sizes[i]);
			assert_memory_equal(e.bytes, bytes, sizes[i]);
			assert_true(next_entry(&u, &e));
			assert_int_equal(e.type, '2');
			assert_string_equal(e.path, "link");
			assert_int_equal(strlen(e.target), lengths[k]);
		}
	assert_false(next_entry(&u, &e));
	free(u.bytes);
	free(packed);
}

static void a_full_disk_is_an_error(void **state)
{
	FILE *f = fopen("/dev/full", "w");
	struct tar *t;
	int rc;

	assert_non_null(f);
	setvbuf(f, NULL, _IONBF, 0);
	assert_int_equal(tar_new(f, &t), 0);
	rc = tar_add_link(t, "a", "b") ?: tar_end(t);
	assert_int_equal(rc, -ENOSPC);
	tar_free(t);
	tar_free(NULL);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_come_back),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
