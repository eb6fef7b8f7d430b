/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder of Arm CoreSight traces, by libopencsd.
 *
 * Threads: any number, each with instances of its own. libopencsd shares an error log and a list of
 * trees between all its users; this floor switches the log off and creates and destroys trees under
 * a lock (tree.c). Nobody else in the process may use libopencsd at the same time.
 *
 * sync() returns places where an A-sync begins; of trace in frames, a frame. From 0 on, the end of
 * another packet may lie before it in the frame, and trace of other units. Behind 0, the frame
 * begins with the A-sync, and the trace of other units behind begins with one, too: a stretch
 * before, which ends there, and that behind lose nothing.
 *
 * Packets of trace in frames end with their last byte, and begin where the packet before ends:
 * bytes of other units and of the frame lie between.
 *
 * Flow: blocks and branches carry the place of the packet that told them. A branch at the end of a
 * stretch is finished by the bytes behind it; without them it has `to` 0 and no AUX_TRACE_END.
 * Exceptions have the preferred return address as `ip`, system calls the address of their
 * instruction. Times are converted only where the recording says that they are of the virtual
 * counter; else 0. The task is that of the context ID in the trace, else that of the recording at
 * the time.
 */
#ifndef RINGTAIL_AUXTRACE_CORESIGHT_CORESIGHT_H
#define RINGTAIL_AUXTRACE_CORESIGHT_CORESIGHT_H

#include "auxtrace/decoder/decoder.h"

extern const struct aux_decoder_ops aux_coresight_decoder;

#endif
