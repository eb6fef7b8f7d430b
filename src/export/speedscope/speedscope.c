// SPDX-License-Identifier: Apache-2.0
#include "export/speedscope/speedscope.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/stream/functions.h"
#include "export/wire/intern.h"
#include "export/wire/json_out.h"
#include "export/wire/spool.h"

/* Keys have no padding. */
struct speedscope_node {
	uint32_t parent; /* number of the outer part; INTERN_NONE: none */
	uint32_t function;
};

struct speedscope_lane {
	uint32_t pid, tid, event;
};

struct speedscope_item {
	uint32_t stack; /* INTERN_NONE: without frames */
	uint32_t unused;
	uint64_t weight;
};

/* A profile: what the samples of a lane have in common. */
struct speedscope_profile {
	uint32_t comm;		     /* newest, number of the string */
	struct speedscope_item last; /* not yet in the spool; weight 0: none */
	uint64_t total;
};

struct speedscope {
	const struct export_job *job;
	struct export_functions functions;
	struct intern nodes, lanes;
	struct speedscope_profile *profiles; /* by lane */
	size_t nr_profiles, cap_profiles;
	struct intern_strings comms;
	struct spool spool;
	struct buf text;
	uint32_t *path;
	size_t cap_path;
	bool first; /* nothing stands in the current array yet */
};

static int speedscope_open(const struct export_job *job, void **ret)
{
	struct speedscope *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	*w = (struct speedscope){
		.job = job,
		.functions = EXPORT_FUNCTIONS_INIT,
		.nodes = {.size = sizeof(struct speedscope_node)},
		.lanes = {.size = sizeof(struct speedscope_lane)},
		.spool = {.err = job->err},
	};
	*ret = w;
	return 0;
}

static int stack_of(struct speedscope *w, const struct export_sample *s, uint32_t *ret)
{
	struct speedscope_node node = {.parent = INTERN_NONE};

	for (size_t i = s->nr_frames; i--;) {
		node.function = export_function_of(&w->functions, &s->frame[i]);
		if (node.function == INTERN_NONE)
			return -ENOMEM;
		node.parent = intern_put(&w->nodes, &node);
		if (node.parent == INTERN_NONE)
			return -ENOMEM;
	}
	*ret = node.parent;
	return 0;
}

/* Returns the number of the profile that @s belongs to, or INTERN_NONE. */
static uint32_t profile_of(struct speedscope *w, const struct export_sample *s)
{
	const struct walk_sample *ws = s->ws;
	const struct speedscope_lane key = {ws->s.pid, ws->s.tid, ws->evsel->index};
	uint32_t lane = intern_put(&w->lanes, &key), comm;

	if (lane == INTERN_NONE || array_grow(&w->profiles, &w->cap_profiles,
					      intern_count(&w->lanes), sizeof(*w->profiles)))
		return INTERN_NONE;
	if (lane == w->nr_profiles)
		w->profiles[w->nr_profiles++] = (struct speedscope_profile){0};
	if (export_comm(s->comm, ws->s.tid, &w->text))
		return INTERN_NONE;
	comm = intern_string(&w->comms, (const char *)w->text.data, w->text.len);
	w->profiles[lane].comm = comm;
	return comm == INTERN_NONE ? INTERN_NONE : lane;
}

static int spool_last(struct speedscope *w, uint32_t lane)
{
	struct speedscope_profile *p = &w->profiles[lane];

	return p->last.weight ? spool_add(&w->spool, lane, &p->last, sizeof(p->last)) : 0;
}

static int speedscope_sample(void *writer, const struct export_sample *s)
{
	struct speedscope *w = writer;
	uint32_t stack, lane = profile_of(w, s);
	struct speedscope_profile *p;
	uint64_t weight = s->ws->s.period, total;
	int rc = lane == INTERN_NONE ? -ENOMEM : stack_of(w, s, &stack);

	if (rc || !weight)
		return rc;
	p = &w->profiles[lane];
	if (__builtin_add_overflow(p->total, weight, &total)) /* a damaged recording */
		return 0;
	p->total = total;
	if (p->last.weight && p->last.stack == stack) {
		p->last.weight += weight;
		return 0;
	}
	rc = spool_last(w, lane);
	p->last = (struct speedscope_item){.stack = stack, .weight = weight};
	return rc;
}

