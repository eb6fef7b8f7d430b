// SPDX-License-Identifier: Apache-2.0
/* Symbols of kernel modules: those that are loaded, and those in files, packed or not. */
#include "symbol-machine.h"

static void test_modules(void **state)
{
	struct place *p = *state;
	struct dso path = {.name = "/lib/modules/6.1/kernel/sound/snd-pcm.ko.xz",
			   .kind = DSO_MODULE};
	struct dso bracket = {.name = "[snd_pcm]", .kind = DSO_MODULE, .index = 1};
	struct dso with_id = {
		.name = "[snd_pcm]", .kind = DSO_MODULE, .index = 2, .build_id_size = 20};

	memcpy(with_id.build_id, id_b, 20);
	put_text(p, "/proc/kallsyms", kallsyms);
	put_notes(p, "/sys/module/snd_pcm/notes/.note.gnu.build-id", id_a);
	fresh(p);
	assert_symbol(p, &path, 1, 0x20, "snd_open");
	assert_symbol(p, &bracket, 1, 0x151, "snd_close");
	assert_why(p, &with_id, 0x20, "loaded module is not the recorded");
	memcpy(with_id.build_id, id_a, 20);
	p->opts.hostname = NULL;
	fresh(p);
	assert_symbol(p, &with_id, 1, 0x20, "snd_open");
	assert_why(p, &bracket, 0x20, "from another machine");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(test_modules),
		PROGRAM_TEST(test_module_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
