// SPDX-License-Identifier: Apache-2.0
#include "record/aux/info_coresight.h"

#include <errno.h>
#include <stdlib.h>

#include "sys/io/file.h"

#define HEADER_VERSION 1

/* The words before those of the CPUs; and before the registers of each. */
enum { CS_VERSION, CS_TYPE_AND_CPUS, CS_SNAPSHOT, CS_WORDS };
enum { UNIT_MAGIC, UNIT_CPU, UNIT_NR_REGISTERS, UNIT_WORDS };

#define MAGIC_ETMV3 0x3030303030303030ull
#define MAGIC_ETMV4 0x4040404040404040ull
#define MAGIC_ETE   0x5050505050505050ull

/* Bits of an event's config (include/linux/coresight-pmu.h), and of ETMv4's TRCCONFIGR. */
static const struct {
	uint64_t event, trcconfigr;
} options[] = {
	{1ull << 8, 1ull << 3},		      /* branch broadcast */
	{1ull << 12, 1ull << 4},	      /* cycle counts */
	{1ull << 14, 1ull << 6},	      /* context ID of EL1 */
	{1ull << 15, 1ull << 7 | 1ull << 15}, /* of EL2, as virtual context ID */
	{1ull << 28, 1ull << 11},	      /* time stamps */
	{1ull << 29, 1ull << 12},	      /* return stack */
};

static const char *const etmv3[] = {"mgmt/etmccer", "mgmt/etmidr"};
/* An ETE has one more than an ETMv4: the last. */
static const char *const etmv4[] = {"trcidr/trcidr0", "trcidr/trcidr1",	    "trcidr/trcidr2",
				    "trcidr/trcidr8", "mgmt/trcauthstatus", "mgmt/trcdevarch"};

#define ETMV4_REGISTERS 5u
#define ETE_REGISTERS	6u

/* TRCDEVARCH of an ETE: architecture version 5, part 0xA13. */
#define DEVARCH_MASK 0xffffu
#define DEVARCH_ETE  0x5a13u

static int read_register(const struct aux_info_source *s, const struct plan_event *event, int cpu,
			 const char *name, uint64_t *ret)
{
	char *text, *end;
	int rc = file_text(&text, "%s/bus/event_source/devices/%s/cpu%d/%s", s->sysfs, event->pmu,
			   cpu, name);

	if (rc)
		return rc;
	*ret = strtoull(text, &end, 16);
	if (end == text || *end)
		rc = -EBADMSG;
	free(text);
	return rc;
}

static uint64_t trcconfigr(uint64_t config)
{
	uint64_t ret = 0;

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (config & options[i].event)
			ret |= options[i].trcconfigr;
	return ret;
}

/* Appends the unit of @cpu. Returns 1, 0 if it has none, or -ENOMEM. */
static int add_unit(const struct aux_info_source *s, const struct plan_event *event, int cpu,
		    struct buf *b)
{
	uint64_t w[UNIT_WORDS + 2 + ETE_REGISTERS] = {[UNIT_CPU] = (uint64_t)cpu};
	const char *const *names = etmv4;
	uint64_t found, config = trcconfigr(event->attr.config);
	size_t nr = ETMV4_REGISTERS;
	int rc = read_register(s, event, cpu, etmv4[0], &found);

	w[UNIT_MAGIC] = MAGIC_ETMV4;
	if (!rc && !read_register(s, event, cpu, etmv4[ETE_REGISTERS - 1], &found) &&
	    (found & DEVARCH_MASK) == DEVARCH_ETE) {
		w[UNIT_MAGIC] = MAGIC_ETE;
		nr = ETE_REGISTERS;
	} else if (rc) {
		rc = read_register(s, event, cpu, etmv3[1], &found);
		w[UNIT_MAGIC] = MAGIC_ETMV3;
		names = etmv3;
		nr = 2;
		config = event->attr.config;
	}
	if (rc)
		return rc == -ENOMEM ? rc : 0;
	w[UNIT_NR_REGISTERS] = 2 + nr;
	w[UNIT_WORDS] = config;
	w[UNIT_WORDS + 1] = 0x10 + 2 * (uint64_t)cpu;
	for (size_t i = 0; i < nr; i++)
		if (read_register(s, event, cpu, names[i], &w[UNIT_WORDS + 2 + i]) == -ENOMEM)
			return -ENOMEM;
	rc = buf_append(b, w, (UNIT_WORDS + 2 + nr) * sizeof(*w));
	return rc ? rc : 1;
}

static int cpus_of(const struct aux_info_source *s, struct cpus *ret)
{
	char *text;
	int rc = file_text(&text, "%s/devices/system/cpu/online", s->sysfs);

	if (rc)
		return rc;
	rc = cpus_parse(text, ret, NULL);
	free(text);
	if (!rc && s->plan->sampled.nr)
		cpus_intersect(ret, &s->plan->sampled);
	return rc;
}

int aux_info_coresight(const struct aux_info_source *s, const struct plan_event *event,
		       struct buf *b)
{
	uint64_t head[CS_WORDS] = {
		[CS_VERSION] = HEADER_VERSION,
		[CS_SNAPSHOT] = s->plan->aux_mode == AUX_SNAPSHOT,
	};
	struct buf words = {0};
	struct cpus cpus = {0};
	uint64_t units = 0;
	int rc = cpus_of(s, &cpus);

	if (rc == -ENOMEM)
		return rc;
	rc = buf_append(&words, head, sizeof(head));
	for (size_t i = 0; rc >= 0 && i < cpus.nr; i++) {
		rc = add_unit(s, event, cpus.ids[i], &words);
		units += rc == 1;
	}
	if (rc >= 0) {
		head[CS_TYPE_AND_CPUS] = (uint64_t)event->attr.type << 32 | units;
		memcpy(words.data, head, sizeof(head));
		rc = pd_auxtrace_info_encode(b, PD_AUXTRACE_CS_ETM, (const uint64_t *)words.data,
					     words.len / sizeof(uint64_t));
	}
	cpus_release(&cpus);
	buf_release(&words);
	return rc;
}
