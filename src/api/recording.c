// SPDX-License-Identifier: Apache-2.0
#include "api/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/options.h"

static void free_strings(struct ringtail_recording *r)
{
	free(r->path);
	free(r->symfs);
	free(r->kallsyms);
	free(r->vmlinux);
}

/* NULL of NULL; clears *@complete when out of memory. */
static char *copy(const char *from, bool *complete)
{
	char *to = from ? strdup(from) : NULL;

	if (from && !to)
		*complete = false;
	return to;
}

static struct ringtail_recording *recording_new(const char *path,
						const struct ringtail_open_opts *opts)
{
	struct ringtail_recording *r = calloc(1, sizeof(*r));
	bool complete = true;

	if (!r)
		return NULL;
	r->path = copy(path, &complete);
	r->symfs = copy(opts->symfs, &complete);
	r->kallsyms = copy(opts->kallsyms, &complete);
	r->vmlinux = copy(opts->vmlinux, &complete);
	pthread_mutex_init(&r->lock, NULL);
	if (complete)
		return r;
	ringtail_recording_close(r);
	return NULL;
}

int ringtail_recording_open(const char *path, const struct ringtail_open_opts *opts,
			    struct ringtail_recording **ret, struct ringtail_error *err)
{
	struct ringtail_open_opts given = {0};
	struct error why = ERROR_INIT;
	struct ringtail_recording *r;
	struct trace_opts trace;
	int rc = api_options_read(opts, &given, sizeof(given), &why);

	if (rc)
		return api_error(err, rc, &why);
	r = recording_new(path, &given);
	if (!r)
		return api_error(err, -ENOMEM, &why);
	trace = (struct trace_opts){
		.path = r->path,
		.force = given.foreign,
		.symfs = r->symfs,
		.kallsyms = r->kallsyms,
		.vmlinux = r->vmlinux,
		.no_demangle = given.mangled,
		.snapshot = given.snapshot,
	};
	rc = trace_open(&trace, &r->trace, &why);
	if (rc < 0) {
		ringtail_recording_close(r);
		return api_error(err, rc, &why);
	}
	*ret = r;
	return 0;
}

void ringtail_recording_close(struct ringtail_recording *r)
{
	if (!r)
		return;
	trace_close(r->trace);
	pthread_mutex_destroy(&r->lock);
	free_strings(r);
	free(r);
}

int recording_prepare(struct ringtail_recording *r, struct error *err)
{
	int rc;

	pthread_mutex_lock(&r->lock);
	if (!r->prepared) {
		r->prepare_rc = trace_prepare(r->trace, &r->prepare_err);
		r->prepared = true;
	}
	rc = r->prepare_rc;
	if (rc < 0)
		*err = r->prepare_err;
	pthread_mutex_unlock(&r->lock);
	return rc;
}

const char *ringtail_recording_hostname(const struct ringtail_recording *r)
{
	return r->trace->hostname;
}

const char *ringtail_recording_osrelease(const struct ringtail_recording *r)
{
	return r->trace->osrelease;
}

const char *ringtail_recording_arch(const struct ringtail_recording *r)
{
	return r->trace->arch;
}

size_t ringtail_recording_events(const struct ringtail_recording *r)
{
	return pd_evlist_count(r->trace->evlist);
}

const char *ringtail_recording_event(const struct ringtail_recording *r, size_t index)
{
	if (index >= pd_evlist_count(r->trace->evlist))
		return NULL;
	return pd_evlist_at(r->trace->evlist, index)->name;
}

size_t ringtail_recording_findings(struct ringtail_recording *r)
{
	size_t nr;

	data_findings(r->trace->df, &nr);
	return nr;
}

const struct ringtail_finding *ringtail_recording_finding(struct ringtail_recording *r,
							  size_t index)
{
	size_t nr;
	const struct data_finding *found = data_findings(r->trace->df, &nr);

	if (index >= nr)
		return NULL;
	r->finding = (struct ringtail_finding){
		.damaged = found[index].severity == DATA_DAMAGED,
		.count = found[index].count,
		.path = data_segment_path(r->trace->df, found[index].segment),
		.offset = found[index].offset,
		.text = found[index].text,
	};
	return &r->finding;
}
