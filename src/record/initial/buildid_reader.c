// SPDX-License-Identifier: Apache-2.0
#include "record/initial/buildid_reader.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

#include "base/clock_ns.h"
#include "base/hash.h"
#include "record/initial/buildid_queue.h"
#include "record/initial/early_table.h"
#include "record/initial/perfmaps.h"
#include "sys/kernel/priority.h"
#include "sys/kernel/thread.h"

/* Bytes of waiting requests: some ten thousand files. */
#define QUEUE_BYTES (1u << 20)
/* The most answers kept. The oldest is evicted, and its file read again if asked for. */
#define ANSWERS_MAX 65536u
/* Low, but not SCHED_IDLE, which gets next to nothing on a busy machine: the files of short-lived
 * processes would be gone. */
#define NICE	   19
#define PIDS_BYTES (1u << 16) /* of waiting requests to watch a process: some thousand */
/* Enough for libelf. */
#define STACK_SIZE (256u << 10)
#define END_MS	   1000

struct id_request {
	struct build_id_key key;
	uint64_t start, end; /* of the map */
	uint32_t pid;
	bool kernel;
};

struct answer {
	UT_hash_handle hh;
	struct build_id_key key;
	bool gone;
	struct build_id id;
	struct timespec written;	 /* when the file was, as of its reading; 0: not known */
	const struct early_table *table; /* of @early; NULL: the file's symbols were not read */
};

/* A thread and its requests. */
struct server {
	struct buildid_queue *queue; /* NULL: it was not started */
	pthread_t thread;
	sem_t wake;
	bool ended; /* guarded by the reader's lock */
};

struct buildid_reader {
	struct server ids, maps; /* @maps: only if it reads symbols */
	_Atomic uint64_t asked, full;
	_Atomic unsigned int references; /* of the owner, of the threads and of others */
	atomic_bool stop;
	struct perfmaps *jits;	   /* of @maps; NULL: it reads no symbols */
	struct early_tables early; /* of @ids, until it has ended */

	pthread_mutex_t lock; /* guards the fields below; buildid_reader_ask() never takes it */
	pthread_cond_t answered;
	uint64_t served; /* of @asked */
	bool behind;
	struct answer *answers; /* the oldest first */
	struct buildid_reader_stats stats;
};

/* --- the threads ---------------------------------------------------------------------------------
 */

/* Bytes of the path of a file in the root directory of a process. */
#define FOUND_MAX (PATH_MAX + 64)

struct message {
	struct id_request request;
	char name[PATH_MAX];
};

/*
 * Reads the file of the map that begins at @r->start, whatever its end is. Programs and libraries
 * whose first segment is executable (binutils makes them so on arm64) are mapped in whole at first,
 * which the kernel records; then the kernel or ld.so unmaps what does not belong to the segment.
 */
static int read_mapped_file(const struct id_request *r, char path[FOUND_MAX], struct build_id *ret)
{
	const struct dirent *entry;
	int rc = -ENOENT;
	uint64_t start;
	char *end;
	DIR *dir;

	snprintf(path, FOUND_MAX, "/proc/%" PRIu32 "/map_files", r->pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		start = strtoull(entry->d_name, &end, 16);
		if (*end != '-' || start != r->start)
			continue;
		snprintf(path, FOUND_MAX, "/proc/%" PRIu32 "/map_files/%s", r->pid, entry->d_name);
		rc = build_id_of_file(path, &r->key, ret);
		break;
	}
	closedir(dir);
	return rc;
}

/*
 * Most files have the same name here. A container's files are found through the root directory of
 * the process, deleted files through its map_files. That comes last: it takes a lock that the
 * process needs for each map, and this thread may be preempted while it holds the lock. @path is
 * the name under which it was found.
 */
static int read_file(const struct id_request *r, const char *name, char path[FOUND_MAX],
		     struct build_id *ret)
{
	int rc = build_id_of_file(name, &r->key, ret);

	snprintf(path, FOUND_MAX, "%s", name);
	if (!rc || !r->pid)
		return rc;
	snprintf(path, FOUND_MAX, "/proc/%" PRIu32 "/root%s", r->pid, name);
	if (!build_id_of_file(path, &r->key, ret))
		return 0;
	snprintf(path, FOUND_MAX, "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, r->pid,
		 r->start, r->end);
	if (!build_id_of_file(path, &r->key, ret))
		return 0;
	return read_mapped_file(r, path, ret);
}

