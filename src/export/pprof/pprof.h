/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles of pprof: profile.proto, compressed with gzip.
 *
 * Source: github.com/google/pprof, proto/profile.proto. Values of a sample: the number of samples,
 * then the period of each event. Labels comm, pid, tid, cpu and cgroup are strings, since readers
 * drop a number that is 0. Equal samples near each other become one. Memory grows by distinct
 * stacks, addresses, threads and names. One thread uses a writer.
 */
#ifndef RINGTAIL_EXPORT_PPROF_PPROF_H
#define RINGTAIL_EXPORT_PPROF_PPROF_H

#include "export/stream/export.h"

extern const struct export_format export_pprof;

#endif
