// SPDX-License-Identifier: Apache-2.0
/*
 * From names to addresses. This test program and its libraries are the example; the dynamic linker
 * and their headers in memory give the expected results.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "sys/io/file.h"
#include "symbol/resolve/locate.h"

#include <fcntl.h>

#define SELF "/proc/self/exe"

int locate_me(int n);
extern volatile long long locate_variable;

__attribute__((noinline)) int locate_me(int n)
{
	return n * 3 + 1;
}

volatile long long locate_variable = 5;
static __thread int locate_thread_local;

/* A C++ name, as a compiler writes it: locate::Thing::run(int). */
int mangled(int n) __asm__("_ZN6locate5Thing3runEi");
__attribute__((noinline)) int mangled(int n)
{
	return n + 2;
}

/* locate::over(int), locate::over(int, char const*), Thing::get() const, Thing::operator()(int) */
int over_one(int n) __asm__("_ZN6locate4overEi");
int over_two(int n, const char *s) __asm__("_ZN6locate4overEiPKc");
int constant(void) __asm__("_ZNK6locate5Thing3getEv");
int call(int n) __asm__("_ZN6locate5ThingclEi");

__attribute__((noinline)) int over_one(int n)
{
	return n + 3;
}

__attribute__((noinline)) int over_two(int n, const char *s)
{
	return n + *s;
}

__attribute__((noinline)) int constant(void)
{
	return 5;
}

__attribute__((noinline)) int call(int n)
{
	return n + 6;
}

/* What a compiler takes out of functions, or makes of them for a case, has their names, too. */
int mangled_cold(int n) __asm__("_ZN6locate5Thing3runEi.cold");
int mangled_part(int n) __asm__("_ZN6locate5Thing3runEi.part.0");
int alone(int n) __asm__("_ZN6locate5aloneEi.isra.0");
int alone_cold(int n) __asm__("_ZN6locate5aloneEi.isra.0.cold");

__attribute__((noinline)) int mangled_cold(int n)
{
	return n + 7;
}

__attribute__((noinline)) int mangled_part(int n)
{
	return n + 8;
}

__attribute__((noinline)) int alone(int n)
{
	return n + 9;
}

__attribute__((noinline)) int alone_cold(int n)
{
	return n + 10;
}

static int chosen_one(int n)
{
	return n;
}

/* Named by locate_chosen() alone, which clang 14 does not count. */
__attribute__((used)) static int (*choose(void))(int)
{
	return chosen_one;
}

int locate_chosen(int n) __attribute__((ifunc("choose")));

static int find(const char *file, const char *name, struct event_symbol *ret, struct error *err)
{
	*err = (struct error)ERROR_INIT;
	return locate_symbols.find(file, name, ret, err);
}

static void found(const char *file, const char *name, struct event_symbol *ret)
{
	struct error err;

	if (find(file, name, ret, &err))
		fail_msg("%s: %s", name, err.text);
}

static void refused(const char *file, const char *name, int code, const char *says)
{
	struct event_symbol symbol;
	struct error err;
	int r = find(file, name, &symbol, &err);

	if (r != code || !strstr(err.text, says))
		fail_msg("%s: %d, %s", name, r, err.text);
}

/* What is in memory and what is at its offset in the file are the same. */
static void same_bytes(const char *file, const struct event_symbol *symbol, const void *memory)
{
	unsigned char bytes[4];
	FILE *f = fopen(file, "r");

	assert_non_null(f);
	assert_int_equal(fseek(f, (long)symbol->offset, SEEK_SET), 0);
	assert_int_equal(fread(bytes, 1, sizeof(bytes), f), sizeof(bytes));
	fclose(f);
	assert_memory_equal(bytes, memory, sizeof(bytes));
}

/* How far the file that has @address was moved when it was loaded, and its path. */
static uint64_t bias(const void *address, const char **ret_file)
{
	struct link_map *map;
	Dl_info info;

	assert_int_not_equal(dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP), 0);
	*ret_file = *map->l_name ? map->l_name : SELF;
	return map->l_addr;
}

static void the_program_itself(void **state)
{
	struct event_symbol symbol;
	const char *file;
	uint64_t moved = bias((void *)(uintptr_t)locate_me, &file);

	found(SELF, "locate_me", &symbol);
	assert_true(symbol.function);
	assert_int_equal(symbol.address + moved, (uintptr_t)locate_me);
	assert_true(symbol.size > 0);
	assert_int_equal(symbol.fixed, moved == 0);
	same_bytes(SELF, &symbol, (void *)(uintptr_t)locate_me);

	found(SELF, "locate_variable", &symbol);
	assert_false(symbol.function);
	assert_int_equal(symbol.address + moved, (uintptr_t)&locate_variable);
	assert_int_equal(symbol.size, sizeof(locate_variable));

	found(SELF, "locate::Thing::run", &symbol);
	assert_int_equal(symbol.address + moved, (uintptr_t)mangled);
	found(SELF, "locate::Thing::run(int)", &symbol);
	assert_int_equal(symbol.address + moved, (uintptr_t)mangled);
	found(SELF, "_ZN6locate5Thing3runEi", &symbol);
	assert_int_equal(symbol.address + moved, (uintptr_t)mangled);
}

