// SPDX-License-Identifier: Apache-2.0
/* The description of a machine: of this one, and of others made up below a directory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <tracefs.h>
#include <cmocka.h>

#include "record/initial/machine.h"
#include "record/initial/machine_parts.h"
#include "sys/io/file.h"
#include "tree.h"

static const struct writer_feature *find(const struct feature_set *set, unsigned int feature)
{
	const struct writer_feature *found = NULL;

	for (size_t i = 0; i < set->count; i++) {
		if (set->features[i].feature == feature) {
			assert_null(found); /* each once */
			found = &set->features[i];
		}
	}
	return found;
}

static void assert_feature_string(const struct feature_set *set, unsigned int feature,
				  const char *want)
{
	const struct writer_feature *f = find(set, feature);
	char *got;

	assert_non_null(f);
	assert_int_equal(pd_feature_string_decode(f->data, f->len, false, &got), 0);
	assert_string_equal(got, want);
	free(got);
}

static struct pd_evlist *list_of(uint32_t type, uint64_t config, const char *name)
{
	struct pd_attr attr = {.type = type, .size = 128, .config = config};
	struct pd_evlist *list = pd_evlist_new();
	uint64_t id = 77;

	assert_non_null(list);
	assert_int_equal(pd_evlist_add(list, &attr, name, &id, 1), 0);
	return list;
}

/* Not time(): that clock is up to a tick behind this one. */
static uint64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void this_machine(void **unused)
{
	static const char *const argv[] = {"ringtail", "record", "-a"};
	struct pd_evlist *list = list_of(PERF_TYPE_SOFTWARE, 0, "cpu-clock");
	const struct writer_feature *f;
	struct pd_clock_data clock;
	struct pd_strings cmdline;
	struct feature_set set = {0};
	struct pd_nrcpus cpus;
	uint64_t before, after, v;
	struct utsname uts;

	before = wall_ns();
	assert_int_equal(machine_features(&set, list, 3, argv, CLOCK_MONOTONIC), 0);
	after = wall_ns();
	uname(&uts);
	assert_feature_string(&set, HEADER_HOSTNAME, uts.nodename);
	assert_feature_string(&set, HEADER_OSRELEASE, uts.release);
	assert_feature_string(&set, HEADER_ARCH, uts.machine);
	assert_non_null(find(&set, HEADER_EVENT_DESC));
	assert_null(find(&set, HEADER_GROUP_DESC)); /* no group here */
	assert_null(find(&set, HEADER_TRACING_DATA));

	f = find(&set, HEADER_NRCPUS);
	assert_non_null(f);
	assert_int_equal(pd_feature_nrcpus_decode(f->data, f->len, false, &cpus), 0);
	assert_int_equal(cpus.online, sysconf(_SC_NPROCESSORS_ONLN));
	assert_true(cpus.configured >= cpus.online);

	f = find(&set, HEADER_CMDLINE);
	assert_non_null(f);
	assert_int_equal(pd_feature_strings_decode(f->data, f->len, false, &cmdline), 0);
	assert_int_equal(cmdline.nr, 3);
	assert_int_equal(cmdline.s[0][0], '/');
	assert_string_equal(cmdline.s[2], "-a");
	pd_strings_release(&cmdline);

	f = find(&set, HEADER_CLOCKID);
	assert_non_null(f);
	assert_int_equal(pd_feature_u64_decode(f->data, f->len, false, &v), 0);
	assert_true(v >= 1);
	f = find(&set, HEADER_CLOCK_DATA);
	assert_non_null(f);
	assert_int_equal(pd_feature_clock_data_decode(f->data, f->len, false, &clock), 0);
	assert_int_equal(clock.clockid, CLOCK_MONOTONIC);
	assert_uint_in_range(clock.wall_clock_ns, before, after);
	feature_set_release(&set);

	assert_int_equal(machine_features(&set, list, 0, NULL, -1), 0);
	assert_null(find(&set, HEADER_CLOCKID));
	assert_null(find(&set, HEADER_CLOCK_DATA));
	assert_null(find(&set, HEADER_CMDLINE));
	feature_set_release(&set);
	pd_evlist_free(list);
}

