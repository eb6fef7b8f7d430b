// SPDX-License-Identifier: GPL-2.0
/*
 * Checks the records of auxsim (auxsim.h) in extracted trace, or with -s in any file.
 *
 * usage: axscheck [-s] [-v] FILE...
 *        axscheck [-v] -w LIST DIR
 *
 * A file is a raw stream: the trace of one ring, its pieces one after another. Every byte belongs
 * to a record or is zero. A record may lie in two pieces. With -s all else is skipped: a perf.data
 * between whose records the trace lies, where a record in two pieces is missed.
 *
 * Prints one line:
 *
 *   axscheck: records=N sessions=N twice=N gaps=N missing=N breaks=N backward=N torn=N cut=N pad=N
 *
 * twice: records that came again; gaps, missing: of numbers in sessions; breaks: gaps of numbers in
 * threads, over all sessions; backward: records that are older than the one with the number before;
 * torn: places with bytes of no record; cut: those at an edge, where a piece of a ring begins or
 * ends amidst a record. With -v a line for each session precedes it.
 *
 * With -w the files in DIR consist of windows: those of snapshots, or the trace of samples. A line
 * of LIST is "FILE SIZE OFFSET TIME", for each window of a file in its order; OFFSET is the
 * position in the ring, and TIME that of the snapshot, both "-" for samples. The line goes on with
 *
 *   windows=N jumps=N snapshots=N holes=N smallest=N largest=N late=N over=N skipped=N again=N
 * bad=N
 *
 * jumps: gaps of numbers in sessions inside a window; holes: gaps of numbers in threads inside a
 * snapshot, over all its rings; smallest, largest: snapshot, in bytes; late: the longest time from
 * the newest record of a snapshot to its TIME, in us; over: records between windows, by OFFSET;
 * skipped: the same by numbers in sessions, from 0 on; again: windows that end before the one in
 * front of them; bad: files whose size is not that of their windows. With -v a line for each
 * snapshot is on standard error.
 *
 * Status: 0; 1 for torn or backward records, or none at all; 2 for a file that cannot be read.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "auxsim.h"

struct record {
	struct axs_rec r;
	uint32_t window, snapshot; /* indices */
};

struct file {
	char name[64];
	char *bytes;
	size_t size, at; /* at: the next window */
	uint64_t end;	 /* position of the last window's end */
	uint64_t newest; /* time of the last window's last record */
};

struct snapshot {
	char name[32];
	uint64_t bytes, newest;
};

/* Of -w. */
struct windows {
	struct file files[256];
	struct snapshot *snapshots;
	size_t nr_files, nr_snapshots;
	uint32_t nr;
	uint32_t next[1 << 16]; /* number, by session */
	uint64_t jumps, holes, late, over, skipped, again, bad;
};

struct check {
	bool scan, verbose;
	struct windows *windows; /* NULL: without -w */
	uint32_t snapshot;	 /* that of the window that is read */
	struct record *recs;
	size_t nr, room;
	uint64_t pad, torn, cut;
	uint64_t sessions, twice, gaps, missing, breaks, backward;
};

static void add(struct check *c, const struct axs_rec *r)
{
	if (c->nr == c->room) {
		c->room = c->room ? 2 * c->room : 4096;
		c->recs = realloc(c->recs, c->room * sizeof(*c->recs));
		if (!c->recs)
			exit(2);
	}
	c->recs[c->nr++] = (struct record){
		.r = *r,
		.window = c->windows ? c->windows->nr : 0,
		.snapshot = c->snapshot,
	};
}

static bool record_at(const char *bytes, size_t left, struct axs_rec *ret)
{
	if (left < sizeof(*ret))
		return false;
	memcpy(ret, bytes, sizeof(*ret));
	return ret->magic == AXS_MAGIC && ret->crc == axs_crc(ret);
}

/*
 * The bytes @from..@to are of no record. Whether that is torn trace: an edge of a window is shorter
 * than a record, and the trace does not go on over it.
 */
