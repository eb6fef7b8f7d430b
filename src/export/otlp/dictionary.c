// SPDX-License-Identifier: Apache-2.0
#include "export/otlp/dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/otlp/fields.h"

#define PAGE 4096

/* Index 0 of tables is taken; that of strings is the empty string. */
static uint64_t index_of(uint32_t number)
{
	return (uint64_t)number + 1;
}

/* --- strings and attributes ----------------------------------------------------------------------
 */

/* Returns the index of the text in @d->text. */
static uint32_t put_text(struct otlp_dictionary *d)
{
	return intern_string(&d->strings, (const char *)d->text.data, d->text.len);
}

int otlp_string(struct otlp_dictionary *d, const char *s, uint32_t *ret)
{
	if (export_name(s, &d->text))
		return -ENOMEM;
	*ret = put_text(d);
	return *ret == INTERN_NONE ? -ENOMEM : 0;
}

/* A value that is a text is in @d->text. */
static int put_attribute(struct otlp_dictionary *d, const char *name, struct otlp_attribute *key,
			 uint32_t *ret)
{
	uint32_t known = intern_count(&d->attributes), number;
	struct proto *p = &d->encoded;
	size_t begin, value;

	key->key = intern_string(&d->strings, name, strlen(name));
	if (key->key == INTERN_NONE)
		return -ENOMEM;
	number = intern_put(&d->attributes, key);
	if (number == INTERN_NONE)
		return -ENOMEM;
	*ret = (uint32_t)index_of(number);
	if (number != known)
		return 0;
	begin = proto_begin(p, DICTIONARY_ATTRIBUTE);
	proto_uint(p, ATTRIBUTE_KEY, key->key);
	value = proto_begin(p, ATTRIBUTE_VALUE);
	if (key->is_text)
		proto_bytes(p, ANY_STRING, d->text.data, d->text.len);
	else
		proto_set(p, ANY_INT, key->value);
	proto_end(p, value);
	proto_end(p, begin);
	return p->rc;
}

int otlp_attribute_text(struct otlp_dictionary *d, const char *key, uint32_t *ret)
{
	uint32_t text = intern_string(&d->texts, (const char *)d->text.data, d->text.len);
	struct otlp_attribute a = {.is_text = 1, .value = text};

	return text == INTERN_NONE ? -ENOMEM : put_attribute(d, key, &a, ret);
}

int otlp_attribute_number(struct otlp_dictionary *d, const char *key, uint64_t n, uint32_t *ret)
{
	struct otlp_attribute a = {.value = n};

	return put_attribute(d, key, &a, ret);
}

/* --- functions, mappings and locations -----------------------------------------------------------
 */

/* Sets *@ret to the index of the function of @frame, which is encoded when it is first seen. */
static int put_function(struct otlp_dictionary *d, const struct frame *frame, uint64_t *ret)
{
	uint32_t number = export_function_of(&d->functions, frame), name, path = 0;
	const char *file = export_file_of(frame);
	struct proto *p = &d->encoded;
	size_t begin;

	if (number == INTERN_NONE)
		return -ENOMEM;
	*ret = index_of(number);
	if (number < d->nr_functions)
		return 0;
	if (export_function_name(export_function_at(&d->functions, number), &d->text))
		return -ENOMEM;
	name = put_text(d);
	if (name == INTERN_NONE || (file && otlp_string(d, file, &path)))
		return -ENOMEM;
	begin = proto_begin(p, DICTIONARY_FUNCTION);
	proto_uint(p, FUNCTION_NAME, name);
	proto_uint(p, FUNCTION_SYSTEM_NAME, name);
	proto_uint(p, FUNCTION_FILE, path);
	proto_end(p, begin);
	d->nr_functions++;
	return p->rc;
}

/* Sets *@ret to the index of the mapping of the location's dso; 0: none. */
static int note_mapping(struct otlp_dictionary *d, const struct export_location *l, uint64_t *ret)
{
	struct otlp_range *r;
	uint32_t number;

	*ret = 0;
	if (!l->dso)
		return 0;
	number = intern_put(&d->dsos, &l->dso);
	if (number == INTERN_NONE ||
	    array_grow(&d->ranges, &d->cap_ranges, (size_t)number + 1, sizeof(*d->ranges)))
		return -ENOMEM;
	r = &d->ranges[number];
	if (number == d->nr_ranges) {
		*r = (struct otlp_range){l->addr, l->addr};
		d->nr_ranges++;
	}
	r->first = l->addr < r->first ? l->addr : r->first;
	r->last = l->addr > r->last ? l->addr : r->last;
	*ret = index_of(number);
	return 0;
}

static bool is_kernel(uint8_t cpumode)
{
	return cpumode == PERF_RECORD_MISC_KERNEL || cpumode == PERF_RECORD_MISC_GUEST_KERNEL;
}

/* Appends a packed field of one number. */
static void put_index(struct proto *p, unsigned int field, uint32_t index)
{
	size_t begin = proto_begin(p, field);

	proto_varint(p, index);
	proto_end(p, begin);
}

