// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/intel_pt/setup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "perfdata/aux_record.h"

/*
 * The words of AUXTRACE_INFO.
 * Source: tools/perf/util/intel-pt.h (6.1). Older files have fewer words.
 */
enum {
	WORD_PMU_TYPE,
	WORD_TIME_SHIFT,
	WORD_TIME_MULT,
	WORD_TIME_ZERO,
	WORD_CAP_USER_TIME_ZERO,
	WORD_TSC_BIT,
	WORD_NORETCOMP_BIT,
	WORD_HAVE_SCHED_SWITCH,
	WORD_SNAPSHOT_MODE,
	WORD_PER_CPU_MMAPS,
	WORD_MTC_BIT,
	WORD_MTC_FREQ_BITS,
	WORD_TSC_CTC_N,
	WORD_TSC_CTC_D,
	WORD_CYC_BIT,
	WORD_MAX_NONTURBO_RATIO,
};

static uint64_t word(const struct aux_setup *setup, size_t i)
{
	return i < setup->nr_priv ? setup->priv[i] : 0;
}

static void init_time(const struct aux_setup *setup, struct pt_setup *s)
{
	uint64_t time;

	if (word(setup, WORD_CAP_USER_TIME_ZERO))
		s->conv = (struct pd_time_conv){
			.time_shift = word(setup, WORD_TIME_SHIFT),
			.time_mult = word(setup, WORD_TIME_MULT),
			.time_zero = word(setup, WORD_TIME_ZERO),
			.cap_user_time_zero = true,
		};
	else if (setup->time_conv)
		s->conv = *setup->time_conv;
	s->timed = s->conv.time_mult && aux_time(&s->conv, 0, &time);
}

static struct pt_errata errata_of(const char *cpuid)
{
	struct pt_errata errata = {0};
	unsigned int family, model, stepping;
	struct pt_cpu cpu = {.vendor = pcv_intel};

	if (cpuid && sscanf(cpuid, "GenuineIntel,%u,%u,%u", &family, &model, &stepping) == 3 &&
	    family <= UINT16_MAX && model <= UINT8_MAX && stepping <= UINT8_MAX) {
		cpu.family = family;
		cpu.model = model;
		cpu.stepping = stepping;
		/* A CPU that libipt does not know has none. */
		if (pt_cpu_errata(&errata, &cpu) < 0)
			errata = (struct pt_errata){0};
	}
	/* Many CPUs write a FUP into the PSB+ before tracing begins; others never do. */
	errata.bdm70 = 1;
	return errata;
}

int pt_setup_init(const struct aux_setup *setup, struct pt_setup *ret)
{
	uint64_t freq = word(setup, WORD_MTC_FREQ_BITS);
	uint64_t ratio = word(setup, WORD_MAX_NONTURBO_RATIO);
	struct pt_setup s = {0};

	if (setup->type != PD_AUXTRACE_INTEL_PT)
		return -ENOTSUP;
	init_time(setup, &s);
	if (word(setup, WORD_TSC_CTC_N) <= UINT32_MAX &&
	    word(setup, WORD_TSC_CTC_D) <= UINT32_MAX) {
		s.tsc = word(setup, WORD_TSC_CTC_N);
		s.crystal = word(setup, WORD_TSC_CTC_D);
	}
	if (freq)
		s.mtc_freq = (setup->config & freq) >> __builtin_ctzll(freq) & 15;
	if (ratio <= UINT8_MAX)
		s.nom_freq = ratio;
	s.errata = errata_of(setup->cpuid);
	*ret = s;
	return 0;
}

uint64_t pt_setup_time(const struct pt_setup *s, uint64_t tsc)
{
	uint64_t time;

	return s->timed && aux_time(&s->conv, tsc, &time) ? time : 0;
}

/*
 * libipt 2.0 does not know these packets. Their lengths are the SDM's. Without them a trace of a
 * newer CPU would end here.
 */
static int unknown_packet(struct pt_packet_unknown *unknown, const struct pt_config *config,
			  const uint8_t *pos, void *context)
{
	static const struct {
		uint8_t opcode, size;
	} sizes[] = {
		{0x13, 4},  /* CFE */
		{0x53, 11}, /* EVD */
		{0x63, 3},  /* BBP */
		{0x33, 2},  /* BEP */
		{0xb3, 2},  /* BEP with an address behind it */
	};
	size_t left = config->end - pos;

	if (left < 2)
		return -pte_eos;
	for (size_t i = 0; pos[0] == 0x02 && i < sizeof(sizes) / sizeof(*sizes); i++)
		if (pos[1] == sizes[i].opcode) {
			unknown->packet = pos;
			return left < sizes[i].size ? -pte_eos : sizes[i].size;
		}
	return -pte_bad_opc;
}

void pt_setup_config(const struct pt_setup *s, const uint8_t *data, size_t len,
		     struct pt_config *ret)
{
	pt_config_init(ret);
	/* Decoders only read, but an encoder uses the same struct. */
	ret->begin = (uint8_t *)(uintptr_t)data;
	ret->end = ret->begin + len;
	ret->decode.callback = unknown_packet;
	ret->cpuid_0x15_eax = s->crystal;
	ret->cpuid_0x15_ebx = s->tsc;
	ret->mtc_freq = s->mtc_freq;
	ret->nom_freq = s->nom_freq;
	ret->errata = s->errata;
}

size_t pt_setup_sync(const uint8_t *data, size_t len, size_t from)
{
	static const uint8_t psb[PT_PSB_SIZE] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
						 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};
	const uint8_t *found =
		from < len ? memmem(data + from, len - from, psb, sizeof(psb)) : NULL;

	return found ? (size_t)(found - data) : len;
}
