/* SPDX-License-Identifier: Apache-2.0 */
/* The setup of a made-up recording of cs_etm: two ETMv4 on CPUs 0 and 1. */
#ifndef RINGTAIL_TESTS_ETM_SETUP_H
#define RINGTAIL_TESTS_ETM_SETUP_H

#include "auxtrace/decoder/decoder.h"
#include "etm-writer.h"
#include "perfdata/aux_record.h"

#define ETM_ID_0 0x10u
#define ETM_ID_1 0x12u
#define ETM_RAW	 0x100u /* PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW */

#define ETM_UNIT(cpu, id) \
	0x4040404040404040ull, cpu, 8, ETM_CONFIG, id, ETM_IDR0, ETM_IDR1, ETM_IDR2, 0, 0x8c, 1

static const uint64_t etm_words[] = {
	1, 8ull << 32 | 2, 0, ETM_UNIT(0, ETM_ID_0), ETM_UNIT(1, ETM_ID_1),
};

/* Ticks of the virtual counter are 40 ns. */
static const struct pd_time_conv etm_conv = {
	.time_mult = 40, .time_zero = 5, .cap_user_time_zero = true};

static inline struct aux_setup etm_setup(bool raw)
{
	return (struct aux_setup){
		.type = PD_AUXTRACE_CS_ETM,
		.priv = etm_words,
		.nr_priv = sizeof(etm_words) / sizeof(*etm_words),
		.time_conv = &etm_conv,
		.user = true,
		.kernel = true,
		.aux_flags = raw ? ETM_RAW : 0,
	};
}

#endif
