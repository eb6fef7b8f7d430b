// SPDX-License-Identifier: Apache-2.0
/*
 * Prints the functions and lines of the addresses on standard input, as 'addr2line -a -i -f' does:
 *	lines-of PROGRAM [CACHE] < ADDRESSES
 * With CACHE, the index of an earlier call with it is used.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbol/elf/elf_image.h"
#include "symbol/lines/lines.h"

#define FRAMES_MAX 128

int main(int argc, char **argv)
{
	struct elf_image img = ELF_IMAGE_INIT;
	struct line_frame frame[FRAMES_MAX];
	struct source_lines *l = NULL;
	uint64_t addr;
	int rc;

	if (argc != 2 && argc != 3)
		return 2;
	elf_version(EV_CURRENT);
	rc = elf_image_open(argv[1], &img, NULL);
	if (!rc)
		rc = lines_open_image(&img, false, argv[2], &l);
	if (rc)
		fprintf(stderr, "%s: %d\n", argv[1], rc);
	while (scanf("%" SCNx64, &addr) == 1) {
		size_t nr = l ? lines_find(l, addr, frame, FRAMES_MAX) : 0;

		printf("0x%016" PRIx64 "\n", addr);
		if (!nr)
			puts("??\n??:0");
		for (size_t i = 0; i < nr; i++)
			printf("%s\n%s:%" PRIu32 "\n", frame[i].function ? frame[i].function : "??",
			       frame[i].file ? frame[i].file : "??", frame[i].line);
	}
	lines_free(l);
	return 0;
}
