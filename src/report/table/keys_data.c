// SPDX-License-Identifier: Apache-2.0
#include "report/table/keys_priv.h"

#include <errno.h>
#include <inttypes.h>

#include "symbol/types/types.h"

#define LINE 64 /* bytes of a line of the cache */

static const struct data_type *type_of(const struct key_source *src)
{
	const struct frame *f = src->frame;

	return data_types_find(src->trace->types, f->dso, f->in ? f->in : f->sym, f->addr);
}

static int set_text(const struct key_source *src, struct buf *text, int rc, struct hist_cell *ret)
{
	const char *own = NULL;

	if (!rc)
		own = strpool_intern_len(src->names->pool, (const char *)text->data, text->len);
	buf_release(text);
	*ret = (struct hist_cell){.a = (uintptr_t)own};
	return own ? 0 : -ENOMEM;
}

static int type_cell(const struct key_source *src, struct hist_cell *ret)
{
	struct buf text = {0};

	return set_text(src, &text, buf_printf(&text, "%s", type_of(src)->name), ret);
}

static int put_offset(const struct data_type *t, struct buf *out)
{
	if (!t->is_known)
		return 0;
	return t->offset ? buf_printf(out, " +0x%" PRIx64 " (%s)", t->offset,
				      t->field ? t->field : "no field")
			 : buf_printf(out, " +0 (%s)", t->field ? t->field : "no field");
}

static int typeoff_cell(const struct key_source *src, struct hist_cell *ret)
{
	const struct data_type *t = type_of(src);
	struct buf text = {0};
	int rc = buf_printf(&text, "%s", t->name);

	return set_text(src, &text, rc ? rc : put_offset(t, &text), ret);
}

static int typecln_cell(const struct key_source *src, struct hist_cell *ret)
{
	const struct data_type *t = type_of(src);
	struct buf text = {0};
	int rc = buf_printf(&text, "%s: cache-line %" PRIu64, t->name, t->offset / LINE);

	return set_text(src, &text, rc, ret);
}

// clang-format off
const struct sort_key data_keys[] = {
	{"type", NULL, "Data Type", false, true, 0, true, type_cell, key_string_text, key_compare_strings, .of_place = true, .of_data = true},
	{"typeoff", NULL, "Data Type Offset", false, true, 0, true, typeoff_cell, key_string_text, key_compare_strings, .of_place = true, .of_data = true},
	{"typecln", NULL, "Data Type Cacheline", false, true, 0, true, typecln_cell, key_string_text, key_compare_strings, .of_place = true, .of_data = true},
};
// clang-format on

const size_t nr_data_keys = sizeof(data_keys) / sizeof(data_keys[0]);
