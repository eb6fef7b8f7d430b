// SPDX-License-Identifier: Apache-2.0
/*
 * Rotates outputs, with memory and with workers: names, the outputs to keep, what others do to an
 * output, and what fails. After each rotation every sample is in one of the files.
 */
#include <dirent.h>
#include <poll.h>
#include <sys/time.h>
#include <time.h>

#include "made-recording.h"
#include "record/session/rotation.h"

#define FILES_MAX 16

/* What the kernel has counted as lost, for the first event. */
static uint64_t kernel_lost;
static int first_fd;

int __wrap_perf_event_read(int fd, uint64_t *ret, size_t words);
int __wrap_perf_event_read(int fd, uint64_t *ret, size_t words)
{
	assert_int_equal(words, 3);
	memcpy(ret, (uint64_t[]){0, 0, fd == first_fd ? kernel_lost : 0}, 24);
	return 3;
}

/* A recording that rotates. */
struct rotating {
	struct made *m;
	struct rotation r;
	struct crew crew;
	struct output out;
};

static void begin(struct rotating *t, struct made *m)
{
	struct error err = ERROR_INIT;

	*t = (struct rotating){.m = m, .crew = {.nr = 1, .report = -1}};
	assert_int_equal(rotation_init(&t->r, &m->opts.output, &m->plan, &m->messages, NULL, &err),
			 0);
	made_output(m, &t->out, 1);
}

static void end(struct rotating *t)
{
	crew_release(&t->crew);
	output_release(&t->out);
	rotation_release(&t->r);
}

/* As begin(), with workers that run. */
static void begin_running(struct rotating *t, struct made *m)
{
	const struct reader_opts readers = {.buffer_memory = FIFO_MIN};
	struct error err = ERROR_INIT;

	m->opts.output.rotation.enabled = true;
	begin(t, m);
	if (crew_plan(&t->crew, &readers, &m->opts.output, &m->plan, &m->messages, &err))
		fail_msg("%s", err.text);
	t->crew.late = t->r.late;
	assert_int_equal(crew_hire(&t->crew, &m->plan, &m->opened, &t->out, &err), 0);
	output_listen(&t->out, t->r.sideband);
	rotation_watch(&t->r, &t->out);
	assert_int_equal(crew_start(&t->crew, &err), 0);
}

static enum outcome rotate(struct rotating *t, struct error *err)
{
	*err = (struct error)ERROR_INIT;
	return rotation_rotate(&t->r, &t->crew, &t->out, &t->m->plan, &t->m->opened, err);
}

static void rotate_well(struct rotating *t)
{
	struct error err;

	if (rotate(t, &err) != OUTCOME_DONE)
		fail_msg("%s", err.text);
}

static void finish(struct rotating *t)
{
	struct error err = ERROR_INIT;

	assert_int_equal(crew_dismiss(&t->crew, &err), 0);
	if (rotation_end(&t->r, &t->out, &t->m->plan, &t->m->opened, &err))
		fail_msg("%s", err.text);
}

static int write_samples(struct rotating *t, unsigned int nr)
{
	return made_write_samples(t->m, t->out.lanes[0].chain, nr, NULL);
}

