// SPDX-License-Identifier: Apache-2.0
/*
 * An A64 program for single-stepping: every kind of branch of user code, system calls, a fault, a signal, two threads.
 * It has no library, so that all code is in its file, and no exclusive access, which a step breaks.
 */
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

/* From the kernel's <asm/signal.h>, which cannot be included beside libc's. */
struct kernel_action {
	void (*handler)(int sig, siginfo_t *info, void *context);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};
#define RESTORER 0x04000000ul
#define THREAD	 (0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000) /* clone(2): VM, FS, FILES, … */

void restore(void);
long start_thread(unsigned long flags, void *stack);
void work(unsigned int rounds);
void run(void);

volatile int finished;
static volatile unsigned long sink;
static unsigned long stack[512] __attribute__((aligned(16)));

__asm__(".globl _start\n_start:\n\tbl run\n\tbrk #1\n"
	"restore:\n\tmov x8, #139\n\tsvc #0\n"
	/* Returns in the parent; the child works on its own stack, and ends. */
	"start_thread:\n\tmov x2, xzr\n\tmov x3, xzr\n\tmov x4, xzr\n\tmov x8, #220\n\tsvc #0\n"
	"\tcbnz x0, 1f\n\tmov w0, #3\n\tbl work\n\tadrp x1, finished\n\tmov w0, #1\n"
	"\tstr w0, [x1, :lo12:finished]\n\tmov x0, xzr\n\tmov x8, #93\n\tsvc #0\n1:\tret\n");

static long call_kernel(long nr, long a, long b, long c, long d)
{
	register long x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c, x3 __asm__("x3") = d;
	register long x8 __asm__("x8") = nr;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x8) : "memory");
	return x0;
}

static __attribute__((noinline)) unsigned int fibonacci(unsigned int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

/* Deeper than the stack by which returns are left out. */
static __attribute__((noinline)) unsigned int deep(unsigned int n)
{
	unsigned int below = n ? deep(n - 1) : 0;

	sink += below;
	return below + 1;
}

static __attribute__((noinline)) int twice(int n)
{
	return 2 * n;
}

static __attribute__((noinline)) int square(int n)
{
	return n * n;
}

static int (*volatile const last)(int) = square;

static __attribute__((noinline)) int choose(int n)
{
	switch (n & 7) {
	case 0: return twice(n);
	case 1: return square(n);
	case 2: sink++; return 3;
	case 3: sink += 2; return n;
	case 4: sink -= 5; return n + 4;
	case 5: sink ^= 7; return n - 4;
	case 6: return twice(n) + square(n);
	default: return last(n); /* a jump by a register */
	}
}

/* Branches that compilers do not make, and one over more than a page. */
static __attribute__((noinline)) void odd(void)
{
	__asm__ volatile("mov x19, x30\n"
			 "bl 1f\n" /* to the next instruction */
			 "1: adr x30, 2f\n"
			 "ret\n" /* to where no call was */
			 "nop\n"
			 "2: adr x9, 3f\n"
			 "ret x9\n" /* a return by another register */
			 "nop\n"
			 "3: mov w10, #5\n"
			 "4: sub w10, w10, #1\n"
			 "cbnz w10, 4b\n"
			 "tbz w10, #3, 5f\n"
			 "nop\n"
			 "5: mov w10, #8\n"
			 "tbnz w10, #3, 6f\n"
			 "nop\n"
			 "6: tbnz w10, #2, 7f\n"
			 "cbz w10, 7f\n"
			 "isb\n"
			 "7: b 8f\n"
			 ".skip 8192\n"
			 "8: adr x9, 9f\n"
			 "blr x9\n"
			 "b 10f\n"
			 "9: br x30\n" /* which returns, and is no return */
			 "10: mov x30, x19\n" ::
				 : "x9", "x10", "x19", "x30", "memory");
}

void work(unsigned int rounds)
{
	static int (*const functions[])(int) = {twice, square, choose};

	sink += fibonacci(5);
	for (unsigned int i = 0; i < 8 * rounds; i++)
		sink += functions[i % 3](i) + choose(i);
	sink += deep(5 * rounds);
	odd();
}

/* Skips the instruction that read from 0. */
static void on_signal(int sig, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	(void)info;
	sink += fibonacci(3);
	if (sig == SIGSEGV)
		c->uc_mcontext.pc += 4;
}

__attribute__((used)) void run(void)
{
	const struct kernel_action action = {
		.handler = on_signal, .flags = SA_SIGINFO | RESTORER, .restorer = restore};

	call_kernel(SYS_rt_sigaction, SIGSEGV, (long)&action, 0, 8);
	call_kernel(SYS_rt_sigaction, SIGUSR1, (long)&action, 0, 8);
	work(4);
	__asm__ volatile("mov x9, xzr\n ldr w9, [x9]\n" ::: "x9", "memory");
	call_kernel(SYS_kill, call_kernel(SYS_getpid, 0, 0, 0, 0), SIGUSR1, 0, 0);
	start_thread(THREAD, &stack[512]);
	work(3);
	while (!finished)
		call_kernel(SYS_sched_yield, 0, 0, 0, 0);
	call_kernel(SYS_exit_group, 0, 0, 0, 0);
	__builtin_unreachable();
}
