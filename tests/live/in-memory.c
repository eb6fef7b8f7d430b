// SPDX-License-Identifier: Apache-2.0
/*
 * in-memory PROGRAM ARGUMENT: runs a copy of PROGRAM that is in memory only (memfd).
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int from = argc > 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	int to = memfd_create("program", MFD_CLOEXEC);
	struct stat st;

	if (from < 0 || to < 0 || fstat(from, &st) ||
	    sendfile(to, from, NULL, (size_t)st.st_size) != st.st_size)
		return 1;
	fexecve(to, argv + 1, environ);
	return 1;
}
