// SPDX-License-Identifier: Apache-2.0
#include "event/catalog/pmu.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/parse.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* sysfs shows at most a page. */
#define SYSFS_TEXT_SIZE 4097

/* Suffixes of files beside an alias that are no aliases themselves. */
static const char *const alias_suffixes[] = {".unit", ".scale", ".per-pkg", ".snapshot"};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int name_list_add(struct name_list *list, const char *name)
{
	int rc = array_grow(&list->names, &list->cap, list->count + 1, sizeof(*list->names));

	if (rc)
		return rc;
	list->names[list->count] = strdup(name);
	if (!list->names[list->count])
		return -ENOMEM;
	list->count++;
	return 0;
}

int name_list_read_dir(struct name_list *list, const char *path)
{
	size_t first = list->count;
	struct dirent *entry;
	DIR *dir = opendir(path);
	int rc = 0;

	if (!dir)
		return -errno;
	while (!rc && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] != '.')
			rc = name_list_add(list, entry->d_name);
	}
	closedir(dir);
	if (list->count > first)
		qsort(list->names + first, list->count - first, sizeof(*list->names),
		      compare_names);
	return rc;
}

void name_list_release(struct name_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->names[i]);
	free(list->names);
	*list = (struct name_list){0};
}

int read_small_file(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, out, size - 1);
	if (n < 0) {
		int rc = -errno;

		close(fd);
		return rc;
	}
	close(fd);
	out[n] = '\0';
	n = (ssize_t)strlen(out);
	while (n && strchr(" \t\r\n", out[n - 1]))
		out[--n] = '\0';
	return (int)n;
}

/* Builds the path of a PMU's file. False if the name cannot be a PMU's or the path is too long. */
static bool pmu_path(const struct event_env *env, const char *pmu, const char *what, char *out,
		     size_t size)
{
	const char *sysfs = env->sysfs ? env->sysfs : "/sys";
	int n;

	if (pmu[0] == '.' || strchr(pmu, '/'))
		return false;
	n = snprintf(out, size, "%s/bus/event_source/devices/%s%s%s", sysfs, pmu, *what ? "/" : "",
		     what);
	return n > 0 && (size_t)n < size;
}

int pmu_read(const struct event_env *env, const char *name, const char *file, char *out,
	     size_t size)
{
	char path[PATH_MAX];

	if (!pmu_path(env, name, file, path, sizeof(path)))
		return -ENOENT;
	return read_small_file(path, out, size);
}

int pmu_list(const struct event_env *env, const char *name, const char *folder,
	     struct name_list *ret)
{
	char path[PATH_MAX];
	int rc;

	if (!pmu_path(env, name, folder, path, sizeof(path)))
		return 0;
	rc = name_list_read_dir(ret, path);
	return rc == -ENOMEM ? rc : 0;
}

int pmu_names(const struct event_env *env, struct name_list *ret)
{
	char path[PATH_MAX];
	int rc;

	if (!pmu_path(env, "", "", path, sizeof(path)))
		return 0;
	rc = name_list_read_dir(ret, path);
	return rc == -ENOMEM ? rc : 0;
}

/* Takes a decimal number below 64 off the front of *@s. */
static int take_bit(const char **s, unsigned int *ret)
{
	char *end;
	unsigned long v;

	if (**s < '0' || **s > '9')
		return -EBADMSG;
	v = strtoul(*s, &end, 10);
	if (v > 63)
		return -EBADMSG;
	*s = end;
	*ret = (unsigned int)v;
	return 0;
}

/* Parses "config1:0-7,32-35": a word and its bits, the value's lowest bit first. */
static int parse_format(const char *s, struct pmu_format *ret)
{
	if (strncmp(s, "config", 6) != 0)
		return -EBADMSG;
	s += 6;
	ret->word = 0;
	ret->bits = 0;
	if (*s != ':' && take_bit(&s, &ret->word) != 0)
		return -EBADMSG;
	do {
		unsigned int from, to;

		s++; /* ':' at first, then ',' */
		if (take_bit(&s, &from) != 0)
			return -EBADMSG;
		to = from;
		if (*s == '-') {
			s++;
			if (take_bit(&s, &to) != 0 || to < from)
				return -EBADMSG;
		}
		ret->bits |= (UINT64_MAX >> (63 - (to - from))) << from;
	} while (*s == ',');
	return *s ? -EBADMSG : 0;
}

static int load_formats(const struct event_env *env, struct pmu *pmu, struct error *err)
{
	char path[PATH_MAX], text[SYSFS_TEXT_SIZE];
	struct name_list names = {0};
	struct pmu_format *format;
	int rc = pmu_list(env, pmu->name, "format", &names);

	for (size_t i = 0; !rc && i < names.count; i++) {
		snprintf(path, sizeof(path), "format/%s", names.names[i]);
		if (pmu_read(env, pmu->name, path, text, sizeof(text)) < 0)
			continue;
		rc = array_grow(&pmu->formats, &pmu->cap_formats, pmu->nr_formats + 1,
				sizeof(*pmu->formats));
		if (rc)
			break;
		format = &pmu->formats[pmu->nr_formats];
		rc = parse_format(text, format);
		if (rc) {
			error_set(err, rc, "PMU '%s': %s holds '%.64s', which is no format",
				  pmu->name, path, text);
			break;
		}
		format->name = strdup(names.names[i]);
		if (!format->name)
			rc = -ENOMEM;
		else
			pmu->nr_formats++;
	}
	name_list_release(&names);
	return rc;
}

/*
 * Finds the CPUs of a core PMU. Core PMUs are "cpu", "cpum_cf" and the like, a kind of core of a
 * hybrid machine ("cpu_atom"), or ARM's and RISC-V's, which have a "cpus" file.
 */
