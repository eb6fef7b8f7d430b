// SPDX-License-Identifier: Apache-2.0
#include "record/chains/image_loader.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock_ns.h"
#include "record/initial/buildid.h"
#include "record/plan/options.h"
#include "symbol/elf/elf_image.h"
#include "sys/kernel/priority.h"
#include "sys/kernel/thread.h"

/* Files that may wait; a program maps some hundred at most, but starts with a few. */
#define REQUESTS   256u
#define STACK_SIZE (256u << 10)
#define END_MS	   1000
/* A file that takes so long is given up, and another thread reads the next ones; so many times. */
#define HUNG_MS	 5000
#define HUNG_MAX 8u
/* All programs and libraries of a desktop have 20 MB of .eh_frame. */
#define TABLES_MAX ((size_t)64 << 20)
/* Bytes of the path of a file in a directory of /proc. */
#define FOUND_MAX (PATH_MAX + 64)
/* Lines of /proc/PID/maps that are searched for a deleted file. */
#define LINES_MAX 100000u

struct image_request {
	struct dso dso; /* its name is @name */
	char *name;
	enum cfi_part part;
	uint64_t generation;
};

struct image_loader {
	struct resolver *resolver;
	struct cfi_tables *tables;
	struct utsname uts;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t work, done;
	pthread_t thread;
	unsigned int turn;		      /* number of the thread: others were given up */
	unsigned int alive;		      /* threads, with those */
	struct image_request queue[REQUESTS]; /* a ring */
	uint64_t asked, served;
	uint64_t stuck; /* 1 + the number served when somebody last waited in vain; 0: nobody */
	struct image_request loading; /* what the thread reads, since: */
	uint64_t began;		      /* ms; 0: it reads nothing */
	unsigned int hung_ms, hung;   /* files that were given up */
	char *hung_name;	      /* of the first; NULL */
	bool stop, ended, orphaned;
};

/* --- files ---------------------------------------------------------------------------------------
 */

/* Opens an image by a descriptor, which it closes. */
static int open_fd(int fd, struct elf_image *ret)
{
	struct error unused = ERROR_INIT;
	char path[64];
	int rc;

	if (fd < 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = elf_image_open(path, ret, &unused);
	close(fd);
	return rc;
}

/* Finds a range of process @pid that maps the file @key. Returns false if there is none. */
static bool find_range(uint32_t pid, const struct build_id_key *key, char *ret, size_t size)
{
	char path[64], *line = NULL;
	unsigned int maj, min, lines = 0;
	uint64_t start, end, ino;
	bool found = false;
	size_t cap = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (!found && lines++ < LINES_MAX && getline(&line, &cap, f) > 0)
		found = sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*x %x:%x %" SCNu64, &start, &end,
			       &maj, &min, &ino) == 5 &&
			maj == key->maj && min == key->min && ino == key->ino;
	free(line);
	fclose(f);
	if (found)
		snprintf(ret, size, "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, pid, start,
			 end);
	return found;
}

/* Opens what process @pid has mapped as the file @key. Returns a descriptor or a negative errno. */
static int open_of_process(uint32_t pid, const char *name, const struct build_id_key *key)
{
	char path[FOUND_MAX];
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/root%s", pid, name);
	fd = build_id_open(path, key);
	if (fd >= 0)
		return fd;
	/* Only privileged users may open map_files; the program itself is there for its owner. */
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/exe", pid);
	fd = build_id_open(path, key);
	if (fd >= 0 || !find_range(pid, key, path, sizeof(path)))
		return fd;
	return build_id_open(path, key);
}

int image_open(const struct resolver *r, const struct dso *dso, struct elf_image *ret)
{
	const struct build_id_key key = {dso->maj, dso->min, dso->ino, dso->ino_generation};
	int fd = -ENOENT;

	/* Without an inode nothing says that the file of that name is the one that was mapped. */
	if (dso->kind == DSO_ELF && key.ino && strlen(dso->name) < PATH_MAX) {
		fd = build_id_open(dso->name, &key);
		for (size_t i = 0; fd < 0 && i < DSO_PIDS; i++)
			if (dso->pids[i])
				fd = open_of_process(dso->pids[i], dso->name, &key);
	}
	if (!open_fd(fd, ret))
		return 0;
	if (dso->kind == DSO_VDSO || dso->build_id_size)
		return resolver_open_image(r, dso, ret);
	return -ENOENT;
}

/* --- the thread ----------------------------------------------------------------------------------
 */

