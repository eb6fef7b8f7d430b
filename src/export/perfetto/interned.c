// SPDX-License-Identifier: Apache-2.0
#include "export/perfetto/interned.h"

#include <errno.h>
#include <stdlib.h>

#include "export/perfetto/fields.h"

/* Ids count from 1; 0 is none. */
static uint64_t id_of(uint32_t number)
{
	return (uint64_t)number + 1;
}

/* Returns 1 if @sequence lacks the entry, and notes it; 0 if it has it; or -ENOMEM. */
static int is_new(struct perfetto_interned *in, uint32_t sequence, uint32_t table, uint32_t number)
{
	const struct perfetto_sent key = {sequence, table, number};
	uint32_t known = intern_count(&in->sent), at = intern_put(&in->sent, &key);

	return at == INTERN_NONE ? -ENOMEM : at == known;
}

static void put_string(struct proto *m, unsigned int table, uint32_t number, const void *s,
		       size_t n)
{
	size_t begin = proto_begin(m, table);

	proto_uint(m, STRING_IID, id_of(number));
	proto_bytes(m, STRING_TEXT, s, n);
	proto_end(m, begin);
}

static int put_function(struct perfetto_interned *in, uint32_t sequence, uint32_t number,
			struct proto *m)
{
	int rc = is_new(in, sequence, INTERNED_FUNCTION_NAMES, number);

	if (rc <= 0)
		return rc;
	rc = export_function_name(export_function_at(&in->functions, number), &in->text);
	if (!rc)
		put_string(m, INTERNED_FUNCTION_NAMES, number, in->text.data, in->text.len);
	return rc;
}

static int put_source(struct perfetto_interned *in, uint32_t sequence, uint32_t number,
		      struct proto *m)
{
	int rc = number == INTERN_NONE ? 0 : is_new(in, sequence, INTERNED_SOURCE_PATHS, number);
	const char *path;
	size_t len;

	if (rc <= 0)
		return rc;
	path = intern_string_at(&in->sources, number, &len);
	put_string(m, INTERNED_SOURCE_PATHS, number, path, len);
	return 0;
}

/*
 * Addresses of a file are offsets in it, wherever processes have mapped it, so its mapping begins
 * at 0. Where it ends is not known yet.
 */
static int put_mapping(struct perfetto_interned *in, uint32_t sequence, uint32_t number,
		       struct proto *m)
{
	const struct dso *dso = *(const struct dso *const *)intern_at(&in->dsos, number);
	int rc = is_new(in, sequence, INTERNED_MAPPINGS, number);
	bool has_build_id = dso && dso->build_id_size;
	size_t begin;

	if (rc <= 0)
		return rc;
	rc = export_name(dso ? dso->line_name : NULL, &in->text);
	if (rc)
		return rc;
	put_string(m, INTERNED_MAPPING_PATHS, number, in->text.data, in->text.len);
	if (has_build_id)
		put_string(m, INTERNED_BUILD_IDS, number, dso->build_id, dso->build_id_size);
	begin = proto_begin(m, INTERNED_MAPPINGS);
	proto_uint(m, MAPPING_IID, id_of(number));
	proto_uint(m, MAPPING_BUILD_ID, has_build_id ? id_of(number) : 0);
	proto_set(m, MAPPING_START, 0);
	proto_set(m, MAPPING_END, dso && dso->kind == DSO_ELF ? INT64_MAX : UINT64_MAX);
	proto_uint(m, MAPPING_PATHS, id_of(number));
	proto_end(m, begin);
	return 0;
}

static int put_frame(struct perfetto_interned *in, uint32_t sequence, uint32_t number,
		     struct proto *m)
{
	const struct perfetto_frame *f = intern_at(&in->frames, number);
	uint32_t dso = intern_put(&in->dsos, &f->dso);
	int rc = is_new(in, sequence, INTERNED_FRAMES, number);
	size_t begin;

