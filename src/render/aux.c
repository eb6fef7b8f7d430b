// SPDX-License-Identifier: Apache-2.0
#include "render/aux.h"

#include <inttypes.h>

#include "render/json.h"

/* --- text ----------------------------------------------------------------------------------------
 */

static void put_id(FILE *out, uint32_t id)
{
	if (id == UINT32_MAX)
		fprintf(out, " %7s", "-");
	else
		fprintf(out, " %7" PRIu32, id);
}

static void put_ids(FILE *out, uint32_t idx, uint32_t cpu, uint32_t tid)
{
	put_id(out, idx);
	put_id(out, cpu);
	put_id(out, tid);
}

/* Losses of no certain ring have no mode. */
static const char *mode_of(const struct aux_ring_figures *f)
{
	return f->idx == UINT32_MAX && f->mode == PD_AUX_MODES ? "-" : pd_aux_mode_name(f->mode);
}

static void put_time(FILE *out, uint64_t ns)
{
	if (ns)
		fprintf(out, " %8" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
	else
		fprintf(out, " %18s", "-");
}

static void put_rings(FILE *out, const struct aux_rings *r)
{
	fprintf(out, "#%7s %7s %7s %8s %14s %9s %9s %9s %10s %12s %8s %10s %12s\n", "ring", "cpu",
		"tid", "mode", "bytes", "records", "truncated", "partial", "collisions",
		"lost bytes", "restarts", "unreported", "lost records");
	for (size_t i = 0; i < r->nr; i++) {
		const struct aux_ring_figures *f = &r->rings[i];

		put_ids(out, f->idx, f->cpu, f->tid);
		fprintf(out,
			" %8s %14" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %10" PRIu64
			" %12" PRIu64 " %8" PRIu64 " %10" PRIu64 " %12" PRIu64 "\n",
			mode_of(f), f->bytes, f->records, f->truncated, f->partial, f->collisions,
			f->lost, f->restarts, f->unreported, f->lost_records);
	}
}

static void put_takes(FILE *out, const struct aux_rings *r)
{
	fprintf(out, "#\n#%8s %7s %7s %7s %6s %12s %12s %12s %18s %18s\n", "snapshot", "ring",
		"cpu", "tid", "active", "new", "old", "written", "first", "last");
	for (size_t i = 0; i < r->nr_takes; i++) {
		const struct pd_aux_ring *a = &r->takes[i].ring;

		fprintf(out, " %8" PRIu64, r->takes[i].number);
		put_ids(out, a->idx, a->cpu, a->tid);
		fprintf(out, " %6s %12" PRIu64 " %12" PRIu64 " %12" PRIu64,
			a->active ? "yes" : "no", a->fresh, a->old, a->written);
		put_time(out, a->first);
		put_time(out, a->last);
		putc('\n', out);
	}
}

void aux_render(FILE *out, const struct aux_rings *r)
{
	put_rings(out, r);
	if (r->nr_takes)
		put_takes(out, r);
}

/* --- JSON ----------------------------------------------------------------------------------------
 */

struct member {
	const char *key;
	uint64_t value;
};

/* Adds the place and @nr numbers to @o. Returns 0 or -1. */
static int put_members(json_t *o, uint32_t idx, uint32_t cpu, uint32_t tid,
		       const struct member *all, size_t nr)
{
	const struct member ids[] = {{"ring", idx}, {"cpu", cpu}, {"tid", tid}};
	int rc = o ? 0 : -1;

	for (size_t i = 0; !rc && i < 3; i++)
		rc = json_object_set_new(o, ids[i].key,
					 ids[i].value == UINT32_MAX ? json_null()
								    : json_count(ids[i].value));
	for (size_t i = 0; !rc && i < nr; i++)
		rc = json_object_set_new(o, all[i].key, json_count(all[i].value));
	return rc;
}

static int put_ring_json(json_t *list, const struct aux_ring_figures *f)
{
	const struct member all[] = {
		{"bytes", f->bytes},
		{"records", f->records},
		{"truncated", f->truncated},
		{"partial", f->partial},
		{"collisions", f->collisions},
		{"lost_bytes", f->lost},
		{"restarts", f->restarts},
		{"unreported_stops", f->unreported},
		{"lost_records", f->lost_records},
	};
	json_t *o = json_object();
	int rc = put_members(o, f->idx, f->cpu, f->tid, all, sizeof(all) / sizeof(all[0]));

	if (!rc)
		rc = json_object_set_new(o, "mode", json_string(pd_aux_mode_name(f->mode)));
	return json_array_append_new(list, o) ?: rc;
}

static int put_take_json(json_t *list, const struct aux_take *t)
{
	const struct pd_aux_ring *a = &t->ring;
	const struct member all[] = {
		{"number", t->number},	  {"asked", a->asked},	     {"new", a->fresh},
		{"old", a->old},	  {"written", a->written},   {"first", a->first},
		{"last", a->last},	  {"position", a->position}, {"area", a->area},
		{"window_ns", a->window},
	};
	json_t *o = json_object();
	int rc = put_members(o, a->idx, a->cpu, a->tid, all, sizeof(all) / sizeof(all[0]));

	if (!rc)
		rc = json_object_set_new(o, "active", json_boolean(a->active))
			     ?: json_object_set_new(o, "scope",
						    json_string(pd_aux_scope_name(a->scope)));
	return json_array_append_new(list, o) ?: rc;
}

json_t *aux_json(const struct aux_rings *r)
{
	json_t *rings = json_array(), *takes = json_array(), *o;
	int rc = rings && takes ? 0 : -1;

	for (size_t i = 0; !rc && i < r->nr; i++)
		rc = put_ring_json(rings, &r->rings[i]);
	for (size_t i = 0; !rc && i < r->nr_takes; i++)
		rc = put_take_json(takes, &r->takes[i]);
	o = rc ? NULL : json_pack("{s:O, s:O}", "rings", rings, "snapshots", takes);
	json_decref(rings);
	json_decref(takes);
	return o;
}
