// SPDX-License-Identifier: Apache-2.0
/*
 * Symbols of files. This test program is its own example; nm, objdump and objcopy give the expected
 * results, if they are installed.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/resolve/sources.h"

/* A directory for --symfs; the program in it is "/bin/prog". */
struct place {
	char dir[64];
	struct symbol_host host;
	struct resolver_opts opts;
	struct resolver *r;
	struct dso dso;
};

/* Runs a shell command with $D as the directory. Returns its exit status. */
static int sh(const struct place *p, const char *cmd)
{
	char full[2048];

	snprintf(full, sizeof(full), "D='%s'; { %s; } 2>/dev/null >&2", p->dir, cmd);
	return system(full);
}

static void fresh(struct place *p)
{
	resolver_free(p->r);
	p->r = NULL;
	assert_int_equal(resolver_new_on(&p->opts, &p->host, &p->r, NULL), 0);
}

static int place_new(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	char cmd[256];

	strcpy(p->dir, "/tmp/test-symbol-elf-XXXXXX");
	if (!mkdtemp(p->dir))
		return -1;
	p->host = (struct symbol_host){
		.root = p->dir, .home = p->dir, .hostname = "here", .osrelease = "6.1"};
	p->opts = (struct resolver_opts){.symfs = p->dir};
	p->dso = (struct dso){.name = "/bin/prog", .kind = DSO_ELF};
	snprintf(cmd, sizeof(cmd), "mkdir $D/bin && cp /proc/%d/exe $D/bin/prog", (int)getpid());
	*state = p;
	fresh(p); /* also makes libelf ready */
	return sh(p, cmd) ? -1 : 0;
}

static int place_free(void **state)
{
	struct place *p = *state;
	int rc;

	resolver_free(p->r);
	rc = sh(p, "rm -rf \"$D\"");
	free(p);
	return rc;
}

/* The function in this program that all tests look for, and where it is in the file. */
__attribute__((noinline)) uint64_t test_symbol_example(uint64_t x);

uint64_t test_symbol_example(uint64_t x)
{
	return x * 3 + 1;
}

static uint64_t example_offset(const struct place *p)
{
	struct elf_image img = ELF_IMAGE_INIT;
	struct elf_space space;
	char path[128];
	uint64_t value, off;

	snprintf(path, sizeof(path), "%s/bin/prog", p->dir);
	assert_int_equal(elf_image_open(path, &img, NULL), 0);
	assert_true(elf_symbol_value(&img, "test_symbol_example", &value));
	assert_int_equal(elf_space_file(&img, &space, NULL), 0);
	assert_true(elf_space_map(&space, 0, value, &off));
	elf_space_release(&space);
	elf_image_close(&img);
	return off;
}

static void set_build_id(struct place *p)
{
	struct elf_image img = ELF_IMAGE_INIT;
	char path[128];

	snprintf(path, sizeof(path), "%s/bin/prog", p->dir);
	assert_int_equal(elf_image_open(path, &img, NULL), 0);
	p->dso.build_id_size = (uint8_t)img.build_id_size;
	memcpy(p->dso.build_id, img.build_id, img.build_id_size);
	elf_image_close(&img);
}

static bool finds(struct place *p, uint64_t off)
{
	const struct symbol *s;

	fresh(p);
	s = resolver_find(p->r, &p->dso, 1, off);
	return s && !strcmp(s->name, "test_symbol_example") && s->start == off;
}

static void assert_why(struct place *p, const char *part)
{
	const char *why;

	fresh(p);
	why = resolver_why_not(p->r, &p->dso);
	if (!why)
		fail_msg("there are symbols, expected: %s", part);
	else if (!strstr(why, part))
		fail_msg("\"%s\" does not say \"%s\"", why, part);
}

