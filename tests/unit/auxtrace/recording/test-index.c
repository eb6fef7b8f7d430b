// SPDX-License-Identifier: Apache-2.0
/* Rings and runs of recordings whose trace has gaps, is padded, repeated, or in samples. */
#include "aux-image.h"
#include "auxtrace/recording/index.h"
#include "auxtrace/recording/loader.h"
#include "data/file/findings.h"
#include "perfdata/feature.h"

#define NONE UINT32_MAX

struct fixture {
	struct image im;
	struct data_file *df;
	struct aux_index x;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	aux_image_begin(&f->im);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	aux_index_release(&f->x);
	data_close(f->df);
	image_release(&f->im);
	free(f);
	return 0;
}

static void put(struct fixture *f, uint64_t offset, size_t len)
{
	static const uint8_t trace[1024];

	aux_image_trace(&f->im, 3, NONE, offset, trace, len);
}

static void read_index(struct fixture *f, uint64_t chunk)
{
	struct error err = ERROR_INIT;

	image_end(&f->im);
	f->df = image_open(&f->im);
	assert_int_equal(aux_index_read(f->df, chunk, DATA_SCAN_FINDINGS, &f->x, &err), 0);
}

/* Checks run @i of all runs, whose ring is that of CPU 3. */
static void assert_run(const struct fixture *f, size_t i, uint64_t offset, uint64_t len)
{
	assert_true(i < f->x.nr_runs);
	assert_int_equal(f->x.runs[i].offset, offset);
	assert_int_equal(f->x.runs[i].len, len);
	assert_int_equal(f->x.runs[i].cpu, 3);
	assert_false(f->x.runs[i].sampled);
}

static void a_gap_ends_a_run(void **state)
{
	struct fixture *f = *state;

	aux_image_aux(&f->im, 3, 8, 0, 8, 0);
	put(f, 64, 64);
	put(f, 0, 64); /* of another life, as the offset is 0 again */
	put(f, 64, 8);
	put(f, 80, 8);
	read_index(f, 0);
	assert_int_equal(f->x.nr_rings, 1);
	assert_int_equal(f->x.nr_runs, 3);
	assert_run(f, 0, 64, 64);
	assert_run(f, 1, 0, 72);
	assert_run(f, 2, 80, 8);
	assert_int_equal(f->x.rings[0].nr_runs, 3);
	assert_int_equal(f->x.setup.type, PD_AUXTRACE_UNKNOWN);
}

static void repeated_trace_and_padding_do_not_count(void **state)
{
	struct fixture *f = *state;

	aux_image_aux(&f->im, 3, 8, 0, 8, 0);
	put(f, 8, 3);
	put(f, 11, 21);
	put(f, 16, 8);
	put(f, 24, 40);
	read_index(f, 16);
	assert_int_equal(f->x.nr_runs, 1);
	assert_run(f, 0, 8, 56);
	assert_int_equal(f->x.nr_chunks, 4);
	for (uint64_t i = 0; i < 4; i++)
		assert_ptr_equal(aux_index_run_of(&f->x, i), &f->x.runs[0]);
}

static void flags_of_aux_records_end_runs(void **state)
{
	struct fixture *f = *state;

	aux_image_aux(&f->im, 3, 8, 0, 24, PERF_AUX_FLAG_TRUNCATED);
	aux_image_aux(&f->im, 4, 8, 0, 32, PERF_AUX_FLAG_TRUNCATED);
	put(f, 0, 32);
	put(f, 32, 32);
	aux_image_aux(&f->im, 3, 8, 24, 16, 0);
	aux_image_aux(&f->im, 3, 8, 40, 16, PERF_AUX_FLAG_PARTIAL);
	aux_image_aux(&f->im, 3, 8, 56, 8, PERF_AUX_FLAG_PARTIAL);
	aux_image_aux(&f->im, 3, 8, 0, 16, PERF_AUX_FLAG_TRUNCATED);
	put(f, 0, 32);
	read_index(f, 0);
	assert_int_equal(f->x.nr_runs, 5);
	assert_run(f, 0, 0, 24);
	assert_int_equal(aux_index_setup(&f->x, 0).aux_flags,
			 PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL);
	assert_run(f, 1, 24, 32);
	assert_run(f, 2, 56, 8);
	assert_run(f, 3, 0, 16);
	assert_run(f, 4, 16, 16);
}

