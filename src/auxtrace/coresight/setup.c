// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/coresight/setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/aux_record.h"

#define MAGIC_ETMV3 0x3030303030303030ull
#define MAGIC_ETMV4 0x4040404040404040ull
#define MAGIC_ETE   0x5050505050505050ull

#define FLAG_RAW 0x100u /* PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW */

/* Words before the units; before the registers of each, in versions 1 and 0. */
enum { HEAD_VERSION, HEAD_CPUS, HEAD_SNAPSHOT, HEAD_WORDS };
enum { UNIT_MAGIC, UNIT_CPU, UNIT_NR, UNIT_WORDS, UNIT_WORDS_V0 = UNIT_NR };

/* Registers, in the order of the recording. */
enum { V3_CR, V3_ID, V3_CCER, V3_IDR, V3_WORDS };
enum {
	V4_CONFIG,
	V4_ID,
	V4_IDR0,
	V4_IDR1,
	V4_IDR2,
	V4_IDR8,
	V4_AUTH,
	V4_WORDS,
	V4_TIME = V4_WORDS
};
enum { ETE_DEVARCH = V4_WORDS, ETE_WORDS, ETE_TIME = ETE_WORDS };

#define ETMIDR_PTM   0x300u
#define TIME_VIRTUAL 1u

/* Of ETMCR as the kernel's option, and of TRCCONFIGR. */
#define CR_CONTEXT_ID	(1u << 14)
#define CONFIG_CONTEXT	(1u << 6)
#define CONFIG_VMID	(1u << 7)
#define CONFIG_VMID_OPT (1u << 15)

#define ID_MASK 0x7fu

#define HW_ID_MAJOR(value) ((value) >> 60)

static void read_v3(struct cs_unit *u, const uint64_t *w)
{
	u->config = (uint32_t)w[V3_CR];
	u->trace_id = w[V3_ID] & ID_MASK;
	u->ccer = (uint32_t)w[V3_CCER];
	u->idr[0] = (uint32_t)w[V3_IDR];
	u->protocol = (u->idr[0] & 0xf00u) == ETMIDR_PTM ? CS_PTM : CS_ETMV3;
	u->tid_source = u->config & CR_CONTEXT_ID ? CS_TID_CONTEXT : CS_TID_NONE;
}

static void read_v4(struct cs_unit *u, const uint64_t *w, size_t nr)
{
	size_t time = u->protocol == CS_ETE ? ETE_TIME : V4_TIME;

	u->config = (uint32_t)w[V4_CONFIG];
	u->trace_id = w[V4_ID] & ID_MASK;
	for (size_t i = 0; i < 3; i++)
		u->idr[i] = (uint32_t)w[V4_IDR0 + i];
	u->idr8 = (uint32_t)w[V4_IDR8];
	if (u->protocol == CS_ETE)
		u->devarch = (uint32_t)w[ETE_DEVARCH];
	u->virtual_time = nr > time && w[time] == TIME_VIRTUAL;
	if (u->config & (CONFIG_VMID | CONFIG_VMID_OPT))
		u->tid_source = CS_TID_VMID;
	else if (u->config & CONFIG_CONTEXT)
		u->tid_source = CS_TID_CONTEXT;
}

/* Reads the unit at @w. Returns how many words it has, or 0 if they are none or not all there. */
static size_t read_unit(const uint64_t *w, size_t left, uint64_t version, struct cs_unit *u)
{
	size_t head = version ? UNIT_WORDS : UNIT_WORDS_V0;
	size_t least, nr;

	if (left < head)
		return 0;
	*u = (struct cs_unit){.cpu = (uint32_t)w[UNIT_CPU]};
	switch (w[UNIT_MAGIC]) {
	case MAGIC_ETMV3: least = V3_WORDS; break;
	case MAGIC_ETMV4: least = V4_WORDS; break;
	case MAGIC_ETE: least = ETE_WORDS; break;
	default: return 0;
	}
	if (version && w[UNIT_NR] > left - head)
		return 0;
	nr = version ? (size_t)w[UNIT_NR] : least;
	if (nr < least || nr > left - head)
		return 0;
	u->protocol = w[UNIT_MAGIC] == MAGIC_ETE ? CS_ETE : CS_ETMV4;
	if (w[UNIT_MAGIC] == MAGIC_ETMV3)
		read_v3(u, w + head);
	else
		read_v4(u, w + head, nr);
	return head + nr;
}

/* The ids that the kernel gave to the CPUs replace those that the recorder guessed. */
static void apply_hw_ids(struct cs_setup *s)
{
	for (size_t i = 0; i < s->of->nr_hw_ids; i++) {
		const struct aux_hw_id *id = &s->of->hw_ids[i];

		if (HW_ID_MAJOR(id->value))
			continue;
		for (size_t k = 0; k < s->nr; k++)
			if (s->units[k].cpu == id->cpu)
				s->units[k].trace_id = id->value & ID_MASK;
	}
}

int cs_setup_parse(const struct aux_setup *setup, struct cs_setup *ret)
{
	const uint64_t *w = setup->priv;
	size_t left = setup->nr_priv, nr;

	*ret = (struct cs_setup){.raw = setup->aux_flags & FLAG_RAW, .of = setup};
	if (setup->type != PD_AUXTRACE_CS_ETM || left < HEAD_WORDS || w[HEAD_VERSION] > 1)
		return -ENOTSUP;
	nr = (uint32_t)w[HEAD_CPUS];
	left -= HEAD_WORDS;
	w += HEAD_WORDS;
	if (!nr || nr > left / UNIT_WORDS_V0)
		return -ENOTSUP;
	ret->units = calloc(nr, sizeof(*ret->units));
	if (!ret->units)
		return -ENOMEM;
	for (; ret->nr < nr; ret->nr++) {
		size_t words = read_unit(w, left, setup->priv[HEAD_VERSION], &ret->units[ret->nr]);

		if (!words) {
			cs_setup_release(ret);
			return -ENOTSUP;
		}
		w += words;
		left -= words;
	}
	apply_hw_ids(ret);
	return 0;
}

void cs_setup_release(struct cs_setup *s)
{
	free(s->units);
	s->units = NULL;
	s->nr = 0;
}

const struct cs_unit *cs_setup_by_id(const struct cs_setup *s, uint8_t trace_id)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->units[i].trace_id == trace_id)
			return &s->units[i];
	return NULL;
}

const struct cs_unit *cs_setup_by_cpu(const struct cs_setup *s, uint32_t cpu)
{
	if (cpu == UINT32_MAX)
		return &s->units[0];
	for (size_t i = 0; i < s->nr; i++)
		if (s->units[i].cpu == cpu)
			return &s->units[i];
	return NULL;
}

uint64_t cs_setup_time(const struct cs_setup *s, const struct cs_unit *unit, uint64_t stamp)
{
	uint64_t ret = 0;

	if (unit->virtual_time)
		aux_time(s->of->time_conv, stamp, &ret);
	return ret;
}
