// SPDX-License-Identifier: Apache-2.0
/* CPU masks of --threads: on made-up and random layouts, and as given by the user. */
#include <errno.h>
#include <hwloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "record/plan/masks.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* Of XML with ' for ", which is all that hwloc's own parser knows. */
static void set_xml(hwloc_topology_t topology, const char *description)
{
	char *xml = strdup(description);

	assert_non_null(xml);
	for (char *c = xml; *c; c++)
		if (*c == '\'')
			*c = '"';
	assert_int_equal(hwloc_topology_set_xmlbuffer(topology, xml, (int)strlen(xml) + 1), 0);
	free(xml);
}

/*
 * A machine of hwloc's making, or as its XML describes it; @allowed (may be NULL) is the cpuset
 * that this process is in.
 */
static hwloc_topology_t machine(const char *description, const char *allowed)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	hwloc_topology_t topology;

	assert_int_equal(hwloc_topology_init(&topology), 0);
	if (*description == '<')
		set_xml(topology, description);
	else
		assert_int_equal(hwloc_topology_set_synthetic(topology, description), 0);
	assert_int_equal(hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED),
			 0);
	assert_int_equal(hwloc_topology_load(topology), 0);
	if (allowed) {
		assert_int_equal(hwloc_bitmap_list_sscanf(set, allowed), 0);
		assert_int_equal(hwloc_topology_allow(topology, set, NULL, HWLOC_ALLOW_FLAG_CUSTOM),
				 0);
	}
	hwloc_bitmap_free(set);
	return topology;
}

/* The CPUs of a list; NULL: all of the machine. */
static struct cpus recorded_cpus(hwloc_topology_t topology, const char *list)
{
	struct cpus set;

	if (list)
		assert_int_equal(cpus_parse(list, &set, NULL), 0);
	else
		assert_int_equal(
			cpus_from_bitmap(hwloc_topology_get_topology_cpuset(topology), &set), 0);
	return set;
}

/* What must hold of every list of masks. */
static void check_masks(const struct reader_masks *masks, const struct cpus *recorded)
{
	bool *seen = calloc(CPUS_MAX, sizeof(*seen));
	size_t total = 0;

	assert_true(masks->nr > 0);
	for (size_t i = 0; i < masks->nr; i++) {
		const struct reader_mask *m = &masks->masks[i];

		assert_true(m->cpus.nr > 0);
		assert_true(m->affinity.nr > 0);
		for (size_t k = 0; k < m->cpus.nr; k++) {
			assert_true(k == 0 || m->cpus.ids[k] > m->cpus.ids[k - 1]);
			assert_true(cpus_has(recorded, m->cpus.ids[k]));
			assert_false(seen[m->cpus.ids[k]]);
			seen[m->cpus.ids[k]] = true;
		}
		for (size_t k = 1; k < m->affinity.nr; k++)
			assert_true(m->affinity.ids[k] > m->affinity.ids[k - 1]);
		total += m->cpus.nr;
	}
	assert_int_equal(total, recorded->nr);
	free(seen);
}

static void put_set(struct buf *b, const struct cpus *set)
{
	hwloc_bitmap_t map = hwloc_bitmap_alloc();
	char *list;

	assert_int_equal(cpus_to_bitmap(set, map), 0);
	assert_true(hwloc_bitmap_list_asprintf(&list, map) >= 0);
	assert_int_equal(buf_printf(b, "%s", list), 0);
	free(list);
	hwloc_bitmap_free(map);
}

/* "0-3/3:4-7/4", with " rest" behind it. */
static char *masks_text(const struct reader_masks *masks)
{
	struct buf b = {0};

	for (size_t i = 0; i < masks->nr; i++) {
		assert_int_equal(buf_printf(&b, "%s", i ? ":" : ""), 0);
		put_set(&b, &masks->masks[i].cpus);
		assert_int_equal(buf_printf(&b, "/"), 0);
		put_set(&b, &masks->masks[i].affinity);
	}
	assert_int_equal(buf_printf(&b, "%s", masks->has_rest ? " rest" : ""), 0);
	assert_int_equal(buf_zero(&b, 1), 0);
	return (char *)b.data;
}

struct row {
	const char *machine, *allowed, *recorded, *spec, *want;
};

