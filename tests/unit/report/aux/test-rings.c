// SPDX-License-Identifier: Apache-2.0
/* Figures of AUX rings: which records are of the same ring, and losses of no certain one. */
#include "data-image.h"
#include "perfdata/aux_record.h"
#include "report/aux/rings.h"

static int setup(void **state)
{
	struct image *im = calloc(1, sizeof(*im));

	assert_non_null(im);
	image_begin(im, 1, IMAGE_STRIDE);
	*state = im;
	return 0;
}

static int teardown(void **state)
{
	image_release(*state);
	free(*state);
	return 0;
}

/* An AUX record names the place, but no index. */
static void put_aux(struct image *im, uint32_t tid)
{
	image_head(im, PERF_RECORD_AUX, 56);
	image_u64(im, 0);
	image_u64(im, 8);
	image_u64(im, PERF_AUX_FLAG_TRUNCATED);
	image_u32(im, 7);
	image_u32(im, tid);
	image_u64(im, 1000);
	image_u64(im, IMAGE_ID);
}

static void put_trace(struct image *im, uint32_t idx, uint32_t cpu, uint32_t tid)
{
	const struct pd_auxtrace a = {.size = 8, .idx = idx, .tid = tid, .cpu = cpu};
	struct pd_auxtrace_record r;

	pd_auxtrace_encode(&a, &r);
	assert_int_equal(buf_append(&im->b, &r, sizeof(r)), 0);
	assert_int_equal(buf_zero(&im->b, r.size), 0);
}

static void put_sums(struct image *im, uint32_t id, enum pd_aux_mode mode, uint64_t lost)
{
	const struct pd_snapshot_log log = {
		.kind = PD_SNAPSHOT_AUX_RING,
		.aux = {.idx = id,
			.cpu = id,
			.tid = id,
			.mode = mode,
			.lost = lost,
			.unreported = id + 1,
			.lost_records = id + 2},
	};
	struct pd_snapshot_record r;

	pd_snapshot_encode(&log, &r);
	assert_int_equal(buf_append(&im->b, &r, r.header.size), 0);
}

static void read_rings(struct image *im, struct aux_rings *ret)
{
	struct data_file *df;

	image_end(im);
	df = image_open(im);
	assert_int_equal(aux_rings_read(df, ret), 0);
	data_close(df);
}

/* What a full disk did not take is of no certain ring, and has no mode. */
static void losses_of_no_ring(void **state)
{
	struct image *im = *state;
	struct aux_rings r;

	put_sums(im, UINT32_MAX, PD_AUX_MODES, 99);
	put_sums(im, 3, PD_AUX_FULL, 0);
	put_sums(im, 4, PD_AUX_MODES, 0);
	read_rings(im, &r);
	assert_int_equal(r.nr, 3);
	assert_int_equal(r.rings[0].mode, PD_AUX_FULL);
	assert_int_equal(r.rings[0].unreported, 4);
	assert_int_equal(r.rings[0].lost_records, 5);
	assert_int_equal(r.rings[1].mode, PD_AUX_MODES);
	assert_int_equal(r.rings[2].mode, PD_AUX_MODES);
	assert_int_equal(r.rings[2].lost, 99);
	aux_rings_release(&r);
}

/* A record without an index is of the first ring at its place, which has the first index there. */
static void rings_by_place(void **state)
{
	struct image *im = *state;
	struct aux_rings r;

	put_aux(im, 8);
	put_trace(im, 1, UINT32_MAX, 8);
	put_trace(im, 2, UINT32_MAX, 8);
	put_trace(im, 2, UINT32_MAX, 9);
	put_trace(im, 1, 3, 8);
	put_trace(im, 1, 3, 9);
	put_trace(im, 1, UINT32_MAX, 8);
	put_aux(im, 8);
	put_aux(im, 9);
	read_rings(im, &r);
	assert_int_equal(r.nr, 4);
	assert_int_equal(r.rings[0].cpu, 3);
	assert_int_equal(r.rings[0].records, 2);
	assert_int_equal(r.rings[1].idx, 1);
	assert_int_equal(r.rings[1].records, 2);
	assert_int_equal(r.rings[1].truncated, 2);
	assert_int_equal(r.rings[2].idx, 2);
	assert_int_equal(r.rings[2].tid, 8);
	assert_int_equal(r.rings[2].records, 1);
	assert_int_equal(r.rings[3].tid, 9);
	assert_int_equal(r.rings[3].truncated, 1);
	aux_rings_release(&r);
}

/* A file with a ring in each record takes no time that grows with their square. */
static void many_rings(void **state)
{
	const uint32_t nr = 200000;
	struct image *im = *state;
	struct aux_rings r;

	for (uint32_t i = 0; i < nr; i++)
		put_trace(im, i % 3, i % 2 ? i : UINT32_MAX, i);
	read_rings(im, &r);
	assert_int_equal(r.nr, nr);
	for (uint32_t i = 0; i < nr; i++)
		assert_int_equal(r.rings[i].records, 1);
	aux_rings_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rings_by_place, setup, teardown),
		cmocka_unit_test_setup_teardown(many_rings, setup, teardown),
		cmocka_unit_test_setup_teardown(losses_of_no_ring, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
