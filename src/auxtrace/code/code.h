/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code that a recording executed, and whose it was, for decoders of hardware traces.
 *
 * Code comes from the mapped files as of the time, found by the rules of the resolver: never from a
 * file with another build-id. Code of the kernel comes from a vmlinux that the user names, from the
 * kcore of the recording or of the running kernel, or from a vmlinux with its build-id. A kcore
 * also has the code of modules and of BPF programs; the recording may have that of BPF programs,
 * too. Recorded changes of kernel code are applied, as
 * of the time.
 *
 * Any thread may read. Loaded code stays below a fixed amount of memory; beyond it all is dropped
 * and loaded again.
 */
#ifndef RINGTAIL_AUXTRACE_CODE_CODE_H
#define RINGTAIL_AUXTRACE_CODE_CODE_H

#include "auxtrace/decoder/decoder.h"
#include "state/state.h"
#include "symbol/resolve/resolver.h"

struct code_files;

/*
 * @s, which is finished, and @r outlive the files. Returns 0 with *@ret for code_files_free(), or
 * -ENOMEM.
 */
int code_files_new(const struct state *s, const struct resolver *r, struct code_files **ret);
void code_files_free(struct code_files *f); /* accepts NULL */

/*
 * Adds kernel code that the recording itself has: @size bytes of a BPF program, which outlive the
 * files. Call it before the code is read. Returns 0 or -ENOMEM.
 */
int code_files_add(struct code_files *f, uint64_t addr, const uint8_t *bytes, size_t size);

/* Returns what decoders take. It lives as long as @f. */
const struct aux_code *code_files_source(const struct code_files *f);

/* For tests: sets another bound, in bytes, and returns how many are loaded. */
void code_files_limit(struct code_files *f, size_t bytes);
size_t code_files_loaded(const struct code_files *f);

#endif