static void check_row(const struct row *row)
{
	hwloc_topology_t topology = machine(row->machine, row->allowed);
	struct cpus recorded = recorded_cpus(topology, row->recorded);
	struct error err = ERROR_INIT;
	struct reader_masks masks = {0};
	int rc = reader_masks_new(row->spec, &recorded, topology, &masks, &err);
	char *got;

	if (rc)
		fail_msg("%s of %s: %s", row->spec, row->machine, err.text);
	check_masks(&masks, &recorded);
	got = masks_text(&masks);
	assert_string_equal(got, row->want);
	free(got);
	reader_masks_release(&masks);
	cpus_release(&recorded);
	hwloc_topology_destroy(topology);
}

/* Two packages, a NUMA node each, four cores with two threads; siblings are neighbours or not. */
#define BIG "package:2 numa:1 core:4 pu:2"
#define FAR "package:2 numa:1 core:4 pu:2(indexes=0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15)"

/*
 * What hwloc makes of a core with one thread between two with two: it is below the cache that is
 * its own, so that the cores are on two levels.
 */
static const char uneven[] =
	"<?xml version='1.0' encoding='UTF-8'?>\n"
	"<!DOCTYPE topology SYSTEM 'hwloc2.dtd'>\n"
	"<topology version='2.0'>\n"
	"<object type='Machine' cpuset='0x1f' complete_cpuset='0x1f'"
	" nodeset='1' complete_nodeset='1' allowed_cpuset='0x1f' allowed_nodeset='1'>\n"
	"<object type='NUMANode' os_index='0' cpuset='0x1f' complete_cpuset='0x1f'"
	" nodeset='1' complete_nodeset='1'/>\n"
	"<object type='Core' cpuset='0x3' complete_cpuset='0x3'"
	" nodeset='1' complete_nodeset='1'>\n"
	"<object type='L1Cache' cpuset='0x1' complete_cpuset='0x1'"
	" nodeset='1' complete_nodeset='1' depth='1' cache_type='1'>\n"
	"<object type='PU' os_index='0' cpuset='0x1' complete_cpuset='0x1'"
	" nodeset='1' complete_nodeset='1'/></object>\n"
	"<object type='L1Cache' cpuset='0x2' complete_cpuset='0x2'"
	" nodeset='1' complete_nodeset='1' depth='1' cache_type='1'>\n"
	"<object type='PU' os_index='1' cpuset='0x2' complete_cpuset='0x2'"
	" nodeset='1' complete_nodeset='1'/></object></object>\n"
	"<object type='L1Cache' cpuset='0x4' complete_cpuset='0x4'"
	" nodeset='1' complete_nodeset='1' depth='1' cache_type='1'>\n"
	"<object type='Core' cpuset='0x4' complete_cpuset='0x4'"
	" nodeset='1' complete_nodeset='1'>\n"
	"<object type='PU' os_index='2' cpuset='0x4' complete_cpuset='0x4'"
	" nodeset='1' complete_nodeset='1'/></object></object>\n"
	"<object type='Core' cpuset='0x18' complete_cpuset='0x18'"
	" nodeset='1' complete_nodeset='1'>\n"
	"<object type='L1Cache' cpuset='0x8' complete_cpuset='0x8'"
	" nodeset='1' complete_nodeset='1' depth='1' cache_type='1'>\n"
	"<object type='PU' os_index='3' cpuset='0x8' complete_cpuset='0x8'"
	" nodeset='1' complete_nodeset='1'/></object>\n"
	"<object type='L1Cache' cpuset='0x10' complete_cpuset='0x10'"
	" nodeset='1' complete_nodeset='1' depth='1' cache_type='1'>\n"
	"<object type='PU' os_index='4' cpuset='0x10' complete_cpuset='0x10'"
	" nodeset='1' complete_nodeset='1'/></object></object>\n"
	"</object></topology>\n";

