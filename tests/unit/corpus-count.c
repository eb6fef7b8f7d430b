// SPDX-License-Identifier: Apache-2.0
/*
 * corpus-count DIR EXPECTED.tsv [-v]: opens every recording below DIR that the table names, walks
 * it, and compares the numbers of records and samples. Exits with 1 on any difference.
 *
 * A record is everything with a perf_event_header in the data, from any writer (kernel, perf,
 * simpleperf) and of any type, also unknown ones: FINISHED_ROUND, AUXTRACE (but not its payload),
 * containers (COMPRESSED) and each record inside them. The header of the file or pipe is none. A
 * sample is a record of type PERF_RECORD_SAMPLE.
 *
 * If the column "anomalies" has an entry, the walk that made the table lost its way; its numbers
 * are then a lower bound.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/file/findings.h"
#include "data/open/open.h"
#include "data/scan/scan.h"
#include "data/tracing/tracing.h"

enum { COL_FILE, COL_BY, COL_ARCH, COL_RECORDS, COL_SAMPLES, COL_ANOMALIES = 11, NR_COLS };

struct counts {
	uint64_t records, samples;
};

static int count_segment(struct data_file *df, unsigned int segment, struct counts *c)
{
	struct data_record rec;
	struct data_scan *scan;
	int rc = data_scan_new(df, segment, 0, DATA_WHOLE,
			       DATA_SCAN_FINDINGS | DATA_SCAN_CONTAINERS, &scan);

	if (rc)
		return rc;
	while ((rc = data_scan_next(scan, &rec)) > 0) {
		c->records++;
		c->samples += rec.hdr->type == PERF_RECORD_SAMPLE;
	}
	data_scan_free(scan);
	return rc;
}

static void print_notes(struct data_file *df)
{
	size_t nr;
	const struct data_finding *n = data_findings(df, &nr);

	for (size_t i = 0; i < nr; i++)
		printf("    %s segment %u offset 0x%" PRIx64 " x%" PRIu64 ": %s\n",
		       n[i].severity == DATA_ODD ? "odd" : "DAMAGED", n[i].segment, n[i].offset,
		       n[i].count, n[i].text);
}

static void print_file(struct data_file *df, const char *name, const struct counts *c)
{
	struct pd_evlist *list = data_evlist(df);

	printf("%s: %" PRIu64 " records, %" PRIu64 " samples, kind %d, %s order, features %#" PRIx64
	       "\n",
	       name, c->records, c->samples, data_kind(df), data_swapped(df) ? "other" : "own",
	       data_header(df)->features[0]);
	for (size_t i = 0; i < pd_evlist_count(list); i++)
		printf("    event %s, %zu ids\n", pd_evlist_at(list, i)->name,
		       pd_evlist_at(list, i)->nr_ids);
	print_notes(df);
}

/* "-" in the table: not known. */
static bool differs(const char *expected, uint64_t got, bool at_least)
{
	uint64_t want;

	if (!strcmp(expected, "-"))
		return false;
	want = strtoull(expected, NULL, 10);
	return at_least ? got < want : got != want;
}

static int check(const char *dir, char *const col[], bool verbose)
{
	bool lost_way = strstr(col[COL_ANOMALIES], "record size") != NULL;
	struct counts c = {0, 0};
	struct tracing *tracing = NULL;
	struct error err = ERROR_INIT;
	struct data_file *df;
	char path[PATH_MAX];
	int bad = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, col[COL_FILE]);
	if (data_open(path, true, &df, &err)) {
		printf("%s: does not open: %s\n", col[COL_FILE], err.text);
		return 1;
	}
	if (tracing_load(df, &tracing, &err) == -EBADMSG) {
		printf("%s: %s\n", col[COL_FILE], err.text);
		bad = 1;
	}
	for (unsigned int i = 0; i < data_segments(df); i++) {
		int rc = count_segment(df, i, &c);

		if (rc) {
			printf("%s: segment %u: %s\n", col[COL_FILE], i, strerror(-rc));
			bad = 1;
		}
	}
	if (differs(col[COL_RECORDS], c.records, lost_way) ||
	    differs(col[COL_SAMPLES], c.samples, lost_way)) {
		printf("%s: %s records and %s samples expected\n", col[COL_FILE], col[COL_RECORDS],
		       col[COL_SAMPLES]);
		bad = 1;
	}
	if (verbose || bad)
		print_file(df, col[COL_FILE], &c);
	tracing_free(tracing);
	data_close(df);
	return bad;
}

/* Splits at tabs; columns that are absent are empty. */
static void split(char *line, char *col[NR_COLS])
{
	static char empty[] = "";

	line[strcspn(line, "\n")] = '\0';
	for (int i = 0; i < NR_COLS; i++)
		col[i] = line ? strsep(&line, "\t") : empty;
}

int main(int argc, char **argv)
{
	bool verbose = argc > 3 && !strcmp(argv[3], "-v");
	char *line = NULL, *col[NR_COLS];
	size_t cap = 0;
	int files = 0, bad = 0;
	FILE *f;

	if (argc < 3) {
		fprintf(stderr, "usage: corpus-count DIR EXPECTED.tsv [-v]\n");
		return 2;
	}
	f = fopen(argv[2], "r");
	if (!f) {
		perror(argv[2]);
		return 2;
	}
	while (getline(&line, &cap, f) > 0) {
		split(line, col);
		if (!strcmp(col[COL_FILE], "file"))
			continue;
		bad += check(argv[1], col, verbose);
		files++;
	}
	free(line);
	fclose(f);
	printf("%d recordings, %d differ\n", files, bad);
	return bad || !files;
}
