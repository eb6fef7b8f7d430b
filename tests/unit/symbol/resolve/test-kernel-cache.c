// SPDX-License-Identifier: Apache-2.0
/* The copy of the kernel's symbols: that it is used, and when it is not. */
#include "symbol-machine.h"

#define BOOT "11111111-2222-3333-4444-555555555555"
#define COPY "/.cache/ringtail/kernel-" BOOT

static char cache[128];

static void machine(struct place *p, const char *list)
{
	snprintf(cache, sizeof(cache), "%s/.cache", p->dir);
	p->host.cache = cache;
	put_text(p, "/proc/kallsyms", list);
	put_text(p, "/proc/sys/kernel/random/boot_id", BOOT "\n");
	put_notes(p, "/sys/kernel/notes", id_a);
	fresh(p);
}

static bool has_copy(const struct place *p)
{
	char path[256];

	snprintf(path, sizeof(path), "%s" COPY, p->dir);
	return !access(path, R_OK);
}

/* A list that begins as the copy says, and whose functions have other names: a copy gives the old.
 */
static const char other_names[] = "0000000000000000 A fixed_percpu_data\n"
				  "ffffffff81000000 T _stext\n"
				  "ffffffff81000000 T _text\n"
				  "ffffffff81000100 t renamed_fn\n"
				  "ffffffff81000400 T last_fn\n"
				  "ffffffffc0500000 t bpf_prog_new\t[bpf]\n";

static void test_copy_is_used(void **state)
{
	struct place *p = *state;
	struct dso dso = kernel_dso(id_a, TEXT), moved = kernel_dso(id_a, TEXT + 0x2000000);

	moved.index = 1;
	machine(p, kallsyms);
	assert_symbol(p, &dso, 1, TEXT + 0x101, "local_fn");
	assert_true(has_copy(p));
	machine(p, other_names);
	assert_symbol(p, &dso, 1, TEXT + 0x101, "local_fn");
	assert_symbol(p, &dso, 1, TEXT + 0x2ff, "strong_fn");
	assert_symbol(p, &dso, 1, TEXT + 5, "_text");
	assert_symbol(p, &moved, 1, TEXT + 0x2000101, "local_fn");
	assert_symbol(p, &moved, 1, TEXT + 0x101, NULL);
	assert_null(resolver_why_not(p->r, &dso));
	/* Beyond the image the list itself counts, from the last function on. */
	assert_symbol(p, &dso, 1, TEXT + 0x400, "last_fn");
	assert_symbol(p, &dso, 1, 0xffffffffc0500004, "bpf_prog_new");
	assert_symbol(p, &dso, 1, TEXT + 0x101, "local_fn");
}

/* A recording without build-id uses the copy only if its kernel is where the running one is. */
static void test_no_build_id(void **state)
{
	struct place *p = *state;
	struct dso dso = kernel_dso(id_a, TEXT), moved;

	dso.build_id_size = 0;
	moved = dso;
	moved.ref_addr += 0x1000;
	moved.index = 1;
	machine(p, kallsyms);
	assert_symbol(p, &dso, 1, TEXT + 0x101, "local_fn");
	assert_true(has_copy(p));
	machine(p, other_names);
	assert_symbol(p, &dso, 1, TEXT + 0x101, "local_fn");
	assert_why(p, &moved, TEXT + 0x1101, "is not at the address of the running one");
}

/* All answers are the same with a copy and without. */
static void test_same_answers(void **state)
{
	struct place *p = *state;
	struct dso dso = kernel_dso(id_a, TEXT);
	const struct symbol *s;
	struct buf text = {(uint8_t *)(uintptr_t)kallsyms, sizeof(kallsyms) - 1, 0};
	struct symtab *t;

	assert_int_equal(kallsyms_table(&text, NULL, 0, NULL, &t), 0);
	machine(p, kallsyms);
	assert_symbol(p, &dso, 1, TEXT, "_text");
	for (int i = 0; i < 2; i++) {
		for (uint64_t at = TEXT - 8; at < TEXT + 0x1000; at += 4) {
			const struct symbol *want = symtab_find(t, at, true);

			s = resolver_find(p->r, &dso, 1, at);
			assert_int_equal(!s, !want);
			if (s) {
				assert_string_equal(s->name, want->name);
				assert_int_equal(s->start, want->start);
				assert_int_equal(s->end, want->end);
			}
		}
		fresh(p);
	}
	symtab_free(t);
}

