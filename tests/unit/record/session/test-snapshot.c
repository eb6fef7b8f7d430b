// SPDX-License-Identifier: Apache-2.0
/*
 * Snapshots of memory while a worker runs: kept, taken back, of a full disk, into a pipe without a
 * reader. A sample that was in a ring is in one snapshot, also after one that failed; the log of
 * the file has the requests and figures of each.
 */
#include "made-recording.h"
#include "perfdata/snapshot_log.h"
#include "record/session/snapshot.h"

#define LOGS_MAX 16

struct shooting {
	struct made *m;
	struct flight *flight;
	struct crew crew;
	struct output out;
	struct clock clock;
	struct snapshot s;
	unsigned int pieces; /* written so far */
};

static void count_piece(void *arg)
{
	((struct shooting *)arg)->pieces++;
}

static void make_output(struct shooting *t)
{
	made_output(t->m, &t->out, t->m->opts.readers.threads ? 2 : 1);
	t->out.lost_records = flight_lost_records(t->flight);
	t->out.dropped = flight_dropped(t->flight);
	t->out.history = flight_history(t->flight);
}

static void begin(struct shooting *t, struct made *m)
{
	const struct reader_opts readers = {.buffer_memory = FIFO_MIN};
	struct error err = ERROR_INIT;

	m->opts.output.memory.bytes = 16 << 20;
	*t = (struct shooting){.m = m, .clock = CLOCK_INIT};
	t->flight = flight_new(&(struct flight_opts){
		.bytes = 16 << 20, .workers = 1, .plan = &m->plan, .opened = &m->opened});
	assert_non_null(t->flight);
	assert_int_equal(
		crew_plan(&t->crew, &readers, &m->opts.output, &m->plan, &m->messages, &err), 0);
	t->crew.flight = t->flight;
	make_output(t);
	assert_int_equal(crew_hire(&t->crew, &m->plan, &m->opened, &t->out, &err), 0);
	assert_int_equal(crew_start(&t->crew, &err), 0);
	t->s = (struct snapshot){.flight = t->flight,
				 .crew = &t->crew,
				 .plan = &m->plan,
				 .opened = &m->opened,
				 .clock = &t->clock,
				 .flush_ms = 1000,
				 .meanwhile = count_piece,
				 .arg = t,
				 .stop = -1};
}

static void end(struct shooting *t)
{
	crew_release(&t->crew);
	output_release(&t->out);
	flight_free(t->flight);
}

/* Ends the output well. */
static void finish(struct shooting *t)
{
	struct error err = ERROR_INIT;

	assert_int_equal(crew_dismiss(&t->crew, &err), 0);
	assert_int_equal(flight_end(t->flight), 0);
	if (output_finish(&t->out, &t->m->plan, &t->m->opened, &err))
		fail_msg("%s", err.text);
}

static enum outcome take(struct shooting *t, struct error *err)
{
	const struct snapshot_request request = {.what.origin = PD_SNAPSHOT_CONTROL,
						 .what.reason = "test"};

	*err = (struct error)ERROR_INIT;
	return snapshot_take(&t->s, &t->out, &request, 1, err);
}

static void take_well(struct shooting *t)
{
	struct error err;

	if (take(t, &err) != OUTCOME_DONE)
		fail_msg("%s", err.text);
	snapshot_keep(&t->s);
}

/* The log of a file, and its marks of rounds. */
struct logs {
	struct pd_snapshot_log log[LOGS_MAX];
	size_t nr, rounds, comms;
};

static void read_logs(const char *path, struct logs *ret)
{
	struct data_record rec;
	struct data_scan *scan;
	struct data_file *df;

	memset(ret, 0, sizeof(*ret));
	assert_int_equal(data_open(path, false, &df, NULL), 0);
	for (unsigned int i = 0; i < data_segments(df); i++) {
		assert_int_equal(data_scan_new(df, i, 0, DATA_WHOLE, 0, &scan), 0);
		while (data_scan_next(scan, &rec) > 0) {
			assert_true(ret->nr < LOGS_MAX);
			ret->rounds += rec.hdr->type == PERF_RECORD_FINISHED_ROUND;
			ret->comms += rec.hdr->type == PERF_RECORD_COMM;
			ret->nr += !pd_snapshot_decode(rec.hdr, &ret->log[ret->nr]);
		}
		data_scan_free(scan);
	}
	data_close(df);
}

static void assert_readable(const struct made *m, uint64_t samples)
{
	uint64_t tags = 0;

	assert_int_equal(made_count(m->path, &tags), samples);
	assert_int_equal(tags, samples * (samples + 1) / 2);
}

