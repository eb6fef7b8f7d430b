// SPDX-License-Identifier: Apache-2.0
/* Finds the recorded program and its debug file, and refuses every other one. */
#include <sys/sysmacros.h>

#include "symbol-machine.h"

static void test_identity(void **state)
{
	struct place *p = *state;
	uint64_t off = example_offset(p);
	char symfs[128], path[128];
	struct stat st;

	assert_true(finds(p, off));
	assert_true(test_symbol_example(1) == 4);
	set_build_id(p);
	if (p->dso.build_id_size) {
		assert_true(finds(p, off));
		p->dso.build_id[3] ^= 1;
		assert_why_none(p, "build-id differs");
		p->dso.build_id_size = 0;
	}
	/* without --symfs and build-id: only if the recording is of this machine */
	p->opts.symfs = NULL;
	assert_why_none(p, "from another machine");
	p->opts.hostname = "here";
	p->opts.osrelease = "6.1";
	assert_true(finds(p, off));
	p->opts.osrelease = "6.2";
	assert_why_none(p, "from another machine");
	/* A recording that is cut does not say whose it is; the file's inode does. */
	p->opts.origin.kind = ORIGIN_UNKNOWN;
	assert_why_none(p, "neither a build-id nor an inode");
	snprintf(path, sizeof(path), "%s/bin/prog", p->dir);
	assert_int_equal(stat(path, &st), 0);
	p->dso.ino = st.st_ino;
	assert_true(finds(p, off));
	p->dso.ino = 1;
	p->dso.maj = 4095;
	assert_why_none(p, "another file has this name now");
	p->opts.origin.kind = ORIGIN_NAMED;
	p->opts.osrelease = "6.1";
	assert_true(finds(p, off));
	p->dso.ino = 0;
	snprintf(symfs, sizeof(symfs), "%s/nowhere", p->dir);
	p->opts.symfs = symfs;
	assert_why_none(p, "No such file");
	p->opts.symfs = p->dir;
	p->dso.name = "/bin/prog (deleted)";
	assert_why_none(p, "deleted");
	p->dso.name = "/bin";
	assert_why_none(p, "not a regular file");
	p->dso.name = "relative";
	assert_why_none(p, "not the path");
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
		assert_why_none(p, "build-id differs");
		p->dso.pids[0] = 7;
		assert_why_none(p, "build-id differs");
		p->dso.pids[1] = 8;
		assert_true(finds(p, off));
		p->dso.build_id[3] ^= 1;
		assert_why_none(p, "build-id differs");
	}
	p->dso.build_id_size = 0;
	p->dso.pids[0] = 8;
	assert_why_none(p, "had other mounts");
	p->dso.maj = major(st.st_dev);
	p->dso.min = minor(st.st_dev);
	p->dso.ino = st.st_ino;
	assert_true(finds(p, off));
	p->dso.ino = UINT64_MAX; /* The next one may be that of the other file. */
	assert_why_none(p, "had other mounts");
	/* The process is gone: the path is good for the recorded file only. */
	p->dso.pids[0] = p->dso.pids[1] = 9;
	assert_why_none(p, "another file has this name now");
	snprintf(path, sizeof(path), "%s/bin/prog", p->dir);
	assert_int_equal(stat(path, &st), 0);
	p->dso.ino = st.st_ino;
	fresh(p);
	assert_null(resolver_why_not(p->r, &p->dso));
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
	assert_why_none(p, "No such file");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROGRAM_TEST(test_identity),
		PROGRAM_TEST(test_other_mounts),
		PROGRAM_TEST(test_debug_files),
		PROGRAM_TEST(test_debuglink_crc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