static void release(struct image_loader *l)
{
	for (; l->served < l->asked; l->served++)
		free(l->queue[l->served % REQUESTS].name);
	free(l->hung_name);
	cfi_tables_free(l->tables);
	resolver_free(l->resolver);
	pthread_cond_destroy(&l->done);
	pthread_cond_destroy(&l->work);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

/* Reads the next file that was asked for. All under the lock, but the reading. */
static void load_next(struct image_loader *l, unsigned int turn)
{
	struct image_request request = l->queue[l->served % REQUESTS];

	request.dso.name = request.name;
	l->queue[l->served % REQUESTS].name = NULL;
	l->loading = request;
	l->began = now_ms();
	pthread_mutex_unlock(&l->lock);
	cfi_tables_load(l->tables, &request.dso, request.part, request.generation);
	pthread_mutex_lock(&l->lock);
	free(request.name);
	if (turn != l->turn)
		return;
	l->began = 0;
	l->served++;
	pthread_cond_broadcast(&l->done);
}

static void *load_main(void *arg)
{
	struct image_loader *l = arg;
	unsigned int turn;
	bool last;

	pthread_setname_np(pthread_self(), "unwind-files");
	priority_nice(RECORD_NICE);
	pthread_mutex_lock(&l->lock);
	/* No other thread can start before this one reads something. */
	turn = l->turn;
	while (!l->stop && turn == l->turn) {
		if (l->served == l->asked)
			pthread_cond_wait(&l->work, &l->lock);
		else
			load_next(l, turn);
	}
	l->alive--;
	l->ended |= turn == l->turn;
	last = l->orphaned && !l->alive;
	pthread_cond_broadcast(&l->done);
	pthread_mutex_unlock(&l->lock);
	if (last)
		release(l);
	return NULL;
}

/* cfi_loader.want() and cfi_loader.open() */
static bool want(void *arg, const struct dso *dso, enum cfi_part part, uint64_t generation)
{
	struct image_loader *l = arg;
	struct image_request *r;
	char *name = strdup(dso->name);

	if (!name)
		return false;
	pthread_mutex_lock(&l->lock);
	r = l->asked - l->served < REQUESTS ? &l->queue[l->asked % REQUESTS] : NULL;
	if (r) {
		*r = (struct image_request){*dso, name, part, generation};
		l->asked++;
		pthread_cond_signal(&l->work);
	}
	pthread_mutex_unlock(&l->lock);
	if (!r)
		free(name);
	return r;
}

static int open_dso(void *arg, const struct dso *dso, struct elf_image *ret)
{
	const struct image_loader *l = arg;

	return image_open(l->resolver, dso, ret);
}

/* Starts a thread. Under the lock. */
static int start(struct image_loader *l)
{
	int rc = thread_start(STACK_SIZE, load_main, l, &l->thread);

	l->alive += !rc;
	return rc;
}

/*
 * Gives up the file that the thread has read for too long, and has another thread read the next
 * ones. Under the lock. Returns whether it did; then cfi_tables_give_up() is for *@ret.
 */
static bool replace_hung(struct image_loader *l, struct image_request *ret)
{
	pthread_t old = l->thread;

	if (!l->began || now_ms() - l->began < l->hung_ms || l->hung >= HUNG_MAX || l->stop)
		return false;
	l->turn++;
	if (start(l)) {
		l->turn--;
		return false;
	}
	pthread_detach(old);
	*ret = l->loading;
	/* The thread that was given up frees the name, but only under the lock. */
	if (!l->hung++)
		l->hung_name = strdup(l->loading.name);
	l->began = 0;
	l->served++;
	pthread_cond_broadcast(&l->done);
	return true;
}

/* --- other threads -------------------------------------------------------------------------------
 */

int image_loader_new(struct image_loader **ret)
{
	struct image_loader *l = calloc(1, sizeof(*l));
	struct resolver_opts opts = {.no_demangle = true, .no_debuginfod = true};
	struct cfi_loader loader = {want, open_dso, l};
	struct error unused = ERROR_INIT;
	int rc;

	if (!l)
		return -ENOMEM;
	l->hung_ms = HUNG_MS;
	pthread_mutex_init(&l->lock, NULL);
	thread_cond_init(&l->work);
	thread_cond_init(&l->done);
	if (!uname(&l->uts)) {
		opts.hostname = l->uts.nodename;
		opts.osrelease = l->uts.release;
		opts.arch = l->uts.machine;
	}
	rc = resolver_new(&opts, &l->resolver, &unused);
	if (!rc)
		rc = cfi_tables_new_loaded(&loader, l->resolver, &l->tables);
	if (!rc) {
		cfi_tables_limit(l->tables, TABLES_MAX);
		pthread_mutex_lock(&l->lock);
		rc = start(l);
		pthread_mutex_unlock(&l->lock);
	}
	if (rc)
		release(l);
	else
		*ret = l;
	return rc;
}

void image_loader_free(struct image_loader *l)
{
	const struct timespec until = timespec_of_deadline(now_ms() + END_MS);
	pthread_t thread;
	bool ended, last;
	int rc = 0;

	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	thread = l->thread;
	l->stop = true;
	pthread_cond_signal(&l->work);
	while (!l->ended && !rc)
		rc = pthread_cond_timedwait(&l->done, &l->lock, &until);
	ended = l->ended;
	last = !l->alive;
	l->orphaned = !last;
	pthread_mutex_unlock(&l->lock);
	/* Whoever is last frees @l: it may be gone now. */
	if (ended)
		pthread_join(thread, NULL);
	else
		pthread_detach(thread);
	if (last)
		release(l);
}

struct cfi_tables *image_loader_tables(struct image_loader *l)
{
	return l->tables;
}

bool image_loader_wait(struct image_loader *l, unsigned int ms)
{
	const struct timespec until = timespec_of_deadline(now_ms() + ms);
	struct image_request hung;
	uint64_t asked;
	bool served, given_up;
	int rc = 0;

	pthread_mutex_lock(&l->lock);
	given_up = replace_hung(l, &hung);
	asked = l->asked;
	while (l->served < asked && l->stuck != l->served + 1 && !rc)
		rc = pthread_cond_timedwait(&l->done, &l->lock, &until);
	served = l->served >= asked;
	if (!served)
		l->stuck = l->served + 1;
	pthread_mutex_unlock(&l->lock);
	if (given_up)
		cfi_tables_give_up(l->tables, hung.dso.index, hung.part, hung.generation);
	return served;
}

void image_loader_limit(struct image_loader *l, unsigned int ms)
{
	pthread_mutex_lock(&l->lock);
	l->hung_ms = ms;
	pthread_mutex_unlock(&l->lock);
}

unsigned int image_loader_hung(struct image_loader *l, const char **ret_name)
{
	unsigned int hung;

	pthread_mutex_lock(&l->lock);
	hung = l->hung;
	*ret_name = l->hung_name;
	pthread_mutex_unlock(&l->lock);
	return hung;
}