/* The names in the folder, sorted. */
struct names {
	char name[FILES_MAX][256];
	size_t nr;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void list(const struct made *m, struct names *ret)
{
	DIR *dir = opendir(m->tree.root);
	struct dirent *d;

	assert_non_null(dir);
	ret->nr = 0;
	while ((d = readdir(dir))) {
		if (d->d_name[0] == '.')
			continue;
		assert_true(ret->nr < FILES_MAX);
		snprintf(ret->name[ret->nr++], 256, "%s", d->d_name);
	}
	closedir(dir);
	qsort(ret->name, ret->nr, sizeof(ret->name[0]), by_name);
}

static bool is_stamped(const char *name)
{
	return !strncmp(name, "perf.data.", 10) && strspn(name + 10, "0123456789") == 16 &&
	       !name[26];
}

/* Checks that the files have all samples, each once. Returns the number of files. */
static size_t assert_all_there(const struct made *m)
{
	uint64_t samples = 0, tags = 0;
	struct names names;
	char path[PATH_MAX];

	list(m, &names);
	for (size_t i = 0; i < names.nr; i++) {
		tree_path(&m->tree, names.name[i], path);
		samples += made_count(path, &tags);
	}
	assert_int_equal(samples, m->samples);
	assert_int_equal(tags, m->tags);
	return names.nr;
}

/* --- with memory: nobody writes meanwhile --------------------------------------------------------
 */

/* However fast they follow each other, no output takes the place of another. */
static void test_names(void **state)
{
	struct made *m = *state;
	struct rotating t;
	struct names names;

	for (int directory = 0; directory < 2; directory++) {
		m->opts.output.memory.bytes = 1 << 20;
		m->opts.output.rotation.enabled = true;
		m->opts.output.directory = directory;
		m->samples = m->tags = 0;
		begin(&t, m);
		for (unsigned int i = 0; i < 6; i++) {
			assert_int_equal(write_samples(&t, 10 + i), 0);
			rotate_well(&t);
			list(m, &names);
			assert_int_equal(names.nr, i + 2);
			assert_string_equal(names.name[0], "perf.data");
			for (size_t n = 1; n < names.nr; n++)
				assert_true(is_stamped(names.name[n]));
			/* the newest is the last by name */
			assert_string_equal(strrchr(t.r.last, '/') + 1, names.name[i + 1]);
			assert_int_equal(t.r.samples, m->samples);
			assert_int_equal(t.r.outputs, i + 1);
		}
		assert_true(made_said(m, ": 15 samples, 0 lost"));
		/* The empty one behind the last does not count, and keeps its name. */
		finish(&t);
		assert_int_equal(t.r.outputs, 6);
		assert_int_equal(assert_all_there(m), 7);
		end(&t);
		tree_remove(&m->tree);
		assert_int_equal(mkdir(m->tree.root, 0700), 0);
	}
}

/* Names that are taken are passed over. */
static void test_names_that_are_taken(void **state)
{
	struct made *m = *state;
	struct timeval tv;
	struct rotating t;
	char name[64] = "", text[16] = "";
	FILE *f;

	m->opts.output.memory.bytes = 1 << 20;
	m->opts.output.rotation.enabled = true;
	begin(&t, m);
	gettimeofday(&tv, NULL);
	for (unsigned int i = 0; i < 300; i++) { /* of the next 3 seconds */
		size_t len;
		struct tm tm;

		localtime_r(&tv.tv_sec, &tm);
		len = strftime(name, sizeof(name), "perf.data.%Y%m%d%H%M%S", &tm);
		snprintf(name + len, sizeof(name) - len, "%02u", (unsigned int)tv.tv_usec / 10000);
		tree_file(&m->tree, name, "precious");
		tv.tv_usec += 10000;
		tv.tv_sec += tv.tv_usec >= 1000000;
		tv.tv_usec %= 1000000;
	}
	assert_int_equal(write_samples(&t, 1), 0);
	rotate_well(&t);
	assert_true(strcmp(strrchr(t.r.last, '/') + 1, name) > 0);
	f = fopen(t.r.last, "re");
	assert_non_null(f);
	assert_int_equal(fread(text, 1, 8, f), 8);
	fclose(f);
	assert_string_equal(text, "PERFILE2");
	end(&t);
}

/* At most so many outputs stay: the newest ones. */
static void test_max_files(void **state)
{
	struct made *m = *state;
	struct rotating t;
	struct names names;

	m->opts.output.rotation.enabled = true;
	m->opts.output.rotation.max_files = 2;
	m->opts.output.memory.bytes = 1 << 20;
	for (int directory = 0; directory < 2; directory++) {
		char newest[2][PATH_MAX] = {"", ""};

		m->opts.output.directory = directory;
		begin(&t, m);
		for (unsigned int i = 0; i < 5; i++) {
			assert_int_equal(write_samples(&t, 1), 0);
			rotate_well(&t);
			list(m, &names);
			assert_int_equal(names.nr, i < 1 ? 2 : 3);
			assert_int_equal(t.r.deleted, i < 2 ? 0 : i - 1);
			strcpy(newest[0], newest[1]);
			snprintf(newest[1], PATH_MAX, "%s", t.r.last);
			assert_int_equal(access(newest[1], F_OK), 0);
			assert_true(!i || !access(newest[0], F_OK));
		}
		end(&t);
		tree_remove(&m->tree);
		assert_int_equal(mkdir(m->tree.root, 0700), 0);
	}
}

/* Outputs of earlier recordings count, and go first; what only looks like one stays. */
static void test_earlier_outputs(void **state)
{
	static const char *const others[] = {
		"perf.data.202001010000000",  "perf.data.20200101000000000",
		"perf.data.2020010100000x00", "perf.data.2020010100000003.gz",
		"other.2020010100000000",     "perf.data.2020010100000009"};
	struct made *m = *state;
	struct rotating t;
	char link[PATH_MAX];

	for (size_t i = 0; i < 5; i++)
		tree_file(&m->tree, others[i], "precious");
	tree_path(&m->tree, others[5], link);
	assert_int_equal(symlink("/nonexistent", link), 0);
	tree_file(&m->tree, "perf.data.2020010100000002", "later");
	tree_file(&m->tree, "perf.data.2020010100000001", "earlier");
	m->opts.output.rotation =
		(struct rotation_opts){.enabled = true, .max_files = 3, .max_all = true};
	m->opts.output.memory.bytes = 1 << 20;
	begin(&t, m);
	assert_int_equal(t.r.nr_kept, 2);
	assert_non_null(strstr(t.r.kept[0], "0001"));
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(write_samples(&t, 1), 0);
		rotate_well(&t);
		assert_int_equal(t.r.nr_kept, 3);
		assert_int_equal(t.r.nr_earlier, i < 3 ? 2 - i : 0);
		assert_int_equal(t.r.deleted, i < 3 ? 0 : 1);
	}
	end(&t);
	for (size_t i = 0; i < 6; i++) {
		struct stat st;

		tree_path(&m->tree, others[i], link);
		assert_int_equal(lstat(link, &st), 0);
	}
	tree_path(&m->tree, "perf.data.2020010100000002", link);
	assert_int_equal(access(link, F_OK), -1);
}