static void judge(struct check *c, const char *bytes, size_t from, size_t to, bool joined)
{
	uint64_t other = 0;

	for (size_t i = from; i < to; i++)
		other += !!bytes[i];
	if (!other)
		c->pad += to - from;
	else if (to - from >= 2 * sizeof(struct axs_rec) || joined)
		c->torn++;
	else
		c->cut++;
}

static void read_stream(struct check *c, const char *bytes, size_t size)
{
	struct axs_rec last = {0}, r;
	size_t junk = 0; /* where what is of no record began */
	bool first = true;

	for (size_t i = 0; i < size;) {
		if (!record_at(bytes + i, size - i, &r)) {
			i++;
			continue;
		}
		if (junk < i && !c->scan)
			judge(c, bytes, junk, i,
			      !first && last.session == r.session && last.seq + 1 == r.seq);
		add(c, &r);
		first = false;
		last = r;
		i += sizeof(r);
		junk = i;
	}
	if (junk < size && !c->scan)
		judge(c, bytes, junk, size, false);
}

/* Returns the contents of a file, or NULL. */
static char *load(const char *path, size_t *ret)
{
	FILE *f = fopen(path, "rb");
	char *bytes = NULL;
	long size = -1;
	bool whole = false;

	if (f && !fseek(f, 0, SEEK_END))
		size = ftell(f);
	if (size >= 0) {
		rewind(f);
		bytes = malloc(size + 1);
		whole = bytes && fread(bytes, 1, size, f) == (size_t)size;
	}
	if (!whole) {
		perror(path);
		free(bytes);
	}
	if (f)
		fclose(f);
	*ret = size;
	return whole ? bytes : NULL;
}

static int read_file(struct check *c, const char *path)
{
	size_t size;
	char *bytes = load(path, &size);

	if (!bytes)
		return -1;
	read_stream(c, bytes, size);
	free(bytes);
	return 0;
}

/* ---- windows */

static struct file *find_file(struct windows *w, const char *dir, const char *name)
{
	char path[512];
	struct file *f;

	for (size_t i = 0; i < w->nr_files; i++)
		if (!strcmp(w->files[i].name, name))
			return &w->files[i];
	if (w->nr_files == sizeof(w->files) / sizeof(w->files[0]))
		return NULL;
	f = &w->files[w->nr_files];
	snprintf(f->name, sizeof(f->name), "%s", name);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f->bytes = load(path, &f->size);
	w->nr_files += !!f->bytes;
	return f->bytes ? f : NULL;
}

/* Returns the index of a snapshot, which its time names. "-": of a window that is of none. */
static uint32_t find_snapshot(struct windows *w, const char *name)
{
	for (size_t i = w->nr_snapshots; i--;)
		if (!strcmp(w->snapshots[i].name, name))
			return i;
	w->snapshots = realloc(w->snapshots, (w->nr_snapshots + 1) * sizeof(*w->snapshots));
	if (!w->snapshots)
		exit(2);
	w->snapshots[w->nr_snapshots] = (struct snapshot){0};
	snprintf(w->snapshots[w->nr_snapshots].name, sizeof(w->snapshots[0].name), "%s", name);
	return w->nr_snapshots++;
}

/* Compares the numbers of a window's records, from index @first on, with those before them. */
static void count_skipped(struct check *c, size_t first, struct file *f)
{
	struct windows *w = c->windows;
	uint64_t newest = 0;

	for (size_t i = first; i < c->nr; i++) {
		const struct axs_rec *r = &c->recs[i].r;

		if (r->seq > w->next[r->session])
			w->skipped += r->seq - w->next[r->session];
		if (r->seq >= w->next[r->session])
			w->next[r->session] = r->seq + 1;
		newest = r->time;
		if (r->time > w->snapshots[c->snapshot].newest)
			w->snapshots[c->snapshot].newest = r->time;
	}
	w->again += newest && newest < f->newest;
	if (newest)
		f->newest = newest;
}

