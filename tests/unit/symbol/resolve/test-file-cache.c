// SPDX-License-Identifier: Apache-2.0
/* The copy of a program's symbols: that it is used, and when it is not. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "symbol-machine.h"

#define NAME	"test_symbol_example"
#define RENAMED "test_symbol_exampel"

static char cache[128];

static int place_with_cache(void **state)
{
	struct place *p;

	if (place_with_program(state))
		return -1;
	p = *state;
	snprintf(cache, sizeof(cache), "%s/.cache", p->dir);
	p->host.cache = cache;
	set_build_id(p);
	return p->dso.build_id_size ? 0 : -1;
}

#define CACHE_TEST(f) cmocka_unit_test_setup_teardown(f, place_with_cache, place_free)

/* The name of the function, with a new resolver. */
static const char *name_at(struct place *p, uint64_t off)
{
	const struct symbol *s;

	fresh(p);
	s = resolver_find(p->r, &p->dso, 1, off);
	return s ? s->name : "";
}

/* Where the copy is below the machine's root. */
static void copy_path(const struct place *p, char path[256])
{
	size_t n = (size_t)snprintf(path, 256, "/.cache/ringtail/symbols-");

	source_hex(p->dso.build_id, p->dso.build_id_size, path + n);
}

static bool has_copy(const struct place *p)
{
	char path[256], full[512];

	copy_path(p, path);
	snprintf(full, sizeof(full), "%s%s", p->dir, path);
	return !access(full, R_OK);
}

static char *read_all(const struct place *p, const char *path, size_t *ret_len)
{
	char full[512], *bytes;
	struct stat st;
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", p->dir, path);
	f = fopen(full, "re");
	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	bytes = malloc((size_t)st.st_size);
	assert_int_equal(fread(bytes, 1, (size_t)st.st_size, f), st.st_size);
	fclose(f);
	*ret_len = (size_t)st.st_size;
	return bytes;
}

/* Renames the function in the program itself, whose time and place stay as they are. */
static void rename_function(const struct place *p)
{
	struct timespec times[2];
	char path[128], *bytes;
	struct stat st;
	size_t len, nr = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/bin/prog", p->dir);
	bytes = read_all(p, "/bin/prog", &len);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0 && !fstat(fd, &st));
	for (size_t i = 0; i + sizeof(NAME) <= len; i++) {
		if (memcmp(bytes + i, NAME, sizeof(NAME)))
			continue;
		assert_int_equal(pwrite(fd, RENAMED, sizeof(RENAMED), (off_t)i), sizeof(RENAMED));
		nr++;
	}
	assert_true(nr);
	times[0] = times[1] = st.st_mtim;
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
	free(bytes);
}

static void test_copy_is_used(void **state)
{
	struct place *p = *state;
	uint64_t off = example_offset(p);

	assert_string_equal(name_at(p, off), NAME);
	assert_true(has_copy(p));
	rename_function(p);
	assert_string_equal(name_at(p, off), NAME);
	assert_null(resolver_why_not(p->r, &p->dso));
	assert_null(resolver_why_few(p->r, &p->dso));
	assert_null(resolver_find(p->r, &p->dso, 1, UINT64_MAX - 1));
	/* a file that was changed */
	assert_int_equal(sh(p, "touch $D/bin/prog"), 0);
	assert_string_equal(name_at(p, off), RENAMED);
	/* another file, which claims the same build-id */
	assert_int_equal(sh(p, "cp -p $D/bin/prog $D/new && sed s/" RENAMED "/" NAME "/g $D/new "
			       ">$D/new2 && touch -r $D/new $D/new2 && mv $D/new2 $D/bin/prog"),
			 0);
	assert_string_equal(name_at(p, off), NAME);
}

static void assert_same(const struct symbol *got, const struct symbol *want)
{
	assert_int_equal(!got, !want);
	if (!got)
		return;
	assert_string_equal(got->name, want->name);
	assert_int_equal(got->start, want->start);
	assert_int_equal(got->end, want->end);
}

/* All answers are the same with a copy and without. */
static void test_same_answers(void **state)
{
	struct place *p = *state, without = *p;
	size_t found = 0;

	without.r = NULL;
	without.host.cache = NULL;
	fresh(&without);
	fresh(p);
	resolver_find(p->r, &p->dso, 1, 0);
	assert_true(has_copy(p));
	fresh(p);
	for (uint64_t at = 0; at < 1 << 23; at += 29) {
		const struct symbol *got = resolver_find(p->r, &p->dso, 1, at);

		assert_same(got, resolver_find(without.r, &p->dso, 1, at));
		found += got != NULL;
	}
	assert_true(found > 100);
	resolver_free(without.r);
}

/* Each byte that differs makes it no copy. */
static void test_damage(void **state)
{
	struct place *p = *state;
	uint64_t off = example_offset(p);
	char path[256], *bytes;
	size_t len;

	assert_string_equal(name_at(p, off), NAME);
	copy_path(p, path);
	bytes = read_all(p, path, &len);
	rename_function(p);
	for (size_t i = 0; i < len; i += i < 64 || i + 256 > len ? 1 : len / 50) {
		bytes[i] ^= 0x40;
		put_file(p, path, bytes, len);
		bytes[i] ^= 0x40;
		assert_string_equal(name_at(p, off), RENAMED);
		put_file(p, path, bytes, i);
		assert_string_equal(name_at(p, off), RENAMED);
	}
	put_file(p, path, bytes, len);
	assert_string_equal(name_at(p, off), NAME);
	free(bytes);
}