static void test_each_sample_once(void **state)
{
	struct made *m = *state;
	struct shooting t;
	struct logs logs;
	uint64_t before = 0;

	begin(&t, m);
	for (unsigned int i = 0; i < 4; i++) {
		made_fill_samples(m, 0, 100 + i);
		assert_readable(m, before);
		take_well(&t);
		assert_readable(m, m->samples);
		read_logs(m->path, &logs);
		assert_int_equal(logs.nr, 2 * (i + 1));
		assert_int_equal(logs.rounds, i + 1);
		assert_int_equal(logs.log[2 * i].kind, PD_SNAPSHOT_REQUEST);
		assert_int_equal(logs.log[2 * i].number, i + 1);
		assert_string_equal(logs.log[2 * i].request.reason, "test");
		assert_int_equal(logs.log[2 * i + 1].kind, PD_SNAPSHOT_END);
		assert_int_equal(logs.log[2 * i + 1].number, i + 1);
		assert_int_equal(logs.log[2 * i + 1].figures.samples, 100 + i);
		assert_int_equal(logs.log[2 * i + 1].figures.first,
				 1000000000 + (before + 1) * 1000000);
		assert_int_equal(logs.log[2 * i + 1].figures.last,
				 1000000000 + m->samples * 1000000);
		before = m->samples;
	}
	assert_true(t.pieces >= 4);
	finish(&t);
	read_logs(m->path, &logs);
	assert_int_equal(logs.nr, 9);
	assert_int_equal(logs.log[8].kind, PD_SNAPSHOT_TOTALS);
	assert_int_equal(logs.log[8].totals.taken, m->samples);
	assert_int_equal(logs.log[8].totals.written, m->samples);
	assert_int_equal(logs.log[8].totals.held, 0);
	end(&t);
}

/* Requests that ask for the same share a snapshot, and each is in the log. */
static void test_requests(void **state)
{
	struct made *m = *state;
	struct snapshot_request requests[3] = {
		{.what.reason = "a"}, {.what.reason = "b"}, {.what.reason = "c"}};
	struct error err = ERROR_INIT;
	struct shooting t;
	struct logs logs;

	begin(&t, m);
	made_fill_samples(m, 0, 5);
	t.s.refused = 4;
	assert_int_equal(snapshot_take(&t.s, &t.out, requests, 3, &err), OUTCOME_DONE);
	snapshot_keep(&t.s);
	read_logs(m->path, &logs);
	assert_int_equal(logs.nr, 4);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(logs.log[i].number, 1);
		assert_string_equal(logs.log[i].request.reason, requests[i].what.reason);
	}
	assert_int_equal(logs.log[3].figures.refused, 4);
	take_well(&t);
	read_logs(m->path, &logs);
	assert_int_equal(logs.log[5].number, 2);
	assert_int_equal(logs.log[5].figures.refused, 0);
	assert_int_equal(logs.log[5].figures.samples, 0);
	finish(&t);
	end(&t);
}

/* The sideband goes into an output once, and into one of its own again. */
static void test_output_of_its_own(void **state)
{
	struct made *m = *state;
	struct image im = {0};
	struct shooting t;
	struct logs logs;
	char path[PATH_MAX];

	begin(&t, m);
	image_comm(&im, 1000, "name");
	made_samples(m, &im, 0, 30);
	made_fill(m, 0, &im);
	image_release(&im);
	take_well(&t);
	take_well(&t);
	read_logs(m->path, &logs);
	assert_int_equal(logs.comms, 1);
	tree_path(&m->tree, "next", path);
	m->opts.output.path = path;
	assert_int_equal(output_finish(&t.out, &m->plan, &m->opened, NULL), 0);
	output_release(&t.out);
	make_output(&t);
	made_fill_samples(m, 0, 10);
	t.s.alone = true;
	take_well(&t);
	assert_readable(m, 30);
	memcpy(m->path, path, sizeof(path));
	assert_readable(m, 40);
	read_logs(path, &logs);
	assert_int_equal(logs.comms, 1);
	finish(&t);
	end(&t);
}

/* A directory has the request in each file. It has marks of rounds if there is one file. */
static void test_directory(void **state)
{
	struct made *m = *state;
	struct shooting t;
	struct logs logs;

	m->opts.output.directory = true;
	for (int threads = 0; threads < 2; threads++) {
		m->opts.readers.threads = threads ? "cpu" : NULL;
		m->samples = m->tags = 0;
		begin(&t, m);
		made_fill_samples(m, 0, 5);
		take_well(&t);
		assert_readable(m, 5);
		read_logs(m->path, &logs);
		assert_int_equal(logs.nr, threads ? 4 : 2);
		assert_int_equal(logs.rounds, threads ? 0 : 1);
		finish(&t);
		assert_readable(m, 5);
		end(&t);
	}
}

