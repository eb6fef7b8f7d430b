// SPDX-License-Identifier: Apache-2.0
#include "export/html/tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "export/html/part.h"
#include "export/html/table.h"
#include "export/wire/json_out.h"

/* Keys have no padding. */
struct html_node {
	uint32_t parent; /* INTERN_NONE: none */
	uint32_t function;
};

struct html_place {
	uint32_t function, line;
};

const struct html_tree html_tree_empty = {
	.functions = EXPORT_FUNCTIONS_INIT,
	.nodes = {.size = sizeof(struct html_node)},
	.stacks = {.size = sizeof(uint32_t)},
	.places = {.size = sizeof(struct html_place)},
	.dsos = {.size = sizeof(const struct dso *)},
};

/* --- numbers -------------------------------------------------------------------------------------
 */

static char level_of(const struct frame *frame)
{
	const struct dso *dso = frame->dso;

	switch (frame_level(frame->cpumode)) {
	case 'k': return 'k';
	case 'g':
	case 'u': return 'g';
	case 'H': return 'h';
	default: return dso && (dso->kind == DSO_JIT || dso->jit_pid) ? 'j' : 'u';
	}
}

uint32_t html_tree_function(struct html_tree *t, const struct frame *frame)
{
	uint32_t number = export_function_of(&t->functions, frame);
	struct html_function fn = {.file = INTERN_NONE};
	const char *file = export_file_of(frame);

	if (number == INTERN_NONE ||
	    array_grow(&t->known, &t->cap_known, (size_t)number + 1, sizeof(*t->known)))
		return INTERN_NONE;
	if (number < t->nr_known)
		return number;
	fn.level = level_of(frame);
	fn.inlined = frame->in != NULL;
	if (file && !export_name(file, &t->text))
		fn.file = intern_string(&t->files, (const char *)t->text.data, t->text.len);
	if (frame->dso && intern_put(&t->dsos, &frame->dso) == INTERN_NONE)
		return INTERN_NONE;
	t->known[t->nr_known++] = fn;
	return number;
}

int html_tree_put(struct html_tree *t, const struct export_sample *s, uint32_t *ret_stack,
		  uint32_t *ret_place)
{
	struct html_node node = {.parent = INTERN_NONE};
	struct html_place place = {.function = INTERN_NONE};
	uint32_t number = INTERN_NONE, line = INTERN_NONE, leaf;

	for (size_t i = s->nr_frames; i--;) {
		node.function = html_tree_function(t, &s->frame[i]);
		node.parent = number;
		number = node.function == INTERN_NONE ? INTERN_NONE : intern_put(&t->nodes, &node);
		if (number == INTERN_NONE)
			return -ENOMEM;
	}
	if (s->nr_frames)
		place = (struct html_place){node.function, export_line_of(&s->frame[0])};
	if (place.line) {
		line = intern_put(&t->places, &place);
		if (line == INTERN_NONE)
			return -ENOMEM;
	}
	leaf = number + 1; /* INTERN_NONE becomes 0 */
	*ret_stack = intern_put(&t->stacks, &leaf);
	*ret_place = line;
	return *ret_stack == INTERN_NONE ? -ENOMEM : 0;
}

/* --- output --------------------------------------------------------------------------------------
 */

/* Adds the text in @t->text to @json, as a string. */
static int put_text(struct html_tree *t, struct buf *json)
{
	return json_append_string(json, (const char *)t->text.data, t->text.len);
}

/* Writes [name, dso, level, inlined, file] of a function; without a dso or file -1. */
static int put_function(struct html_tree *t, uint32_t number, struct buf *json)
{
	const struct export_function *fn = export_function_at(&t->functions, number);
	const struct html_function *known = &t->known[number];
	int dso = fn->dso ? (int)intern_put(&t->dsos, &fn->dso) : -1;
	int rc = export_function_name(fn, &t->text);

	rc = rc ?: buf_append(json, number ? ",\n[" : "[", number ? 3 : 1);
	return rc ?: put_text(t, json) ?: buf_printf(json, ",%d,\"%c\",%d,%d]", dso, known->level,
						      known->inlined, (int)known->file);
}

