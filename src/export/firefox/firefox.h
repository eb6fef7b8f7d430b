/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processed profiles of the Firefox Profiler, version 75.
 *
 * Source: github.com/firefox-devtools/profiler, docs-developer/processed-profile-format.md and
 * CHANGELOG-formats.md, src/types/profile.ts. The format lists samples by thread, so they wait in
 * spools. One thread.
 */
#ifndef RINGTAIL_EXPORT_FIREFOX_FIREFOX_H
#define RINGTAIL_EXPORT_FIREFOX_FIREFOX_H

#include "export/stream/export.h"

extern const struct export_format export_firefox;

#endif
