/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file format of speedscope: a sampled profile for each thread and event.
 *
 * Source: https://www.speedscope.app/file-format-schema.json. Samples in sequence with one stack
 * become one with the sum of their weights. Memory grows by distinct stacks and threads; samples
 * wait in a spool. One thread uses a writer.
 */
#ifndef RINGTAIL_EXPORT_SPEEDSCOPE_SPEEDSCOPE_H
#define RINGTAIL_EXPORT_SPEEDSCOPE_SPEEDSCOPE_H

#include "export/stream/export.h"

extern const struct export_format export_speedscope;

#endif
