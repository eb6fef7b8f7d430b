/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the files in which a recording's samples fell as the archive of `perf archive`: a tar
 * file, compressed with bzip2, to be unpacked in ~/.debug of the machine that reads the recording.
 *
 * Programs, libraries and modules have their debug files beside them; the kernel has its kallsyms.
 * Source of the layout: perf-archive(1), perf-buildid-cache(1), tools/perf/util/build-id.c of Linux
 * 6.1:
 *
 *   PATH/ID/elf, PATH/ID/debug, [vdso]/ID/vdso, [kernel.kallsyms]/ID/kallsyms
 *   .build-id/ID[0..1]/ID[2..]    a symbolic link to PATH/ID
 *
 * One thread, after trace_prepare().
 */
#ifndef RINGTAIL_REPORT_ARCHIVE_ARCHIVE_H
#define RINGTAIL_REPORT_ARCHIVE_ARCHIVE_H

#include <stdio.h>

#include "report/trace/trace.h"

/* Called for each dso that is not in the archive, with the reason. */
typedef void (*archive_missing_fn)(const struct dso *dso, const char *why, void *arg);

struct archive_counts {
	size_t dsos;	/* in the archive */
	size_t missing; /* hit by samples, and not in the archive */
};

/*
 * Writes the archive to @out, which the caller flushes and closes; @path names it in errors.
 * @missing may be NULL. Returns 0, -ENOENT (no file could be had) or another negative errno, with
 * @err filled.
 */
int archive_write(struct trace *t, FILE *out, const char *path, archive_missing_fn missing,
		  void *arg, struct archive_counts *ret, struct error *err);

#endif
