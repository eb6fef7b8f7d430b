/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that reads call frame information of mapped files, so that no writer waits for a file
 * system.
 *
 * It finds the file of a dso by its name, in the root directory of a process that mapped it, or as
 * one of the files that the process has mapped (deleted files), and checks device and inode. Last
 * comes the resolver, which knows files by build-id (perf's cache, debug files) and the vdso.
 *
 * A thread that reads one file for 5 s is left behind, and another one reads the next files; up to
 * eight times.
 *
 * Threads: any may call; one lock. Times are in ms.
 */
#ifndef RINGTAIL_RECORD_CHAINS_IMAGE_LOADER_H
#define RINGTAIL_RECORD_CHAINS_IMAGE_LOADER_H

#include "symbol/resolve/resolver.h"
#include "unwind/cfi.h"

struct image_loader;

/* Starts the thread. Returns 0 with *@ret for image_loader_free(), or a negative errno. */
int image_loader_new(struct image_loader **ret);

/*
 * Ends the thread and frees the loader with its tables. A thread that hangs in a file system is
 * left behind after a second; the last one frees them. Accepts NULL.
 */
void image_loader_free(struct image_loader *l);

/* Returns the tables that the thread fills, which remain the loader's. */
struct cfi_tables *image_loader_tables(struct image_loader *l);

/*
 * Waits up to @ms for the requests that are there now. Returns false if they are not served: then
 * later calls do not wait, until the thread has served one. Gives up a file that hangs.
 */
bool image_loader_wait(struct image_loader *l, unsigned int ms);

/* For tests: a file hangs after @ms. */
void image_loader_limit(struct image_loader *l, unsigned int ms);

/*
 * Returns how many files were given up, with the name of the first in *@ret_name, the loader's;
 * NULL if there is none.
 */
unsigned int image_loader_hung(struct image_loader *l, const char **ret_name);

/*
 * Opens the file of a dso as the thread does. Returns 0 with *@ret for elf_image_close(), or a
 * negative errno.
 */
int image_open(const struct resolver *r, const struct dso *dso, struct elf_image *ret);

#endif