/* Two sockets of two threads on one core each; CPU 3 is offline; CPU 4 is not plugged in. */
static void fake_cpus(const struct tree *t)
{
	static const struct {
		const char *name, *values[3];
	} rows[] = {
		{"topology/package_cpus_list", {"0-1\n", "0-1\n", "2\n"}},
		{"topology/core_cpus_list", {"0-1\n", "0-1\n", "2\n"}},
		{"topology/core_id", {"0\n", "0\n", "8\n"}},
		{"topology/physical_package_id", {"0\n", "0\n", "1\n"}},
		{"cache/index0/level", {"1\n", "1\n", "1\n"}},
		{"cache/index0/coherency_line_size", {"64\n", "64\n", "64\n"}},
		{"cache/index0/number_of_sets", {"128\n", "128\n", "128\n"}},
		{"cache/index0/ways_of_associativity", {"8\n", "8\n", "8\n"}},
		{"cache/index0/type", {"Data\n", "Data\n", "Data\n"}},
		{"cache/index0/size", {"64K\n", "64K\n", "64K\n"}},
		{"cache/index0/shared_cpu_list", {"0-1\n", "0-1\n", "2\n"}},
		{"cache/index1/level", {"2\n", "2\n", "2\n"}},
		{"cache/index1/coherency_line_size", {"64\n", "64\n", "64\n"}},
		{"cache/index1/number_of_sets", {"256\n", "256\n", "256\n"}},
		{"cache/index1/ways_of_associativity", {"8\n", "8\n", "8\n"}},
		{"cache/index1/type", {"Unified\n", "Unified\n", "Unified\n"}},
		{"cache/index1/size", {"1024K\n", "1024K\n", "1024K\n"}},
		{"cache/index1/shared_cpu_list", {"0-1\n", "0-1\n", "2\n"}},
	};
	char path[128];

	tree_file(t, "devices/system/cpu/possible", "0-7\n");
	tree_file(t, "devices/system/cpu/present", "0-3\n");
	tree_file(t, "devices/system/cpu/online", "0-2\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (int cpu = 0; cpu < 3; cpu++) {
			snprintf(path, sizeof(path), "devices/system/cpu/cpu%d/%s", cpu,
				 rows[i].name);
			tree_file(t, path, rows[i].values[cpu]);
		}
	}
}