/* Every function that nm knows must be found at its start, under one of its names. */
static void test_like_nm(void **state)
{
	struct place *p = *state;
	struct elf_image img = ELF_IMAGE_INIT;
	struct elf_space space;
	char cmd[256], line[4096], name[4096], type;
	unsigned long long addr;
	size_t n = 0, same = 0;
	FILE *f;

	if (sh(p, "nm --version"))
		skip();
	snprintf(cmd, sizeof(cmd), "%s/bin/prog", p->dir);
	assert_int_equal(elf_image_open(cmd, &img, NULL), 0);
	assert_int_equal(elf_space_file(&img, &space, NULL), 0);
	p->opts.no_demangle = true;
	fresh(p);
	snprintf(cmd, sizeof(cmd), "nm --defined-only '%s/bin/prog'", p->dir);
	f = popen(cmd, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		const struct symbol *s;
		uint64_t off;

		if (sscanf(line, "%llx %c %4095s", &addr, &type, name) != 3 || !strchr("Tti", type))
			continue;
		if (!elf_space_map(&space, 0, addr, &off))
			continue;
		s = resolver_find(p->r, &p->dso, 1, off);
		if (!s)
			fail_msg("%s at 0x%llx is not found", name, addr);
		/* marks without a size inside of functions or between them may differ */
		n++;
		same += s->start == off;
	}
	assert_int_equal(pclose(f), 0);
	assert_true(n > 50);
	assert_true(same + 8 >= n);
	elf_space_release(&space);
	elf_image_close(&img);
}

/* objdump labels each entry of the PLT. */
static void test_plt(void **state)
{
	struct place *p = *state;
	struct elf_image img = ELF_IMAGE_INIT;
	struct elf_space space;
	char cmd[256], line[4096], name[2048], want[2100];
	unsigned long long addr;
	size_t n = 0;
	FILE *f;

	if (sh(p, "objdump --version"))
		skip();
	snprintf(cmd, sizeof(cmd), "%s/bin/prog", p->dir);
	assert_int_equal(elf_image_open(cmd, &img, NULL), 0);
	if (img.ehdr.e_machine != EM_X86_64 && img.ehdr.e_machine != EM_AARCH64)
		skip();
	assert_int_equal(elf_space_file(&img, &space, NULL), 0);
	p->opts.no_demangle = true;
	fresh(p);
	snprintf(cmd, sizeof(cmd), "objdump -d '%s/bin/prog' | grep '@plt>:$'", p->dir);
	f = popen(cmd, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		const struct symbol *s;
		uint64_t off;

		if (sscanf(line, "%llx <%2047[^>@]", &addr, name) != 2 || strchr(name, '*'))
			continue;
		assert_true(elf_space_map(&space, 0, addr, &off));
		snprintf(want, sizeof(want), "%s@plt", name);
		s = resolver_find(p->r, &p->dso, 1, off);
		if (!s)
			fail_msg("%s is not found", want);
		assert_string_equal(s->name, want);
		n++;
	}
	pclose(f);
	assert_true(n > 5);
	elf_space_release(&space);
	elf_image_close(&img);
}

/* An entry whose relocation names no symbol, but the function that chooses among several. */
static void test_plt_of_chosen(void **state)
{
	static const char source[] = "rm $D/bin/prog; cc -x c -o $D/bin/prog - <<'EOF'\n"
				     "static int one(void) { return 1; }\n"
				     "static int (*pick(void))(void) { return one; }\n"
				     "__attribute__((ifunc(\"pick\"), visibility(\"hidden\")))\n"
				     "int chosen(void);\n"
				     "int main(void) { return chosen(); }\n"
				     "EOF\n"
				     "test -s $D/bin/prog";
	struct place *p = *state;
	struct elf_image img = ELF_IMAGE_INIT;
	const struct symbol *s;
	struct elf_space space;
	char text[256];
	unsigned long long addr;
	uint64_t off;
	FILE *f;

	if (sh(p, source) || sh(p, "objdump --version"))
		skip();
	fresh(p);
	snprintf(text, sizeof(text), "objdump -d '%s/bin/prog' | grep '\\*ABS\\*.*@plt>:$'",
		 p->dir);
	f = popen(text, "re");
	assert_non_null(f);
	if (!fgets(text, sizeof(text), f)) {
		pclose(f);
		skip(); /* this linker calls it without an entry, or objdump names it */
	}
	pclose(f);
	assert_int_equal(sscanf(text, "%llx", &addr), 1);
	snprintf(text, sizeof(text), "%s/bin/prog", p->dir);
	assert_int_equal(elf_image_open(text, &img, NULL), 0);
	assert_int_equal(elf_space_file(&img, &space, NULL), 0);
	assert_true(elf_space_map(&space, 0, addr, &off));
	s = resolver_find(p->r, &p->dso, 1, off);
	assert_non_null(s);
	assert_string_equal(s->name, "chosen@plt");
	elf_space_release(&space);
	elf_image_close(&img);
}

