// SPDX-License-Identifier: Apache-2.0
#include "report/trace/trace_origin.h"

#include <errno.h>
#include <sys/stat.h>

#include "data/open/open.h"
#include "perfdata/record.h"

/* Limits for a recording whose maps say nothing. */
#define SCAN_BYTES  (128ull << 20) /* of the file */
#define STATE_BYTES ((size_t)64 << 20)

/* Applies the maps in the file, in its order: moments do not matter here. */
static int take_maps(struct data_file *df, unsigned int segment, struct state *s)
{
	struct data_scan *scan = NULL;
	struct data_record rec;
	struct pd_record r;
	int rc = data_scan_new(df, segment, 0, DATA_WHOLE, 0, &scan);

	if (rc)
		return rc == -ENOMEM ? rc : 0;
	while ((rc = data_scan_next(scan, &rec)) > 0 && rec.offset < SCAN_BYTES) {
		if ((rec.hdr->type != PERF_RECORD_MMAP && rec.hdr->type != PERF_RECORD_MMAP2) ||
		    pd_record_decode(rec.hdr, rec.evsel, &r))
			continue;
		rc = state_apply(s, &r, (struct moment){0});
		if (rc)
			break;
	}
	data_scan_free(scan);
	return rc == -ENOMEM ? rc : 0;
}

int trace_find_origin(struct trace *t, struct origin *ret)
{
	struct state *s;
	struct stat st;
	int rc = 0;

	*ret = (struct origin){ORIGIN_NAMED};
	if (!data_features_cut(t->df))
		return 0;
	s = state_new();
	if (!s)
		return -ENOMEM;
	state_limit(s, STATE_BYTES);
	for (unsigned int i = 0; !rc && i < data_segments(t->df); i++)
		rc = take_maps(t->df, i, s);
	if (!rc)
		rc = state_finish(s);
	if (!rc)
		*ret = origin_of_cut(s, stat(data_segment_path(t->df, 0), &st) ? 0 : st.st_mtime,
				     "");
	state_free(s);
	return rc;
}
