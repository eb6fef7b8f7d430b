// SPDX-License-Identifier: Apache-2.0
/*
 * Uses the library like a program that links libringtail: only its header, recordings of other
 * tools.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ringtail/ringtail.h>

/* EXPECTED.tsv has their counts. */
static const char *const files[] = {
	"google+perf_data_converter/src/quipper/testdata/perf.data.callgraph-3.8",
	"google+perf_data_converter/src/quipper/testdata/perf.data.piped.target-3.4",
	"google+perf_data_converter/src/quipper/testdata/perf.data.ctx_switch_namespaces-4.14",
	"google+perf_data_converter/src/quipper/testdata/perf.data.lost_samples-4.4",
	"google+perf_data_converter/src/quipper/testdata/perf.data.armv7-3.4",
	"mstange+linux-perf-data/tests/fixtures/sleep.compressed.data",
};

/* A directory, the other byte order. */
static const char *const odd_files[] = {
	"local/dir.data",
	"derived/be/google.perf.data.singleprocess-3.8.be",
};

#define NR_FILES (sizeof(files) / sizeof(files[0]))

static const struct ringtail_open_opts of_anybody = {.size = sizeof(of_anybody), .foreign = true};

static struct ringtail_recording *open_corpus(const char *name)
{
	struct ringtail_recording *r = NULL;
	struct ringtail_error err = {0};
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", CORPUS, name);
	if (ringtail_recording_open(path, &of_anybody, &r, &err))
		fail_msg("%s", err.text);
	return r;
}

/* Columns 3 and 4 of the line of @name. */
static void read_expected(const char *name, uint64_t *records, uint64_t *samples)
{
	char line[4096];
	FILE *f = fopen(CORPUS "/EXPECTED.tsv", "re");
	size_t len = strlen(name);
	bool found = false;

	assert_non_null(f);
	while (!found && fgets(line, sizeof(line), f)) {
		char *at = line;

		if (strncmp(line, name, len) || line[len] != '\t')
			continue;
		for (int column = 0; column < 3; column++)
			at = strchr(at, '\t') + 1;
		*records = strtoull(at, &at, 10);
		*samples = strtoull(at, NULL, 10);
		found = true;
	}
	fclose(f);
	assert_true(found);
}

struct seen {
	uint64_t records, samples, frames, symbols, comms, callers;
};

static void look(struct ringtail_walk *w, const struct ringtail_record *rec, struct seen *seen)
{
	const struct ringtail_frame *frames = NULL;
	int nr;

	seen->records++;
	assert_true(rec->header->size >= sizeof(*rec->header));
	assert_int_equal((uintptr_t)rec->header % 8, 0);
	assert_non_null(rec->path);
	if (rec->header->type != PERF_RECORD_SAMPLE) {
		assert_null(rec->sample);
		assert_null(ringtail_walk_comm(w));
		assert_int_equal(ringtail_walk_frames(w, &frames, NULL), -EINVAL);
		return;
	}
	assert_string_equal(rec->type, "SAMPLE");
	seen->samples++;
	assert_non_null(rec->sample);
	seen->comms += ringtail_walk_comm(w) != NULL;
	nr = ringtail_walk_frames(w, &frames, NULL);
	assert_true(nr >= 0);
	seen->frames += nr;
	seen->callers += nr > 1;
	for (int i = 0; i < nr; i++)
		seen->symbols += frames[i].symbol != NULL;
}

static struct seen walk_all(struct ringtail_recording *r, const struct ringtail_walk_opts *opts)
{
	const struct ringtail_record *rec;
	struct ringtail_error err = {0};
	struct ringtail_walk *w = NULL;
	struct seen seen = {0};
	uint64_t newest = 0;
	int rc;

