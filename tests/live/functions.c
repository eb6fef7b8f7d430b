// SPDX-License-Identifier: Apache-2.0
/*
 * Calls functions and writes variables as often as it is told, a command an argument or, without
 * any, a line of the input: "work 5", "thread 5" (in a new thread), "fork 5" (in a child), "write
 * 5", "slow 30" (one call that takes 30 ms), "load PATH 5" (calls of a library's function), "call
 * 5" (getppid), "callthread 5" and "callfork 5" (likewise), "touch 5" (pages). "from IN OUT" goes
 * on with commands from the FIFO IN, and answers on OUT. Answers each with a line; of a slow call
 * another one comes before, with the milliseconds that it took as seen from within it, and from
 * outside. Built as a PIE and as no PIE, with symbols for a stripped one.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "functions.h"

volatile long written;
volatile long others[4];

__attribute__((noinline)) int work(int n)
{
	return helper_here(n) + helper_more(n);
}

static __attribute__((noinline)) int helper(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n * 3;
}

int helper_here(int n)
{
	return helper(n);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t); /* at the rate of the events' clock */
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

__attribute__((noinline)) double slow(int ms)
{
	double begin = now_ms();

	usleep((useconds_t)ms * 1000);
	return now_ms() - begin;
}

static void call_slow(int ms)
{
	double begin = now_ms(), within = slow(ms);

	printf("took %.3f %.3f\n", within, now_ms() - begin);
}

static void *work_often(void *times)
{
	for (int i = 0; i < *(int *)times; i++)
		work(i);
	return NULL;
}

static void *call_often(void *times)
{
	for (int i = 0; i < *(int *)times; i++)
		syscall(SYS_getppid);
	return NULL;
}

static void touch_pages(int pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = page * (size_t)pages;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(6);
	for (size_t at = 0; at < size; at += page)
		p[at] = 1;
	munmap(p, size);
}

static void in_thread(void *(*act)(void *), int times)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, act, &times))
		exit(3);
	pthread_join(thread, NULL);
}

static void in_child(void *(*act)(void *), int times)
{
	pid_t pid = fork();

	if (pid < 0)
		exit(4);
	if (!pid) {
		act(&times);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void in_library(const char *path, int times)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*call)(int) = library ? (int (*)(int))(__intptr_t)dlsym(library, "in_library") : NULL;

	if (!call)
		exit(5);
	for (int i = 0; i < times; i++)
		call(i);
}

static void act_often(const char *word, int n)
{
	if (!strcmp(word, "work"))
		work_often(&n);
	else if (!strcmp(word, "thread"))
		in_thread(work_often, n);
	else if (!strcmp(word, "fork"))
		in_child(work_often, n);
	else if (!strcmp(word, "call"))
		call_often(&n);
	else if (!strcmp(word, "callthread"))
		in_thread(call_often, n);
	else if (!strcmp(word, "callfork"))
		in_child(call_often, n);
	else if (!strcmp(word, "touch"))
		touch_pages(n);
	else if (!strcmp(word, "slow"))
		call_slow(n);
	for (int i = 0; !strcmp(word, "write") && i < n; i++) {
		written = i;
		others[1] = i;
	}
}

static void obey(const char *command)
{
	char word[16] = "", path[512] = "";
	int n = 0;

	if (sscanf(command, "load %511s %d", path, &n) == 2)
		in_library(path, n);
	else if (sscanf(command, "%15s %d", word, &n) != 2)
		exit(2);
	act_often(word, n);
	puts(command);
	fflush(stdout);
}

/* Returns whether @command was "from", and obeyed. */
static int redirect(const char *command)
{
	char in[512], out[512];

	if (sscanf(command, "from %511s %511s", in, out) != 2)
		return 0;
	if (!freopen(in, "r", stdin) || !freopen(out, "w", stdout))
		exit(7);
	puts("ready");
	fflush(stdout);
	return 1;
}

int main(int argc, char **argv)
{
	int more = argc == 1;
	char line[600];

	for (int i = 1; i < argc; i++) {
		if (redirect(argv[i]))
			more = 1;
		else
			obey(argv[i]);
	}
	while (more && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		obey(line);
	}
	return 0;
}
