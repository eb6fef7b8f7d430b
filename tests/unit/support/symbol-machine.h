/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A made-up machine for the tests of symbol/: a directory with files of its own, and a resolver on
 * it. It may have a program, a copy of the test that runs.
 */
#ifndef RINGTAIL_TESTS_SYMBOL_MACHINE_H
#define RINGTAIL_TESTS_SYMBOL_MACHINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/elf/table.h"
#include "symbol/resolve/kallsyms.h"
#include "symbol/resolve/sources.h"

struct place {
	char dir[64];
	struct symbol_host host;
	struct resolver_opts opts;
	struct resolver *r;
	struct dso dso; /* the program, "/bin/prog" */
};

/* Runs a shell command with $D as the directory. Returns its exit status. */
static inline int sh(const struct place *p, const char *cmd)
{
	char full[2048];

	snprintf(full, sizeof(full), "D='%s'; { %s; } 2>/dev/null >&2", p->dir, cmd);
	return system(full);
}

static inline void put_file(const struct place *p, const char *path, const void *data, size_t len)
{
	char full[512], *slash;
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", p->dir, path);
	for (slash = strchr(full + strlen(p->dir) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(full, 0700);
		*slash = '/';
	}
	f = fopen(full, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static inline void put_text(const struct place *p, const char *path, const char *text)
{
	put_file(p, path, text, strlen(text));
}

static inline void put_notes(const struct place *p, const char *path, const uint8_t id[20])
{
	uint8_t note[36] = {0};
	const uint32_t words[3] = {4, 20, 3};

	memcpy(note, words, 12);
	memcpy(note + 12, "GNU", 4);
	memcpy(note + 16, id, 20);
	put_file(p, path, note, sizeof(note));
}

static inline void fresh(struct place *p)
{
	resolver_free(p->r);
	p->r = NULL;
	assert_int_equal(resolver_new_on(&p->opts, &p->host, &p->r, NULL), 0);
}

/* Makes a machine without files. */
static inline int place_new(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	strcpy(p->dir, "/tmp/test-symbol-XXXXXX");
	if (!mkdtemp(p->dir))
		return -1;
	p->host = (struct symbol_host){
		.root = p->dir, .home = p->dir, .hostname = "here", .osrelease = "6.1"};
	p->opts = (struct resolver_opts){.hostname = "here", .osrelease = "6.1"};
	*state = p;
	return 0;
}

static inline int place_free(void **state)
{
	struct place *p = *state;
	int rc;

	resolver_free(p->r);
	rc = sh(p, "rm -rf \"$D\"");
	free(p);
	return rc;
}

#define PLACE_TEST(f) cmocka_unit_test_setup_teardown(f, place_new, place_free)

static inline void assert_symbol(struct place *p, const struct dso *dso, uint32_t pid,
				 uint64_t addr, const char *name)
{
	const struct symbol *s = resolver_find(p->r, dso, pid, addr);

	if (!s && name)
		fail_msg("nothing at 0x%llx: %s", (unsigned long long)addr,
			 resolver_why_not(p->r, dso));
	if (!name)
		assert_null(s);
	else
		assert_string_equal(s->name, name);
}

static inline void assert_why(struct place *p, const struct dso *dso, uint64_t addr,
			      const char *part)
{
	const char *why;

	assert_null(resolver_find(p->r, dso, 1, addr));
	why = resolver_why_not(p->r, dso);
	assert_non_null(why);
	if (!strstr(why, part))
		fail_msg("\"%s\" does not say \"%s\"", why, part);
}

/* --- its kernel: kallsyms and build-ids ------------------------------------------------------ */

static const char kallsyms[] = "0000000000000000 A fixed_percpu_data\n"
			       "ffffffff81000000 T _stext\n"
			       "ffffffff81000000 T _text\n"
			       "ffffffff81000100 t local_fn\n"
			       "ffffffff81000200 W weak_fn\n"
			       "ffffffff81000200 T strong_fn\n"
			       "not a line\n"
			       "ffffffff81000300 D some_data\n"
			       "ffffffff81000400 T last_fn\n"
			       "ffffffffc0201000 t trampoline\t[__builtin__ftrace]\n"
			       "ffffffffc0300020 t snd_open\t[snd_pcm]\n"
			       "ffffffffc0300150 T snd_close\t[snd_pcm]\n"
			       "ffffffffc0400000 t other\t[other]\n"
			       "ffffffffc0500000 t bpf_prog_abc\t[bpf]";

static const uint8_t id_a[20] = {0xaa, 1,  2,  3,  4,  5,  6,  7,  8,  9,
				 10,   11, 12, 13, 14, 15, 16, 17, 18, 19};
static const uint8_t id_b[20] = {0xbb, 1,  2,  3,  4,  5,  6,  7,  8,  9,
				 10,   11, 12, 13, 14, 15, 16, 17, 18, 19};

#define TEXT 0xffffffff81000000ull

static inline struct dso kernel_dso(const uint8_t *id, uint64_t ref)
{
	struct dso d = {.name = "[kernel.kallsyms]", .kind = DSO_KERNEL, .ref_addr = ref};

	d.ref_name = ref ? "_text" : NULL;
	if (id) {
		d.build_id_size = 20;
		memcpy(d.build_id, id, 20);
	}
	return d;
}

/* --- its program ----------------------------------------------------------------------------- */

/* The function in this program that tests look for, and where it is in the file. */
__attribute__((noinline, used)) static uint64_t test_symbol_example(uint64_t x)
{
	return x * 3 + 1;
}

static inline uint64_t example_offset(const struct place *p)
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

static inline void set_build_id(struct place *p)
{
	struct elf_image img = ELF_IMAGE_INIT;
	char path[128];

	snprintf(path, sizeof(path), "%s/bin/prog", p->dir);
	assert_int_equal(elf_image_open(path, &img, NULL), 0);
	p->dso.build_id_size = (uint8_t)img.build_id_size;
	memcpy(p->dso.build_id, img.build_id, img.build_id_size);
	elf_image_close(&img);
}

static inline bool finds(struct place *p, uint64_t off)
{
	const struct symbol *s;

	fresh(p);
	s = resolver_find(p->r, &p->dso, 1, off);
	return s && !strcmp(s->name, "test_symbol_example") && s->start == off;
}

/* Checks that the program has no symbols, and that the reason has @part in it. */
static inline void assert_why_none(struct place *p, const char *part)
{
	const char *why;

	fresh(p);
	why = resolver_why_not(p->r, &p->dso);
	if (!why)
		fail_msg("there are symbols, expected: %s", part);
	else if (!strstr(why, part))
		fail_msg("\"%s\" does not say \"%s\"", why, part);
}

/* Makes a machine whose program is a copy of this one, below --symfs. */
static inline int place_with_program(void **state)
{
	struct place *p;
	char cmd[256];

	if (place_new(state))
		return -1;
	p = *state;
	p->opts = (struct resolver_opts){.symfs = p->dir};
	p->dso = (struct dso){.name = "/bin/prog", .kind = DSO_ELF};
	snprintf(cmd, sizeof(cmd), "mkdir $D/bin && cp /proc/%d/exe $D/bin/prog", (int)getpid());
	fresh(p); /* also makes libelf ready */
	return sh(p, cmd) ? -1 : 0;
}

#define PROGRAM_TEST(f) cmocka_unit_test_setup_teardown(f, place_with_program, place_free)

#endif