/* By their parameters, which a message lists. */
static void overloaded_functions(void **state)
{
	struct event_symbol symbol;
	const char *file;
	uint64_t moved = bias((void *)(uintptr_t)over_two, &file);

	refused(SELF, "locate::over", -EINVAL, "(locate::over(int, char const*))");
	refused(SELF, "locate::over", -EINVAL, "(locate::over(int))");
	refused(SELF, "locate::over", -EINVAL, "or name and parameters");
	found(SELF, "locate::over(int)", &symbol);
	assert_int_equal(symbol.address + moved, (uintptr_t)over_one);
	found(SELF, "locate::over(int,char const *)", &symbol);
	assert_int_equal(symbol.address + moved, (uintptr_t)over_two);
	found(SELF, "locate::Thing::get() const", &symbol);
	found(SELF, "locate::Thing::get()", &symbol);
	assert_int_equal(symbol.address + moved, (uintptr_t)constant);
	found(SELF, "locate::Thing::operator()", &symbol);
	assert_int_equal(symbol.address + moved, (uintptr_t)call);
	refused(SELF, "locate::over(ins)", -ENOENT, "did you mean 'locate::over(int)'");
	refused(SELF, "locate::over(", -ENOENT, "no symbol");
}

/* Clones are no reason to ask which is meant, and do where there is nothing else. */
static void clones(void **state)
{
	struct event_symbol symbol;
	const char *file;
	uint64_t moved = bias((void *)(uintptr_t)mangled, &file);

	found(SELF, "locate::Thing::run", &symbol);
	assert_int_equal(symbol.address + moved, (uintptr_t)mangled);
	found(SELF, "_ZN6locate5Thing3runEi.cold", &symbol);
	assert_int_equal(symbol.address + moved, (uintptr_t)mangled_cold);
	found(SELF, "locate::alone", &symbol);
	assert_int_equal(symbol.address + moved, (uintptr_t)alone);
	found(SELF, "locate::alone(int)", &symbol);
	assert_int_equal(symbol.address + moved, (uintptr_t)alone);
	assert_int_not_equal(mangled_part(1), alone_cold(1));
}

static void offsets_are_names_too(void **state)
{
	struct event_symbol by_name, by_offset;
	char text[32];

	found(SELF, "locate_me", &by_name);
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)by_name.offset);
	found(SELF, text, &by_offset);
	assert_int_equal(by_offset.address, by_name.address);
	assert_int_equal(by_offset.offset, by_name.offset);
	assert_true(by_offset.function);
	refused(SELF, "0x7fffffff0000", -EINVAL, "an offset outside");
}

/* realpath() has two versions in glibc; a call means the default, which is the newer. */
static void the_default_of_versions(void **state)
{
	void *wanted = dlsym(RTLD_DEFAULT, "realpath"), *other;
	struct event_symbol symbol;
	const char *file;
	uint64_t moved = bias(wanted, &file);

	found(file, "realpath", &symbol);
	assert_int_equal(symbol.address + moved, (uintptr_t)wanted);
	same_bytes(file, &symbol, wanted);
	other = dlvsym(RTLD_DEFAULT, "realpath", "GLIBC_2.2.5");
	if (other)
		assert_int_not_equal(symbol.address + moved, (uintptr_t)other);
}

static void what_has_no_address_of_its_own(void **state)
{
	locate_thread_local++;
	refused(SELF, "locate_thread_local", -EINVAL, "in each thread");
	refused(SELF, "locate_chosen", -EINVAL, "STT_GNU_IFUNC");
	refused(SELF, "dlvsym", -ENOENT, "takes it from a library");
	refused(SELF, "locate_mee", -ENOENT, "did you mean 'locate_me'");
	refused(SELF, "nothing_like_it_anywhere", -ENOENT, "no symbol");
	refused("/etc/passwd", "main", -EBADMSG, "ELF");
	refused("/no/such/program", "main", -ENOENT, "/no/such/program");
	refused("/proc", "main", -EINVAL, "/proc: not a regular file");
}

static void the_kernel(void **state)
{
	struct event_symbol symbol;
	struct error err;
	int rc = find(NULL, "do_exit", &symbol, &err);

	if (rc == -EACCES)
		skip(); /* it hides its addresses from this user */
	assert_int_equal(rc, 0);
	assert_true(symbol.function && symbol.address >> 63);
	refused(NULL, "do_exti", -ENOENT, "do_exit");
}

/* A table that claims anything: an answer or a sentence, and no fault. */
static void damaged_files_do_no_harm(void **state)
{
	static const char *const asked[] = {"main", "free", "0x1000", "no::such", "_start"};
	struct buf program = {0};
	char path[48];
	int fd = memfd_create("damaged", 0);

	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(file_read_at(AT_FDCWD, "/bin/true", &program), 0);
	assert_true(program.len > 4096);
	srand(3);
	for (int round = 0; round < 1500; round++) {
		struct event_symbol symbol;
		struct error err;

		assert_int_equal(pwrite(fd, program.data, program.len, 0), program.len);
		for (int n = rand() % 12; n >= 0; n--) {
			/* The headers of the file, of its segments and sections, or anything. */
			size_t where[] = {(size_t)rand() % 1024,
					  program.len - 1 - (size_t)rand() % 2048,
					  (size_t)rand() % 4096, (size_t)rand() % program.len};
			unsigned char c = (unsigned char)(rand() % 3 ? rand() : 0xff);

			assert_int_equal(pwrite(fd, &c, 1, (off_t)where[rand() % 4]), 1);
		}
		if (round % 8 == 0)
			assert_int_equal(ftruncate(fd, rand() % (long)program.len), 0);
		for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
			int rc = find(path, asked[i], &symbol, &err);

			assert_int_equal(err.code, rc);
			assert_true(!rc || err.text[0]);
		}
	}
	close(fd);
	buf_release(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_program_itself),
		cmocka_unit_test(overloaded_functions),
		cmocka_unit_test(clones),
		cmocka_unit_test(offsets_are_names_too),
		cmocka_unit_test(the_default_of_versions),
		cmocka_unit_test(what_has_no_address_of_its_own),
		cmocka_unit_test(the_kernel),
		cmocka_unit_test(damaged_files_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