static void test_identity(void **state)
{
	struct place *p = *state;
	uint64_t off = example_offset(p);
	char symfs[128];

	assert_true(finds(p, off));
	assert_true(test_symbol_example(1) == 4);
	set_build_id(p);
	if (p->dso.build_id_size) {
		assert_true(finds(p, off));
		p->dso.build_id[3] ^= 1;
		assert_why(p, "build-id differs");
		p->dso.build_id_size = 0;
	}
	/* without --symfs and build-id: only if the recording is of this machine */
	p->opts.symfs = NULL;
	assert_why(p, "from another machine");
	p->opts.hostname = "here";
	p->opts.osrelease = "6.1";
	assert_true(finds(p, off));
	p->opts.osrelease = "6.2";
	assert_why(p, "from another machine");
	p->opts.osrelease = "6.1";
	snprintf(symfs, sizeof(symfs), "%s/nowhere", p->dir);
	p->opts.symfs = symfs;
	assert_why(p, "No such file");
	p->opts.symfs = p->dir;
	p->dso.name = "/bin/prog (deleted)";
	assert_why(p, "deleted");
	p->dso.name = "/bin";
	assert_why(p, "not a regular file");
	p->dso.name = "relative";
	assert_why(p, "not the path");
}

/* A process in another mount namespace has the file; what has its path here is something else. */
static void test_other_mounts(void **state)
{
	struct place *p = *state;
	uint64_t off = example_offset(p);
	struct stat st;
	char path[128];

	p->opts.symfs = NULL;
	p->opts.hostname = "here";
	p->opts.osrelease = "6.1";
	set_build_id(p);
	assert_int_equal(sh(p, "mkdir -p $D/proc/self/ns $D/proc/7/ns $D/proc/8/root/bin "
			       "$D/proc/8/ns && cd $D/proc && touch self/ns/mnt 8/ns/mnt && "
			       "ln self/ns/mnt 7/ns/mnt && mv $D/bin/prog 8/root/bin && "
			       "cp /bin/true $D/bin/prog"),
			 0);
	snprintf(path, sizeof(path), "%s/proc/8/root/bin/prog", p->dir);
	assert_int_equal(stat(path, &st), 0);
	if (p->dso.build_id_size) {
		assert_why(p, "build-id differs");
		p->dso.pids[0] = 7;
		assert_why(p, "build-id differs");
		p->dso.pids[1] = 8;
		assert_true(finds(p, off));
		p->dso.build_id[3] ^= 1;
		assert_why(p, "build-id differs");
	}
	p->dso.build_id_size = 0;
	p->dso.pids[0] = 8;
	assert_why(p, "had other mounts");
	p->dso.maj = major(st.st_dev);
	p->dso.min = minor(st.st_dev);
	p->dso.ino = st.st_ino;
	assert_true(finds(p, off));
	p->dso.ino = UINT64_MAX; /* The next one may be that of the other file. */
	assert_why(p, "had other mounts");
	/* The process is gone: the path is good for the recorded file only. */
	p->dso.pids[0] = p->dso.pids[1] = 9;
	assert_why(p, "another file has this name now");
	snprintf(path, sizeof(path), "%s/bin/prog", p->dir);
	assert_int_equal(stat(path, &st), 0);
	p->dso.ino = st.st_ino;
	fresh(p);
	assert_null(resolver_why_not(p->r, &p->dso));
}

