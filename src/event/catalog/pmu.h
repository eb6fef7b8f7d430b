/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the kernel's descriptions of PMUs: number, CPUs, format of the config words, aliases.
 *
 * They are under sysfs/bus/event_source/devices. Source: Documentation/ABI/testing/
 * sysfs-bus-event_source-devices-{format,events} (6.1).
 *
 * A struct pmu owns its strings; pmu_release() accepts an all-zero one. One thread.
 */
#ifndef RINGTAIL_EVENT_CATALOG_PMU_H
#define RINGTAIL_EVENT_CATALOG_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/syntax/spec.h"
#include "event/syntax/terms.h"

struct pmu_format {
	char *name;
	unsigned int word; /* 0: config, 1: config1, … */
	uint64_t bits;
};

struct pmu {
	char *name;
	uint32_t type;
	char *cpus; /* cpumask, or the cpus of one kind of core; NULL: any */
	bool core;  /* counts in a CPU core, so it takes generic events */
	struct pmu_format *formats;
	size_t nr_formats, cap_formats;
};

/* A list of names, sorted. */
struct name_list {
	char **names;
	size_t count, cap;
};

/*
 * Appends the names of the entries of directory @path, sorted, without hidden ones. Returns 0 or a
 * negative errno.
 */
int name_list_read_dir(struct name_list *list, const char *path);

/* Appends a copy of @name. Returns 0 or -ENOMEM. */
int name_list_add(struct name_list *list, const char *name);

/* Frees the names and empties the list. */
void name_list_release(struct name_list *list);

/*
 * Reads at most @size - 1 bytes of a file into @out, adds a NUL, and drops white space at the end.
 * Returns the length or a negative errno.
 */
int read_small_file(const char *path, char *out, size_t size);

/* Lists the names of all PMUs, sorted; none if sysfs has no PMUs. Returns 0 or -ENOMEM. */
int pmu_names(const struct event_env *env, struct name_list *ret);

/*
 * Reads a PMU. Returns 0 with *@ret for pmu_release(); -ENOENT (no such PMU; @err is not filled);
 * -EBADMSG (cannot parse one of its files); or -ENOMEM. *@ret is untouched on failure.
 */
int pmu_load(const struct event_env *env, const char *name, struct pmu *ret, struct error *err);

/* Frees the contents of a PMU from pmu_load(). */
void pmu_release(struct pmu *pmu);

/*
 * Reads the kinds of cores of a hybrid machine: the PMUs with a "cpus" file. Returns 0 or -ENOMEM.
 * The caller releases the *@ret_count elements of the array *@ret and frees it. With less than two
 * kinds they are 0 and NULL.
 */
int pmu_load_hybrid(const struct event_env *env, struct pmu **ret, size_t *ret_count);

/* Lists the PMU's aliases, without files like NAME.unit and NAME.scale. Returns 0 or -ENOMEM. */
int pmu_alias_names(const struct event_env *env, const char *pmu, struct name_list *ret);

/*
 * Reads the terms of an alias, whose name compares without case. Returns 0 with @ret for the caller
 * to release; -ENOENT (no such alias; @err is not filled); -EBADMSG; or -ENOMEM.
 */
int pmu_alias_terms(const struct event_env *env, const struct pmu *pmu, const char *alias,
		    struct term_list *ret, struct error *err);

/* Returns the format of a term, or NULL. */
const struct pmu_format *pmu_format_find(const struct pmu *pmu, const char *name);

/* Returns the bits of @value at the places of @bits, lowest first. */
uint64_t pmu_bits_spread(uint64_t bits, uint64_t value);

/*
 * Reads a file of the PMU @name into @out, as read_small_file() does; -ENOENT for a name that no
 * PMU can have.
 */
int pmu_read(const struct event_env *env, const char *name, const char *file, char *out,
	     size_t size);

/* Lists the files in a folder of the PMU, sorted; none without the folder. Returns 0 or -ENOMEM. */
int pmu_list(const struct event_env *env, const char *name, const char *folder,
	     struct name_list *ret);

/*
 * Applies to @spec, in this order: type and CPUs of the PMU, its defaults, terms like config=, an
 * alias, and the PMU's own terms, which override the alias. Returns 0, -ENOENT (unknown term),
 * -EINVAL, -EBADMSG or -ENOMEM. On failure *@ret_at is the text of the wrong term, or NULL.
 */
int pmu_apply(const struct event_env *env, const struct pmu *pmu, const struct term_list *terms,
	      struct event_spec *spec, const char **ret_at, struct error *err);

#endif
