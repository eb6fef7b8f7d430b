// SPDX-License-Identifier: Apache-2.0
/*
 * A program for single-stepping: every kind of branch of user code, signals, two threads. It has no
 * library, so that all code is in its file.
 */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

/* From the kernel's <asm/signal.h>, which cannot be included beside libc's. */
struct kernel_action {
	void (*handler)(int sig, siginfo_t *info, void *context);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};
#define RESTORER 0x04000000ul
#define THREAD                                                                              \
	(0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000) /* clone(2): VM, FS, FILES, … \
							     */

void restore(void);
long start_thread(unsigned long flags, void *stack);
void work(void);
void run(void);

static volatile int finished __attribute__((used));
static volatile unsigned long sink;
static char memory[256] __attribute__((used));
static uint64_t stack[2048];

__asm__(".globl _start\n_start:\n\tand $-16, %rsp\n\tcall run\n"
	"restore:\n\tmov $15, %eax\n\tsyscall\n"
	/* Returns in the parent; the child works on its own stack, and ends. */
	"start_thread:\n\tmov $56, %eax\n\txor %edx, %edx\n\txor %r10d, %r10d\n\txor %r8d, %r8d\n"
	"\tsyscall\n\ttest %rax, %rax\n\tjnz 1f\n\tcall work\n\tmovl $1, finished(%rip)\n"
	"\txor %edi, %edi\n\tmov $60, %eax\n\tsyscall\n1:\tret\n");

static long call_kernel(long nr, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return ret;
}

static __attribute__((noinline)) unsigned int fibonacci(unsigned int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

/* Deeper than the stack by which returns are compressed. */
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
	default: return 0;
	}
}

/* Branches that compilers do not make. */
static __attribute__((noinline)) void odd(void)
{
	__asm__ volatile("call 1f\n" /* to the next instruction */
			 "1: pop %%rax\n"
			 "lea 2f(%%rip), %%rax\n"
			 "push %%rax\n"
			 "ret\n" /* to where no call was */
			 "nop\n"
			 "2: mov $5, %%ecx\n"
			 "3: loop 3b\n"
			 "jrcxz 4f\n"
			 "nop\n"
			 "4: lea 5f(%%rip), %%rax\n"
			 "notrack jmp *%%rax\n"
			 "nop\n"
			 "5: lea memory(%%rip), %%rdi\n"
			 "mov $9, %%ecx\n"
			 "rep stosb\n"
			 ".byte 0x2e\n jnc 6f\n nop\n" /* with a prefix */
			 "6: xor %%eax, %%eax\n"
			 "jz 7f\n.skip 200, 0x90\n7:\n" /* a long offset */
			 ::
				 : "rax", "rcx", "rdi", "memory", "cc");
}

void work(void)
{
	static int (*const functions[])(int) = {twice, square, choose};

	sink += fibonacci(8);
	for (int i = 0; i < 30; i++)
		sink += functions[i % 3](i) + choose(i);
	sink += deep(100);
	odd();
	memory[0]++;
}

/* Skips the instruction that read from 0, which is of two bytes. */
static void on_fault(int sig, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	(void)info;
	sink += fibonacci(3);
	if (sig == SIGSEGV)
		c->uc_mcontext.gregs[REG_RIP] += 2;
}

__attribute__((used)) void run(void)
{
	const struct kernel_action action = {
		.handler = on_fault, .flags = SA_SIGINFO | RESTORER, .restorer = restore};

	call_kernel(SYS_rt_sigaction, SIGSEGV, (long)&action, 0, 8);
	call_kernel(SYS_rt_sigaction, SIGUSR1, (long)&action, 0, 8);
	work();
	__asm__ volatile("xor %%eax, %%eax\n mov (%%rax), %%eax\n" ::: "rax", "memory");
	call_kernel(SYS_kill, call_kernel(SYS_getpid, 0, 0, 0, 0), SIGUSR1, 0, 0);
	start_thread(THREAD, &stack[2048]);
	work();
	while (!finished)
		call_kernel(SYS_sched_yield, 0, 0, 0, 0);
	call_kernel(SYS_exit_group, 0, 0, 0, 0);
	__builtin_unreachable();
}