/* Hands @json to the part. */
static void flush(struct html_part *p, struct buf *json)
{
	html_part_put(p, json->data, json->len);
	json->len = 0;
}

static int put_dsos(struct html_tree *t, struct html_part *p, struct buf *json)
{
	int rc = buf_printf(json, "],\"dsos\":[");

	for (uint32_t i = 0; !rc && i < intern_count(&t->dsos); i++) {
		const struct dso *const *dso = intern_at(&t->dsos, i);

		rc = export_name((*dso)->short_name, &t->text) ?:
		     buf_append(json, i ? ",[" : "[", i ? 2 : 1) ?: put_text(t, json) ?:
		     export_name((*dso)->line_name, &t->text) ?: buf_append(json, ",", 1) ?:
		     put_text(t, json) ?: buf_append(json, "]", 1);
		flush(p, json);
	}
	return rc;
}

static int put_files(struct html_tree *t, struct html_part *p, struct buf *json)
{
	int rc = buf_printf(json, "],\"files\":[");

	for (uint32_t i = 0; !rc && i < t->files.table.nr; i++) {
		size_t len;
		const char *s = intern_string_at(&t->files, i, &len);

		rc = i ? buf_append(json, ",", 1) : 0;
		rc = rc ?: json_append_string(json, s, len);
		flush(p, json);
	}
	return rc ?: buf_printf(json, "]}");
}

static int write_functions(struct html_tree *t, struct out *out)
{
	struct buf json = {0};
	struct html_part p;
	int rc;

	html_part_begin(&p, out, "functions");
	rc = buf_printf(&json, "{\"functions\":[");
	for (uint32_t i = 0; !rc && i < intern_count(&t->functions.keys); i++) {
		rc = put_function(t, i, &json);
		flush(&p, &json);
	}
	rc = rc ?: put_dsos(t, &p, &json) ?: put_files(t, &p, &json);
	flush(&p, &json);
	buf_release(&json);
	return html_part_end(&p) ?: rc;
}

static int write_nodes(struct html_tree *t, struct out *out)
{
	struct html_table table = {.nr_columns = 2};
	int rc = 0;

	for (uint32_t i = 0; !rc && i < intern_count(&t->nodes); i++) {
		const struct html_node *n = intern_at(&t->nodes, i);
		uint64_t back = n->parent == INTERN_NONE ? 0 : i - n->parent;

		rc = html_table_add(&table, (const uint64_t[]){back, n->function});
	}
	rc = rc ?: html_table_write(&table, out, "nodes");
	html_table_release(&table);
	return rc;
}

/* Writes the differences of the leaves' numbers plus one. */
static int write_stacks(struct html_tree *t, struct out *out)
{
	struct html_table table = {.nr_columns = 1};
	uint32_t before = 0;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < intern_count(&t->stacks); i++) {
		const uint32_t *leaf = intern_at(&t->stacks, i);

		rc = html_table_add(&table,
				    (const uint64_t[]){html_zigzag((int64_t)*leaf - before)});
		before = *leaf;
	}
	rc = rc ?: html_table_write(&table, out, "stacks");
	html_table_release(&table);
	return rc;
}

static int write_places(struct html_tree *t, struct out *out)
{
	struct html_table table = {.nr_columns = 2};
	int rc = 0;

	for (uint32_t i = 0; !rc && i < intern_count(&t->places); i++) {
		const struct html_place *p = intern_at(&t->places, i);

		rc = html_table_add(&table, (const uint64_t[]){p->function, p->line});
	}
	rc = rc ?: html_table_write(&table, out, "places");
	html_table_release(&table);
	return rc;
}

int html_tree_write(struct html_tree *t, struct out *out)
{
	return write_functions(t, out) ?: write_nodes(t, out) ?: write_stacks(t, out)
	       ?: write_places(t, out);
}

void html_tree_release(struct html_tree *t)
{
	export_functions_release(&t->functions);
	intern_release(&t->nodes);
	intern_release(&t->stacks);
	intern_release(&t->places);
	intern_release(&t->dsos);
	intern_strings_release(&t->files);
	buf_release(&t->text);
	free(t->known);
}