/* The next output cannot be made: this one has its name again, and goes on. */
static void test_turned_back(void **state)
{
	struct made *m = *state;
	struct rotating t;
	struct error err;
	struct rlimit was;

	m->opts.output.memory.bytes = 1 << 20;
	m->opts.output.rotation.enabled = true;
	begin(&t, m);
	assert_int_equal(write_samples(&t, 5), 0);
	was = limit_descriptors(0);
	assert_int_equal(rotate(&t, &err), OUTCOME_UNDONE);
	assert_int_equal(err.code, -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_equal(t.r.outputs, 0);
	assert_int_equal(access(m->path, F_OK), 0);
	assert_int_equal(write_samples(&t, 5), 0);
	rotate_well(&t);
	assert_false(made_said(m, "another program"));
	finish(&t);
	assert_int_equal(assert_all_there(m), 2);
	end(&t);
}

/* An output that somebody moved is finished where it is. */
static void test_moved_by_others(void **state)
{
	struct made *m = *state;
	struct rotating t;
	char moved[PATH_MAX];

	m->opts.output.memory.bytes = 1 << 20;
	m->opts.output.rotation.enabled = true;
	begin(&t, m);
	assert_int_equal(write_samples(&t, 5), 0);
	tree_path(&m->tree, "moved", moved);
	assert_int_equal(rename(m->path, moved), 0);
	rotate_well(&t);
	assert_string_equal(t.r.last, moved);
	assert_true(made_said(m, "another program moved"));
	assert_int_equal(t.r.lost, 0);
	assert_false(t.r.strayed);
	assert_int_equal(write_samples(&t, 6), 0);
	rotate_well(&t);
	finish(&t);
	assert_int_equal(assert_all_there(m), 3);
	end(&t);
}

/* Without rotations: the name stays, or gets the time at the end. */
static void test_end(void **state)
{
	struct made *m = *state;
	struct names names;
	struct rotating t;

	for (int stamp = 0; stamp < 2; stamp++) {
		m->opts.output.timestamp_filename = stamp;
		m->samples = m->tags = 0;
		begin(&t, m);
		assert_int_equal(write_samples(&t, 3), 0);
		finish(&t);
		list(m, &names);
		assert_int_equal(names.nr, 1);
		assert_int_equal(is_stamped(names.name[0]), stamp);
		assert_int_equal(!!t.r.last, stamp);
		assert_int_equal(t.r.outputs, 1);
		assert_int_equal(t.r.samples, 3);
		end(&t);
		tree_remove(&m->tree);
		assert_int_equal(mkdir(m->tree.root, 0700), 0);
	}
}

/* --- with workers --------------------------------------------------------------------------------
 */

/* What is in the rings belongs to the old output, what comes later to the new one. */
static void test_workers(void **state)
{
	struct made *m = *state;
	struct rotating t;

	kernel_lost = 0;
	first_fd = m->fds[0].fd;
	m->events[0].attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	m->events[1].attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	begin_running(&t, m);
	for (unsigned int i = 0; i < 5; i++) {
		made_fill_samples(m, 0, 100 + i);
		made_fill_samples(m, 1, 200 + i);
		kernel_lost += 3;
		rotate_well(&t);
		assert_int_equal(t.r.samples, m->samples);
		assert_int_equal(t.r.loss.total, kernel_lost);
	}
	made_fill_samples(m, 0, 50);
	finish(&t);
	assert_int_equal(t.r.samples, m->samples);
	assert_int_equal(t.r.outputs, 6);
	assert_int_equal(assert_all_there(m), 6);
	end(&t);
}

/* How many records of @type the file has. */
static size_t count_type(const char *path, uint32_t type)
{
	struct data_record rec;
	struct data_scan *scan;
	struct data_file *df;
	size_t nr = 0;

	assert_int_equal(data_open(path, false, &df, NULL), 0);
	assert_int_equal(data_scan_new(df, 0, 0, DATA_WHOLE, 0, &scan), 0);
	while (data_scan_next(scan, &rec) > 0)
		nr += rec.hdr->type == type;
	data_scan_free(scan);
	data_close(df);
	return nr;
}

/* The next output begins with the tasks that live, and with what may still be out of order. */
static void test_initial_state(void **state)
{
	struct made *m = *state;
	struct image im = {0};
	struct rotating t;

	begin_running(&t, m);
	image_comm(&im, 1000, "early");
	made_samples(m, &im, 0, 20);
	image_comm(&im, 2000000000, "late");
	made_fill(m, 0, &im);
	image_release(&im);
	assert_int_equal(count_type(m->path, PERF_RECORD_COMM), 0);
	rotate_well(&t);
	assert_int_equal(count_type(m->path, PERF_RECORD_COMM), 2);
	assert_true(made_said(
		m,
		"begins with 1 tasks of 1 processes, 0 maps and 0 other records; 1 records came"));
	image_comm(&im, 2000000001, "later");
	made_fill(m, 1, &im);
	image_release(&im);
	rotate_well(&t);
	assert_int_equal(count_type(m->path, PERF_RECORD_COMM), 3);
	finish(&t);
	end(&t);
}

/* A rotation for size: the writer holds behind the run that filled the output. */
static void test_size(void **state)
{
	struct made *m = *state;
	struct rotating t;

	m->opts.output.rotation.size = 8000;
	begin_running(&t, m);
	assert_true(t.crew.hold);
	for (unsigned int i = 0; i < 4; i++) {
		uint64_t before = m->samples;

		made_fill_samples(m, 0, 250);
		crew_ask(&t.crew, WORKER_FLUSH);
		while (!crew_view(&t.crew).full)
			poll(&(struct pollfd){.fd = t.crew.report, .events = POLLIN}, 1, 100);
		made_fill_samples(m, 1, 10); /* for the next output */
		t.r.full = i % 2;	     /* or somebody asked before we knew */
		rotate_well(&t);
		assert_true(!t.r.full || t.r.samples <= m->samples - 10);
		assert_true(t.r.samples > before);
	}
	finish(&t);
	assert_true(assert_all_there(m) >= 5);
	end(&t);
}

/* Somebody deletes the output: the samples in it are lost, those that follow are not. */
static void test_deleted_by_others(void **state)
{
	struct made *m = *state;
	struct rotating t;
	struct names names;
	uint64_t tags = 0;

	begin_running(&t, m);
	made_fill_samples(m, 0, 30);
	assert_int_equal(unlink(m->path), 0);
	rotation_look(&t.r, &t.out);
	assert_true(made_said(m, "another program deleted"));
	assert_true(made_said(m, "the next rotation begins a new one"));
	m->said.len = 0;
	rotation_look(&t.r, &t.out);
	assert_int_equal(m->said.len, 0);
	rotate_well(&t);
	assert_int_equal(t.r.lost, 1);
	assert_int_equal(t.r.samples, 0);
	assert_int_equal(t.r.loss.total, 30);
	assert_int_equal(t.r.loss.entries[0].cause, LOSS_DELETED);
	made_fill_samples(m, 0, 7);
	finish(&t);
	assert_int_equal(t.r.samples, 7);
	assert_int_equal(t.r.loss.total, 30);
	list(m, &names);
	assert_int_equal(names.nr, 1);
	assert_int_equal(made_count(t.r.last, &tags), 7);
	end(&t);
}

/* The next output cannot be made, and workers have none to go on with. */
static void test_broken(void **state)
{
	struct made *m = *state;
	struct rotating t;
	struct error err;
	struct rlimit was;

	begin_running(&t, m);
	made_fill_samples(m, 0, 30);
	was = limit_descriptors(0);
	assert_int_equal(rotate(&t, &err), OUTCOME_BROKEN);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_equal(err.code, -EMFILE);
	assert_non_null(t.r.moved);
	assert_true(is_stamped(strrchr(t.r.moved, '/') + 1));
	assert_int_equal(crew_dismiss(&t.crew, &err), 0);
	assert_int_equal(output_finish(&t.out, &m->plan, &m->opened, &err), 0);
	assert_int_equal(assert_all_there(m), 1);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MADE_TEST(test_names),
		MADE_TEST(test_names_that_are_taken),
		MADE_TEST(test_max_files),
		MADE_TEST(test_earlier_outputs),
		MADE_TEST(test_turned_back),
		MADE_TEST(test_moved_by_others),
		MADE_TEST(test_end),
		MADE_TEST(test_workers),
		MADE_TEST(test_initial_state),
		MADE_TEST(test_size),
		MADE_TEST(test_deleted_by_others),
		MADE_TEST(test_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
