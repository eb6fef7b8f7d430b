/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the decoder of a recording's trace. Any thread. */
#ifndef RINGTAIL_AUXTRACE_DECODERS_DECODERS_H
#define RINGTAIL_AUXTRACE_DECODERS_DECODERS_H

#include "auxtrace/decoder/decoder.h"

/* Returns the decoder of the type of @setup, or NULL if there is none. */
const struct aux_decoder_ops *aux_decoder_for(const struct aux_setup *setup);

#endif
