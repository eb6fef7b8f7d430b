/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writer of Perfetto traces, the protobuf form.
 *
 * Source: github.com/google/perfetto, protos/perfetto/trace and protos/perfetto/common (fields.h
 * has the numbers). Samples are PerfSample, with the sum of the periods of their event on their
 * CPU as the count of the timebase; each event has a sequence of packets, which readers take for a
 * session of its own. Switches and wakeups are events of ftrace, counters and marks track events,
 * threads the process tree. Memory grows by distinct stacks, functions and threads. One thread.
 */
#ifndef RINGTAIL_EXPORT_PERFETTO_PERFETTO_H
#define RINGTAIL_EXPORT_PERFETTO_PERFETTO_H

#include "export/stream/export.h"

extern const struct export_format export_perfetto;

#endif