	if (ringtail_walk_new(r, opts, &w, &err))
		fail_msg("%s", err.text);
	while ((rc = ringtail_walk_next(w, &rec, &err)) > 0) {
		look(w, rec, &seen);
		if (opts && opts->order == RINGTAIL_FILE_ORDER)
			continue;
		assert_true(!rec->time || rec->time >= newest);
		newest = rec->time ? rec->time : newest;
	}
	assert_int_equal(rc, 0);
	ringtail_walk_free(w);
	return seen;
}

static void test_counts_are_those_of_the_corpus(void **state)
{
	const struct ringtail_walk_opts in_file = {
		.size = sizeof(in_file), .order = RINGTAIL_FILE_ORDER, .compressed = true};
	const struct ringtail_walk_opts samples = {.size = sizeof(samples), .samples = true};

	for (size_t i = 0; i < NR_FILES; i++) {
		struct ringtail_recording *r = open_corpus(files[i]);
		uint64_t records = 0, nr_samples = 0;
		struct seen seen;

		read_expected(files[i], &records, &nr_samples);
		seen = walk_all(r, &in_file);
		assert_int_equal(seen.records, records);
		assert_int_equal(seen.samples, nr_samples);
		assert_int_equal(walk_all(r, NULL).samples, nr_samples);
		assert_int_equal(walk_all(r, &samples).records, nr_samples);
		assert_true(ringtail_recording_events(r) > 0);
		for (size_t e = 0; e < ringtail_recording_events(r); e++)
			assert_non_null(ringtail_recording_event(r, e));
		assert_null(ringtail_recording_event(r, ringtail_recording_events(r)));
		ringtail_recording_close(r);
	}
}

static void check_orders(const char *name)
{
	const struct ringtail_walk_opts in_file = {.size = sizeof(in_file),
						   .order = RINGTAIL_FILE_ORDER};

	struct ringtail_recording *r = open_corpus(name);
	struct seen by_time = walk_all(r, NULL), by_file = walk_all(r, &in_file);

	assert_memory_equal(&by_time, &by_file, sizeof(by_time));
	assert_true(by_time.comms > 0);
	if (strstr(name, "callgraph"))
		assert_true(by_time.callers > 0);
	ringtail_recording_close(r);
}

static void test_either_order_resolves_the_same(void **state)
{
	for (size_t i = 0; i < NR_FILES; i++)
		check_orders(files[i]);
	for (size_t i = 0; i < sizeof(odd_files) / sizeof(odd_files[0]); i++)
		check_orders(odd_files[i]);
}

static void test_without_symbols(void **state)
{
	const struct ringtail_walk_opts bare = {
		.size = sizeof(bare), .samples = true, .no_symbols = true};
	struct ringtail_recording *r = open_corpus(files[0]);
	const struct ringtail_frame *frames;
	const struct ringtail_record *rec;
	struct ringtail_error err = {0};
	struct ringtail_walk *w;

	assert_int_equal(ringtail_walk_new(r, &bare, &w, &err), 0);
	assert_int_equal(ringtail_walk_next(w, &rec, &err), 1);
	assert_non_null(rec->sample);
	assert_null(ringtail_walk_comm(w));
	assert_int_equal(ringtail_walk_frames(w, &frames, &err), -EINVAL);
	assert_int_equal(err.code, -EINVAL);
	assert_non_null(strstr(err.text, "no symbols"));
	ringtail_walk_free(w);
	ringtail_recording_close(r);
}