static void test_copy_is_not_used(void **state)
{
	struct place *p = *state;
	struct dso dso = kernel_dso(id_a, TEXT), unnamed = kernel_dso(id_a, TEXT);

	unnamed.ref_name = "weak_fn";
	unnamed.ref_addr = TEXT + 0x200;
	unnamed.index = 1;
	machine(p, kallsyms);
	assert_symbol(p, &dso, 1, TEXT + 0x101, "local_fn");
	/* another boot */
	machine(p, other_names);
	put_text(p, "/proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555556\n");
	fresh(p);
	assert_symbol(p, &dso, 1, TEXT + 0x101, "renamed_fn");
	/* another build */
	machine(p, other_names);
	put_notes(p, "/sys/kernel/notes", id_b);
	fresh(p);
	assert_why(p, &dso, TEXT + 0x101, "build-id differs");
	/* at another place */
	machine(p, "ffffffff82000000 T _text\nffffffff82000100 t renamed_fn\n");
	assert_symbol(p, &dso, 1, TEXT + 0x101, "renamed_fn");
	/* hidden from this process */
	machine(p, "0000000000000000 T _text\n0000000000000000 t local_fn\n");
	assert_why(p, &dso, TEXT + 0x101, "shows no addresses");
	/* the copy does not have the reference symbol */
	machine(p, kallsyms);
	assert_symbol(p, &unnamed, 1, TEXT + 0x101, "local_fn");
}

/* Each byte that differs makes it no copy. */
static void test_damage(void **state)
{
	struct place *p = *state;
	struct dso dso = kernel_dso(id_a, TEXT);
	char bytes[4096], path[256];
	size_t len;
	FILE *f;

	machine(p, kallsyms);
	assert_symbol(p, &dso, 1, TEXT + 0x101, "local_fn");
	snprintf(path, sizeof(path), "%s" COPY, p->dir);
	f = fopen(path, "re");
	assert_non_null(f);
	len = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	assert_true(len > 100 && len < sizeof(bytes));
	put_text(p, "/proc/kallsyms", other_names);
	for (size_t i = 0; i < 2 * len; i++) {
		if (i < len)
			bytes[i] ^= 0x40;
		put_file(p, COPY, bytes, i < len ? len : i - len);
		if (i < len)
			bytes[i] ^= 0x40;

		fresh(p);
		assert_symbol(p, &dso, 1, TEXT + 0x101, "renamed_fn");
	}
}

static void test_none_is_made(void **state)
{
	struct place *p = *state;
	struct dso dso = kernel_dso(id_a, TEXT), moved = kernel_dso(id_a, TEXT + 0x1000);

	/* of addresses that are hidden */
	machine(p, "0000000000000000 T _text\n0000000000000000 t local_fn\n");
	assert_symbol(p, &dso, 1, TEXT + 0x101, NULL);
	assert_false(has_copy(p));
	/* with a module inside the image */
	machine(p, "ffffffff81000000 T _text\nffffffff81000100 t in\t[module]\n"
		   "ffffffff81000200 t last\n");
	assert_symbol(p, &dso, 1, TEXT + 1, "_text");
	assert_false(has_copy(p));
	/* of addresses that were moved */
	machine(p, kallsyms);
	assert_symbol(p, &moved, 1, TEXT + 0x1101, "local_fn");
	assert_false(has_copy(p));
	assert_int_equal(sh(p, "mkdir -p $D/.cache && chmod 777 $D/.cache"), 0);
	fresh(p);
	assert_symbol(p, &dso, 1, TEXT + 0x101, "local_fn");
	assert_false(has_copy(p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(test_copy_is_used),	   PLACE_TEST(test_same_answers),
		PLACE_TEST(test_copy_is_not_used), PLACE_TEST(test_damage),
		PLACE_TEST(test_none_is_made),	   PLACE_TEST(test_no_build_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