/* The CPU in an AUX record is where the thread ran. */
static void a_threads_ring_is_found_by_id(void **state)
{
	const struct pd_id_entry entry = {.id = IMAGE_ID, .idx = 1, .cpu = -1, .tid = 8};
	static const uint8_t trace[64];
	struct fixture *f = *state;

	assert_int_equal(pd_id_index_encode(&f->im.b, &entry, 1), 0);
	aux_image_aux(&f->im, 3, 8, 0, 24, PERF_AUX_FLAG_TRUNCATED);
	aux_image_aux(&f->im, 2, 8, 24, 40, 0);
	aux_image_trace(&f->im, NONE, 8, 0, trace, sizeof(trace));
	read_index(f, 0);
	assert_int_equal(f->x.nr_runs, 2);
	assert_int_equal(f->x.runs[0].len, 24);
	assert_int_equal(f->x.runs[1].tid, 8);
	assert_int_equal(aux_index_setup(&f->x, 0).aux_flags, PERF_AUX_FLAG_TRUNCATED);
}

static void a_sample_of_a_threads_ring_is_found_by_id(void **state)
{
	const struct pd_id_entry entry = {.id = IMAGE_ID, .idx = 1, .cpu = -1, .tid = 8};
	static const uint8_t trace[64];
	struct fixture *f = *state;

	assert_int_equal(pd_id_index_encode(&f->im.b, &entry, 1), 0);
	aux_image_sample(&f->im, 20, 3, 8, trace, 16);
	aux_image_sample(&f->im, 30, 2, 8, trace, 16);
	read_index(f, 0);
	assert_int_equal(f->x.nr_rings, 1);
	assert_int_equal(f->x.rings[0].cpu, NONE);
	assert_int_equal(f->x.rings[0].tid, 8);
}

static void each_aux_record_of_coresight_ends_a_run(void **state)
{
	const uint64_t priv[] = {1, 5 | (uint64_t)AUX_IMAGE_PMU << 32, 0};
	struct fixture *f = *state;

	assert_int_equal(pd_auxtrace_info_encode(&f->im.b, PD_AUXTRACE_CS_ETM, priv, 3), 0);
	aux_image_aux(&f->im, 3, 8, 0, 16, 0);
	aux_image_aux(&f->im, 3, 8, 16, 48, 0);
	for (uint64_t i = 0; i < 9; i++) {
		image_head(&f->im, PERF_RECORD_AUX_OUTPUT_HW_ID, 48);
		image_u64(&f->im, 0x100 + i);
		aux_image_trailer(&f->im, (uint32_t)i, 8);
	}
	put(f, 0, 64);
	read_index(f, 0);
	assert_int_equal(f->x.nr_runs, 2);
	assert_run(f, 0, 0, 16);
	assert_run(f, 1, 16, 48);
	assert_int_equal(f->x.setup.type, PD_AUXTRACE_CS_ETM);
	assert_int_equal(f->x.setup.nr_priv, 3);
	assert_int_equal(f->x.setup.nr_hw_ids, 9);
	assert_int_equal(f->x.setup.hw_ids[8].cpu, 8);
	assert_int_equal(f->x.setup.hw_ids[8].value, 0x108);
	assert_memory_equal(f->x.setup.priv, priv, sizeof(priv));
	assert_int_equal(f->x.setup.config, PERF_COUNT_SW_CPU_CLOCK);
}

static void put_log(struct fixture *f, uint64_t number, uint64_t position, uint64_t written)
{
	const struct pd_snapshot_log log = {
		.kind = PD_SNAPSHOT_AUX_RING,
		.number = number,
		.aux = {.idx = 1,
			.cpu = 3,
			.tid = NONE,
			.mode = PD_AUX_SNAPSHOT,
			.first = number * 1000,
			.last = number * 1000 + 1,
			.position = position,
			.written = written},
	};
	struct pd_snapshot_record r;

	pd_snapshot_encode(&log, &r);
	assert_int_equal(buf_append(&f->im.b, &r, r.header.size), 0);
}

static void snapshots_have_numbers_and_times(void **state)
{
	struct fixture *f = *state;

	aux_image_aux(&f->im, 3, 8, 0, 64, PERF_AUX_FLAG_OVERWRITE | PERF_AUX_FLAG_TRUNCATED);
	put_log(f, 1, 61, 61);
	put(f, 0, 61);
	put_log(f, 2, 160, 60);
	put(f, 100, 60);
	put_log(f, 3, 200, 80);
	put(f, 120, 80);
	read_index(f, 0);
	assert_int_equal(f->x.nr_runs, 2);
	assert_run(f, 0, 0, 61);
	assert_int_equal(f->x.runs[0].snapshot, 1);
	assert_int_equal(f->x.runs[0].from, 1000);
	assert_int_equal(f->x.runs[0].to, 1001);
	assert_run(f, 1, 100, 100);
	assert_int_equal(f->x.runs[1].snapshot, 2);
	assert_int_equal(f->x.runs[1].from, 2000);
	assert_int_equal(f->x.runs[1].to, 3001);
}

