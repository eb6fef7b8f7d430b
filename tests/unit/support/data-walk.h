/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over recordings of data-image.h, and what their findings say. */
#ifndef RINGTAIL_TESTS_DATA_WALK_H
#define RINGTAIL_TESTS_DATA_WALK_H

#include "data-image.h"
#include "data/file/findings.h"

/* Results of a whole walk. */
struct walk {
	size_t records, samples;
	uint64_t last_tag, tag_sum;
};

/* Walks all segments, and checks what must hold for every record. */
static inline struct walk walk(struct data_file *df, unsigned int flags)
{
	struct walk w = {0};

	for (unsigned int s = 0; s < data_segments(df); s++) {
		uint64_t last_place = 0, done, total;
		struct data_record rec;
		struct data_scan *scan;
		int rc;

		assert_int_equal(
			data_scan_new(df, s, 0, DATA_WHOLE, flags | DATA_SCAN_FINDINGS, &scan), 0);
		while ((rc = data_scan_next(scan, &rec)) > 0) {
			assert_int_equal((uintptr_t)rec.hdr % 8, 0);
			assert_true(rec.hdr->size >= 8);
			assert_int_equal(rec.segment, s);
			w.records++;
			/* A container comes before what began in one before it and ends here. */
			if (rec.hdr->type == PERF_RECORD_COMPRESSED ||
			    rec.hdr->type == PERF_RECORD_COMPRESSED2)
				continue;
			assert_true(rec.at.seq > last_place);
			last_place = rec.at.seq;
			if (rec.hdr->type != PERF_RECORD_SAMPLE)
				continue;
			w.samples++;
			w.last_tag = image_tag(&rec);
			w.tag_sum += w.last_tag;
		}
		assert_int_equal(rc, 0);
		data_scan_progress(scan, &done, &total);
		assert_int_equal(done, total);
		data_scan_free(scan);
	}
	return w;
}

/* How often something with @text in it was noted. */
static inline uint64_t noted(struct data_file *df, enum data_severity severity, const char *text)
{
	const struct data_finding *n;
	uint64_t count = 0;
	size_t nr;

	n = data_findings(df, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (n[i].severity == severity && strstr(n[i].text, text))
			count += n[i].count;
	}
	return count;
}

static inline void assert_no_notes(struct data_file *df)
{
	size_t nr;
	const struct data_finding *n = data_findings(df, &nr);

	if (nr)
		fail_msg("%s", n[0].text);
}

static inline void make_samples(struct image *im, unsigned int events, unsigned int nr)
{
	image_begin(im, events, IMAGE_STRIDE);
	for (unsigned int i = 0; i < nr; i++)
		image_sample(im, i % events, 1000 + i, i);
	image_end(im);
}

#endif
