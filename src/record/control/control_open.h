/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the descriptors and FIFOs of --control. */
#ifndef RINGTAIL_RECORD_CONTROL_CONTROL_OPEN_H
#define RINGTAIL_RECORD_CONTROL_CONTROL_OPEN_H

#include "record/control/control_command.h"
#include "record/plan/messages.h"

/*
 * Opens the descriptors or FIFOs of @spec by the rules of control_add(). Returns 0 with new
 * close-on-exec descriptors, which the caller closes (*@ret_out is -1 if @spec wants no answers),
 * or a negative errno with @err filled.
 */
int control_open(const struct control_spec *spec, const struct messages *messages, int *ret_in,
		 int *ret_out, struct error *err);

#endif
