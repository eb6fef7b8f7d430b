/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writer of OTLP profiles: a message ProfilesData, not compressed.
 *
 * Source: github.com/open-telemetry/opentelemetry-proto, opentelemetry/proto/profiles/v1development
 * of versions 1.10.0 and 1.11.0, which have the same fields (fields.h has the numbers; Sample's
 * differ from those of 1.9.0). Attributes are named by OpenTelemetry's semantic conventions.
 * Memory grows by distinct stacks, functions and threads; samples wait in a temporary file. One
 * thread.
 */
#ifndef RINGTAIL_EXPORT_OTLP_OTLP_H
#define RINGTAIL_EXPORT_OTLP_OTLP_H

#include "export/stream/export.h"

extern const struct export_format export_otlp;

#endif
