// SPDX-License-Identifier: Apache-2.0
#include "record/plan/masks.h"

#include <errno.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* Layouts by name. If a topology has no object of a type, @instead has the same CPUs. */
static const struct layout {
	const char *name;
	hwloc_obj_type_t type, instead;
} layouts[] = {
	{"cpu", HWLOC_OBJ_PU, HWLOC_OBJ_PU},
	{"core", HWLOC_OBJ_CORE, HWLOC_OBJ_PU},
	{"package", HWLOC_OBJ_PACKAGE, HWLOC_OBJ_MACHINE},
	{"socket", HWLOC_OBJ_PACKAGE, HWLOC_OBJ_MACHINE},
	{"numa", HWLOC_OBJ_NUMANODE, HWLOC_OBJ_MACHINE},
};

/* The state while masks are made. All sets are of CPUs below CPUS_MAX. */
struct maker {
	hwloc_topology_t topology;
	hwloc_bitmap_t recorded;
	hwloc_bitmap_t left;	 /* recorded, and in no mask yet */
	hwloc_bitmap_t machine;	 /* all CPUs of the machine, online or not */
	hwloc_bitmap_t runnable; /* online, and allowed to this process */
	hwloc_bitmap_t taken;	 /* in the affinity of a mask so far */
	hwloc_bitmap_t cpus;	 /* the current mask */
	hwloc_bitmap_t affinity;
	struct reader_masks masks;
	size_t capacity;
	struct error *err;
};

/* Returns 0 or -ENOMEM; maker_release() is due in both cases. */
static int maker_init(struct maker *m, const struct cpus *recorded, hwloc_topology_t topology,
		      struct error *err)
{
	hwloc_bitmap_t *const sets[] = {&m->recorded, &m->left, &m->machine, &m->runnable,
					&m->taken,    &m->cpus, &m->affinity};

	*m = (struct maker){.topology = topology, .err = err};
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		*sets[i] = hwloc_bitmap_alloc();
		if (!*sets[i])
			return -ENOMEM;
	}
	if (cpus_to_bitmap(recorded, m->recorded) || hwloc_bitmap_copy(m->left, m->recorded) ||
	    hwloc_bitmap_or(m->machine, m->recorded,
			    hwloc_topology_get_complete_cpuset(topology)) ||
	    hwloc_bitmap_and(m->runnable, hwloc_topology_get_topology_cpuset(topology),
			     hwloc_topology_get_allowed_cpuset(topology)))
		return -ENOMEM;
	return 0;
}

static void maker_release(struct maker *m)
{
	hwloc_bitmap_free(m->recorded);
	hwloc_bitmap_free(m->left);
	hwloc_bitmap_free(m->machine);
	hwloc_bitmap_free(m->runnable);
	hwloc_bitmap_free(m->taken);
	hwloc_bitmap_free(m->cpus);
	hwloc_bitmap_free(m->affinity);
	reader_masks_release(&m->masks);
}

/* Appends the mask of m->cpus and m->affinity; updates left and taken. Returns 0 or -ENOMEM. */
static int push_mask(struct maker *m)
{
	struct reader_mask mask = {0};

	if (array_grow(&m->masks.masks, &m->capacity, m->masks.nr + 1, sizeof(mask)))
		return -ENOMEM;
	if (cpus_from_bitmap(m->cpus, &mask.cpus) ||
	    cpus_from_bitmap(m->affinity, &mask.affinity) ||
	    hwloc_bitmap_andnot(m->left, m->left, m->cpus) ||
	    hwloc_bitmap_or(m->taken, m->taken, m->affinity)) {
		cpus_release(&mask.cpus);
		cpus_release(&mask.affinity);
		return -ENOMEM;
	}
	m->masks.masks[m->masks.nr++] = mask;
	return 0;
}

/*
 * Appends a mask whose thread runs on its CPUs, or anywhere if it may not run there. 0 or -ENOMEM.
 */
static int push_local(struct maker *m)
{
	if (hwloc_bitmap_and(m->affinity, m->cpus, m->runnable))
		return -ENOMEM;
	if (hwloc_bitmap_iszero(m->affinity) && hwloc_bitmap_copy(m->affinity, m->runnable))
		return -ENOMEM;
	return push_mask(m);
}

static int object_compare(const void *a, const void *b)
{
	hwloc_obj_t x = *(const hwloc_obj_t *)a, y = *(const hwloc_obj_t *)b;
	int wx = hwloc_bitmap_weight(x->cpuset), wy = hwloc_bitmap_weight(y->cpuset);

	if (wx != wy)
		return wx < wy ? -1 : 1;
	return (x->logical_index > y->logical_index) - (x->logical_index < y->logical_index);
}

