// SPDX-License-Identifier: Apache-2.0
/* Calls getppid a given number of times: `storm N`. `storm --syscall` prints its number here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned long n;

	if (argc != 2) {
		fprintf(stderr, "usage: storm N | --syscall\n");
		return 2;
	}
	if (strcmp(argv[1], "--syscall") == 0) {
		printf("%d\n", SYS_getppid);
		return 0;
	}
	n = strtoul(argv[1], NULL, 10);
	while (n--)
		syscall(SYS_getppid);
	return 0;
}
