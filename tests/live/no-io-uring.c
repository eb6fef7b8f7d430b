// SPDX-License-Identifier: Apache-2.0
/*
 * Runs a program without io_uring, as the seccomp filter of a container does.
 *
 * usage: no-io-uring [setup|enter] PROGRAM [ARG...]
 *
 * setup (the default): io_uring_setup(2) is refused with EPERM. enter: it is allowed, and only
 * io_uring_enter(2) is refused, which a program finds out later.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int bar(unsigned int number)
{
	/* The number means another call in another ABI; there are no programs of one here. */
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	unsigned int number = SYS_io_uring_setup;

	argv++;
	if (*argv && (!strcmp(*argv, "setup") || !strcmp(*argv, "enter")))
		number = strcmp(*argv++, "enter") ? SYS_io_uring_setup : SYS_io_uring_enter;
	if (!*argv) {
		fputs("usage: no-io-uring [setup|enter] PROGRAM [ARG...]\n", stderr);
		return 2;
	}
	if (bar(number)) {
		perror("no-io-uring: seccomp");
		return 126;
	}
	execvp(*argv, argv);
	perror(*argv);
	return 127;
}