static void load_cpus(const struct event_env *env, struct pmu *pmu)
{
	char text[SYSFS_TEXT_SIZE];

	if (pmu_read(env, pmu->name, "cpumask", text, sizeof(text)) > 0) {
		pmu->cpus = strdup(text);
	} else if (pmu_read(env, pmu->name, "cpus", text, sizeof(text)) > 0) {
		pmu->cpus = strdup(text);
		pmu->core = true;
	}
	if (strcmp(pmu->name, "cpu") == 0)
		pmu->core = true;
}

int pmu_load(const struct event_env *env, const char *name, struct pmu *ret, struct error *err)
{
	struct pmu pmu = {0};
	char text[SYSFS_TEXT_SIZE];
	uint64_t type;
	int rc;

	if (!*name || pmu_read(env, name, "type", text, sizeof(text)) < 0)
		return -ENOENT;
	if (parse_u64(text, &type) != 0 || type > UINT32_MAX)
		return error_set(err, -EBADMSG, "PMU '%s': its type is '%.64s', which is no number",
				 name, text);
	pmu.type = (uint32_t)type;
	pmu.name = strdup(name);
	if (!pmu.name)
		return error_sys(err, -ENOMEM, "PMU '%s'", name);
	load_cpus(env, &pmu);
	rc = load_formats(env, &pmu, err);
	if (rc) {
		if (rc == -ENOMEM)
			error_sys(err, rc, "PMU '%s'", name);
		pmu_release(&pmu);
		return rc;
	}
	*ret = pmu;
	return 0;
}

const struct pmu_format *pmu_format_find(const struct pmu *pmu, const char *name)
{
	for (size_t i = 0; i < pmu->nr_formats; i++) {
		if (strcmp(pmu->formats[i].name, name) == 0)
			return &pmu->formats[i];
	}
	return NULL;
}

uint64_t pmu_bits_spread(uint64_t bits, uint64_t value)
{
	uint64_t ret = 0;

	for (; bits; bits &= bits - 1, value >>= 1)
		if (value & 1)
			ret |= bits & -bits;
	return ret;
}

void pmu_release(struct pmu *pmu)
{
	for (size_t i = 0; i < pmu->nr_formats; i++)
		free(pmu->formats[i].name);
	free(pmu->formats);
	free(pmu->cpus);
	free(pmu->name);
	*pmu = (struct pmu){0};
}

int pmu_load_hybrid(const struct event_env *env, struct pmu **ret, size_t *ret_count)
{
	struct name_list names = {0};
	struct pmu *pmus = NULL;
	size_t count = 0, cap = 0;
	int rc = pmu_names(env, &names);

	/* Only on hybrid x86 do generic events not find the right kind of core by themselves. */
	for (size_t i = 0; !rc && i < names.count; i++) {
		if (strncmp(names.names[i], "cpu_", 4) != 0)
			continue;
		rc = array_grow(&pmus, &cap, count + 1, sizeof(*pmus));
		if (rc || pmu_load(env, names.names[i], &pmus[count], NULL) != 0)
			continue;
		if (pmus[count].core)
			count++;
		else
			pmu_release(&pmus[count]);
	}
	name_list_release(&names);
	if (rc || count < 2) {
		while (count)
			pmu_release(&pmus[--count]);
		free(pmus);
		pmus = NULL;
	}
	*ret = pmus;
	*ret_count = count;
	return rc;
}

static bool is_alias_name(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(alias_suffixes); i++) {
		size_t n = strlen(alias_suffixes[i]);

		if (len > n && strcmp(name + len - n, alias_suffixes[i]) == 0)
			return false;
	}
	return true;
}

int pmu_alias_names(const struct event_env *env, const char *pmu, struct name_list *ret)
{
	size_t kept = ret->count;
	int rc = pmu_list(env, pmu, "events", ret);

	for (size_t i = kept; i < ret->count; i++) {
		if (is_alias_name(ret->names[i]))
			ret->names[kept++] = ret->names[i];
		else
			free(ret->names[i]);
	}
	ret->count = kept;
	return rc;
}

static int alias_text(const struct event_env *env, const char *pmu, const char *alias, char *out,
		      size_t size)
{
	struct name_list names = {0};
	char what[NAME_MAX + sizeof("events/")];
	int rc = pmu_alias_names(env, pmu, &names), found = -ENOENT;

	for (size_t i = 0; !rc && i < names.count; i++) {
		if (strcasecmp(names.names[i], alias) == 0) {
			snprintf(what, sizeof(what), "events/%s", names.names[i]);
			found = pmu_read(env, pmu, what, out, size);
			break;
		}
	}
	name_list_release(&names);
	return rc ? rc : found < 0 ? -ENOENT : 0;
}

int pmu_alias_terms(const struct event_env *env, const struct pmu *pmu, const char *alias,
		    struct term_list *ret, struct error *err)
{
	char text[SYSFS_TEXT_SIZE];
	struct term_list terms = {0};
	struct lexer lexer = {text};
	const char *at;
	int rc = alias_text(env, pmu->name, alias, text, sizeof(text));

	if (rc)
		return rc;
	rc = term_list_parse(&terms, &lexer, false, &at, NULL);
	if (rc) {
		term_list_release(&terms);
		if (rc == -ENOMEM)
			return error_sys(err, rc, "PMU '%s'", pmu->name);
		return error_set(err, -EBADMSG, "PMU '%s': alias '%s' holds '%.64s', no terms",
				 pmu->name, alias, text);
	}
	for (size_t i = 0; i < terms.count; i++)
		terms.items[i].at = NULL; /* it points into @text, which is freed */
	*ret = terms;
	return 0;
}
