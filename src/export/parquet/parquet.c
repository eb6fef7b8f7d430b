// SPDX-License-Identifier: Apache-2.0
#include "export/parquet/parquet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/stream/functions.h"
#include "export/wire/parquet_file.h"

enum { SAMPLES, STACKS, MAPS, NR_TABLES };

/* Columns, in the order of the man page. */
enum {
	SAMPLE_TIME,
	SAMPLE_EVENT,
	SAMPLE_CPU,
	SAMPLE_PID,
	SAMPLE_TID,
	SAMPLE_COMM,
	SAMPLE_CGROUP,
	SAMPLE_PERIOD,
	SAMPLE_STACK,
	SAMPLE_ADDRESS,
	NR_SAMPLE_COLUMNS
};
enum { STACK_STACK, STACK_DEPTH, STACK_FUNCTION, STACK_INLINED, STACK_MAP, NR_STACK_COLUMNS };
enum { MAP_MAP, MAP_FILE, MAP_BUILD_ID, NR_MAP_COLUMNS };

static const struct parquet_column sample_columns[NR_SAMPLE_COLUMNS] = {
	[SAMPLE_TIME] = {"time", PARQUET_RISING},
	[SAMPLE_EVENT] = {"event", PARQUET_STRING},
	[SAMPLE_CPU] = {"cpu", PARQUET_INT32},
	[SAMPLE_PID] = {"pid", PARQUET_INT32},
	[SAMPLE_TID] = {"tid", PARQUET_INT32},
	[SAMPLE_COMM] = {"comm", PARQUET_STRING},
	[SAMPLE_CGROUP] = {"cgroup", PARQUET_STRING},
	[SAMPLE_PERIOD] = {"period", PARQUET_INT64},
	[SAMPLE_STACK] = {"stack", PARQUET_INT32},
	[SAMPLE_ADDRESS] = {"address", PARQUET_ADDRESS},
};

static const struct parquet_column stack_columns[NR_STACK_COLUMNS] = {
	[STACK_STACK] = {"stack", PARQUET_INT32},
	[STACK_DEPTH] = {"depth", PARQUET_INT32},
	[STACK_FUNCTION] = {"function", PARQUET_STRING},
	[STACK_INLINED] = {"inlined", PARQUET_BOOL},
	[STACK_MAP] = {"map", PARQUET_INT32},
};

static const struct parquet_column map_columns[NR_MAP_COLUMNS] = {
	[MAP_MAP] = {"map", PARQUET_INT32},
	[MAP_FILE] = {"file", PARQUET_STRING},
	[MAP_BUILD_ID] = {"build_id", PARQUET_STRING},
};

static const struct {
	const struct parquet_column *column;
	size_t nr;
} schema[NR_TABLES] = {
	[SAMPLES] = {sample_columns, NR_SAMPLE_COLUMNS},
	[STACKS] = {stack_columns, NR_STACK_COLUMNS},
	[MAPS] = {map_columns, NR_MAP_COLUMNS},
};

/* Key of a frame with its callers; without padding. */
struct parquet_node {
	uint32_t parent; /* number of the caller's node; INTERN_NONE: none */
	uint32_t function;
	uint32_t inlined;
};

struct parquet {
	const struct export_job *job;
	struct parquet_file table[NR_TABLES];
	struct export_functions functions;
	struct intern nodes;
	struct intern stacks; /* innermost nodes */
	struct intern maps;   /* dsos */
	struct buf text;
};

static int put_text(struct parquet *w, size_t table, size_t column)
{
	return parquet_string(&w->table[table], column, (const char *)w->text.data, w->text.len);
}

static int put_name(struct parquet *w, size_t table, size_t column, const char *name)
{
	return export_name(name, &w->text) ? -ENOMEM : put_text(w, table, column);
}

/* --- maps and stacks, written when they are first seen -------------------------------------------
 */

static int write_map(struct parquet *w, uint32_t number, const struct dso *dso)
{
	struct parquet_file *t = &w->table[MAPS];
	int rc = parquet_int(t, MAP_MAP, number) ?: put_name(w, MAPS, MAP_FILE, dso->line_name);

	rc = rc ?: export_build_id(dso, &w->text);
	return rc ?: put_text(w, MAPS, MAP_BUILD_ID) ?: parquet_end_row(t);
}

/* Sets *@ret to the number of a map; -1: none. */
static int map_of(struct parquet *w, const struct dso *dso, int64_t *ret)
{
	uint32_t known = intern_count(&w->maps), number;

	*ret = -1;
	if (!dso)
		return 0;
	number = intern_put(&w->maps, &dso);
	if (number == INTERN_NONE)
		return -ENOMEM;
	*ret = number;
	return number == known ? write_map(w, number, dso) : 0;
}

static int write_frame(struct parquet *w, uint32_t stack, size_t depth,
		       const struct parquet_node *node)
{
	const struct export_function *fn = export_function_at(&w->functions, node->function);
	struct parquet_file *t = &w->table[STACKS];
	int64_t map;
	int rc = map_of(w, fn->dso, &map);

	rc = rc ?: parquet_int(t, STACK_STACK, stack);
	rc = rc ?: parquet_int(t, STACK_DEPTH, (int64_t)depth);
	rc = rc ?: parquet_int(t, STACK_INLINED, node->inlined);
	rc = rc ?: parquet_int(t, STACK_MAP, map);
	rc = rc ?: export_function_name(fn, &w->text);
	return rc ?: put_text(w, STACKS, STACK_FUNCTION) ?: parquet_end_row(t);
}