static int put_location(uint32_t number, const struct export_location *l, const struct frame *frame,
			void *arg)
{
	struct otlp_dictionary *d = arg;
	uint64_t functions[INLINED_MAX], mapping;
	size_t n = (size_t)l->nr_frames, begin, line;
	struct proto *p = &d->encoded;
	uint32_t type;
	int rc = note_mapping(d, l, &mapping);

	(void)number; /* locations are encoded in their order */
	for (size_t i = 0; !rc && i < n; i++)
		rc = put_function(d, &frame[i], &functions[i]);
	rc = rc ?: export_name(is_kernel(frame->cpumode) ? "kernel" : "native", &d->text);
	rc = rc ?: otlp_attribute_text(d, "profile.frame.type", &type);
	if (rc)
		return rc;
	begin = proto_begin(p, DICTIONARY_LOCATION);
	proto_uint(p, LOCATION_MAPPING, mapping);
	proto_uint(p, LOCATION_ADDRESS, l->addr);
	for (size_t i = 0; i < n; i++) {
		line = proto_begin(p, LOCATION_LINE);
		proto_uint(p, LINE_FUNCTION, functions[i]);
		proto_uint(p, LINE_NUMBER, export_line_of(&frame[i]));
		proto_end(p, line);
	}
	put_index(p, LOCATION_ATTRIBUTES, type);
	proto_end(p, begin);
	return p->rc;
}

int otlp_stack(struct otlp_dictionary *d, const struct export_sample *s, uint32_t *ret)
{
	struct proto *p = &d->encoded;
	uint32_t node, known = intern_count(&d->used), number;
	size_t begin, part;
	int rc = export_stack_of(&d->stacks, s->frame, s->nr_frames, put_location, d, &node);

	if (rc)
		return rc;
	*ret = 0;
	if (node == INTERN_NONE)
		return 0;
	number = intern_put(&d->used, &node);
	if (number == INTERN_NONE)
		return -ENOMEM;
	*ret = (uint32_t)index_of(number);
	if (number != known)
		return 0;
	begin = proto_begin(p, DICTIONARY_STACK);
	part = proto_begin(p, STACK_LOCATIONS);
	while (node != INTERN_NONE) {
		const struct export_node *at = export_stack_at(&d->stacks, node);

		proto_varint(p, index_of(at->location));
		node = at->parent;
	}
	proto_end(p, part);
	proto_end(p, begin);
	return p->rc;
}

/* --- beginning and end ---------------------------------------------------------------------------
 */

int otlp_dictionary_begin(struct otlp_dictionary *d)
{
	static const unsigned int tables[] = {DICTIONARY_MAPPING, DICTIONARY_LOCATION,
					      DICTIONARY_FUNCTION, DICTIONARY_ATTRIBUTE,
					      DICTIONARY_STACK};
	static const uint8_t zeros[16];
	size_t begin;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		proto_length(&d->encoded, tables[i], 0);
	/* The empty link has ids of full length. */
	begin = proto_begin(&d->encoded, DICTIONARY_LINK);
	proto_bytes(&d->encoded, LINK_TRACE, zeros, 16);
	proto_bytes(&d->encoded, LINK_SPAN, zeros, 8);
	proto_end(&d->encoded, begin);
	if (intern_string(&d->strings, "", 0) == INTERN_NONE)
		return -ENOMEM;
	return d->encoded.rc;
}

/*
 * Addresses of a file are offsets in it, wherever processes have mapped it, so offset and address
 * of its mapping are the same.
 */
static int put_mapping(struct otlp_dictionary *d, uint32_t number)
{
	const struct dso *dso = *(const struct dso *const *)intern_at(&d->dsos, number);
	const struct otlp_range *r = &d->ranges[number];
	uint64_t start = r->first & ~(uint64_t)(PAGE - 1), limit = (r->last | (PAGE - 1)) + 1;
	struct proto *p = &d->encoded;
	uint32_t name, build_id = 0;
	size_t begin;
	int rc = otlp_string(d, dso->line_name, &name);

	if (!rc && dso->build_id_size)
		rc = export_build_id(dso, &d->text)
			     ?: otlp_attribute_text(d, "process.executable.build_id.gnu",
						    &build_id);
	if (rc)
		return rc;
	begin = proto_begin(p, DICTIONARY_MAPPING);
	proto_uint(p, MAPPING_START, start);
	proto_uint(p, MAPPING_LIMIT, limit ? limit : UINT64_MAX);
	proto_uint(p, MAPPING_OFFSET, dso->kind == DSO_ELF ? start : 0);
	proto_uint(p, MAPPING_FILE, name);
	if (build_id)
		put_index(p, MAPPING_ATTRIBUTES, build_id);
	proto_end(p, begin);
	return p->rc;
}

int otlp_dictionary_end(struct otlp_dictionary *d)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < d->nr_ranges; i++)
		rc = put_mapping(d, i);
	for (uint32_t i = 0; !rc && i < d->strings.table.nr; i++) {
		size_t len;
		const char *s = intern_string_at(&d->strings, i, &len);

		proto_bytes(&d->encoded, DICTIONARY_STRING, s, len);
	}
	return rc ?: d->encoded.rc;
}

void otlp_dictionary_release(struct otlp_dictionary *d)
{
	export_functions_release(&d->functions);
	export_stacks_release(&d->stacks);
	intern_strings_release(&d->strings);
	intern_strings_release(&d->texts);
	intern_release(&d->dsos);
	intern_release(&d->attributes);
	intern_release(&d->used);
	proto_release(&d->encoded);
	buf_release(&d->text);
	free(d->ranges);
}