static void read_window(struct check *c, struct file *f, size_t size, const char *offset)
{
	struct windows *w = c->windows;
	size_t first = c->nr;

	if (size > f->size - f->at) {
		w->bad++;
		size = f->size - f->at;
	}
	if (strcmp(offset, "-")) {
		uint64_t from = strtoull(offset, NULL, 0);

		if (from > f->end)
			w->over += (from - f->end) / sizeof(struct axs_rec);
		f->end = from + size;
	}
	w->snapshots[c->snapshot].bytes += size;
	read_stream(c, f->bytes + f->at, size);
	f->at += size;
	count_skipped(c, first, f);
	w->nr++;
}

static int read_windows(struct check *c, const char *list, const char *dir)
{
	char name[64], offset[32], time[32];
	unsigned long long size;
	FILE *lines = fopen(list, "r");
	struct windows *w = c->windows;

	if (!lines) {
		perror(list);
		return -1;
	}
	while (fscanf(lines, "%63s %lli %31s %31s", name, (long long *)&size, offset, time) == 4) {
		struct file *f = find_file(w, dir, name);

		if (!f) {
			w->bad++;
			continue;
		}
		c->snapshot = find_snapshot(w, time);
		read_window(c, f, size, offset);
	}
	fclose(lines);
	for (size_t i = 0; i < w->nr_files; i++)
		w->bad += w->files[i].at != w->files[i].size;
	return 0;
}

static int by_window(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->window != y->window)
		return x->window < y->window ? -1 : 1;
	if (x->r.session != y->r.session)
		return x->r.session < y->r.session ? -1 : 1;
	return x->r.seq < y->r.seq ? -1 : x->r.seq > y->r.seq;
}

static int by_snapshot(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->snapshot != y->snapshot)
		return x->snapshot < y->snapshot ? -1 : 1;
	if (x->r.tid != y->r.tid)
		return x->r.tid < y->r.tid ? -1 : 1;
	return x->r.chain < y->r.chain ? -1 : x->r.chain > y->r.chain;
}

static void check_windows(struct check *c)
{
	struct windows *w = c->windows;

	qsort(c->recs, c->nr, sizeof(*c->recs), by_window);
	for (size_t i = 1; i < c->nr; i++) {
		const struct record *r = &c->recs[i], *before = r - 1;

		w->jumps += r->window == before->window && r->r.session == before->r.session &&
			    r->r.seq > before->r.seq + 1;
	}
	qsort(c->recs, c->nr, sizeof(*c->recs), by_snapshot);
	for (size_t i = 1; i < c->nr; i++) {
		const struct record *r = &c->recs[i], *before = r - 1;

		w->holes += r->snapshot == before->snapshot && r->r.tid == before->r.tid &&
			    r->r.chain > before->r.chain + 1 &&
			    strcmp(w->snapshots[r->snapshot].name, "-") != 0;
	}
}

static void print_windows(const struct check *c)
{
	struct windows *w = c->windows;
	uint64_t smallest = UINT64_MAX, largest = 0, nr = 0;

	for (size_t i = 0; i < w->nr_snapshots; i++) {
		const struct snapshot *s = &w->snapshots[i];
		uint64_t asked = strtoull(s->name, NULL, 0);

		if (!strcmp(s->name, "-"))
			continue;
		nr++;
		if (c->verbose)
			fprintf(stderr, "snapshot %s: %lu\n", s->name, s->bytes);
		smallest = s->bytes < smallest ? s->bytes : smallest;
		largest = s->bytes > largest ? s->bytes : largest;
		if (s->newest && asked > s->newest && asked - s->newest > w->late)
			w->late = asked - s->newest;
	}
	printf(" windows=%lu jumps=%lu snapshots=%lu holes=%lu smallest=%lu largest=%lu late=%lu "
	       "over=%lu skipped=%lu again=%lu bad=%lu",
	       (unsigned long)w->nr, w->jumps, nr, w->holes, nr ? smallest : 0, largest,
	       w->late / 1000, w->over, w->skipped, w->again, w->bad);
}