static struct answer *answer_of(const struct buildid_reader *r, const struct build_id_key *key)
{
	struct answer *a;

	HASH_FIND(hh, r->answers, key, sizeof(*key), a);
	return a;
}

static void forget(struct buildid_reader *r, struct answer *a)
{
	HASH_DEL(r->answers, a);
	free(a);
}

/* Stores an answer; the caller holds the lock. Out of memory the request is forgotten. */
static void note(struct buildid_reader *r, const struct answer *new)
{
	const struct build_id_key *key = &new->key;
	struct answer *a = answer_of(r, key);

	if (a && a->gone)
		r->stats.gone--;
	if (!a) {
		a = calloc(1, sizeof(*a));
		if (!a)
			return;
		a->key = *key;
		HASH_ADD(hh, r->answers, key, sizeof(a->key), a);
		if (!a->hh.tbl) {
			free(a);
			return;
		}
	}
	a->gone = new->gone;
	a->id = new->id;
	a->written = new->written;
	a->table = new->table;
	if (a->gone)
		r->stats.gone++;
	else
		r->stats.read++;
	if (HASH_COUNT(r->answers) > ANSWERS_MAX)
		forget(r, r->answers);
}

/* Whether a later try may succeed: a descriptor or memory may be free then. */
static bool is_passing(int rc)
{
	return rc == -EMFILE || rc == -ENFILE || rc == -ENOMEM;
}

static void count_served(struct buildid_reader *r)
{
	r->served++;
	pthread_cond_broadcast(&r->answered);
}

/* Reads the file of a request. Returns 0 or a negative errno. */
static int read_request(struct buildid_reader *r, const struct message *m, struct answer *ret)
{
	char path[FOUND_MAX];
	struct stat st;
	int rc, fd;

	if (m->request.kernel) {
		build_id_of_kernel_map(m->name, &ret->id);
		return 0;
	}
	rc = read_file(&m->request, m->name, path, &ret->id);
	ret->gone = rc;
	if (rc)
		return rc;
	/* Another file may have the name by now. */
	fd = build_id_open(path, &m->request.key);
	if (fd < 0)
		return 0;
	if (!fstat(fd, &st))
		ret->written = st.st_mtim;
	if (r->jits)
		ret->table = early_table_make(&r->early, m->name, path, fd, &ret->id);
	close(fd);
	return 0;
}

static void serve(struct buildid_reader *r, const struct message *m)
{
	struct answer new = {.key = m->request.key};
	const struct answer *known;
	int rc = 0;
	bool again;

	pthread_mutex_lock(&r->lock);
	known = answer_of(r, &m->request.key);
	again = !known || known->gone;
	pthread_mutex_unlock(&r->lock);
	if (again)
		rc = read_request(r, m, &new);
	pthread_mutex_lock(&r->lock);
	if (again && !is_passing(rc))
		note(r, &new);
	r->stats.no_symbols = r->early.refused;
	r->stats.no_copies = r->early.uncopied;
	count_served(r);
	pthread_mutex_unlock(&r->lock);
}

static void server_release(struct server *s)
{
	if (!s->queue)
		return;
	sem_destroy(&s->wake);
	buildid_queue_free(s->queue);
}

static void release(struct buildid_reader *r)
{
	while (r->answers)
		forget(r, r->answers);
	pthread_cond_destroy(&r->answered);
	pthread_mutex_destroy(&r->lock);
	server_release(&r->ids);
	server_release(&r->maps);
	perfmaps_free(r->jits);
	early_tables_release(&r->early);
	free(r);
}

void buildid_reader_put(struct buildid_reader *r)
{
	if (r && atomic_fetch_sub(&r->references, 1) == 1)
		release(r);
}

static void end_server(struct buildid_reader *r, struct server *s)
{
	pthread_mutex_lock(&r->lock);
	s->ended = true;
	pthread_cond_broadcast(&r->answered);
	pthread_mutex_unlock(&r->lock);
	buildid_reader_put(r);
}