/* perf does not record the position of a snapshot. */
static void snapshots_of_unknown_position_are_runs(void **state)
{
	struct fixture *f = *state;

	aux_image_aux(&f->im, 3, 8, 0, 64, PERF_AUX_FLAG_OVERWRITE);
	put(f, 64, 64);
	put(f, 32, 64);
	read_index(f, 0);
	assert_int_equal(f->x.nr_runs, 2);
	assert_run(f, 0, 64, 64);
	assert_run(f, 1, 32, 64);
}

/* Trace of which no part is like another. */
static const uint8_t *some_trace(void)
{
	static uint8_t trace[4096];
	uint32_t x = 1;

	for (size_t i = 0; i < sizeof(trace); i++) {
		x = x * 1103515245 + 12345;
		trace[i] = (uint8_t)(x >> 16) | 1;
	}
	return trace;
}

/* What two snapshots of perf have both is there once. */
static void snapshots_that_overlap_are_a_run(void **state)
{
	const uint8_t *trace = some_trace();
	struct fixture *f = *state;
	uint8_t padded[1000] = {0}, loaded[4096];
	struct aux_loader *l;

	aux_image_aux(&f->im, 3, 8, 0, 64, PERF_AUX_FLAG_OVERWRITE);
	memcpy(padded, trace, 997); /* an AUXTRACE record has a multiple of 8 */
	aux_image_trace(&f->im, 3, NONE, 0, padded, sizeof(padded));
	aux_image_trace(&f->im, 3, NONE, 0, padded, sizeof(padded)); /* the same once more */
	aux_image_trace(&f->im, 3, NONE, 0, trace, 1600);
	aux_image_trace(&f->im, 3, NONE, 64, trace + 800, 1600);  /* of a wrapped ring */
	aux_image_trace(&f->im, 3, NONE, 64, trace + 1000, 1400); /* nothing is new */
	aux_image_trace(&f->im, 3, NONE, 8, trace + 2360, 800);	  /* 40 bytes are no proof */
	aux_image_trace(&f->im, 3, NONE, 0, trace + 2300, 900);	  /* not at the end */
	read_index(f, 0);
	assert_int_equal(f->x.nr_rings, 1);
	assert_int_equal(f->x.nr_runs, 3);
	assert_run(f, 0, 0, 2400);
	assert_run(f, 1, 8, 800);
	assert_int_equal(f->x.runs[2].len, 904);
	assert_int_equal(aux_loader_new(&f->x, NULL, false, &l), 0);
	assert_int_equal(aux_loader_read(l, &f->x.runs[0], 0, loaded, sizeof(loaded)), 2400);
	assert_memory_equal(loaded, trace, 2400);
	aux_loader_free(l);
}

static void traces_of_a_loop_do_not_overlap(void **state)
{
	struct fixture *f = *state;
	uint8_t older[512], newer[512];

	for (size_t i = 0; i < sizeof(older); i++) {
		older[i] = (uint8_t)(i < 256 ? i : "\xee\xba\x0a"[i % 3]);
		newer[i] = (uint8_t)(i >= 256 ? 511 - i : "\xee\xba\x0a"[i % 3]);
	}
	aux_image_aux(&f->im, 3, 8, 0, 64, PERF_AUX_FLAG_OVERWRITE);
	aux_image_trace(&f->im, 3, NONE, 0, older, sizeof(older));
	aux_image_trace(&f->im, 3, NONE, 0, newer, sizeof(newer));
	read_index(f, 0);
	assert_int_equal(f->x.nr_runs, 2);
	assert_int_equal(f->x.runs[1].len, sizeof(newer));
}

