// SPDX-License-Identifier: Apache-2.0
#include "record/initial/perfmaps.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock_ns.h"
#include "symbol/resolve/perfmap.h"

#define WATCHED_MAX 1024u
#define FILES_MAX   128u		 /* held open, and copies */
#define COPIES_MAX  ((uint64_t)64 << 20) /* bytes */
#define FIRST_MS    10			 /* until the second look at a process; doubles each time */
#define LAST_MS	    1000

struct perfmap {
	uint32_t pid;
	int fd;		  /* of the file, or of its copy; -1: there was none yet */
	bool ended;	  /* the process */
	unsigned int gap; /* between looks, ms */
	uint64_t next;	  /* when to look, ms */
};

struct perfmaps {
	pthread_mutex_t lock; /* guards all below */
	struct perfmap *map;
	size_t nr, cap, files;
	uint64_t copied; /* bytes */
	uint64_t refused;
};

struct perfmaps *perfmaps_new(void)
{
	struct perfmaps *m = calloc(1, sizeof(*m));

	if (m)
		pthread_mutex_init(&m->lock, NULL);
	return m;
}

static void let_go(struct perfmaps *m, struct perfmap *j)
{
	if (j->fd < 0)
		return;
	close(j->fd);
	j->fd = -1;
	m->files--;
}

void perfmaps_free(struct perfmaps *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->nr; i++)
		let_go(m, &m->map[i]);
	free(m->map);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

static bool is_watched(const struct perfmaps *m, uint32_t pid)
{
	for (size_t i = 0; i < m->nr; i++)
		if (m->map[i].pid == pid && !m->map[i].ended)
			return true;
	return false;
}

void perfmaps_watch(struct perfmaps *m, uint32_t pid)
{
	struct perfmap j = {.pid = pid, .fd = -1, .gap = FIRST_MS, .next = now_ms()};

	pthread_mutex_lock(&m->lock);
	if (!is_watched(m, pid)) {
		if (m->nr < WATCHED_MAX && !array_grow(&m->map, &m->cap, m->nr + 1, sizeof(j)))
			m->map[m->nr++] = j;
		else
			m->refused++;
	}
	pthread_mutex_unlock(&m->lock);
}

/* Holds the file that the process has now: it may be another one than before. */
static void hold(struct perfmaps *m, struct perfmap *j)
{
	struct stat now, held;
	int fd = perfmap_open(j->pid);

	if (fd < 0)
		return;
	if (j->fd >= 0 && !fstat(fd, &now) && !fstat(j->fd, &held) && now.st_ino == held.st_ino &&
	    now.st_dev == held.st_dev) {
		close(fd);
		return;
	}
	let_go(m, j);
	if (m->files < FILES_MAX) {
		m->files++;
		j->fd = fd;
	} else {
		m->refused++;
		close(fd);
	}
}

/* Replaces the file by a copy, so that its file system can be unmounted. */
static void copy(struct perfmaps *m, struct perfmap *j)
{
	int fd = memfd_create("perf-map", MFD_CLOEXEC);
	off_t at = 0;
	struct stat st;
	ssize_t n = 1;

	if (fd < 0 || fstat(j->fd, &st) || m->copied + (uint64_t)st.st_size > COPIES_MAX) {
		m->refused++;
		let_go(m, j);
		if (fd >= 0)
			close(fd);
		return;
	}
	while (n > 0 && at < st.st_size)
		n = sendfile(fd, j->fd, &at, (size_t)(st.st_size - at));
	close(j->fd);
	j->fd = fd;
	m->copied += (uint64_t)at;
}

static void look(struct perfmaps *m, struct perfmap *j, uint64_t now)
{
	hold(m, j);
	if (kill((pid_t)j->pid, 0) && errno == ESRCH) {
		j->ended = true;
		if (j->fd >= 0)
			copy(m, j);
		return;
	}
	j->next = now + j->gap;
	j->gap = j->gap < LAST_MS / 2 ? 2 * j->gap : LAST_MS;
}

int perfmaps_poll(struct perfmaps *m)
{
	uint64_t now = now_ms(), next = UINT64_MAX;
	size_t nr = 0;

	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < m->nr; i++) {
		struct perfmap *j = &m->map[i];

		if (!j->ended && j->next <= now)
			look(m, j, now);
		if (!j->ended && j->next < next)
			next = j->next;
		if (!j->ended || j->fd >= 0)
			m->map[nr++] = *j;
	}
	m->nr = nr;
	pthread_mutex_unlock(&m->lock);
	return next == UINT64_MAX ? -1 : (int)(next - now);
}

int perfmaps_open(struct perfmaps *m, uint32_t pid)
{
	char path[64];
	int fd = -ENOENT;

	pthread_mutex_lock(&m->lock);
	for (size_t i = m->nr; fd < 0 && i-- > 0;) {
		if (m->map[i].pid != pid || m->map[i].fd < 0)
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", m->map[i].fd);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			fd = -ENOENT;
	}
	pthread_mutex_unlock(&m->lock);
	return fd;
}

uint64_t perfmaps_refused(struct perfmaps *m)
{
	uint64_t refused;

	pthread_mutex_lock(&m->lock);
	refused = m->refused;
	pthread_mutex_unlock(&m->lock);
	return refused;
}
