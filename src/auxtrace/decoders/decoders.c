// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/decoders/decoders.h"

#include "auxtrace/coresight/coresight.h"
#include "auxtrace/intel_pt/intel_pt.h"
#include "auxtrace/spe/spe.h"
#include "auxtrace/testpmu/testpmu.h"
#include "perfdata/aux_record.h"

const struct aux_decoder_ops *aux_decoder_for(const struct aux_setup *setup)
{
	switch (setup->type) {
	case PD_AUXTRACE_INTEL_PT: return &aux_intel_pt_decoder;
	case PD_AUXTRACE_ARM_SPE: return &aux_spe_decoder;
	case AUX_SETUP_TESTPMU: return &aux_testpmu_decoder;
	case PD_AUXTRACE_CS_ETM: return &aux_coresight_decoder;
	default: return NULL;
	}
}
