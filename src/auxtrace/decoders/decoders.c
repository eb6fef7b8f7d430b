// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/decoders/decoders.h"

const struct aux_decoder_ops *aux_decoder_for(const struct aux_setup *setup)
{
	switch (setup->type) {
	default: return NULL;
	}
}