static int mask_compare(const void *a, const void *b)
{
	return ((const struct reader_mask *)a)->cpus.ids[0] -
	       ((const struct reader_mask *)b)->cpus.ids[0];
}

/*
 * Stores the objects of a type in @ret (unless NULL) and returns their number. They can be on
 * several levels: hwloc puts a core of one thread (an efficiency core, or one whose sibling is
 * offline) below its own cache, and a core of two threads above.
 */
static unsigned int find_objects(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t *ret)
{
	int first = hwloc_get_type_depth(topology, type), last = first;
	unsigned int nr = 0;

	if (first == HWLOC_TYPE_DEPTH_UNKNOWN)
		return 0;
	if (first == HWLOC_TYPE_DEPTH_MULTIPLE) {
		first = 0;
		last = hwloc_topology_get_depth(topology) - 1;
	}
	for (int depth = first; depth <= last; depth++) {
		if (hwloc_get_depth_type(topology, depth) != type)
			continue;
		for (unsigned int i = 0; i < hwloc_get_nbobjs_by_depth(topology, depth); i++, nr++)
			if (ret)
				ret[nr] = hwloc_get_obj_by_depth(topology, depth, i);
	}
	return nr;
}

/*
 * NUMA nodes can overlap: hwloc gives a memory-only node the CPUs near it. Small nodes take their
 * CPUs first, so that a memory-only node gets none.
 */
static int push_objects(struct maker *m, hwloc_obj_type_t type)
{
	unsigned int nr = find_objects(m->topology, type, NULL);
	hwloc_obj_t *objects = calloc(nr, sizeof(*objects));
	int rc = 0;

	if (!objects)
		return -ENOMEM;
	find_objects(m->topology, type, objects);
	qsort(objects, nr, sizeof(*objects), object_compare);
	for (unsigned int i = 0; !rc && i < nr; i++) {
		if (hwloc_bitmap_and(m->cpus, objects[i]->cpuset, m->left))
			rc = -ENOMEM;
		else if (!hwloc_bitmap_iszero(m->cpus))
			rc = push_local(m);
	}
	free(objects);
	return rc;
}

/* Makes an object of each CPU that the topology lacks (plugged in since). */
static int push_unknown(struct maker *m)
{
	int rc = 0, cpu;

	while (!rc && (cpu = hwloc_bitmap_first(m->left)) >= 0)
		rc = hwloc_bitmap_only(m->cpus, (unsigned int)cpu) ? -ENOMEM : push_local(m);
	return rc;
}

static int make_layout(struct maker *m, const struct layout *layout)
{
	hwloc_obj_type_t type = layout->type;
	int rc;

	if (!find_objects(m->topology, type, NULL))
		type = layout->instead;
	rc = push_objects(m, type);
	if (!rc)
		rc = push_unknown(m);
	if (!rc)
		qsort(m->masks.masks, m->masks.nr, sizeof(*m->masks.masks), mask_compare);
	return rc;
}

/* A mask as the user wrote it, for messages such as "mask 2 '4-7/4'". */
struct written {
	unsigned int nr;
	const char *text; /* not terminated: */
	size_t len;
};

static int refuse(const struct maker *m, const struct written *w, const char *why)
{
	return error_set(m->err, -EINVAL, "--threads: mask %u '%.*s': %s", w->nr, (int)w->len,
			 w->text, why);
}

/* As refuse(), with a set of CPUs between @why and @more. */
static int refuse_set(const struct maker *m, const struct written *w, int code, const char *why,
		      hwloc_const_bitmap_t set, const char *more)
{
	char *list = NULL;

	if (hwloc_bitmap_list_asprintf(&list, set) < 0)
		return -ENOMEM;
	error_set(m->err, code, "--threads: mask %u '%.*s': %s%s%s", w->nr, (int)w->len, w->text,
		  why, list, more);
	free(list);
	return code;
}

/* Parses half of a written mask into @set; refuses CPUs that this machine lacks. */
static int parse_half(struct maker *m, const struct written *w, const char *text, size_t len,
		      hwloc_bitmap_t set)
{
	struct cpus cpus = {0};
	struct error why = ERROR_INIT;
	char *list = strndup(text, len);
	int rc;

	if (!list)
		return -ENOMEM;
	rc = cpus_parse(list, &cpus, &why);
	free(list);
	if (rc == -EINVAL || rc == -ERANGE)
		return refuse(m, w, why.text);
	if (!rc)
		rc = cpus_to_bitmap(&cpus, set);
	cpus_release(&cpus);
	if (!rc && !hwloc_bitmap_isincluded(set, m->machine))
		rc = refuse_set(m, w, -ENODEV, "this machine has only the CPUs ", m->machine, "");
	return rc;
}

