/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of Chrome: JSON, for Perfetto's page, Chrome's DevTools and the Firefox Profiler.
 *
 * Sources: "Trace Event Format" of the Chromium project; Profile and ProfileChunk events as V8's
 * CPU profiler writes them. Each thread's samples are a profile, which comes in chunks, since that
 * is the form of stacks that all of these readers take. Events stand in no order. Memory grows by
 * threads, and by distinct stacks of each. One thread uses a writer.
 */
#ifndef RINGTAIL_EXPORT_CHROME_CHROME_H
#define RINGTAIL_EXPORT_CHROME_CHROME_H

#include "export/stream/export.h"

extern const struct export_format export_chrome;

#endif
