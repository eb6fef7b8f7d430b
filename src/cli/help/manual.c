// SPDX-License-Identifier: Apache-2.0
#include "cli/help/manual.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

/* Asks man(1) where the page is, and drops the answer. */
static bool man_finds(char *page)
{
	char *argv[] = {(char *)(uintptr_t) "man", (char *)(uintptr_t) "-w", page, NULL};
	posix_spawn_file_actions_t quiet;
	int status = -1;
	pid_t pid;

	if (posix_spawn_file_actions_init(&quiet))
		return false;
	posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, "man", &quiet, NULL, argv, environ) || waitpid(pid, &status, 0) < 0)
		status = -1;
	posix_spawn_file_actions_destroy(&quiet);
	return !status;
}

void manual_open(const char *page)
{
	char *name = (char *)(uintptr_t)page;
	char *argv[] = {(char *)(uintptr_t) "man", name, NULL};

	if (isatty(STDOUT_FILENO) && man_finds(name))
		execvp("man", argv);
}
