// SPDX-License-Identifier: Apache-2.0
/*
 * Any text as an event list, over a small sysfs and tracefs of our own, so that an input means the
 * same on every machine. Checked: no fault found by the sanitizers, an error for every failure, and
 * a list that a failure leaves as it was.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "event/parse/event.h"

#define TEXT_MAX 4096

static const char *const files[][2] = {
	{"cpu/type", "4"},
	{"cpu/format/event", "config:0-7,32-35"},
	{"cpu/format/umask", "config:8-15"},
	{"cpu/format/ldlat", "config1:0-15"},
	{"cpu/events/cpu-cycles", "event=0x3c"},
	{"cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3"},
	{"cpu/events/param", "event=?"},
	{"intel_pt/type", "8"},
	{"intel_pt/format/tsc", "config:10"},
	{"uprobe/type", "50"},
	{"uprobe/format/retprobe", "config:0"},
	{"kprobe/type", "51"},
	{"kprobe/format/retprobe", "config:0"},
	{"imc_0/type", "30"},
	{"imc_0/cpumask", "0"},
	{"imc_1/type", "31"},
	{"../../../events/sched/sched_switch/id", "316"},
	{"../../../events/sched/sched_wakeup/id", "318"},
};

/* Every name that does not begin with a capital is somewhere, as its first character says. */
static int find(const char *file, const char *name, struct event_symbol *ret, struct error *err)
{
	if (!*name || (*name >= 'A' && *name <= 'Z'))
		return error_set(err, -ENOENT, "no symbol '%s'", name);
	*ret = (struct event_symbol){
		.function = *name < 'n',
		.address = 0x400000 + (unsigned char)*name,
		.offset = (unsigned char)*name,
		.size = strlen(name),
		.fixed = !file || strlen(file) % 2,
	};
	return 0;
}

static const struct event_symbols symbols = {find};

struct fuzz_tree {
	char root[32];
	struct event_env env;
};

static struct fuzz_tree tree;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void make_file(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s", tree.root, name);
	for (char *p = path + strlen(tree.root) + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
	f = fopen(path, "w");
	if (!f)
		abort();
	fputs(text, f);
	fclose(f);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	strcpy(tree.root, "/tmp/fuzz-event-XXXXXX");
	if (!mkdtemp(tree.root))
		abort();
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		make_file(files[i][0], files[i][1]);
	tree.env = (struct event_env){tree.root, tree.root, &symbols};
	setenv("LIBPFM_FORCE_PMU", "skl", 1);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct event_list list = {0};
	struct error err = ERROR_INIT;
	char text[TEXT_MAX];
	size_t first;
	int rc;

	if (size >= sizeof(text))
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (event_parse(&list, "cycles", &tree.env, &err) != 0)
		abort();
	if (event_place_length(text) > strlen(text))
		abort();
	first = list.count;
	rc = event_parse(&list, text, &tree.env, &err);
	if (rc && (list.count != first || !err.text[0] || err.code != rc))
		abort();
	if (!rc && list.count == first)
		abort();
	for (size_t i = first; i < list.count; i++) {
		if (!list.specs[i].name || (size_t)list.specs[i].leader > i)
			abort();
	}
	event_set_filter(&list, first, text, &err);
	event_list_release(&list);
	return 0;
}