static void layouts(void **unused)
{
	static const struct row rows[] = {
		{BIG, NULL, NULL, "package", "0-7/0-7:8-15/8-15"},
		{BIG, NULL, NULL, "socket", "0-7/0-7:8-15/8-15"},
		{BIG, NULL, NULL, "numa", "0-7/0-7:8-15/8-15"},
		{BIG, NULL, NULL, "core",
		 "0-1/0-1:2-3/2-3:4-5/4-5:6-7/6-7:8-9/8-9:10-11/10-11:12-13/12-13:14-15/14-15"},
		{FAR, NULL, NULL, "core",
		 "0,8/0,8:1,9/1,9:2,10/2,10:3,11/3,11:4,12/4,12:5,13/5,13:6,14/6,14:7,15/7,15"},
		{FAR, NULL, NULL, "package", "0-3,8-11/0-3,8-11:4-7,12-15/4-7,12-15"},
		{uneven, NULL, NULL, "core", "0-1/0-1:2/2:3-4/3-4"},
		{uneven, NULL, NULL, "numa", "0-4/0-4"},
		{"core:2 pu:1", NULL, NULL, NULL, "0/0:1/1"},
		{"core:2 pu:1", NULL, NULL, "", "0/0:1/1"},
		{"core:2 pu:1", NULL, NULL, "cpu", "0/0:1/1"},
		{"core:2 pu:1", NULL, NULL, "core", "0/0:1/1"},
		{"core:2 pu:1", NULL, NULL, "numa", "0-1/0-1"},
		{"core:2 pu:1", NULL, NULL, "package", "0-1/0-1"}, /* has none */
		{"pu:3", NULL, NULL, "core", "0/0:1/1:2/2"},	   /* neither */
		{"package:1 numa:2 core:2 pu:1", NULL, NULL, "numa", "0-1/0-1:2-3/2-3"},
		{"numa:2 package:2 core:1 pu:2", NULL, NULL, "numa", "0-3/0-3:4-7/4-7"},
		{"package:2 [numa] die:2 [numa] core:1 pu:1", NULL, NULL, "numa",
		 "0/0:1/1:2/2:3/3"}, /* the packages' own nodes have no CPU left */

		{BIG, NULL, "0,2,4,6", "core", "0/0:2/2:4/4:6/6"},
		{BIG, NULL, "0,2,4,6", "numa", "0,2,4,6/0,2,4,6"},
		{BIG, NULL, "6-9", "numa", "6-7/6-7:8-9/8-9"},
		{BIG, NULL, "6-9", "cpu", "6/6:7/7:8/8:9/9"},
		{BIG, NULL, "15", "package", "15/15"},

		/* CPUs plugged in after the topology was read. */
		{"core:2 pu:1", NULL, "1-3", "core", "1/1:2/0-1:3/0-1"},
		{"core:2 pu:1", NULL, "1-3", "cpu", "1/1:2/0-1:3/0-1"},

		/* In a cpuset all rings can be read, but not from everywhere. */
		{"package:2 core:2 pu:1", "0-1", NULL, "cpu", "0/0:1/1:2/0-1:3/0-1"},
		{"package:2 core:2 pu:1", "1-2", NULL, "package", "0-1/1:2-3/2"},
		{"package:2 core:2 pu:1", "0-1", NULL, "package", "0-1/0-1:2-3/0-1"},
	};

	for (size_t i = 0; i < NR(rows); i++)
		check_row(&rows[i]);
}

static void written(void **unused)
{
	static const struct row rows[] = {
		{BIG, NULL, NULL, "0-7/3:8-15/4", "0-7/3:8-15/4"},
		{BIG, NULL, NULL, "8-15/4:0-7/3", "8-15/4:0-7/3"}, /* in the order written */
		{BIG, NULL, NULL, "0,2-4,8-15/2-4:1,5-7/5-7", "0,2-4,8-15/2-4:1,5-7/5-7"},
		{BIG, NULL, "0-7", "0-3/3:4-7/4", "0-3/3:4-7/4"},
		{BIG, NULL, NULL, "0-15/0-15", "0-15/0-15"},

		/* Reduced to the recorded CPUs; an affinity without any recorded CPU stays. */
		{BIG, NULL, "3,4", "0-3/3:4-7/4", "3/3:4/4"},
		{BIG, NULL, "2,5", "0-3/3:4-7/4", "2/3:5/4"},
		{BIG, NULL, "0-7", "0-9/0-9", "0-7/0-7"},
		{BIG, NULL, "0,2", "0,5/0:2,5/2", "0/0:2/2"},

		/* What is recorded and in no mask has a thread as well. */
		{BIG, NULL, NULL, "0-3/3:4-7/4", "0-3/3:4-7/4:8-15/0-15 rest"},
		{BIG, NULL, NULL, "15/0", "15/0:0-14/0-15 rest"},
		{BIG, "2-3", NULL, "15/2", "15/2:0-14/2-3 rest"},

		{BIG, "2-3", NULL, "0-15/0-2", "0-15/2"},
	};

	for (size_t i = 0; i < NR(rows); i++)
		check_row(&rows[i]);
}

