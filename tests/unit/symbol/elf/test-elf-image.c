// SPDX-License-Identifier: Apache-2.0
/* Images that are truncated or damaged. */
#include "symbol-machine.h"

static void *ask_all(void *arg)
{
	struct place *p = arg;
	uint64_t off, hits = 0;

	for (off = 0; off < 1 << 23; off += 256)
		hits += !!resolver_find(p->r, &p->dso, 1, off);
	return (void *)(uintptr_t)hits;
}

static uint8_t *slurp(const char *path, size_t *ret_len)
{
	struct buf b = {0};

	assert_int_equal(source_read(path, &b, NULL), 0);
	*ret_len = b.len;
	return b.data;
}

static void try_bytes(struct place *p, const uint8_t *data, size_t len)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/bin/prog", p->dir);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
	fresh(p);
	if (!resolver_why_not(p->r, &p->dso))
		ask_all(p);
}

/* Truncated and damaged files: no crash, and a file truncated before its tables has a reason. */
static void test_damaged(void **state)
{
	static const char source[] =
		"#include <stdio.h>\nint f(int x) { return printf(\"%d\", x); } "
		"int main(void) { return f(1); }";
	struct place *p = *state;
	unsigned int seed = 7;
	uint8_t *data, *copy;
	char cmd[512], path[128];
	size_t len, i, k;

	snprintf(cmd, sizeof(cmd), "printf '%%s' '%s' | cc -g -x c - -o $D/bin/prog", source);
	if (sh(p, cmd))
		skip();
	snprintf(path, sizeof(path), "%s/bin/prog", p->dir);
	data = slurp(path, &len);
	copy = malloc(len);
	for (i = 0; i < len; i += 1 + len / 150)
		try_bytes(p, data, i);
	try_bytes(p, data, len / 2);
	assert_non_null(resolver_why_not(p->r, &p->dso));
	for (i = 0; i < 600; i++) {
		memcpy(copy, data, len);
		for (k = 0; k < 8; k++) {
			/* mostly the headers: of the file, of segments, of sections */
			size_t at;

			seed = seed * 1103515245 + 12345;
			at = (seed >> 4) % (i % 2 ? 1024 : 2100);
			if (i % 2 == 0)
				at = len - 1 - at;
			copy[at] = (uint8_t)(seed >> 20);
		}
		try_bytes(p, copy, len);
	}
	free(copy);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROGRAM_TEST(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