/* A debug file that appears later counts; without one a copy says that symbols are few, too. */
static void test_debug_file(void **state)
{
	struct place *p = *state;
	uint64_t off = example_offset(p);
	char cmd[512], hex[2 * 64 + 1];

	source_hex(p->dso.build_id, p->dso.build_id_size, hex);
	if (sh(p, "cp $D/bin/prog $D/whole && strip $D/bin/prog"))
		skip();
	for (int i = 0; i < 2; i++) {
		assert_string_not_equal(name_at(p, off), NAME);
		assert_non_null(resolver_why_few(p->r, &p->dso));
		assert_true(has_copy(p));
	}
	snprintf(cmd, sizeof(cmd),
		 "mkdir -p $D/usr/lib/debug/.build-id/%.2s && "
		 "cp $D/whole $D/usr/lib/debug/.build-id/%.2s/%s.debug",
		 hex, hex, hex + 2);
	assert_int_equal(sh(p, cmd), 0);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(name_at(p, off), NAME);
		assert_null(resolver_why_few(p->r, &p->dso));
	}
	assert_int_equal(sh(p, "rm -r $D/usr"), 0);
	assert_string_not_equal(name_at(p, off), NAME);
	assert_non_null(resolver_why_few(p->r, &p->dso));
}

static const struct symtab_wanted *few(const struct dso *dso, void *arg)
{
	return arg;
}

/* A reader of few symbols uses a copy, and makes one of a program that stays as it is. */
static void test_few_wanted(void **state)
{
	struct place *p = *state;
	uint64_t off = example_offset(p);
	const struct symtab_wanted wanted = {.addr = &off, .nr = 1, .bytes = 1};

	p->opts.wanted = few;
	p->opts.wanted_arg = (void *)&wanted;
	assert_int_equal(sh(p, "touch -d '30 minutes ago' $D/bin/prog"), 0);
	assert_string_equal(name_at(p, off), NAME);
	assert_false(has_copy(p));
	assert_int_equal(sh(p, "touch -d '2 hours ago' $D/bin/prog"), 0);
	assert_string_equal(name_at(p, off), NAME);
	assert_true(has_copy(p));
	rename_function(p);
	assert_string_equal(name_at(p, off), NAME);
	/* a copy of another file stays */
	assert_int_equal(sh(p, "cp -p $D/bin/prog $D/first && touch -d '3 hours ago' $D/bin/prog"),
			 0);
	assert_string_equal(name_at(p, off), RENAMED);
	assert_int_equal(sh(p, "touch -r $D/first $D/bin/prog"), 0);
	assert_string_equal(name_at(p, off), NAME);
	/* it has all symbols */
	p->opts.wanted = NULL;
	fresh(p);
	resolver_find(p->r, &p->dso, 1, 0);
	assert_string_equal(name_at(p, off), NAME);
	/* nobody may write there */
	p->opts.wanted = few;
	assert_int_equal(sh(p, "rm -r $D/.cache/ringtail && chmod 777 $D/.cache"), 0);
	assert_string_equal(name_at(p, off), RENAMED);
	assert_false(has_copy(p));
}

static void test_none_is_made(void **state)
{
	struct place *p = *state;
	uint64_t off = example_offset(p);

	/* the user has no cache */
	p->host.cache = NULL;
	assert_string_equal(name_at(p, off), NAME);
	assert_false(has_copy(p));
	/* others may write there */
	p->host.cache = cache;
	assert_int_equal(sh(p, "mkdir -p $D/.cache && chmod 777 $D/.cache"), 0);
	assert_string_equal(name_at(p, off), NAME);
	assert_false(has_copy(p));
	/* the program has no build-id */
	assert_int_equal(sh(p, "chmod 700 $D/.cache"), 0);
	if (sh(p, "objcopy --remove-section .note.gnu.build-id $D/bin/prog"))
		skip();
	p->dso.build_id_size = 0;
	assert_string_equal(name_at(p, off), NAME);
	assert_int_not_equal(sh(p, "ls $D/.cache/ringtail/symbols-*"), 0);
}

static bool unreadable; /* tables of symbols, for the moment */

Elf_Data *__real_elf_getdata(Elf_Scn *scn, Elf_Data *data);
Elf_Data *__wrap_elf_getdata(Elf_Scn *scn, Elf_Data *data);

Elf_Data *__wrap_elf_getdata(Elf_Scn *scn, Elf_Data *data)
{
	GElf_Shdr shdr;

	if (!unreadable || !gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_SYMTAB)
		return __real_elf_getdata(scn, data);
	errno = EIO;
	return NULL;
}

/* What the disk or memory keeps from being read is not kept as missing. */
static void test_what_cannot_be_read(void **state)
{
	struct place *p = *state;
	uint64_t off = example_offset(p);

	unreadable = true;
	assert_string_not_equal(name_at(p, off), NAME);
	unreadable = false;
	assert_false(has_copy(p));
	assert_string_equal(name_at(p, off), NAME);
	assert_true(has_copy(p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CACHE_TEST(test_copy_is_used),
		CACHE_TEST(test_same_answers),
		CACHE_TEST(test_damage),
		CACHE_TEST(test_debug_file),
		CACHE_TEST(test_none_is_made),
		CACHE_TEST(test_few_wanted),
		CACHE_TEST(test_what_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