static void samples_are_runs_in_order_of_time(void **state)
{
	static const uint8_t trace[64];
	struct fixture *f = *state;

	aux_image_sample(&f->im, 30, 3, 9, trace, 24);
	aux_image_sample(&f->im, 25, NONE, 9, trace, 8);
	aux_image_sample(&f->im, 20, 3, 8, trace, 16);
	aux_image_sample(&f->im, 10, 3, 8, trace, 0);
	read_index(f, 0);
	assert_int_equal(f->x.nr_rings, 2);
	assert_int_equal(f->x.rings[0].cpu, 3);
	assert_int_equal(f->x.rings[0].tid, NONE);
	assert_int_equal(f->x.rings[1].tid, 9);
	assert_int_equal(f->x.nr_runs, 3);
	assert_true(f->x.runs[0].sampled);
	assert_int_equal(f->x.runs[0].len, 16);
	assert_int_equal(f->x.runs[0].to, 20);
	assert_int_equal(f->x.runs[0].tid, 8);
	assert_int_equal(f->x.runs[1].offset, 16);
	assert_int_equal(f->x.runs[1].len, 24);
	assert_int_equal(f->x.runs[1].to, 30);
	assert_int_equal(f->x.runs[1].tid, 9);
	assert_int_equal(f->x.runs[2].offset, 0);
	assert_int_equal(f->x.runs[2].cpu, NONE);
}

/* Puts a table of features behind the records, with PMU_MAPPINGS alone. */
static void put_mappings(struct image *im, const char *name)
{
	char text[32];
	const struct pd_pmu_mappings m = {
		.pmus = (struct pd_pmu_mapping[]){{.type = AUX_IMAGE_PMU, .name = text}}, .nr = 1};
	size_t at = im->b.len;

	snprintf(text, sizeof(text), "%s", name);
	image_end(im);
	image_u64(im, at + 16);
	image_u64(im, 0);
	assert_int_equal(pd_feature_pmu_mappings_encode(&im->b, &m), 0);
	image_set64(im, at + 8, im->b.len - at - 16);
	image_set64(im, offsetof(struct pd_header, features), 1ull << HEADER_PMU_MAPPINGS);
}

static void the_test_pmu_is_known_by_name(void **state)
{
	const struct pd_time_conv conv = {.time_shift = 3, .time_mult = 5, .time_zero = 7};
	struct error err = ERROR_INIT;
	struct fixture *f = *state;

	put(f, 0, 8);
	assert_int_equal(pd_time_conv_encode(&f->im.b, &conv), 0);
	put_mappings(&f->im, "auxsim");
	f->df = image_open(&f->im);
	assert_int_equal(aux_index_read(f->df, 0, DATA_SCAN_FINDINGS, &f->x, &err), 0);
	assert_int_equal(f->x.setup.type, AUX_SETUP_TESTPMU);
	assert_true(f->x.setup.user && f->x.setup.kernel);
	assert_non_null(f->x.setup.time_conv);
	assert_int_equal(f->x.setup.time_conv->time_mult, 5);
}

static void damaged_records_are_findings(void **state)
{
	struct fixture *f = *state;
	size_t at, findings;

	put(f, UINT64_MAX - 3, 8);
	at = f->im.b.len;
	put(f, 8, 8);
	image_set64(&f->im, at + 8, UINT64_MAX - 7); /* its size */
	read_index(f, 0);
	data_findings(f->df, &findings);
	assert_int_equal(findings, 2);
	assert_int_equal(f->x.nr_runs, 1);
	assert_run(f, 0, 8, 8);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_gap_ends_a_run, setup, teardown),
		cmocka_unit_test_setup_teardown(repeated_trace_and_padding_do_not_count, setup,
						teardown),
		cmocka_unit_test_setup_teardown(flags_of_aux_records_end_runs, setup, teardown),
		cmocka_unit_test_setup_teardown(a_threads_ring_is_found_by_id, setup, teardown),
		cmocka_unit_test_setup_teardown(a_sample_of_a_threads_ring_is_found_by_id, setup,
						teardown),
		cmocka_unit_test_setup_teardown(each_aux_record_of_coresight_ends_a_run, setup,
						teardown),
		cmocka_unit_test_setup_teardown(snapshots_have_numbers_and_times, setup, teardown),
		cmocka_unit_test_setup_teardown(snapshots_of_unknown_position_are_runs, setup,
						teardown),
		cmocka_unit_test_setup_teardown(snapshots_that_overlap_are_a_run, setup, teardown),
		cmocka_unit_test_setup_teardown(traces_of_a_loop_do_not_overlap, setup, teardown),
		cmocka_unit_test_setup_teardown(samples_are_runs_in_order_of_time, setup, teardown),
		cmocka_unit_test_setup_teardown(the_test_pmu_is_known_by_name, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged_records_are_findings, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
