// SPDX-License-Identifier: Apache-2.0
/* Figures of AUX rings: losses of no certain ring. */
#include "data-image.h"
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

static void put_sums(struct image *im, uint32_t id, enum pd_aux_mode mode, uint64_t lost)
{
	const struct pd_snapshot_log log = {
		.kind = PD_SNAPSHOT_AUX_RING,
		.aux = {.idx = id, .cpu = id, .tid = id, .mode = mode, .lost = lost},
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
	assert_int_equal(r.rings[1].mode, PD_AUX_MODES);
	assert_int_equal(r.rings[2].mode, PD_AUX_MODES);
	assert_int_equal(r.rings[2].lost, 99);
	aux_rings_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(losses_of_no_ring, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
