/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folded stacks: a line for each distinct stack, "COMM;OUTERMOST;…;INNERMOST NUMBER".
 *
 * The format of stackcollapse-perf.pl (github.com/brendangregg/FlameGraph). A ';' in a name becomes
 * ':'. Lines come in the order in which their stacks were first seen. Memory grows by distinct
 * stacks. One thread uses a writer.
 */
#ifndef RINGTAIL_EXPORT_FOLDED_FOLDED_H
#define RINGTAIL_EXPORT_FOLDED_FOLDED_H

#include "export/stream/export.h"

extern const struct export_format export_folded;

#endif