/* A program linked to a fixed address: offsets in the file are far from what the linker says. */
static void test_fixed_address(void **state)
{
	struct place *p = *state;
	unsigned long long addr, seg_off, seg_addr;
	char cmd[512];
	FILE *f;

	if (sh(p, "echo 'int test_symbol_example(int x) { return x * 3; } int main(void) "
		  "{ return test_symbol_example(1); }' | cc -no-pie -x c - -o $D/bin/prog && "
		  "nm --version && readelf --version"))
		skip();
	snprintf(cmd, sizeof(cmd),
		 "nm '%s/bin/prog' | awk '$3 == \"test_symbol_example\" { print \"0x\" $1 }'; "
		 "readelf -lW '%s/bin/prog' | awk '$1 == \"LOAD\" && / E / { print $2, $3; exit }'",
		 p->dir, p->dir);
	f = popen(cmd, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%llx %llx %llx", &addr, &seg_off, &seg_addr), 3);
	pclose(f);
	assert_true(seg_addr != seg_off);
	assert_true(finds(p, addr - seg_addr + seg_off));
}

/* Strips the program; its symbols then come from where the debug file is put. */
static void test_debug_files(void **state)
{
	static const char *const places[] = {"bin", "bin/.debug", "usr/lib/debug/bin"};
	struct place *p = *state;
	uint64_t off = example_offset(p);
	char cmd[512], hex[2 * ELF_BUILD_ID_MAX + 1];
	size_t i;

	if (sh(p, "cd $D && objcopy --only-keep-debug bin/prog prog.debug && strip bin/prog && "
		  "objcopy --add-gnu-debuglink=prog.debug bin/prog"))
		skip();
	assert_false(finds(p, off));
	assert_non_null(resolver_why_few(p->r, &p->dso));
	assert_non_null(strstr(resolver_why_few(p->r, &p->dso), "no debug file"));
	assert_null(resolver_why_not(p->r, &p->dso));
	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(cmd, sizeof(cmd), "mkdir -p $D/%s && mv $D/prog.debug $D/%s", places[i],
			 places[i]);
		assert_int_equal(sh(p, cmd), 0);
		if (!finds(p, off))
			fail_msg("not found in %s", places[i]);
		assert_null(resolver_why_few(p->r, &p->dso));
		snprintf(cmd, sizeof(cmd), "mv $D/%s/prog.debug $D", places[i]);
		assert_int_equal(sh(p, cmd), 0);
	}
	set_build_id(p);
	if (!p->dso.build_id_size)
		skip();
	source_hex(p->dso.build_id, p->dso.build_id_size, hex);
	snprintf(cmd, sizeof(cmd),
		 "mkdir -p $D/usr/lib/debug/.build-id/%.2s && "
		 "cp $D/prog.debug $D/usr/lib/debug/.build-id/%.2s/%s.debug",
		 hex, hex, hex + 2);
	assert_int_equal(sh(p, cmd), 0);
	assert_true(finds(p, off));
	/* the program's own build-id leads there too */
	p->dso.build_id_size = 0;
	assert_true(finds(p, off));
	/* the build-id cache has the whole program */
	set_build_id(p);
	snprintf(cmd, sizeof(cmd),
		 "mkdir -p $D/.debug/.build-id/%.2s/%s && cp /proc/%d/exe "
		 "$D/.debug/.build-id/%.2s/%s/elf && rm -r $D/usr",
		 hex, hex + 2, (int)getpid(), hex, hex + 2);
	assert_int_equal(sh(p, cmd), 0);
	assert_true(finds(p, off)); /* beside the stripped one in its place */
	assert_int_equal(sh(p, "rm -r $D/bin"), 0);
	assert_true(finds(p, off));
	p->dso.build_id[0] ^= 1;
	assert_why(p, "No such file");
}

static void test_minidebug(void **state)
{
	struct place *p = *state;
	uint64_t off = example_offset(p);

	if (sh(p,
	       "cd $D && objcopy -S --keep-symbol=test_symbol_example bin/prog mini && xz mini && "
	       "strip bin/prog && objcopy --add-section .gnu_debugdata=mini.xz bin/prog"))
		skip();
	assert_true(finds(p, off));
}