/* Reduces m->cpus to the recorded CPUs; refuses CPUs of an earlier mask. */
static int check_cpus(struct maker *m, const struct written *w)
{
	if (hwloc_bitmap_and(m->cpus, m->cpus, m->recorded))
		return -ENOMEM;
	if (hwloc_bitmap_iszero(m->cpus))
		return refuse_set(m, w, -EINVAL, "none of its CPUs is recorded (recorded are ",
				  m->recorded, ")");
	if (hwloc_bitmap_isincluded(m->cpus, m->left))
		return 0;
	if (hwloc_bitmap_andnot(m->cpus, m->cpus, m->left))
		return -ENOMEM;
	return refuse_set(m, w, -EINVAL, "overlaps an earlier mask in CPU ", m->cpus, "");
}

/* Reduces m->affinity to CPUs that the thread may run on, and to recorded ones if any remain. */
static int check_affinity(struct maker *m, const struct written *w)
{
	if (hwloc_bitmap_and(m->affinity, m->affinity, m->runnable))
		return -ENOMEM;
	if (hwloc_bitmap_iszero(m->affinity))
		return refuse_set(m, w, -EINVAL,
				  "a thread cannot run on any CPU of its affinity (it can on ",
				  m->runnable, ")");
	if (hwloc_bitmap_intersects(m->affinity, m->recorded) &&
	    hwloc_bitmap_and(m->affinity, m->affinity, m->recorded))
		return -ENOMEM;
	if (!hwloc_bitmap_intersects(m->affinity, m->taken))
		return 0;
	if (hwloc_bitmap_and(m->affinity, m->affinity, m->taken))
		return -ENOMEM;
	return refuse_set(m, w, -EINVAL, "overlaps the affinity of an earlier mask in CPU ",
			  m->affinity, "");
}

static int push_written(struct maker *m, const struct written *w)
{
	const char *slash = memchr(w->text, '/', w->len);
	size_t len = slash ? (size_t)(slash - w->text) : 0;
	int rc;

	if (!w->len)
		return refuse(m, w, "the mask is empty");
	if (!slash)
		return refuse(m, w, "'/' and the CPUs that its thread runs on are missing");
	rc = parse_half(m, w, w->text, len, m->cpus);
	if (!rc)
		rc = parse_half(m, w, slash + 1, w->len - len - 1, m->affinity);
	if (!rc)
		rc = check_cpus(m, w);
	if (!rc)
		rc = check_affinity(m, w);
	return rc ? rc : push_mask(m);
}

static int make_written(struct maker *m, const char *spec)
{
	struct written w = {0};
	int rc;

	do {
		w = (struct written){w.nr + 1, spec, strcspn(spec, ":")};
		rc = push_written(m, &w);
		spec += w.len;
	} while (!rc && *spec++ == ':');
	if (rc || hwloc_bitmap_iszero(m->left))
		return rc;
	if (hwloc_bitmap_copy(m->cpus, m->left) || hwloc_bitmap_copy(m->affinity, m->runnable))
		return -ENOMEM;
	m->masks.has_rest = true;
	return push_mask(m);
}

static int make(struct maker *m, const char *spec)
{
	if (!spec || !*spec)
		spec = "cpu";
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (!strcmp(spec, layouts[i].name))
			return make_layout(m, &layouts[i]);
	}
	if (strpbrk(spec, "/:"))
		return make_written(m, spec);
	return error_set(m->err, -EINVAL,
			 "--threads: '%s' is neither cpu, core, package (socket) or numa, nor a "
			 "list of masks such as 0-3/3:4-7/4",
			 spec);
}

int reader_masks_new(const char *spec, const struct cpus *recorded, hwloc_topology_t topology,
		     struct reader_masks *ret, struct error *err)
{
	struct maker m;
	int rc = maker_init(&m, recorded, topology, err);

	if (!rc)
		rc = make(&m, spec);
	if (!rc) {
		*ret = m.masks;
		m.masks = (struct reader_masks){0};
	}
	maker_release(&m);
	return rc == -ENOMEM ? error_set(err, rc, "--threads: out of memory") : rc;
}

void reader_masks_release(struct reader_masks *masks)
{
	for (size_t i = 0; i < masks->nr; i++) {
		cpus_release(&masks->masks[i].cpus);
		cpus_release(&masks->masks[i].affinity);
	}
	free(masks->masks);
	*masks = (struct reader_masks){0};
}

int reader_masks_topology(hwloc_topology_t *ret, struct error *err)
{
	hwloc_topology_t topology;

	if (hwloc_topology_init(&topology))
		return error_set(err, -ENOMEM, "topology: out of memory");
	if (hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) ||
	    hwloc_topology_load(topology)) {
		int rc = errno ? -errno : -EIO;

		hwloc_topology_destroy(topology);
		return error_sys(err, rc, "cannot read the topology of this machine");
	}
	*ret = topology;
	return 0;
}
