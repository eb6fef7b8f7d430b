// SPDX-License-Identifier: Apache-2.0
/* The resolver finds a symbol for every kind of dso, for any number of threads. */
#include <pthread.h>

#include "symbol-machine.h"

static void test_kinds_without_files(void **state)
{
	struct place *p = *state;
	struct dso bpf = {.name = "bpf_prog_1234", .kind = DSO_KSYMBOL};
	struct dso guest = {.name = "[guest.kernel.kallsyms]", .kind = DSO_GUEST, .index = 100000};

	fresh(p);
	assert_symbol(p, &bpf, 1, 0xffffffffc0001234, "bpf_prog_1234");
	assert_null(resolver_why_not(p->r, &bpf));
	assert_why(p, &guest, 0x1000, "guest");
	resolver_free(NULL);
}

static void *ask_all(void *arg)
{
	struct place *p = arg;
	uint64_t off, hits = 0;

	for (off = 0; off < 1 << 23; off += 256)
		hits += !!resolver_find(p->r, &p->dso, 1, off);
	return (void *)(uintptr_t)hits;
}

static void test_threads(void **state)
{
	struct place *p = *state;
	pthread_t threads[4];
	void *first, *hits;
	int i;

	fresh(p);
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_all, p), 0);
	pthread_join(threads[0], &first);
	for (i = 1; i < 4; i++) {
		pthread_join(threads[i], &hits);
		assert_ptr_equal(hits, first);
	}
	assert_true((uintptr_t)first > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(test_kinds_without_files),
		PROGRAM_TEST(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