/* A struct of an older header is shorter, one of a newer header longer. */
static void test_sizes_of_options(void **state)
{
	struct {
		struct ringtail_walk_opts opts;
		uint64_t added;
	} newer = {.opts = {.size = sizeof(newer), .samples = true}};
	struct ringtail_walk_opts older = {
		.size = offsetof(struct ringtail_walk_opts, order) + sizeof(older.order),
		.samples = true, /* beyond what the caller has */
		.max_stack = SIZE_MAX,
	};
	struct ringtail_recording *r = open_corpus(files[0]);
	uint64_t records, samples;
	struct ringtail_error err = {0};
	struct ringtail_walk *w = NULL;

	read_expected(files[0], &records, &samples);
	assert_int_equal(walk_all(r, &older).records, records);
	assert_int_equal(walk_all(r, &newer.opts).records, samples);
	newer.added = 1;
	assert_int_equal(ringtail_walk_new(r, &newer.opts, &w, &err), -E2BIG);
	assert_int_equal(err.code, -E2BIG);
	assert_non_null(strstr(err.text, ringtail_version()));
	older.size = 0;
	assert_int_equal(ringtail_walk_new(r, &older, &w, &err), -EINVAL);
	older = (struct ringtail_walk_opts){.size = sizeof(older), .order = 7};
	assert_int_equal(ringtail_walk_new(r, &older, &w, &err), -EINVAL);
	assert_null(w);
	ringtail_recording_close(r);
}

/* Makes a file of @size bytes, the first of files[0]; its path is in @path. */
static void truncated_file(size_t size, char path[32])
{
	char *bytes = malloc(size);
	FILE *f = fopen(CORPUS "/google+perf_data_converter/src/quipper/testdata/"
			       "perf.data.callgraph-3.8",
			"re");
	int fd;

	assert_non_null(f);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, size, f), size);
	fclose(f);
	strcpy(path, "/tmp/ringtail-api-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
	free(bytes);
}

static void test_bad_input(void **state)
{
	struct ringtail_recording *r = NULL;
	struct ringtail_error err = {0};
	char path[32];

	assert_int_equal(ringtail_recording_open("/nowhere/perf.data", NULL, &r, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nowhere/perf.data"));
	assert_int_equal(err.code, -ENOENT);
	assert_int_equal(ringtail_recording_open(CORPUS "/EXPECTED.tsv", &of_anybody, &r, &err),
			 -EBADMSG);
	assert_non_null(strstr(err.text, "EXPECTED.tsv: offset 0x"));
	truncated_file(20, path);
	assert_int_equal(ringtail_recording_open(path, &of_anybody, &r, &err), -ENODATA);
	assert_non_null(strstr(err.text, path));
	assert_int_equal(ringtail_recording_open(path, &of_anybody, &r, NULL), -ENODATA);
	unlink(path);
	assert_null(r);
}

static void test_damage_is_a_finding(void **state)
{
	const struct ringtail_finding *finding = NULL;
	struct ringtail_recording *r = NULL;
	struct ringtail_error err = {0};
	struct seen seen;
	size_t damaged = 0, i;
	char path[32];

	truncated_file(300001, path);
	if (ringtail_recording_open(path, &of_anybody, &r, &err))
		fail_msg("%s", err.text);
	seen = walk_all(r, NULL);
	assert_true(seen.samples > 0);
	for (i = 0; i < ringtail_recording_findings(r); i++) {
		finding = ringtail_recording_finding(r, i);
		assert_non_null(finding);
		assert_string_equal(finding->path, path);
		assert_true(*finding->text && finding->count);
		damaged += finding->damaged;
	}
	assert_true(damaged > 0);
	assert_null(ringtail_recording_finding(r, i));
	/* What a second walk meets is what the first has met. */
	walk_all(r, NULL);
	assert_int_equal(ringtail_recording_findings(r), i);
	ringtail_recording_close(r);
	unlink(path);
}

static void test_nothing_to_release(void **state)
{
	ringtail_recording_close(NULL);
	ringtail_walk_free(NULL);
	assert_true(*ringtail_version());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_are_those_of_the_corpus),
		cmocka_unit_test(test_either_order_resolves_the_same),
		cmocka_unit_test(test_without_symbols),
		cmocka_unit_test(test_sizes_of_options),
		cmocka_unit_test(test_bad_input),
		cmocka_unit_test(test_damage_is_a_finding),
		cmocka_unit_test(test_nothing_to_release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