static void refused(void **unused)
{
	static const struct {
		const char *recorded, *allowed, *spec, *mask, *why;
		int code; /* 0: -EINVAL */
	} rows[] = {
		{NULL, NULL, "node", "'node'", "is neither"},
		{NULL, NULL, "CPU", "'CPU'", "is neither"},
		{NULL, NULL, "0-3", "'0-3'", "is neither"},
		{NULL, NULL, "0-3:4-7", "mask 1 '0-3'", "missing"},
		{NULL, NULL, "0-3/3:4-7", "mask 2 '4-7'", "missing"},
		{NULL, NULL, "0-3/3:", "mask 2 ''", "empty"},
		{NULL, NULL, ":0-3/3", "mask 1 ''", "empty"},
		{NULL, NULL, "0-3/3::4/4", "mask 2 ''", "empty"},
		{NULL, NULL, "/", "mask 1 '/'", "CPU list ''"},
		{NULL, NULL, "0-3/", "mask 1 '0-3/'", "CPU list ''"},
		{NULL, NULL, "/3", "mask 1 '/3'", "CPU list ''"},
		{NULL, NULL, "0-3/3/3", "mask 1 '0-3/3/3'", "CPU list '3/3'"},
		{NULL, NULL, "3-0/3", "mask 1 '3-0/3'", "CPU list '3-0'"},
		{NULL, NULL, "a/3", "mask 1 'a/3'", "CPU list 'a'"},
		{NULL, NULL, "0/-1", "mask 1 '0/-1'", "CPU list '-1'"},
		{NULL, NULL, "0/99999999999999999999", "mask 1", "larger than any CPU"},
		{NULL, NULL, "0-3/3:4-16/4", "mask 2 '4-16/4'", "only the CPUs 0-15", -ENODEV},
		{NULL, NULL, "0-3/3:4-7/16", "mask 2 '4-7/16'", "only the CPUs 0-15", -ENODEV},
		{NULL, NULL, "0-3/0:2-5/4", "mask 2 '2-5/4'",
		 "overlaps an earlier mask in CPU 2-3"},
		{NULL, NULL, "0/0:1/1:0/2", "mask 3 '0/2'", "overlaps an earlier mask in CPU 0"},
		{NULL, NULL, "0-3/0-4:4-7/4", "mask 2 '4-7/4'",
		 "affinity of an earlier mask in CPU 4"},
		{"0-3", NULL, "0-3/3:4-7/4", "mask 2 '4-7/4'", "(recorded are 0-3)"},
		{"2,5", NULL, "2/3:5/3", "mask 2 '5/3'", "affinity of an earlier mask"},
		{NULL, "0-1", "0/0:1/2", "mask 2 '1/2'", "it can on 0-1"},
	};

	for (size_t i = 0; i < NR(rows); i++) {
		hwloc_topology_t topology = machine(BIG, rows[i].allowed);
		struct cpus recorded = recorded_cpus(topology, rows[i].recorded);
		struct reader_masks masks = {(void *)&masks, 77, true}; /* stays as it is */
		struct error err = ERROR_INIT;
		int code = rows[i].code ?: -EINVAL;

		assert_int_equal(reader_masks_new(rows[i].spec, &recorded, topology, &masks, &err),
				 code);
		assert_int_equal(err.code, code);
		assert_non_null(strstr(err.text, "--threads: "));
		if (!strstr(err.text, rows[i].mask) || !strstr(err.text, rows[i].why))
			fail_msg("%s: %s", rows[i].spec, err.text);
		assert_ptr_equal(masks.masks, &masks);
		assert_int_equal(masks.nr, 77);
		cpus_release(&recorded);
		hwloc_topology_destroy(topology);
	}
}