static int write_stack(struct parquet *w, uint32_t stack, uint32_t at)
{
	int rc = 0;

	for (size_t depth = 0; !rc && at != INTERN_NONE; depth++) {
		const struct parquet_node *node = intern_at(&w->nodes, at);

		rc = write_frame(w, stack, depth, node);
		at = node->parent;
	}
	return rc;
}

static int stack_of(struct parquet *w, const struct export_sample *s, uint32_t *ret)
{
	struct parquet_node node = {.parent = INTERN_NONE};
	uint32_t known = intern_count(&w->stacks);

	for (size_t i = s->nr_frames; i--;) {
		node.function = export_function_of(&w->functions, &s->frame[i]);
		node.inlined = s->frame[i].in != NULL;
		if (node.function == INTERN_NONE)
			return -ENOMEM;
		node.parent = intern_put(&w->nodes, &node);
		if (node.parent == INTERN_NONE)
			return -ENOMEM;
	}
	*ret = intern_put(&w->stacks, &node.parent);
	if (*ret == INTERN_NONE)
		return -ENOMEM;
	return *ret == known ? write_stack(w, *ret, node.parent) : 0;
}

/* --- samples -------------------------------------------------------------------------------------
 */

static int put_cgroup(struct parquet *w, const struct pd_sample *p)
{
	const char *cgroup =
		p->type & PERF_SAMPLE_CGROUP ? state_cgroup(w->job->trace->state, p->cgroup) : NULL;

	return put_name(w, SAMPLES, SAMPLE_CGROUP, cgroup ?: "");
}

static int parquet_sample(void *writer, const struct export_sample *s)
{
	struct parquet *w = writer;
	const struct pd_sample *p = &s->ws->s;
	struct parquet_file *t = &w->table[SAMPLES];
	uint32_t stack;
	int rc = stack_of(w, s, &stack);

	rc = rc ?: parquet_int(t, SAMPLE_TIME, (int64_t)p->time);
	rc = rc ?: put_name(w, SAMPLES, SAMPLE_EVENT, s->ws->evsel->name);
	rc = rc ?: parquet_int(t, SAMPLE_CPU, (int32_t)p->cpu);
	rc = rc ?: parquet_int(t, SAMPLE_PID, (int32_t)p->pid);
	rc = rc ?: parquet_int(t, SAMPLE_TID, (int32_t)p->tid);
	rc = rc ?: export_comm(s->comm, p->tid, &w->text) ?: put_text(w, SAMPLES, SAMPLE_COMM);
	rc = rc ?: put_cgroup(w, p);
	rc = rc
		     ?: parquet_int(t, SAMPLE_PERIOD,
				    (int64_t)(p->period < INT64_MAX ? p->period : INT64_MAX));
	rc = rc ?: parquet_int(t, SAMPLE_STACK, stack);
	rc = rc
		     ?: parquet_int(t, SAMPLE_ADDRESS,
				    (int64_t)(s->nr_frames ? s->frame[0].addr : p->ip));
	return rc ?: parquet_end_row(t);
}

/* --- beginning and end ---------------------------------------------------------------------------
 */

static void parquet_free(void *writer)
{
	struct parquet *w = writer;

	if (!w)
		return;
	for (size_t i = 0; i < NR_TABLES; i++)
		parquet_release(&w->table[i]);
	export_functions_release(&w->functions);
	intern_release(&w->nodes);
	intern_release(&w->stacks);
	intern_release(&w->maps);
	buf_release(&w->text);
	free(w);
}

static int parquet_open(const struct export_job *job, void **ret)
{
	struct parquet *w = calloc(1, sizeof(*w));
	int rc = 0;

	if (!w)
		return -ENOMEM;
	*w = (struct parquet){
		.job = job,
		.functions = EXPORT_FUNCTIONS_INIT,
		.nodes = {.size = sizeof(struct parquet_node)},
		.stacks = {.size = sizeof(uint32_t)},
		.maps = {.size = sizeof(const struct dso *)},
	};
	*ret = w;
	for (size_t i = 0; !rc && i < NR_TABLES; i++)
		rc = parquet_begin(&w->table[i], &job->out[i], schema[i].column, schema[i].nr);
	return rc;
}

static int parquet_close(void *writer)
{
	struct parquet *w = writer;
	int rc = 0;

	for (size_t i = 0; !rc && i < NR_TABLES; i++)
		rc = parquet_end(&w->table[i]);
	return rc;
}

static const char *const files[] = {"samples.parquet", "stacks.parquet", "maps.parquet", NULL};

const struct export_format export_parquet = {
	.name = "parquet",
	.about = "DuckDB, ClickHouse and other engines that read Parquet",
	.binary = true,
	.files = files,
	.open = parquet_open,
	.sample = parquet_sample,
	.close = parquet_close,
	.free = parquet_free,
};
