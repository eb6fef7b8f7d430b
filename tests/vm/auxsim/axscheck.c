// SPDX-License-Identifier: GPL-2.0
/*
 * Checks the records of auxsim (auxsim.h) in extracted trace, or with -s in any file.
 *
 * usage: axscheck [-s] [-v] FILE...
 *
 * A file is a raw stream: the trace of one ring, its pieces one after another. Every byte belongs
 *to a record or is zero. A record may lie in two pieces. With -s all else is skipped: a perf.data
 *between whose records the trace lies, where a record in two pieces is missed.
 *
 * Prints one line:
 *
 *	axscheck: records=N sessions=N twice=N gaps=N missing=N breaks=N backward=N torn=N cut=N
 *pad=N
 *
 * twice: records that came again; gaps, missing: of numbers in sessions; breaks: gaps of numbers in
 * threads, over all sessions; backward: records that are older than the one with the number before;
 * torn: places with bytes of no record; cut: those at an edge, where a piece of a ring begins or
 *ends amidst a record. With -v a line for each session precedes it.
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

struct check {
	bool scan, verbose;
	struct axs_rec *recs;
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
	c->recs[c->nr++] = *r;
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

static int read_file(struct check *c, const char *path)
{
	FILE *f = fopen(path, "rb");
	char *bytes = NULL;
	long size = -1;
	int rc = -1;

	if (f && !fseek(f, 0, SEEK_END))
		size = ftell(f);
	if (size >= 0) {
		rewind(f);
		bytes = malloc(size + 1);
		if (bytes && fread(bytes, 1, size, f) == (size_t)size)
			rc = 0;
	}
	if (rc)
		perror(path);
	else
		read_stream(c, bytes, size);
	free(bytes);
	if (f)
		fclose(f);
	return rc;
}

static int by_session(const void *a, const void *b)
{
	const struct axs_rec *x = a, *y = b;

	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static int by_thread(const void *a, const void *b)
{
	const struct axs_rec *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->chain < y->chain ? -1 : x->chain > y->chain;
}

/* Records of one session, sorted. Returns how many are left without those that came again. */
static size_t check_session(struct check *c, struct axs_rec *recs, size_t nr, struct axs_rec *out)
{
	uint64_t gaps = 0, missing = 0, twice = 0, backward = 0, cpus = 0;
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		if (i && recs[i].seq == recs[i - 1].seq) {
			twice++;
			continue;
		}
		if (i && recs[i].seq != recs[i - 1].seq + 1) {
			gaps++;
			missing += recs[i].seq - recs[i - 1].seq - 1;
		}
		backward += i && recs[i].time < recs[i - 1].time;
		cpus |= UINT64_C(1) << (recs[i].cpu & 63);
		out[kept++] = recs[i];
	}
	if (c->verbose)
		printf("session %u: tid %u cpus %#llx records %zu seq %u..%u twice %llu gaps %llu "
		       "missing %llu\n",
		       out[0].session, out[0].tid, (unsigned long long)cpus, kept, out[0].seq,
		       out[kept - 1].seq, (unsigned long long)twice, (unsigned long long)gaps,
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

	qsort(c->recs, c->nr, sizeof(*c->recs), by_session);
	for (size_t i = 1; i <= c->nr; i++) {
		if (i < c->nr && c->recs[i].session == c->recs[first].session)
			continue;
		kept += check_session(c, c->recs + first, i - first, c->recs + kept);
		first = i;
	}
	c->nr = kept;
	qsort(c->recs, c->nr, sizeof(*c->recs), by_thread);
	for (size_t i = 1; i < c->nr; i++)
		c->breaks += c->recs[i].chain && c->recs[i].tid == c->recs[i - 1].tid &&
			     c->recs[i].chain != c->recs[i - 1].chain + 1;
}

int main(int argc, char **argv)
{
	struct check c = {0};
	int option;

	while ((option = getopt(argc, argv, "sv")) != -1) {
		if (option == '?')
			return 2;
		c.scan |= option == 's';
		c.verbose |= option == 'v';
	}
	for (int i = optind; i < argc; i++)
		if (read_file(&c, argv[i]))
			return 2;
	if (c.nr)
		check_all(&c);
	printf("axscheck: records=%zu sessions=%llu twice=%llu gaps=%llu missing=%llu breaks=%llu "
	       "backward=%llu torn=%llu cut=%llu pad=%llu\n",
	       c.nr, (unsigned long long)c.sessions, (unsigned long long)c.twice,
	       (unsigned long long)c.gaps, (unsigned long long)c.missing,
	       (unsigned long long)c.breaks, (unsigned long long)c.backward,
	       (unsigned long long)c.torn, (unsigned long long)c.cut, (unsigned long long)c.pad);
	free(c.recs);
	return !c.nr || c.torn || c.backward;
}