	if (dso == INTERN_NONE)
		return -ENOMEM;
	if (rc <= 0)
		return rc;
	rc = put_function(in, sequence, f->function, m);
	rc = rc ?: put_source(in, sequence, f->source, m);
	rc = rc ?: put_mapping(in, sequence, dso, m);
	if (rc)
		return rc;
	begin = proto_begin(m, INTERNED_FRAMES);
	proto_uint(m, FRAME_IID, id_of(number));
	proto_uint(m, FRAME_FUNCTION, id_of(f->function));
	proto_uint(m, FRAME_MAPPING, id_of(dso));
	proto_set(m, FRAME_PC, f->addr);
	proto_uint(m, FRAME_SOURCE, f->source == INTERN_NONE ? 0 : id_of(f->source));
	proto_uint(m, FRAME_LINE, f->line);
	proto_end(m, begin);
	return 0;
}

/* Returns the number of @frame; INTERN_NONE: no memory. */
static uint32_t frame_of(struct perfetto_interned *in, const struct frame *frame)
{
	const char *source = export_file_of(frame);
	struct perfetto_frame key = {
		.dso = frame->dso,
		.addr = export_address_of(frame),
		.function = export_function_of(&in->functions, frame),
		.source = INTERN_NONE,
		.line = export_line_of(frame),
	};

	if (key.function == INTERN_NONE)
		return INTERN_NONE;
	if (source) {
		if (export_name(source, &in->text))
			return INTERN_NONE;
		key.source = intern_string(&in->sources, (const char *)in->text.data, in->text.len);
		if (key.source == INTERN_NONE)
			return INTERN_NONE;
	}
	return intern_put(&in->frames, &key);
}

/* Fills @in->stack. Returns the number of the stack; INTERN_NONE: no memory. */
static uint32_t stack_of(struct perfetto_interned *in, const struct export_sample *s)
{
	struct perfetto_node node = {.parent = INTERN_NONE};

	if (array_grow(&in->stack, &in->cap_stack, s->nr_frames, sizeof(*in->stack)))
		return INTERN_NONE;
	for (size_t i = 0; i < s->nr_frames; i++) {
		node.frame = frame_of(in, &s->frame[s->nr_frames - 1 - i]);
		if (node.frame == INTERN_NONE)
			return INTERN_NONE;
		in->stack[i] = node.frame;
		node.parent = intern_put(&in->nodes, &node);
		if (node.parent == INTERN_NONE)
			return INTERN_NONE;
	}
	return node.parent;
}

int perfetto_callstack(struct perfetto_interned *in, uint32_t sequence,
		       const struct export_sample *s, struct proto *message, uint64_t *ret)
{
	uint32_t number = stack_of(in, s);
	size_t begin;
	int rc;

	*ret = 0;
	if (!s->nr_frames)
		return 0;
	if (number == INTERN_NONE)
		return -ENOMEM;
	*ret = id_of(number);
	rc = is_new(in, sequence, INTERNED_CALLSTACKS, number);
	if (rc <= 0)
		return rc;
	rc = 0;
	for (size_t i = 0; !rc && i < s->nr_frames; i++)
		rc = put_frame(in, sequence, in->stack[i], message);
	if (rc)
		return rc;
	begin = proto_begin(message, INTERNED_CALLSTACKS);
	proto_uint(message, CALLSTACK_IID, id_of(number));
	for (size_t i = 0; i < s->nr_frames; i++)
		proto_uint(message, CALLSTACK_FRAMES, id_of(in->stack[i]));
	proto_end(message, begin);
	return 0;
}

void perfetto_interned_release(struct perfetto_interned *in)
{
	export_functions_release(&in->functions);
	intern_strings_release(&in->sources);
	intern_release(&in->dsos);
	intern_release(&in->frames);
	intern_release(&in->nodes);
	intern_release(&in->sent);
	buf_release(&in->text);
	free(in->stack);
}
