/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptors and FIFOs that --control names. */
#ifndef RINGTAIL_RECORD_CONTROL_CONTROL_OPEN_H
#define RINGTAIL_RECORD_CONTROL_CONTROL_OPEN_H

#include "record/control/control_command.h"
#include "record/plan/messages.h"

/*
 * Opens what @spec names, as control_add() says. Returns 0 with descriptors of our own, closed on
 * exec. *@ret_out is -1 if nobody wants answers. Or a negative errno with @err filled.
 */
int control_open(const struct control_spec *spec, const struct messages *messages, int *ret_in,
		 int *ret_out, struct error *err);

#endif