/* Every layout on many machines, with every CPU, with each third, and with the last one. */
static void many_machines(void **unused)
{
	static const char *const machines[] = {
		"pu:1",
		"pu:64",
		BIG,
		FAR,
		"package:1 core:1 pu:1",
		"package:4 core:16 pu:4",
		"package:2 numa:2 die:2 core:3 pu:2",
		"numa:8 core:1 pu:3",
		"numa:3 package:2 core:2 pu:1",
		"package:2 [numa] die:2 [numa] core:8 pu:2",
		"[numa] package:3 [numa] core:5 pu:1",
		"package:8 numa:4 core:16 pu:2",
		uneven,
	};
	static const char *const specs[] = {NULL, "cpu", "core", "package", "socket", "numa"};

	for (size_t i = 0; i < NR(machines) * NR(specs) * 3; i++) {
		hwloc_topology_t topology = machine(machines[i % NR(machines)], NULL);
		struct cpus recorded = recorded_cpus(topology, NULL);
		size_t which = i / NR(machines) % 3, kept = 0, last = recorded.nr - 1;
		struct reader_masks masks;

		for (size_t k = 0; k <= last; k++) {
			if (which == 0 || (which == 1 && k % 3 == 0) || k == last)
				recorded.ids[kept++] = recorded.ids[k];
		}
		recorded.nr = kept;
		assert_int_equal(reader_masks_new(specs[i / NR(machines) / 3], &recorded, topology,
						  &masks, NULL),
				 0);
		check_masks(&masks, &recorded);
		assert_false(masks.has_rest);
		for (size_t k = 0; k < masks.nr; k++) {
			const struct reader_mask *m = &masks.masks[k];

			assert_true(!k || m->cpus.ids[0] > m[-1].cpus.ids[0]);
			assert_int_equal(m->cpus.nr, m->affinity.nr);
			assert_memory_equal(m->cpus.ids, m->affinity.ids,
					    m->cpus.nr * sizeof(*m->cpus.ids));
		}
		reader_masks_release(&masks);
		cpus_release(&recorded);
		hwloc_topology_destroy(topology);
	}
}

/* Any text is taken or refused; what is taken is right. */
static void random_text(void **unused)
{
	static const char letters[] = "0123456789--,,//::";
	hwloc_topology_t topology = machine(BIG, NULL);
	struct cpus recorded = recorded_cpus(topology, "0-9,12");
	unsigned int seed = 1, taken = 0;

	for (unsigned int i = 0; i < 20000; i++) {
		struct reader_masks masks;
		char spec[16];
		size_t len = (size_t)rand_r(&seed) % (sizeof(spec) - 1);

		for (size_t k = 0; k < len; k++)
			spec[k] = letters[(size_t)rand_r(&seed) % (sizeof(letters) - 1)];
		spec[len] = '\0';
		if (reader_masks_new(spec, &recorded, topology, &masks, NULL))
			continue;
		check_masks(&masks, &recorded);
		reader_masks_release(&masks);
		taken++;
	}
	assert_true(taken > 100);
	cpus_release(&recorded);
	hwloc_topology_destroy(topology);
}

static void this_machine(void **unused)
{
	struct error err = ERROR_INIT;
	hwloc_topology_t topology;
	struct reader_masks masks;
	struct cpus online;

	assert_int_equal(cpus_online(&online, &err), 0);
	assert_int_equal(reader_masks_topology(&topology, &err), 0);
	assert_int_equal(reader_masks_new(NULL, &online, topology, &masks, &err), 0);
	check_masks(&masks, &online);
	assert_int_equal(masks.nr, online.nr);
	reader_masks_release(&masks);
	assert_int_equal(reader_masks_new("numa", &online, topology, &masks, &err), 0);
	check_masks(&masks, &online);
	reader_masks_release(&masks);
	hwloc_topology_destroy(topology);
	cpus_release(&online);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layouts),     cmocka_unit_test(written),
		cmocka_unit_test(refused),     cmocka_unit_test(many_machines),
		cmocka_unit_test(random_text), cmocka_unit_test(this_machine),
	};

	return cmocka_run_group_tests_name("masks", tests, NULL, NULL);
}
