// SPDX-License-Identifier: Apache-2.0
/* The processor's name and id, memory, PMUs: features of one value or a plain list. */
#include "record/initial/machine_parts.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__i386__) || defined(__x86_64__)
#include <cpuid.h>
#endif

#include "perfdata/feature.h"
#include "sys/io/file.h"

int machine_nrcpus(const struct machine_roots *roots, struct buf *b)
{
	int configured = machine_nr_cpus(roots, "present");
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	if (configured < 0 || online < 0)
		return configured < 0 ? configured : -ENODATA;
	return pd_feature_nrcpus_encode(
		b, &(struct pd_nrcpus){(uint32_t)configured, (uint32_t)online});
}

/* Runs of white space become one blank. */
static void squash_blanks(char *s)
{
	char *out = s;

	for (; *s; s++) {
		if (!isspace((unsigned char)*s))
			*out++ = *s;
		else if (!isspace((unsigned char)s[1]))
			*out++ = ' ';
	}
	*out = '\0';
}

/* The value in "KEY<blanks>: VALUE" of a line of @text, cut out in place; NULL if there is none. */
static char *find_value(char *text, const char *key)
{
	size_t len = strlen(key);

	for (char *line = text, *nl; line && *line; line = nl ? nl + 1 : NULL) {
		char *p = line + len;

		nl = strchr(line, '\n');
		if (strncmp(line, key, len))
			continue;
		while (*p == ' ' || *p == '\t')
			p++;
		if (*p++ != ':')
			continue;
		if (nl)
			*nl = '\0';
		while (isspace((unsigned char)*p))
			p++;
		return p;
	}
	return NULL;
}

int machine_cpudesc(const struct machine_roots *roots, struct buf *b)
{
	char *text, *value;
	int rc;

	rc = file_text(&text, "%s/cpuinfo", roots->proc);
	if (rc)
		return rc;
	value = find_value(text, "model name");
	if (value) {
		squash_blanks(value);
		rc = pd_feature_string_encode(b, value);
	} else {
		rc = -ENODATA;
	}
	free(text);
	return rc;
}

int machine_total_mem(const struct machine_roots *roots, struct buf *b)
{
	char *text, *value;
	int rc;

	rc = file_text(&text, "%s/meminfo", roots->proc);
	if (rc)
		return rc;
	value = find_value(text, "MemTotal");
	rc = value ? pd_feature_u64_encode(b, strtoull(value, NULL, 10)) : -ENODATA;
	free(text);
	return rc;
}

#if defined(__i386__) || defined(__x86_64__)
/* Vendor, family, model, stepping, as perf spells them ("GenuineIntel,6,143,8"). */
int machine_cpuid(const struct machine_roots *roots, struct buf *b)
{
	unsigned int eax, ebx, ecx, edx, family, model;
	char vendor[13] = "", text[64];

	if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx))
		return -ENODATA;
	memcpy(vendor, &ebx, 4);
	memcpy(vendor + 4, &edx, 4);
	memcpy(vendor + 8, &ecx, 4);
	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
		return -ENODATA;
	family = eax >> 8 & 0xf;
	model = eax >> 4 & 0xf;
	if (family == 0xf)
		family += eax >> 20 & 0xff;
	if (family >= 6)
		model += (eax >> 16 & 0xf) << 4;
	snprintf(text, sizeof(text), "%s,%u,%u,%u", vendor, family, model, eax & 0xf);
	return pd_feature_string_encode(b, text);
}
#else
/* aarch64: the MIDR of the first CPU that has one, without variant and revision, as in perf. */
int machine_cpuid(const struct machine_roots *roots, struct buf *b)
{
	int nr = machine_nr_cpus(roots, "present");

	for (int cpu = 0; cpu < nr; cpu++) {
		char *text, midr[32];
		int rc;

		rc = file_text(&text, "%s/devices/system/cpu/cpu%d/regs/identification/midr_el1",
			       roots->sys, cpu);
		if (rc == -ENOMEM)
			return rc;
		if (rc)
			continue;
		snprintf(midr, sizeof(midr), "0x%016llx", strtoull(text, NULL, 16) & ~0xf0000fULL);
		free(text);
		return pd_feature_string_encode(b, midr);
	}
	return -ENODATA;
}
#endif

static int pmu_add(struct pd_pmu_mappings *pmus, size_t *capacity, uint32_t type, const char *name)
{
	char *copy = strdup(name);

	if (!copy || array_grow(&pmus->pmus, capacity, pmus->nr + 1, sizeof(*pmus->pmus))) {
		free(copy);
		return -ENOMEM;
	}
	pmus->pmus[pmus->nr++] = (struct pd_pmu_mapping){type, copy};
	return 0;
}

static int by_type(const void *a, const void *b)
{
	const struct pd_pmu_mapping *x = a, *y = b;

	return x->type < y->type ? -1 : x->type > y->type;
}

int machine_pmu_mappings(const struct machine_roots *roots, struct buf *b)
{
	struct pd_pmu_mappings pmus = {0};
	char path[4096];
	struct dirent *ent;
	size_t capacity = 0;
	DIR *dir;
	int rc = 0;

	snprintf(path, sizeof(path), "%s/bus/event_source/devices", roots->sys);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (rc != -ENOMEM && (ent = readdir(dir))) {
		long long type;

		if (ent->d_name[0] == '.')
			continue;
		rc = file_number(&type, "%s/%s/type", path, ent->d_name);
		if (!rc && type >= 0 && type <= UINT32_MAX)
			rc = pmu_add(&pmus, &capacity, (uint32_t)type, ent->d_name);
	}
	closedir(dir);
	if (rc != -ENOMEM) {
		if (pmus.nr)
			qsort(pmus.pmus, pmus.nr, sizeof(*pmus.pmus), by_type);
		rc = pd_feature_pmu_mappings_encode(b, &pmus);
	}
	pd_pmu_mappings_release(&pmus);
	return rc;
}