/* ---- sessions and threads */

static int by_session(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->r.session != y->r.session)
		return x->r.session < y->r.session ? -1 : 1;
	return x->r.seq < y->r.seq ? -1 : x->r.seq > y->r.seq;
}

static int by_thread(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->r.tid != y->r.tid)
		return x->r.tid < y->r.tid ? -1 : 1;
	return x->r.chain < y->r.chain ? -1 : x->r.chain > y->r.chain;
}

/* Records of one session, sorted. Returns how many are left without those that came again. */
static size_t check_session(struct check *c, struct record *recs, size_t nr, struct record *out)
{
	uint64_t gaps = 0, missing = 0, twice = 0, backward = 0, cpus = 0;
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		if (i && recs[i].r.seq == recs[i - 1].r.seq) {
			twice++;
			continue;
		}
		if (i && recs[i].r.seq != recs[i - 1].r.seq + 1) {
			gaps++;
			missing += recs[i].r.seq - recs[i - 1].r.seq - 1;
		}
		backward += i && recs[i].r.time < recs[i - 1].r.time;
		cpus |= UINT64_C(1) << (recs[i].r.cpu & 63);
		out[kept++] = recs[i];
	}
	if (c->verbose)
		printf("session %u: tid %u cpus %#llx records %zu seq %u..%u twice %llu gaps %llu "
		       "missing %llu\n",
		       out[0].r.session, out[0].r.tid, (unsigned long long)cpus, kept, out[0].r.seq,
		       out[kept - 1].r.seq, (unsigned long long)twice, (unsigned long long)gaps,
		       (unsigned long long)missing);
	c->sessions++;
	c->twice += twice;
	c->gaps += gaps;
	c->missing += missing;
	c->backward += backward;
	return kept;
}

static void check_all(struct check *c)
{
	size_t kept = 0, first = 0;

	if (c->windows)
		check_windows(c);
	qsort(c->recs, c->nr, sizeof(*c->recs), by_session);
	for (size_t i = 1; i <= c->nr; i++) {
		if (i < c->nr && c->recs[i].r.session == c->recs[first].r.session)
			continue;
		kept += check_session(c, c->recs + first, i - first, c->recs + kept);
		first = i;
	}
	c->nr = kept;
	qsort(c->recs, c->nr, sizeof(*c->recs), by_thread);
	for (size_t i = 1; i < c->nr; i++)
		c->breaks += c->recs[i].r.chain && c->recs[i].r.tid == c->recs[i - 1].r.tid &&
			     c->recs[i].r.chain != c->recs[i - 1].r.chain + 1;
}

int main(int argc, char **argv)
{
	struct check c = {0};
	const char *list = NULL;
	int option;

	while ((option = getopt(argc, argv, "svw:")) != -1) {
		if (option == '?')
			return 2;
		c.scan |= option == 's';
		c.verbose |= option == 'v';
		if (option == 'w')
			list = optarg;
	}
	if (list) {
		c.windows = calloc(1, sizeof(*c.windows));
		if (!c.windows || optind + 1 != argc || read_windows(&c, list, argv[optind]))
			return 2;
	}
	for (int i = optind; !list && i < argc; i++)
		if (read_file(&c, argv[i]))
			return 2;
	if (c.nr)
		check_all(&c);
	printf("axscheck: records=%zu sessions=%llu twice=%llu gaps=%llu missing=%llu breaks=%llu "
	       "backward=%llu torn=%llu cut=%llu pad=%llu",
	       c.nr, (unsigned long long)c.sessions, (unsigned long long)c.twice,
	       (unsigned long long)c.gaps, (unsigned long long)c.missing,
	       (unsigned long long)c.breaks, (unsigned long long)c.backward,
	       (unsigned long long)c.torn, (unsigned long long)c.cut, (unsigned long long)c.pad);
	if (c.windows)
		print_windows(&c);
	printf("\n");
	free(c.recs);
	return !c.nr || c.torn || c.backward;
}
