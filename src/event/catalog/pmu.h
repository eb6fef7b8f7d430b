/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PMUs as the kernel describes them under sysfs/bus/event_source/devices: number, CPUs, format of
 * the config words, aliases. Source: Documentation/ABI/testing/
 * sysfs-bus-event_source-devices-{format,events} (6.1).
 *
 * A struct pmu owns its strings; pmu_release() accepts one that is all zero. One thread.
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
	char *cpus; /* cpumask, or cpus of one kind of core; NULL: any */
	bool core;  /* counts in a CPU core, so generic events can be asked of it */
	struct pmu_format *formats;
	size_t nr_formats, cap_formats;
};

/* A list of names, sorted. */
struct name_list {
	char **names;
	size_t count, cap;
};

/*
 * Appends the names of @path's entries, sorted, hidden ones left out.
 * Returns 0 or a negative errno without a sentence.
 */
int name_list_read_dir(struct name_list *list, const char *path);

/* Copies @name to the end. Returns 0 or -ENOMEM. */
int name_list_add(struct name_list *list, const char *name);

/* Frees the names; an empty list remains. */
void name_list_release(struct name_list *list);

/*
 * Reads a small file into @out (NUL-terminated, white space at the end cut off; at most size - 1
 * bytes are read). Returns the length or a negative errno.
 */
int read_small_file(const char *path, char *out, size_t size);

/* Names of all PMUs, sorted. A sysfs without PMUs gives an empty list. Returns 0 or -ENOMEM. */
int pmu_names(const struct event_env *env, struct name_list *ret);

/*
 * Reads a PMU. Returns 0, -ENOENT (no such PMU, no sentence), -EBADMSG (a file of it is not
 * understood), -ENOMEM. *@ret is untouched on failure.
 */
int pmu_load(const struct event_env *env, const char *name, struct pmu *ret, struct error *err);

/* Frees what pmu_load() has filled. */
void pmu_release(struct pmu *pmu);

/*
 * Reads the kinds of cores of a hybrid machine: PMUs of cores that have a "cpus" file. An array
 * of *@ret_count, freed by the caller with its elements; less than two kinds: NULL and 0.
 * Returns 0 or -ENOMEM.
 */
int pmu_load_hybrid(const struct event_env *env, struct pmu **ret, size_t *ret_count);

/* Names of the PMU's aliases, without their .unit, .scale and so on. Returns 0 or -ENOMEM. */
int pmu_alias_names(const struct event_env *env, const char *pmu, struct name_list *ret);

/*
 * Reads the terms behind an alias (case does not matter). Returns 0, -ENOENT (no such alias, no
 * sentence), -EBADMSG, -ENOMEM. The caller releases @ret after success.
 */
int pmu_alias_terms(const struct event_env *env, const struct pmu *pmu, const char *alias,
		    struct term_list *ret, struct error *err);

/*
 * Applies terms to @spec: type and CPUs of the PMU, its defaults, config= and the like, an alias,
 * then the PMU's own terms, which win over those of the alias. On failure *@ret_at is where the
 * offending term stands, or NULL. Returns 0, -ENOENT (unknown term), -EINVAL, -EBADMSG, -ENOMEM.
 */
int pmu_apply(const struct event_env *env, const struct pmu *pmu, const struct term_list *terms,
	      struct event_spec *spec, const char **ret_at, struct error *err);

#endif