/* Taken back: the file is as before, and the next snapshot has all. */
static void test_undone(void **state)
{
	struct made *m = *state;
	struct image im = {0};
	struct error err;
	struct shooting t;
	struct logs logs;

	for (int directory = 0; directory < 2; directory++) {
		m->opts.output.directory = directory;
		m->samples = m->tags = 0;
		begin(&t, m);
		made_fill_samples(m, 0, 10);
		take_well(&t);
		image_comm(&im, 1000, "name");
		made_samples(m, &im, 0, 3000);
		made_fill(m, 0, &im);
		image_release(&im);
		for (unsigned int i = 0; i < 3; i++) {
			assert_int_equal(take(&t, &err), OUTCOME_DONE);
			assert_readable(m, 3010);
			assert_int_equal(snapshot_undo(&t.s, &t.out, &err), 0);
			assert_readable(m, 10);
			assert_int_equal(t.s.taken, 1);
			read_logs(m->path, &logs);
			assert_int_equal(logs.comms, 0);
		}
		take_well(&t);
		assert_readable(m, 3010);
		read_logs(m->path, &logs);
		assert_int_equal(logs.comms, 1);
		finish(&t);
		assert_readable(m, 3010);
		end(&t);
		for (unsigned int i = 0; i < MADE_EVENTS; i++)
			memset(m->rings[i].memory, 0, MADE_PAGE);
	}
}

/* The disk is full: the snapshot is undone, and taken when there is room. */
static void test_full_disk(void **state)
{
	struct made *m = *state;
	struct error err;
	struct shooting t;
	struct logs logs;

	begin(&t, m);
	made_fill_samples(m, 0, 10);
	take_well(&t);
	t.s.refused = 4;
	made_fill_samples(m, 0, 5000);
	limit_files(100000);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(take(&t, &err), OUTCOME_UNDONE);
		assert_int_equal(err.code, -EFBIG);
		assert_readable(m, 10);
		assert_int_equal(t.s.taken, 1);
	}
	limit_files(0);
	take_well(&t);
	assert_readable(m, 5010);
	assert_int_equal(t.s.taken, 2);
	read_logs(m->path, &logs);
	assert_int_equal(logs.log[3].figures.refused, 4);
	finish(&t);
	assert_readable(m, 5010);
	assert_int_equal(t.out.loss.total, 0);
	end(&t);
}

/* A pipe that nobody reads cannot be rolled back: the recording must end. */
static void test_closed_pipe(void **state)
{
	struct made *m = *state;
	int ends[2], kept = dup(STDOUT_FILENO);
	struct history_figures figures;
	struct error err;
	struct shooting t;

	assert_int_equal(pipe(ends), 0);
	signal(SIGPIPE, SIG_IGN);
	fflush(stdout);
	dup2(ends[1], STDOUT_FILENO);
	close(ends[1]);
	m->opts.output.path = "-";
	begin(&t, m);
	close(ends[0]);
	made_fill_samples(m, 0, 1000);
	assert_int_equal(take(&t, &err), OUTCOME_BROKEN);
	assert_int_equal(err.code, -EPIPE);
	assert_int_equal(crew_dismiss(&t.crew, &err), 0);
	assert_int_equal(flight_end(t.flight), 0);
	output_abandon(&t.out, &m->plan, &m->opened);
	history_figures(t.out.history, &figures);
	/* What was given to the pipe is lost, what was not is still held. */
	assert_int_equal(t.out.loss.total + figures.held, 1000);
	end(&t);
	dup2(kept, STDOUT_FILENO);
	close(kept);
	signal(SIGPIPE, SIG_DFL);
}

/* When no worker runs any more, a snapshot has what there is. */
static void test_without_workers(void **state)
{
	struct made *m = *state;
	struct shooting t;

	begin(&t, m);
	made_fill_samples(m, 0, 20);
	made_fill_samples(m, 1, 30);
	assert_int_equal(crew_dismiss(&t.crew, NULL), 0);
	take_well(&t);
	assert_readable(m, 50);
	finish(&t);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MADE_TEST(test_each_sample_once),
		MADE_TEST(test_requests),
		MADE_TEST(test_output_of_its_own),
		MADE_TEST(test_directory),
		MADE_TEST(test_undone),
		MADE_TEST(test_full_disk),
		MADE_TEST(test_closed_pipe),
		MADE_TEST(test_without_workers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
