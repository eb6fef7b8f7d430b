// SPDX-License-Identifier: Apache-2.0
/*
 * TRACING_DATA: what a reader needs to print tracepoint fields, in the format of trace-cmd 0.6 as
 * perf writes it (tools/perf/util/trace-event-info.c, trace-event-read.c):
 *
 *   "\x17\x08\x44tracing" "0.6\0" u8 big_endian, u8 size of long, u32 page size
 *   "header_page\0" file64, "header_event\0" file64
 *   u32 count, count × file64		formats of the system "ftrace" (none: not recordable)
 *   u32 systems, each: name\0, u32 count, count × file64
 *   u32 size of kallsyms (0), file32 printk_formats, file64 saved_cmdlines
 *
 * where fileN is the length of a file in N bits, then its bytes.
 */
#include "record/initial/machine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>
#include <unistd.h>

#include "sys/io/file.h"

struct traced_event {
	uint64_t id; /* attr.config */
	char *system, *name;
};

struct tracepoints {
	struct traced_event *t;
	size_t count, capacity;
};

static void tracepoints_release(struct tracepoints *tps)
{
	for (size_t i = 0; i < tps->count; i++) {
		free(tps->t[i].system);
		free(tps->t[i].name);
	}
	free(tps->t);
}

static int tracepoint_add(struct tracepoints *tps, uint64_t id, const char *system,
			  size_t system_len, const char *name)
{
	struct traced_event t = {id, strndup(system, system_len), strdup(name)};

	if (!t.system || !t.name ||
	    array_grow(&tps->t, &tps->capacity, tps->count + 1, sizeof(*tps->t))) {
		free(t.system);
		free(t.name);
		return -ENOMEM;
	}
	tps->t[tps->count++] = t;
	return 0;
}

static bool has_id(const struct tracepoints *tps, uint64_t id)
{
	for (size_t i = 0; i < tps->count; i++) {
		if (tps->t[i].id == id)
			return true;
	}
	return false;
}

/* The name is "system:event" unless the user chose another: it counts if its id is the one wanted.
 */
static int find_by_name(struct tracepoints *tps, const char *events, uint64_t id, const char *name)
{
	const char *colon = name ? strchr(name, ':') : NULL;
	int system_len = colon ? (int)(colon - name) : 0;
	long long found;
	int rc;

	if (!colon || memchr(name, '/', strlen(name)))
		return -ENOENT;
	rc = file_number(&found, "%s/%.*s/%s/id", events, system_len, name, colon + 1);
	if (rc || (uint64_t)found != id)
		return rc ? rc : -ENOENT;
	return tracepoint_add(tps, id, name, (size_t)system_len, colon + 1);
}

static int find_in_system(struct tracepoints *tps, const char *events, const char *system,
			  uint64_t id)
{
	char path[4096];
	struct dirent *ent;
	int rc = -ENOENT;
	DIR *dir;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", events, system) >= sizeof(path))
		return -ENOENT;
	dir = opendir(path);
	if (!dir)
		return -ENOENT;
	while (rc == -ENOENT && (ent = readdir(dir))) {
		long long found;

		if (ent->d_name[0] == '.' || ent->d_type == DT_REG)
			continue;
		if (!file_number(&found, "%s/%s/id", path, ent->d_name) && (uint64_t)found == id)
			rc = tracepoint_add(tps, id, system, strlen(system), ent->d_name);
	}
	closedir(dir);
	return rc;
}

static int find_by_id(struct tracepoints *tps, const char *events, uint64_t id)
{
	struct dirent *ent;
	int rc = -ENOENT;
	DIR *dir = opendir(events);

	if (!dir)
		return -errno;
	while (rc == -ENOENT && (ent = readdir(dir))) {
		if (ent->d_name[0] != '.' && ent->d_type != DT_REG)
			rc = find_in_system(tps, events, ent->d_name, id);
	}
	closedir(dir);
	return rc;
}

static int by_system(const void *a, const void *b)
{
	const struct traced_event *x = a, *y = b;
	int c = strcmp(x->system, y->system);

	return c ? c : strcmp(x->name, y->name);
}

/* The tracepoints of @list, each once, by system. */
static int collect(struct tracepoints *tps, const struct pd_evlist *list, const char *events,
		   struct error *err)
{
	for (size_t i = 0; i < pd_evlist_count(list); i++) {
		const struct pd_evsel *evsel = pd_evlist_at(list, i);
		uint64_t id = evsel->attr.config;
		int rc;

		if (evsel->attr.type != PERF_TYPE_TRACEPOINT || has_id(tps, id))
			continue;
		rc = find_by_name(tps, events, id, evsel->name);
		if (rc && rc != -ENOMEM)
			rc = find_by_id(tps, events, id);
		if (rc)
			return error_sys(err, rc, "cannot find tracepoint %s (id %llu) in %s",
					 evsel->name ? evsel->name : "", (unsigned long long)id,
					 events);
	}
	qsort(tps->t, tps->count, sizeof(*tps->t), by_system);
	return 0;
}

/*
 * Appends the length of file DIR/NAME as a native number of @size_bytes, then the file. A file that
 * does not exist counts as empty if it is @optional.
 */
