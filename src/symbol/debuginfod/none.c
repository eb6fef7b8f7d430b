// SPDX-License-Identifier: Apache-2.0
/* In a static program, which can load no library. */
#include <errno.h>

#include "symbol/debuginfod/debuginfod.h"

bool debuginfod_is_built(void)
{
	return false;
}

int debuginfod_open(enum debuginfod_file what, const uint8_t *id, size_t size,
		    struct elf_image *ret)
{
	return -ENOENT;
}