static void *read_ids(void *arg)
{
	struct buildid_reader *r = arg;
	struct message m;

	pthread_setname_np(pthread_self(), "build-ids");
	priority_nice(NICE);
	while (!atomic_load(&r->stop)) {
		if (buildid_queue_take(r->ids.queue, &m, sizeof(m)))
			serve(r, &m);
		else
			sem_wait(&r->ids.wake);
	}
	end_server(r, &r->ids);
	return NULL;
}

/* Waits for a request, or until a process is to be looked at. */
static void wait_for_process(struct buildid_reader *r)
{
	int ms = perfmaps_poll(r->jits);
	struct timespec until;

	if (ms < 0) {
		sem_wait(&r->maps.wake);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	sem_timedwait(&r->maps.wake, &until);
}

/* It does little, but in time: a JIT may remove its file at any moment. */
static void *watch_maps(void *arg)
{
	struct buildid_reader *r = arg;
	uint32_t pid;

	pthread_setname_np(pthread_self(), "perf-maps");
	priority_nice(0); /* the recorder's other threads have more */
	while (!atomic_load(&r->stop)) {
		if (!buildid_queue_take(r->maps.queue, &pid, sizeof(pid))) {
			wait_for_process(r);
			continue;
		}
		perfmaps_watch(r->jits, pid);
		pthread_mutex_lock(&r->lock);
		count_served(r);
		pthread_mutex_unlock(&r->lock);
	}
	end_server(r, &r->maps);
	return NULL;
}

/* --- start and end -------------------------------------------------------------------------------
 */

static int server_start(struct buildid_reader *r, struct server *s, size_t bytes,
			void *(*work)(void *))
{
	int rc;

	s->queue = buildid_queue_new(bytes);
	if (!s->queue)
		return -ENOMEM;
	sem_init(&s->wake, 0, 0);
	atomic_fetch_add(&r->references, 1);
	rc = thread_start(STACK_SIZE, work, r, &s->thread);
	if (!rc)
		return 0;
	server_release(s);
	s->queue = NULL;
	atomic_fetch_sub(&r->references, 1);
	return rc;
}

int buildid_reader_new(bool names, bool lines, struct buildid_reader **ret)
{
	struct buildid_reader *r = calloc(1, sizeof(*r));
	int rc = 0;

	if (!r)
		return -ENOMEM;
	pthread_mutex_init(&r->lock, NULL);
	thread_cond_init(&r->answered);
	atomic_store(&r->references, 1);
	r->early.copies = lines;
	if (names) {
		r->jits = perfmaps_new();
		rc = r->jits ? server_start(r, &r->maps, PIDS_BYTES, watch_maps) : -ENOMEM;
	}
	if (!rc)
		rc = server_start(r, &r->ids, QUEUE_BYTES, read_ids);
	if (rc)
		buildid_reader_free(r);
	else
		*ret = r;
	return rc;
}

static bool has_ended(const struct server *s)
{
	return !s->queue || s->ended;
}

static void server_stop(struct server *s)
{
	if (s->queue)
		sem_post(&s->wake);
}

/* A thread that has not ended hangs in a file system. */
static void server_leave(struct server *s, bool ended)
{
	if (s->queue && ended)
		pthread_join(s->thread, NULL);
	else if (s->queue)
		pthread_detach(s->thread);
}

void buildid_reader_free(struct buildid_reader *r)
{
	const struct timespec until = timespec_of_deadline(now_ms() + END_MS);
	bool ids, maps;
	int rc = 0;

	if (!r)
		return;
	atomic_store(&r->stop, true);
	server_stop(&r->ids);
	server_stop(&r->maps);
	pthread_mutex_lock(&r->lock);
	while (!(has_ended(&r->ids) && has_ended(&r->maps)) && !rc)
		rc = pthread_cond_timedwait(&r->answered, &r->lock, &until);
	ids = has_ended(&r->ids);
	maps = has_ended(&r->maps);
	pthread_mutex_unlock(&r->lock);
	server_leave(&r->ids, ids);
	server_leave(&r->maps, maps);
	buildid_reader_put(r);
}

struct buildid_reader *buildid_reader_get(struct buildid_reader *r)
{
	atomic_fetch_add(&r->references, 1);
	return r;
}

/* --- other threads -------------------------------------------------------------------------------
 */

struct build_id_key buildid_reader_kernel_key(const char *name)
{
	return (struct build_id_key){
		.maj = UINT32_MAX,
		.min = UINT32_MAX,
		.generation = hash_bytes(hash_key(), name, strlen(name)),
	};
}

/* Puts a request into a queue. Returns false if there is no room. */
static bool put(struct buildid_reader *r, struct server *s, const void *request, size_t size,
		const char *name, size_t len)
{
	if (!buildid_queue_put(s->queue, request, size, name, len)) {
		atomic_fetch_add(&r->full, 1);
		return false;
	}
	atomic_fetch_add(&r->asked, 1);
	sem_post(&s->wake);
	return true;
}

bool buildid_reader_watch_jit(struct buildid_reader *r, uint32_t pid)
{
	return !r->jits || put(r, &r->maps, &pid, sizeof(pid), "", 0);
}

int buildid_reader_jit_map(struct buildid_reader *r, uint32_t pid)
{
	return r->jits ? perfmaps_open(r->jits, pid) : -ENOENT;
}

bool buildid_reader_ask(struct buildid_reader *r, const struct build_id_key *key,
			const struct pd_mmap *map, bool kernel)
{
	const struct id_request request = {
		.key = *key,
		.start = map->addr,
		.end = map->addr + map->len,
		.pid = map->pid,
		.kernel = kernel,
	};
	size_t len = strlen(map->filename) + 1;

	if (len <= PATH_MAX)
		return put(r, &r->ids, &request, sizeof(request), map->filename, len);
	atomic_fetch_add(&r->full, 1);
	return false;
}

void buildid_reader_settle(struct buildid_reader *r, unsigned int ms, const struct patience *p)
{
	const uint64_t deadline = now_ms() + (uint64_t)10 * ms;
	uint64_t asked = atomic_load(&r->asked);
	int rc = 0;

	pthread_mutex_lock(&r->lock);
	while (r->served < asked && !rc) {
		uint64_t served = r->served;
		uint64_t next = now_ms() + ms;

		if (next > deadline)
			next = deadline;
		while (r->served == served && !rc)
			rc = patience_wait(p, &r->answered, &r->lock, next);
		if (rc == -ETIMEDOUT && r->served != served)
			rc = 0;
	}
	r->behind = r->served < asked;
	pthread_mutex_unlock(&r->lock);
}

enum id_answer buildid_reader_find(struct buildid_reader *r, const struct build_id_key *key,
				   struct build_id *ret)
{
	enum id_answer found = ID_READ;
	const struct answer *a;

	pthread_mutex_lock(&r->lock);
	a = answer_of(r, key);
	if (!a)
		found = r->behind ? ID_BEHIND : ID_UNASKED;
	else if (a->gone)
		found = ID_GONE;
	else
		*ret = a->id;
	pthread_mutex_unlock(&r->lock);
	return found;
}

bool buildid_reader_overwritten(struct buildid_reader *r, const struct build_id_key *key,
				const char *name)
{
	struct answer then = {.gone = true};
	const struct answer *a;
	struct build_id id;
	struct stat st;

	pthread_mutex_lock(&r->lock);
	a = answer_of(r, key);
	if (a)
		then = *a;
	pthread_mutex_unlock(&r->lock);
	if (then.gone || !then.written.tv_sec || stat(name, &st) || st.st_ino != key->ino ||
	    (st.st_mtim.tv_sec == then.written.tv_sec &&
	     st.st_mtim.tv_nsec == then.written.tv_nsec))
		return false;
	/* Another file of this number is none of ours; one with the same contents is the same. */
	if (build_id_of_file(name, key, &id))
		return false;
	return !id.size || id.size != then.id.size || memcmp(id.id, then.id.id, id.size) != 0;
}

const struct early_table *buildid_reader_table(struct buildid_reader *r,
					       const struct build_id_key *key)
{
	const struct early_table *table;
	const struct answer *a;

	pthread_mutex_lock(&r->lock);
	a = answer_of(r, key);
	table = a ? a->table : NULL;
	pthread_mutex_unlock(&r->lock);
	return table;
}

void buildid_reader_stats(struct buildid_reader *r, struct buildid_reader_stats *ret)
{
	pthread_mutex_lock(&r->lock);
	*ret = r->stats;
	pthread_mutex_unlock(&r->lock);
	ret->full = atomic_load(&r->full);
	ret->no_perfmaps = r->jits ? perfmaps_refused(r->jits) : 0;
}
