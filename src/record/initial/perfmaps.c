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
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock_ns.h"
#include "symbol/resolve/perfmap.h"

#define WATCHED_MAX 1024u
#define COPIES_MAX  ((uint64_t)64 << 20) /* bytes */
#define FILES_SPARE 64			 /* descriptors that are left to the recording */
#define FIRST_MS    10			 /* until the second look at a process; doubles each time */
#define LAST_MS	    1000

struct perfmap {
	uint32_t pid, inner; /* @inner: as for perfmap_open() */
	int fd;		     /* of the file, or of its copy; -1: there was none yet */
	uint64_t bytes;	     /* of the copy */
	bool ended;	     /* the process */
	unsigned int gap;    /* between looks, ms */
	uint64_t next;	     /* when to look, ms */
};

/*
 * The thread that watches and polls changes all this, and holds the lock while it does so. It does
 * not hold the lock while it opens or reads a file: the file may lie on a server that hangs.
 */
struct perfmaps {
	pthread_mutex_t lock;
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

/* Gives @j the file @fd, of which @bytes are a copy, instead of the one that it holds; -1: none. */
static void set_file(struct perfmaps *m, struct perfmap *j, int fd, uint64_t bytes)
{
	int before;

	pthread_mutex_lock(&m->lock);
	before = j->fd;
	m->files += (fd >= 0) - (before >= 0);
	m->copied += bytes - j->bytes;
	j->fd = fd;
	j->bytes = bytes;
	pthread_mutex_unlock(&m->lock);
	if (before >= 0)
		close(before);
}

static void refuse(struct perfmaps *m)
{
	pthread_mutex_lock(&m->lock);
	m->refused++;
	pthread_mutex_unlock(&m->lock);
}

/* Forgets the copy of the process that was watched first. Returns false if there is none. */
static bool forget_oldest(struct perfmaps *m)
{
	for (size_t i = 0; i < m->nr; i++) {
		if (!m->map[i].ended || m->map[i].fd < 0)
			continue;
		set_file(m, &m->map[i], -1, 0);
		refuse(m);
		return true;
	}
	return false;
}

void perfmaps_free(struct perfmaps *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->nr; i++)
		set_file(m, &m->map[i], -1, 0);
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

	if (is_watched(m, pid))
		return;
	pthread_mutex_lock(&m->lock);
	if (m->nr < WATCHED_MAX && !array_grow(&m->map, &m->cap, m->nr + 1, sizeof(j)))
		m->map[m->nr++] = j;
	else
		m->refused++;
	pthread_mutex_unlock(&m->lock);
}

static bool is_same_file(int a, int b)
{
	struct stat x, y;

	return a >= 0 && b >= 0 && !fstat(a, &x) && !fstat(b, &y) && x.st_ino == y.st_ino &&
	       x.st_dev == y.st_dev;
}

/* Whether there is room for a descriptor, which the recording itself does not need. */
static bool has_room(struct perfmaps *m, int fd)
{
	struct rlimit files;

	if (!getrlimit(RLIMIT_NOFILE, &files) && (rlim_t)fd + FILES_SPARE > files.rlim_cur)
		return false;
	return m->files < PERFMAPS_FILES || forget_oldest(m);
}

/* Holds the file that the process has now: it may be another one than before. */
static void hold(struct perfmaps *m, struct perfmap *j)
{
	int fd = perfmap_open(j->pid, &j->inner);

	if (fd < 0)
		return;
	if (is_same_file(fd, j->fd)) {
		close(fd);
	} else if (j->fd >= 0 || has_room(m, fd)) {
		set_file(m, j, fd, 0);
	} else {
		refuse(m);
		close(fd);
	}
}

/* Copies a file of @bytes. Returns a descriptor, or a negative errno. */
static int copy_of(int from, uint64_t bytes)
{
	int fd = memfd_create("perf-map", MFD_CLOEXEC);
	off_t at = 0;
	ssize_t n = 1;

	if (fd < 0)
		return -errno;
	while (n > 0 && (uint64_t)at < bytes)
		n = sendfile(fd, from, &at, (size_t)(bytes - (uint64_t)at));
	return fd;
}

/* Replaces the file by a copy, so that its file system can be unmounted. */
static void copy(struct perfmaps *m, struct perfmap *j)
{
	struct stat st = {.st_size = -1};
	uint64_t bytes;
	int fd = -1;

	if (!fstat(j->fd, &st) && st.st_size >= 0 && (uint64_t)st.st_size <= COPIES_MAX) {
		bytes = (uint64_t)st.st_size;
		while (m->copied + bytes > COPIES_MAX && forget_oldest(m))
			;
		fd = copy_of(j->fd, bytes);
	}
	if (fd < 0)
		refuse(m);
	set_file(m, j, fd, fd < 0 ? 0 : (uint64_t)st.st_size);
}

static void look(struct perfmaps *m, struct perfmap *j, uint64_t now)
{
	hold(m, j);
	if (kill((pid_t)j->pid, 0) && errno == ESRCH) {
		if (j->fd >= 0)
			copy(m, j);
		j->ended = true;
		return;
	}
	j->next = now + j->gap;
	j->gap = j->gap < LAST_MS / 2 ? 2 * j->gap : LAST_MS;
}

/* Forgets the processes that have ended without a map. */
static void tidy(struct perfmaps *m)
{
	size_t nr = 0;

	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < m->nr; i++)
		if (!m->map[i].ended || m->map[i].fd >= 0)
			m->map[nr++] = m->map[i];
	m->nr = nr;
	pthread_mutex_unlock(&m->lock);
}

int perfmaps_poll(struct perfmaps *m)
{
	uint64_t now = now_ms(), next = UINT64_MAX;

	for (size_t i = 0; i < m->nr; i++) {
		struct perfmap *j = &m->map[i];

		if (!j->ended && j->next <= now)
			look(m, j, now);
		if (!j->ended && j->next < next)
			next = j->next;
	}
	tidy(m);
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