/* A wrong CRC in .gnu_debuglink, and no build-id to tell otherwise. */
static void test_debuglink_crc(void **state)
{
	struct place *p = *state;
	uint64_t off = example_offset(p);

	if (sh(p, "cd $D && objcopy -R .note.gnu.build-id bin/prog && "
		  "objcopy --only-keep-debug bin/prog bin/prog.debug && strip bin/prog && "
		  "objcopy --add-gnu-debuglink=bin/prog.debug bin/prog"))
		skip();
	assert_true(finds(p, off));
	assert_int_equal(sh(p, "printf x >> $D/bin/prog.debug"), 0);
	assert_false(finds(p, off));
}

/* Sections for code go into memory in their order; .init.text goes elsewhere. */
static void test_module_file(void **state)
{
	static const char source[] =
		"__attribute__((section(\".init.text\"))) int start(void) { return 1; }"
		"int first(int x) { return x + 1; } "
		"__attribute__((section(\".text.second\"), aligned(64))) int second(int x) "
		"{ return x * first(x); }";
	struct place *p = *state;
	struct dso ko = {.name = "/lib/modules/6.1/kernel/my-mod.ko", .kind = DSO_MODULE};
	const struct symbol *s, *t;
	char cmd[1024];

	snprintf(cmd, sizeof(cmd),
		 "mkdir -p $D/lib/modules/6.1/kernel && echo '%s' | cc -O0 -c -x c - -o "
		 "$D/lib/modules/6.1/kernel/my-mod.ko",
		 source);
	if (sh(p, cmd))
		skip();
	fresh(p);
	s = resolver_find(p->r, &ko, 0, 0);
	assert_non_null(s);
	assert_string_equal(s->name, "first");
	t = resolver_find(p->r, &ko, 0, (s->end + 63) & ~63ull);
	assert_non_null(t);
	assert_string_equal(t->name, "second");
	assert_null(resolver_find(p->r, &ko, 0, t->end + 64));
	if (sh(p, "xz $D/lib/modules/6.1/kernel/my-mod.ko"))
		skip();
	ko.name = "/lib/modules/6.1/kernel/my-mod.ko.xz";
	fresh(p);
	s = resolver_find(p->r, &ko, 0, 0);
	assert_non_null(s);
	if (sh(p, "cd $D/lib/modules/6.1/kernel && xz -d my-mod.ko.xz && gzip my-mod.ko"))
		skip();
	ko.name = "/lib/modules/6.1/kernel/my-mod.ko.gz";
	fresh(p);
	assert_non_null(resolver_find(p->r, &ko, 0, 0));
}

/* A file has one table, whatever number of dsos is of it. */
static void test_read_once(void **state)
{
	struct place *p = *state;
	uint64_t off = example_offset(p);
	struct dso other, named;
	const struct symbol *s;

	fresh(p);
	other = named = p->dso;
	other.index = p->dso.index + 1;
	other.ino = p->dso.ino + 1;
	other.ino_generation = 7;
	named.index = p->dso.index + 2;
	named.build_id_size = 4; /* which the file does not have */
	s = resolver_find(p->r, &p->dso, 1, off);
	assert_non_null(s);
	assert_ptr_equal(resolver_find(p->r, &other, 1, off), s);
	assert_null(resolver_find(p->r, &named, 1, off));
	assert_non_null(resolver_why_not(p->r, &named));
}

static void *ask_all(void *arg)
{
	struct place *p = arg;
	uint64_t off, hits = 0;

	for (off = 0; off < 1 << 20; off += 64)
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

#define PLACE_TEST(f) cmocka_unit_test_setup_teardown(f, place_new, place_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(test_like_nm),	PLACE_TEST(test_plt),
		PLACE_TEST(test_plt_of_chosen), PLACE_TEST(test_identity),
		PLACE_TEST(test_other_mounts),	PLACE_TEST(test_debug_files),
		PLACE_TEST(test_minidebug),	PLACE_TEST(test_fixed_address),
		PLACE_TEST(test_debuglink_crc), PLACE_TEST(test_module_file),
		PLACE_TEST(test_read_once),	PLACE_TEST(test_threads),
		PLACE_TEST(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
