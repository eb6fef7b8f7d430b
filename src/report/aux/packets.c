// SPDX-License-Identifier: Apache-2.0
#include "report/aux/packets.h"

#include <errno.h>

#include "auxtrace/decoders/decoders.h"
#include "auxtrace/recording/loader.h"
#include "perfdata/aux_record.h"

/* Passes the packets of a stretch on. Returns 0, what packet() returned, or a negative errno. */
static int walk_stretch(const struct aux_index *x, const struct aux_decoder_ops *ops,
			const struct aux_run *run, const struct aux_stretch *s,
			const struct aux_packets_opts *opts)
{
	const struct aux_setup setup = aux_index_setup(x, run->ring);
	struct aux_decoder *d = NULL;
	struct aux_packet p;
	size_t at = 0;
	int rc = ops->packets(&setup, s, &d);

	while (!rc && (rc = ops->packet_next(d, &p)) > 0) {
		rc = opts->packet(run, s->offset + at, s->data + at, &p, opts->arg);
		at += p.len;
	}
	ops->end(d);
	return rc;
}

static bool is_wanted(const struct aux_packets_opts *opts, const struct aux_run *run)
{
	return filter_ranges_have(opts->cpus, run->cpu) && filter_ranges_have(opts->tids, run->tid);
}

static int walk_run(const struct aux_index *x, const struct aux_decoder_ops *ops,
		    struct aux_loader *loader, const struct aux_run *run,
		    const struct aux_packets_opts *opts)
{
	uint64_t end = run->first_chunk + (run->len - 1) / x->chunk + 1;
	struct aux_stretch s;
	int rc = 0;

	if (!is_wanted(opts, run))
		return 0;
	opts->begin(x, run, opts->arg);
	for (uint64_t chunk = run->first_chunk; !rc && chunk < end; chunk++) {
		rc = aux_loader_load(loader, chunk, &s);
		if (rc > 0)
			rc = walk_stretch(x, ops, run, &s, opts);
	}
	return rc;
}

static int walk(const struct aux_index *x, const struct aux_packets_opts *opts, struct error *err)
{
	const struct aux_decoder_ops *ops = aux_decoder_for(&x->setup);
	struct aux_loader *loader;
	int rc;

	if (!ops || !ops->packets)
		return error_set(err, -ENOTSUP, "there is no decoder for trace of the type %s",
				 pd_auxtrace_type_name(x->setup.type));
	rc = ops->load ? ops->load(err) : 0;
	if (rc)
		return rc;
	rc = aux_loader_new(x, ops, true, &loader);
	if (rc)
		return error_set(err, rc, "out of memory");
	for (size_t i = 0; !rc && i < x->nr_runs; i++)
		rc = walk_run(x, ops, loader, &x->runs[i], opts);
	aux_loader_free(loader);
	if (rc == -ENOTSUP)
		return error_set(err, rc, "this ringtail cannot read trace of the type %s",
				 ops->name);
	return rc < 0 ? error_sys(err, rc, "cannot read the trace") : 1;
}

int aux_packets(struct data_file *df, const struct aux_packets_opts *opts, struct error *err)
{
	struct aux_index x;
	int rc = aux_index_read(df, 0, DATA_SCAN_FINDINGS, &x, err);

	if (!rc && x.nr_runs)
		rc = walk(&x, opts, err);
	aux_index_release(&x);
	return rc;
}
