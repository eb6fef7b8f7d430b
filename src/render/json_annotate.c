// SPDX-License-Identifier: Apache-2.0
#include "render/json_annotate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "render/json.h"

static int put(json_t *object, const char *key, json_t *value)
{
	return value && json_object_set_new(object, key, value) == 0 ? 0 : -ENOMEM;
}

static json_t *json_address(uint64_t addr)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, addr);
	return json_string(text);
}

static int put_weight(json_t *o, const struct annotate_weight *w, const struct annotate_weight *all,
		      const struct annotate_opts *opts)
{
	return put(o, "percent", json_real(annotate_percent(w, all, opts)))
		       ?: put(o, "period", json_count(w->period))
		       ?: put(o, "samples", json_count(w->samples));
}

static json_t *json_bytes(const uint8_t *bytes, size_t len)
{
	char text[2 * UINT8_MAX + 1];

	for (size_t i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return json_stringn(text, 2 * len);
}

static int put_target(json_t *o, const struct annotate_view *v, const struct disasm_insn *insn)
{
	const struct symbol *sym = resolver_find(v->annotate->trace->resolver, v->function->dso, 0,
						 insn->target - v->listing->code->to_file);

	if (put(o, "target", json_address(insn->target)))
		return -ENOMEM;
	return sym ? put(o, "target_symbol", json_name(sym->name)) : 0;
}

static int put_place(json_t *o, const struct annotate_view *v, uint64_t addr)
{
	struct line_frame at;

	if (!v->source || !source_place(v->source, addr, &at))
		return 0;
	if (put(o, "file", json_name(at.file)) || put(o, "line", json_count(at.line)))
		return -ENOMEM;
	return at.inlined && at.function ? put(o, "inlined", json_name(at.function)) : 0;
}

static json_t *row_json(const struct annotate_view *v, size_t i, const struct disasm_insn *insn,
			const struct annotate_weight *weight)
{
	size_t e = v->events[0];
	const struct annotate_weight *all =
		v->opts->global ? &v->annotate->whole[e] : &v->function->total[e];
	json_t *o = json_object();

	if (!o || put(o, "address", json_address(insn->addr)) ||
	    put(o, "bytes", json_bytes(listing_bytes(v->listing, i), insn->size)) ||
	    put(o, "text", json_string(insn->text)) || put_weight(o, &weight[e], all, v->opts) ||
	    (insn->has_target && put_target(o, v, insn)) ||
	    put_place(o, v, v->listing->code->start + v->listing->offset[i]) ||
	    (insn->has_data && put(o, "data", json_address(insn->data)))) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static json_t *head_json(const struct annotate_view *v)
{
	const struct annotate *a = v->annotate;
	const struct annotate_function *f = v->function;
	size_t e = v->events[0];
	json_t *o = json_object();

	if (!o || put(o, "event", json_name(pd_evlist_at(a->trace->evlist, e)->name)) ||
	    put(o, "symbol", json_name(f->sym->name)) || put(o, "dso", json_name(f->dso->name)) ||
	    put_weight(o, &f->total[e], &a->whole[e], v->opts) ||
	    (v->why && put(o, "error", json_name(v->why))) ||
	    (v->listing && v->listing->code->truncated && put(o, "truncated", json_true()))) {
		json_decref(o);
		return NULL;
	}
	return o;
}

/* Writes and frees @value. */
static int dump(FILE *out, json_t *value, size_t flags)
{
	int rc = value ? json_dumpf(value, out, JSON_COMPACT | JSON_REAL_PRECISION(6) | flags)
		       : -ENOMEM;

	json_decref(value);
	return rc == -1 ? -EIO : rc;
}

/* Writes the rows; only one is in memory at a time. */
static int put_rows(FILE *out, const struct annotate_view *v, struct annotate_weight *weight)
{
	const struct function_code *code = v->listing->code;
	size_t cursor = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < v->listing->nr; i++) {
		uint64_t at = code->start + v->listing->offset[i];
		struct disasm_insn insn;

		listing_insn(v->listing, i, &insn);
		annotate_sum(v->annotate, v->function, at, at + insn.size, &cursor, weight);
		fputs(i ? ",\n    " : "\n    ", out);
		rc = dump(out, row_json(v, i, &insn, weight), 0);
	}
	return rc;
}

int annotate_json(FILE *out, const struct annotate_view *v)
{
	struct annotate_weight *weight = calloc(v->annotate->nr_events + 1, sizeof(*weight));
	int rc = -ENOMEM;

	if (weight) {
		putc('{', out);
		rc = dump(out, head_json(v), JSON_EMBED);
		fputs(",\n   \"instructions\": [", out);
		if (!rc && v->listing)
			rc = put_rows(out, v, weight);
		fputs("]}", out);
	}
	free(weight);
	return rc;
}
