/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that is in the recording itself, by address: that of BPF programs.
 *
 * Owns the list, not the bytes. One thread adds; then any number of threads may read.
 */
#ifndef RINGTAIL_AUXTRACE_CODE_MADE_H
#define RINGTAIL_AUXTRACE_CODE_MADE_H

#include <stddef.h>
#include <stdint.h>

struct code_made_piece {
	uint64_t addr;
	const uint8_t *bytes;
	size_t size;
};

/* All zero: empty. Pieces are in the order of addresses. */
struct code_made {
	struct code_made_piece *pieces;
	size_t nr, cap;
};

/*
 * Adds a piece, whose bytes stay where they are. One at the address of another is left out. Quick
 * where addresses rise. Returns 0 or -ENOMEM.
 */
int code_made_add(struct code_made *m, uint64_t addr, const uint8_t *bytes, size_t size);

/* Copies at most @len bytes at @addr. Returns how many, or -ENOENT. */
int code_made_read(const struct code_made *m, uint64_t addr, uint8_t *buf, size_t len);

void code_made_release(struct code_made *m); /* accepts zeroes */

#endif