static void topology_of_another_machine(void **unused)
{
	static const uint32_t no_dies[] = {0, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
	struct pd_cpu_topology topo;
	struct pd_caches caches;
	struct tree t;
	struct machine_roots roots = {.sys = t.root, .proc = t.root};
	struct buf b = {0};

	tree_make(&t);
	fake_cpus(&t);
	assert_int_equal(machine_nr_cpus(&roots, "present"), 4);
	assert_int_equal(machine_cpu_topology(&roots, &b), 0);
	/* No dies: perf reads the list to its end, and what fills a record is behind it. */
	assert_true(b.len > sizeof(no_dies));
	assert_memory_equal(b.data + b.len - sizeof(no_dies), no_dies, sizeof(no_dies));
	assert_int_equal(pd_feature_cpu_topology_decode(b.data, b.len, false, 4, &topo), 0);
	assert_int_equal(topo.cores.nr, 2);
	assert_string_equal(topo.cores.s[0], "0-1");
	assert_string_equal(topo.cores.s[1], "2");
	assert_int_equal(topo.threads.nr, 2);
	assert_int_equal(topo.dies.nr, 0);
	assert_int_equal(topo.nr_ids, 4);
	assert_int_equal(topo.ids[2].core, 8);
	assert_int_equal(topo.ids[2].socket, 1);
	assert_int_equal(topo.ids[3].core, -1);
	pd_cpu_topology_release(&topo);
	buf_release(&b);

	assert_int_equal(machine_cache(&roots, &b), 0);
	assert_int_equal(pd_feature_caches_decode(b.data, b.len, false, &caches), 0);
	assert_int_equal(caches.nr, 4); /* shared ones once, by level */
	assert_int_equal(caches.caches[1].level, 1);
	assert_string_equal(caches.caches[1].map, "2");
	assert_int_equal(caches.caches[2].level, 2);
	assert_string_equal(caches.caches[2].map, "0-1");
	assert_string_equal(caches.caches[2].size, "1024K");
	pd_caches_release(&caches);
	buf_release(&b);
	tree_remove(&t);
	assert_int_equal(machine_cpu_topology(&roots, &b), -ENOENT);
	assert_int_equal(machine_cache(&roots, &b), -ENOENT);
	buf_release(&b);
}

static void nodes_of_another_machine(void **unused)
{
	static const uint64_t mem[] = {1, 0x8000000, 2, 0, 66, 66, 1, 2, 3, 1, 1, 0};
	struct pd_numa_topology numa;
	struct tree t;
	struct machine_roots roots = {.sys = t.root, .proc = t.root};
	struct buf b = {0};

	tree_make(&t);
	tree_file(&t, "devices/system/node/online", "0,3\n");
	tree_file(&t, "devices/system/node/node0/meminfo",
		  "\nNode 0 MemTotal:       100 kB\nNode 0 MemFree:        40 kB\n");
	tree_file(&t, "devices/system/node/node0/cpulist", "0-3\n");
	tree_file(&t, "devices/system/node/node0/memory0/state", "");
	tree_file(&t, "devices/system/node/node0/memory65/state", "");
	tree_file(&t, "devices/system/node/node3/meminfo", "Node 3 MemTotal: 0 kB\n");
	tree_file(&t, "devices/system/node/node3/cpulist", "\n");
	tree_file(&t, "devices/system/memory/block_size_bytes", "8000000\n");
	assert_int_equal(machine_numa_topology(&roots, &b), 0);
	assert_int_equal(pd_feature_numa_topology_decode(b.data, b.len, false, &numa), 0);
	assert_int_equal(numa.nr, 2);
	assert_int_equal(numa.nodes[0].mem_total, 100);
	assert_int_equal(numa.nodes[0].mem_free, 40);
	assert_string_equal(numa.nodes[0].cpus, "0-3");
	assert_int_equal(numa.nodes[1].node, 3);
	assert_string_equal(numa.nodes[1].cpus, "");
	pd_numa_topology_release(&numa);
	buf_release(&b);

	assert_int_equal(machine_mem_topology(&roots, &b), 0);
	assert_int_equal(b.len, sizeof(mem));
	assert_memory_equal(b.data, mem, sizeof(mem));
	buf_release(&b);
	tree_remove(&t);
}

static void processor_and_memory_of_another_machine(void **unused)
{
	struct pd_pmu_mappings pmus;
	struct tree t;
	struct machine_roots roots = {.sys = t.root, .proc = t.root};
	struct buf b = {0};
	uint64_t v;
	char *s;

	tree_make(&t);
	tree_file(&t, "cpuinfo", "processor\t: 0\nmodel name\t: Some  CPU \t @ 2GHz\nx : y\n");
	tree_file(&t, "meminfo", "MemTotal:       24684092 kB\nMemFree: 1 kB\n");
	tree_file(&t, "bus/event_source/devices/uprobe/type", "8\n");
	tree_file(&t, "bus/event_source/devices/cpu/type", "4\n");
	assert_int_equal(machine_cpudesc(&roots, &b), 0);
	assert_int_equal(pd_feature_string_decode(b.data, b.len, false, &s), 0);
	assert_string_equal(s, "Some CPU @ 2GHz");
	free(s);
	buf_release(&b);
	assert_int_equal(machine_total_mem(&roots, &b), 0);
	assert_int_equal(pd_feature_u64_decode(b.data, b.len, false, &v), 0);
	assert_int_equal(v, 24684092);
	buf_release(&b);
	assert_int_equal(machine_pmu_mappings(&roots, &b), 0);
	assert_int_equal(pd_feature_pmu_mappings_decode(b.data, b.len, false, &pmus), 0);
	assert_int_equal(pmus.nr, 2);
	assert_string_equal(pmus.pmus[0].name, "cpu");
	assert_int_equal(pmus.pmus[1].type, 8);
	pd_pmu_mappings_release(&pmus);
	buf_release(&b);
	tree_remove(&t);
}

/* Walks the sections of TRACING_DATA; each length must lead to the next, the last to the end. */
struct walk {
	const uint8_t *p, *end;
};

static const uint8_t *skip_bytes(struct walk *w, uint64_t n)
{
	const uint8_t *p = w->p;

	assert_true(n <= (uint64_t)(w->end - w->p));
	w->p += n;
	return p;
}

static uint64_t number(struct walk *w, size_t bytes)
{
	uint64_t v64;
	uint32_t v32;

	memcpy(bytes == 4 ? (void *)&v32 : (void *)&v64, skip_bytes(w, bytes), bytes);
	return bytes == 4 ? v32 : v64;
}

static void check_tracing_data(const struct writer_feature *f, const char *system,
			       const char *format_begins)
{
	struct walk w = {f->data, f->data + f->len};
	uint64_t n;

	assert_memory_equal(skip_bytes(&w, 14), "\x17\x08\x44tracing0.6", 14);
	skip_bytes(&w, 2);
	assert_int_equal(number(&w, 4), sysconf(_SC_PAGESIZE));
	assert_memory_equal(skip_bytes(&w, 12), "header_page", 12);
	skip_bytes(&w, number(&w, 8));
	assert_memory_equal(skip_bytes(&w, 13), "header_event", 13);
	skip_bytes(&w, number(&w, 8));
	assert_int_equal(number(&w, 4), 0);
	assert_int_equal(number(&w, 4), 1);
	assert_memory_equal(skip_bytes(&w, strlen(system) + 1), system, strlen(system) + 1);
	assert_int_equal(number(&w, 4), 1); /* given twice, written once */
	n = number(&w, 8);
	assert_true(n > strlen(format_begins));
	assert_memory_equal(skip_bytes(&w, n), format_begins, strlen(format_begins));
	assert_int_equal(number(&w, 4), 0);
	skip_bytes(&w, number(&w, 4));
	skip_bytes(&w, number(&w, 8));
	assert_ptr_equal(w.p, w.end);
}

static void tracepoints_bring_their_formats(void **unused)
{
	const char *dir = tracefs_tracing_dir();
	struct feature_set set = {0};
	struct error err = ERROR_INIT;
	struct pd_evlist *list;
	struct pd_attr attr;
	long long id = 0;

	if (!dir || file_number(&id, "%s/events/sched/sched_switch/id", dir)) {
		print_message("tracefs is not mounted or not readable here\n");
		skip();
	}
	list = list_of(PERF_TYPE_TRACEPOINT, (uint64_t)id, "sched:sched_switch");
	attr = pd_evlist_at(list, 0)->attr;
	assert_int_equal(pd_evlist_add(list, &attr, "name of the user's", NULL, 0), 0);
	assert_int_equal(machine_tracing_data(&set, list, &err), 0);
	check_tracing_data(find(&set, HEADER_TRACING_DATA), "sched", "name: sched_switch\n");
	feature_set_release(&set);
	pd_evlist_free(list);

	/* A name that lies, or none: the id decides. */
	list = list_of(PERF_TYPE_TRACEPOINT, (uint64_t)id, "sched:sched_wakeup");
	assert_int_equal(machine_tracing_data(&set, list, &err), 0);
	check_tracing_data(find(&set, HEADER_TRACING_DATA), "sched", "name: sched_switch\n");
	feature_set_release(&set);
	pd_evlist_free(list);

	list = list_of(PERF_TYPE_TRACEPOINT, 0xffffffff, "no:such");
	assert_int_equal(machine_tracing_data(&set, list, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no:such"));
	assert_int_equal(set.count, 0);
	feature_set_release(&set);
	pd_evlist_free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(this_machine),
		cmocka_unit_test(topology_of_another_machine),
		cmocka_unit_test(nodes_of_another_machine),
		cmocka_unit_test(processor_and_memory_of_another_machine),
		cmocka_unit_test(tracepoints_bring_their_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
