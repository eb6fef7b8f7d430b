// SPDX-License-Identifier: Apache-2.0
/* The decoder of each kind of trace, and that stretches have every record once. */
#include "aux-image.h"
#include "auxtrace/decoders/decoders.h"
#include "auxtrace/recording/loader.h"
#include "data-walk.h"
#include "spe-writer.h"

#define RECORDS 2000u

static void test_types(void **state)
{
	static const struct {
		uint32_t type;
		const char *name; /* NULL: no decoder */
	} cases[] = {
		{PD_AUXTRACE_INTEL_PT, "intel_pt"}, {PD_AUXTRACE_CS_ETM, "cs_etm"},
		{PD_AUXTRACE_ARM_SPE, "arm_spe"},   {AUX_SETUP_TESTPMU, "auxsim"},
		{PD_AUXTRACE_UNKNOWN, NULL},	    {PD_AUXTRACE_TYPES, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct aux_setup setup = {.type = cases[i].type};
		const struct aux_decoder_ops *ops = aux_decoder_for(&setup);

		if (cases[i].name)
			assert_string_equal(ops->name, cases[i].name);
		else
			assert_null(ops);
	}
}

/* Counts the samples that each record of @truth became. */
static void count(const struct aux_index *x, const struct spe_truth *truth, unsigned int *ret)
{
	const struct aux_decoder_ops *ops = aux_decoder_for(&x->setup);
	struct aux_loader *l;

	assert_int_equal(aux_loader_new(x, ops, false, &l), 0);
	for (uint64_t i = x->nr_chunks; i--;) {
		struct aux_decoder *d;
		struct aux_stretch s;
		struct aux_event e;

		if (!aux_loader_load(l, i, &s))
			continue;
		assert_int_equal(ops->begin(&x->setup, &s, NULL, 0, &d), 0);
		while (ops->next(d, &e) > 0) {
			unsigned int r = 0;

			assert_int_equal(e.kind, AUX_EVENT_SAMPLE);
			while (truth[r].last != e.offset)
				assert_true(++r < RECORDS);
			assert_int_equal(e.ip, truth[r].ip);
			assert_int_equal(e.sample.events, truth[r].events);
			assert_int_equal(e.sample.latency, truth[r].total);
			ret[r]++;
		}
		ops->end(d);
	}
	aux_loader_free(l);
}

static void test_each_record_once(void **state)
{
	static const uint64_t chunks[] = {64, 128, 192, 1024, 4096, 65536};
	const uint64_t priv[] = {AUX_IMAGE_PMU, 0};
	struct spe_writer w = {.p = calloc(RECORDS, 128)};
	struct spe_truth truth[RECORDS];
	struct error err = ERROR_INIT;
	struct image im = {0};
	struct data_file *df;

	(void)state;
	for (unsigned int i = 0; i < RECORDS; i++)
		truth[i] = spe_put_record(&w, i % 8);
	w.len = pd_auxtrace_padded(w.len);
	aux_image_begin(&im);
	assert_int_equal(pd_auxtrace_info_encode(&im.b, PD_AUXTRACE_ARM_SPE, priv, 2), 0);
	aux_image_aux(&im, 0, 8, 0, w.len, 0);
	for (size_t at = 0, n; at < w.len; at += n) {
		n = w.len - at < 4000 ? w.len - at : 4000;
		aux_image_trace(&im, 0, UINT32_MAX, at, w.p + at, n);
	}
	image_end(&im);
	df = image_open(&im);
	for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		unsigned int found[RECORDS] = {0};
		struct aux_index x;

		assert_int_equal(aux_index_read(df, chunks[i], DATA_SCAN_FINDINGS, &x, &err), 0);
		count(&x, truth, found);
		for (unsigned int r = 0; r < RECORDS; r++)
			assert_int_equal(found[r], 1);
		aux_index_release(&x);
	}
	assert_no_notes(df);
	data_close(df);
	image_release(&im);
	free(w.p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_each_record_once),
	};

	srand(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
