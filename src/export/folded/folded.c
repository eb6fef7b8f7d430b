// SPDX-License-Identifier: Apache-2.0
#include "export/folded/folded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/stream/functions.h"
#include "export/wire/intern.h"

/* A stack is its outer part and one name more. */
struct folded_node {
	uint32_t parent; /* number of the outer part; INTERN_NONE: none */
	uint32_t name;	 /* number of the string */
};

/* Commands share stacks. */
struct folded_line {
	uint32_t stack; /* INTERN_NONE: without frames */
	uint32_t comm;	/* number of the string */
};

struct folded {
	const struct export_job *job;
	struct export_functions functions;
	uint32_t *names; /* of functions: number of the string */
	size_t nr_names, cap_names;
	struct intern_strings strings;
	struct intern nodes, lines;
	uint64_t *values; /* by line */
	size_t nr_values, cap_values;
	struct buf text;
	uint32_t *path; /* of the stack that is written */
	size_t cap_path;
};

static int folded_open(const struct export_job *job, void **ret)
{
	struct folded *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	*w = (struct folded){
		.job = job,
		.functions = EXPORT_FUNCTIONS_INIT,
		.nodes = {.size = sizeof(struct folded_node)},
		.lines = {.size = sizeof(struct folded_line)},
	};
	*ret = w;
	return 0;
}

/* Returns the number of the name in @w->text, in which ';' would separate. */
static uint32_t put_text(struct folded *w)
{
	for (size_t i = 0; i < w->text.len; i++)
		if (w->text.data[i] == ';')
			w->text.data[i] = ':';
	return intern_string(&w->strings, (const char *)w->text.data, w->text.len);
}

static int name_of(struct folded *w, const struct frame *frame, uint32_t *ret)
{
	uint32_t function = export_function_of(&w->functions, frame);

	if (function == INTERN_NONE)
		return -ENOMEM;
	if (function == w->nr_names) {
		if (array_grow(&w->names, &w->cap_names, w->nr_names + 1, sizeof(*w->names)) ||
		    export_function_name(export_function_at(&w->functions, function), &w->text))
			return -ENOMEM;
		w->names[w->nr_names++] = put_text(w);
	}
	*ret = w->names[function];
	return *ret == INTERN_NONE ? -ENOMEM : 0;
}

/* Returns the number of the line of @s, or INTERN_NONE. */
static uint32_t line_of(struct folded *w, const struct export_sample *s)
{
	struct folded_line line = {.stack = INTERN_NONE};
	struct folded_node node;

	for (size_t i = s->nr_frames; i--;) {
		node.parent = line.stack;
		if (name_of(w, &s->frame[i], &node.name))
			return INTERN_NONE;
		line.stack = intern_put(&w->nodes, &node);
		if (line.stack == INTERN_NONE)
			return INTERN_NONE;
	}
	if (export_comm(s->comm, s->ws->s.tid, &w->text))
		return INTERN_NONE;
	line.comm = put_text(w);
	return line.comm == INTERN_NONE ? INTERN_NONE : intern_put(&w->lines, &line);
}

static int folded_sample(void *writer, const struct export_sample *s)
{
	struct folded *w = writer;
	uint64_t value = w->job->opts->periods ? s->ws->s.period : 1;
	uint32_t line = line_of(w, s);

	if (line == INTERN_NONE ||
	    array_grow(&w->values, &w->cap_values, intern_count(&w->lines), sizeof(*w->values)))
		return -ENOMEM;
	if (line == w->nr_values)
		w->values[w->nr_values++] = 0;
	if (__builtin_add_overflow(w->values[line], value, &w->values[line]))
		w->values[line] = UINT64_MAX;
	return 0;
}

static void put_string(struct folded *w, uint32_t number)
{
	size_t len;
	const char *s = intern_string_at(&w->strings, number, &len);

	out_put(w->job->out, s, len);
}

static int write_line(struct folded *w, uint32_t number)
{
	const struct folded_line *line = intern_at(&w->lines, number);
	struct out *out = w->job->out;
	size_t depth = 0;

	for (uint32_t at = line->stack; at != INTERN_NONE; depth++) {
		const struct folded_node *node = intern_at(&w->nodes, at);

		if (array_grow(&w->path, &w->cap_path, depth + 1, sizeof(*w->path)))
			return -ENOMEM;
		w->path[depth] = node->name;
		at = node->parent;
	}
	put_string(w, line->comm);
	while (depth--) {
		out_put(out, ";", 1);
		put_string(w, w->path[depth]);
	}
	out_printf(out, " %" PRIu64 "\n", w->values[number]);
	return out->rc;
}

static int folded_close(void *writer)
{
	struct folded *w = writer;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < w->nr_values; i++)
		if (w->values[i])
			rc = write_line(w, i);
	return rc;
}

static void folded_free(void *writer)
{
	struct folded *w = writer;

	if (!w)
		return;
	export_functions_release(&w->functions);
	intern_strings_release(&w->strings);
	intern_release(&w->nodes);
	intern_release(&w->lines);
	buf_release(&w->text);
	free(w->names);
	free(w->values);
	free(w->path);
	free(w);
}

const struct export_format export_folded = {
	.name = "folded",
	.about = "a line for each stack: flamegraph.pl, speedscope",
	.one_event = true,
	.waits = true,
	.open = folded_open,
	.sample = folded_sample,
	.close = folded_close,
	.free = folded_free,
};