static int put_stack(const void *item, void *writer)
{
	const struct speedscope_item *i = item;
	struct speedscope *w = writer;
	struct out *out = w->job->out;
	size_t depth = 0;

	for (uint32_t at = i->stack; at != INTERN_NONE; depth++) {
		const struct speedscope_node *node = intern_at(&w->nodes, at);

		if (array_grow(&w->path, &w->cap_path, depth + 1, sizeof(*w->path)))
			return -ENOMEM;
		w->path[depth] = node->function;
		at = node->parent;
	}
	out_puts(out, w->first ? "[" : ",\n[");
	w->first = false;
	while (depth--)
		out_printf(out, depth ? "%" PRIu32 "," : "%" PRIu32, w->path[depth]);
	out_puts(out, "]");
	return out->rc;
}

static int put_weight(const void *item, void *writer)
{
	const struct speedscope_item *i = item;
	struct speedscope *w = writer;

	out_printf(w->job->out, w->first ? "%" PRIu64 : ",%" PRIu64, i->weight);
	w->first = false;
	return w->job->out->rc;
}

static int put_array(struct speedscope *w, uint32_t lane, const char *name, spool_fn fn)
{
	int rc;

	out_printf(w->job->out, ",\n\"%s\":[", name);
	w->first = true;
	rc = spool_each(&w->spool, lane, sizeof(struct speedscope_item), fn, w);
	out_puts(w->job->out, "]");
	return rc;
}

static const char *unit_of(const struct pd_attr *attr)
{
	return export_is_time(attr) ? "nanoseconds" : "none";
}

static int put_profile(struct speedscope *w, uint32_t lane)
{
	const struct speedscope_lane *key = intern_at(&w->lanes, lane);
	const struct speedscope_profile *p = &w->profiles[lane];
	const struct pd_evsel *evsel = pd_evlist_at(w->job->trace->evlist, key->event);
	struct out *out = w->job->out;
	size_t len;
	const char *comm = intern_string_at(&w->comms, p->comm, &len);
	int rc = spool_last(w, lane);

	if (rc || export_name(evsel->name, &w->text) ||
	    buf_printf(&w->text, ": %.*s (%d/%d)", (int)(len < INT32_MAX ? len : INT32_MAX), comm,
		       (int)key->pid, (int)key->tid))
		return rc ?: -ENOMEM;
	out_puts(out,
		 lane ? ",\n{\"type\":\"sampled\",\"name\":" : "{\"type\":\"sampled\",\"name\":");
	json_out_string(out, (const char *)w->text.data, w->text.len);
	out_printf(out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64,
		   unit_of(&evsel->attr), p->total);
	rc = put_array(w, lane, "samples", put_stack);
	if (!rc)
		rc = put_array(w, lane, "weights", put_weight);
	out_puts(out, "}");
	return rc ?: out->rc;
}

static int put_frames(struct speedscope *w)
{
	struct out *out = w->job->out;

	for (uint32_t i = 0; i < intern_count(&w->functions.keys); i++) {
		const struct export_function *fn = export_function_at(&w->functions, i);

		if (export_function_name(fn, &w->text))
			return -ENOMEM;
		out_puts(out, i ? ",\n{\"name\":" : "{\"name\":");
		json_out_string(out, (const char *)w->text.data, w->text.len);
		if (fn->dso) {
			if (export_name(fn->dso->line_name, &w->text))
				return -ENOMEM;
			out_puts(out, ",\"file\":");
			json_out_string(out, (const char *)w->text.data, w->text.len);
		}
		out_puts(out, "}");
	}
	return out->rc;
}

static size_t heaviest(const struct speedscope *w)
{
	size_t best = 0;

	for (size_t i = 1; i < w->nr_profiles; i++)
		if (w->profiles[i].total > w->profiles[best].total)
			best = i;
	return best;
}

static int speedscope_close(void *writer)
{
	struct speedscope *w = writer;
	struct out *out = w->job->out;
	int rc;

	out_puts(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		      "\"exporter\":\"ringtail\",\n\"shared\":{\"frames\":[");
	rc = put_frames(w);
	out_printf(out, "]},\n\"activeProfileIndex\":%zu,\n\"profiles\":[", heaviest(w));
	for (uint32_t i = 0; !rc && i < w->nr_profiles; i++)
		rc = put_profile(w, i);
	out_puts(out, "]}\n");
	return rc ?: out->rc;
}

static void speedscope_free(void *writer)
{
	struct speedscope *w = writer;

	if (!w)
		return;
	export_functions_release(&w->functions);
	intern_release(&w->nodes);
	intern_release(&w->lanes);
	intern_strings_release(&w->comms);
	spool_release(&w->spool);
	buf_release(&w->text);
	free(w->profiles);
	free(w->path);
	free(w);
}

const struct export_format export_speedscope = {
	.name = "speedscope",
	.about = "www.speedscope.app",
	.waits = true,
	.open = speedscope_open,
	.sample = speedscope_sample,
	.close = speedscope_close,
	.free = speedscope_free,
};