static int put_file(struct buf *b, const char *dir, const char *name, size_t size_bytes,
		    bool optional, struct error *err)
{
	size_t at = b->len, len;
	uint64_t len64;
	uint32_t len32;
	char path[4096];
	int rc;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >= sizeof(path))
		return error_set(err, -ENAMETOOLONG, "the path of %s is too long", name);
	rc = buf_zero(b, size_bytes);
	if (!rc)
		rc = file_read_at(AT_FDCWD, path, b);
	if (rc && rc != -ENOMEM && optional) {
		b->len = at + size_bytes;
		rc = 0;
	}
	if (rc)
		return error_sys(err, rc, "cannot read %s", path);
	len = b->len - at - size_bytes;
	len32 = (uint32_t)len;
	len64 = len;
	memcpy(b->data + at, size_bytes == 4 ? (void *)&len32 : (void *)&len64, size_bytes);
	return 0;
}

static int put_u32(struct buf *b, uint32_t v)
{
	return buf_append(b, &v, sizeof(v));
}

static int put_header(struct buf *b, const char *events, struct error *err)
{
	static const char magic[] = "\x17\x08\x44tracing0.6"; /* with its NUL */
	const uint8_t sizes[2] = {__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long)};
	int rc;

	rc = buf_append(b, magic, sizeof(magic));
	if (!rc)
		rc = buf_append(b, sizes, sizeof(sizes));
	if (!rc)
		rc = put_u32(b, (uint32_t)sysconf(_SC_PAGESIZE));
	if (!rc)
		rc = buf_append(b, "header_page", sizeof("header_page"));
	if (!rc)
		rc = put_file(b, events, "header_page", 8, false, err);
	if (!rc)
		rc = buf_append(b, "header_event", sizeof("header_event"));
	if (!rc)
		rc = put_file(b, events, "header_event", 8, false, err);
	return rc;
}

static int put_formats(struct buf *b, const char *events, const struct traced_event *t,
		       size_t count, struct error *err)
{
	char name[512];
	int rc = put_u32(b, (uint32_t)count);

	for (size_t i = 0; !rc && i < count; i++) {
		snprintf(name, sizeof(name), "%s/%s/format", t[i].system, t[i].name);
		rc = put_file(b, events, name, 8, false, err);
	}
	return rc;
}

/* Returns how many tracepoints from @from on belong to the same system. */
static size_t system_run(const struct tracepoints *tps, size_t from)
{
	size_t to = from;

	while (to < tps->count && !strcmp(tps->t[to].system, tps->t[from].system))
		to++;
	return to - from;
}

/* Writes the formats of the system "ftrace", which come first, then those of all others. */
static int put_systems(struct buf *b, const char *events, const struct tracepoints *tps,
		       struct error *err)
{
	size_t ftrace = 0, nr_ftrace = 0;
	uint32_t systems = 0;
	int rc;

	for (size_t i = 0; i < tps->count; i += system_run(tps, i)) {
		if (!strcmp(tps->t[i].system, "ftrace")) {
			ftrace = i;
			nr_ftrace = system_run(tps, i);
		} else {
			systems++;
		}
	}
	rc = put_formats(b, events, tps->t + ftrace, nr_ftrace, err);
	if (!rc)
		rc = put_u32(b, systems);
	for (size_t i = 0, n; !rc && i < tps->count; i += n) {
		const char *system = tps->t[i].system;

		n = system_run(tps, i);
		if (nr_ftrace && i == ftrace)
			continue;
		rc = buf_append(b, system, strlen(system) + 1);
		if (!rc)
			rc = put_formats(b, events, tps->t + i, n, err);
	}
	return rc;
}

static int put_tracing_data(struct buf *b, const char *tracing, const struct pd_evlist *list,
			    struct error *err)
{
	struct tracepoints tps = {0};
	char events[4096];
	int rc;

	snprintf(events, sizeof(events), "%s/events", tracing);
	rc = collect(&tps, list, events, err);
	if (!rc)
		rc = put_header(b, events, err);
	if (!rc)
		rc = put_systems(b, events, &tps, err);
	if (!rc)
		rc = put_u32(b, 0);
	if (!rc)
		rc = put_file(b, tracing, "printk_formats", 4, true, err);
	if (!rc)
		rc = put_file(b, tracing, "saved_cmdlines", 8, true, err);
	tracepoints_release(&tps);
	return rc;
}

static bool has_tracepoint(const struct pd_evlist *list)
{
	for (size_t i = 0; i < pd_evlist_count(list); i++) {
		if (pd_evlist_at(list, i)->attr.type == PERF_TYPE_TRACEPOINT)
			return true;
	}
	return false;
}

int machine_tracing_data(struct feature_set *set, const struct pd_evlist *list, struct error *err)
{
	struct buf b = {0};
	const char *tracing;
	int rc;

	if (!has_tracepoint(list))
		return 0;
	/* Mounts tracefs if it is not mounted and this process may. */
	tracing = tracefs_tracing_dir();
	if (!tracing)
		return error_set(err, -ENOENT,
				 "tracefs is not mounted: as root, mount -t tracefs tracefs "
				 "/sys/kernel/tracing");
	rc = put_tracing_data(&b, tracing, list, err);
	if (!rc)
		rc = feature_set_add(set, HEADER_TRACING_DATA, &b);
	buf_release(&b);
	return rc == -ENOMEM ? error_set(err, rc, "out of memory") : rc;
}
