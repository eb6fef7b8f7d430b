// SPDX-License-Identifier: Apache-2.0
#include "data/tracing/tracing_event.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/trace-seq.h>

#include "data/tracing/tracing_check.h"

/* Bytes of "field=value ...": fields may overlap, so records do not bound it. */
#define FIELDS_TEXT_MAX (1u << 18)
#define PADDING		16 /* zero bytes behind a record, for texts without a NUL */

/* Kernels print these events differently from their formats. */
static bool is_special(const char *sys, const struct tracing_format *f)
{
	return !strcmp(sys, "ftrace") && (!strcmp(f->name, "bprint") || !strchr(f->print, ','));
}

/*
 * The library finds the event of a record by its type, which it reads at one place for all events.
 */
static bool has_type(const struct tracing_format *f)
{
	const struct tracing_field *type = f->type;

	return f->id <= UINT16_MAX && type && type < f->fields + f->nr_common && !type->offset &&
	       type->size == sizeof(uint16_t);
}

/* Returns the event that the library made, or NULL. */
static struct tep_event *give_library(struct tep_handle *tep, char *text, const char *sys,
				      uint32_t id)
{
	struct tep_event *event;

	if (tep_parse_event(tep, text, strlen(text), sys))
		return NULL;
	event = tep_find_event(tep, (int)id);
	return event && !(event->flags & TEP_EVENT_FL_FAILED) ? event : NULL;
}

static int load_printer(struct tep_handle *tep, char *text, const char *sys,
			struct tracing_event *e)
{
	struct tep_event *event = give_library(tep, text, sys, e->format.id);
	int rc;

	e->printer = event ? TRACING_BY_LIBRARY : TRACING_REFUSED;
	if (!event)
		return 0;
	rc = tracing_program_new(event, &e->program);
	return rc == -ENOTSUP ? 0 : rc;
}

/*
 * Makes a copy of @text for the library. Kernels leave tabs unescaped in a "print fmt:"
 * (maple_tree); libtraceevent 1.7.1 accepts no tab in a text, but it accepts "\t".
 */
static char *copy_for_library(const char *text, const char *print)
{
	size_t before = (size_t)(print - text);
	char *copy = malloc(before + 2 * strlen(print) + 1), *to;

	if (!copy)
		return NULL;
	memcpy(copy, text, before);
	to = copy + before;
	for (; *print; print++) {
		if (*print == '\t' && print[-1] != '\\') {
			*to++ = '\\';
			*to++ = 't';
		} else {
			*to++ = *print;
		}
	}
	*to = '\0';
	return copy;
}

int tracing_event_load(struct tep_handle *tep, const char *sys, const char *text,
		       struct tracing_event *ret)
{
	struct tracing_event e = {0};
	char *copy = NULL;
	int rc = tracing_format_parse(text, &e.format);

	if (rc)
		return rc;
	e.sys = strdup(sys);
	copy = copy_for_library(text, e.format.print);
	rc = e.sys && copy ? 0 : -ENOMEM;
	if (!rc && has_type(&e.format) && !is_special(sys, &e.format)) {
		rc = tracing_check_print(&e.format, copy + (e.format.print - text),
					 (unsigned int)tep_get_long_size(tep), &e.needs);
		if (!rc)
			rc = load_printer(tep, copy, sys, &e);
		else if (rc == -EINVAL)
			rc = 0;
	}
	free(copy);
	e.format.print = NULL;
	if (rc)
		tracing_event_release(&e);
	else
		*ret = e;
	return rc;
}

void tracing_event_release(struct tracing_event *e)
{
	free(e->sys);
	tracing_format_release(&e->format);
	tracing_needs_release(&e->needs);
	tracing_program_free(e->program);
	*e = (struct tracing_event){0};
}

static int print_by_library(struct tep_handle *tep, const struct tracing_data *data,
			    struct buf *out)
{
	struct tep_record record = {.size = (int)data->size};
	struct trace_seq seq;
	uint8_t *copy = calloc(1, (size_t)data->size + PADDING);
	int rc;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, data->p, data->size);
	record.data = copy;
	trace_seq_init(&seq);
	tep_print_event(tep, &seq, &record, "%s", TEP_PRINT_INFO);
	rc = seq.state == TRACE_SEQ__GOOD ? buf_append(out, seq.buffer, seq.len) : -ENOMEM;
	trace_seq_destroy(&seq);
	free(copy);
	return rc;
}

static bool is_text(const uint8_t *p, uint32_t len)
{
	for (uint32_t i = 0; i < len && p[i]; i++) {
		if ((p[i] < ' ' || p[i] > '~') && (p[i] < '\t' || p[i] > '\r'))
			return false;
	}
	return true;
}

static int print_array(const struct tracing_field *field, const uint8_t *p, uint32_t len,
		       struct buf *out)
{
	int rc;

	if (field->flags & TRACING_STRING && is_text(p, len))
		return buf_append(out, p, strnlen((const char *)p, len));
	rc = buf_printf(out, "ARRAY[");
	for (uint32_t i = 0; i < len && !rc; i++)
		rc = buf_printf(out, i ? ", %02x" : "%02x", p[i]);
	return rc ? rc : buf_printf(out, "]");
}

/* Prints, as libtraceevent does, a field without a format of its own. */
static int print_number(const struct tracing_field *field, uint64_t value, struct buf *out)
{
	if (field->flags & TRACING_POINTER)
		return buf_printf(out, "0x%" PRIx64, value);
	if (!(field->flags & TRACING_SIGNED))
		return buf_printf(out, field->flags & TRACING_LONG ? "0x%" PRIx64 : "%" PRIu64,
				  value);
	switch (field->size) {
	case 1: return buf_printf(out, "%d", (int8_t)value);
	case 2: return buf_printf(out, "%2d", (int16_t)value);
	case 4: return buf_printf(out, field->flags & TRACING_LONG ? "0x%x" : "%d", (int32_t)value);
	default: return buf_printf(out, "%" PRId64, (int64_t)value);
	}
}

int tracing_field_print(const struct tracing_field *field, const struct tracing_data *data,
			struct buf *out)
{
	uint32_t offset, len;

	if (!tracing_field_extent(field, data, &offset, &len))
		return buf_printf(out, "[bad data]");
	if (field->flags & (TRACING_ARRAY | TRACING_DYNAMIC))
		return print_array(field, data->p + offset, len, out);
	return print_number(field, tracing_field_number(field, data), out);
}

static int print_field(const struct tracing_field *field, const struct tracing_data *data,
		       struct buf *out)
{
	return buf_printf(out, "%s=", field->name) ?: tracing_field_print(field, data, out);
}

int tracing_event_print_raw(const struct tracing_event *e, const struct tracing_data *data,
			    struct buf *out)
{
	const struct tracing_format *f = &e->format;
	size_t begin = out->len;
	int rc = 0;

	for (size_t i = f->nr_common; i < f->nr && !rc; i++) {
		if (out->len - begin > FIELDS_TEXT_MAX)
			return buf_printf(out, " ...");
		if (i > f->nr_common)
			rc = buf_append(out, " ", 1);
		if (!rc)
			rc = print_field(&f->fields[i], data, out);
	}
	return rc;
}

int tracing_event_print(const struct tracing_event *e, struct tep_handle *tep,
			const struct tracing_data *data, struct buf *out)
{
	int rc;

	if (e->printer != TRACING_BY_LIBRARY || !tracing_needs_hold(&e->needs, &e->format, data))
		return tracing_event_print_raw(e, data, out);
	rc = e->program ? tracing_program_print(e->program, data, out) : -EAGAIN;
	return rc == -EAGAIN ? print_by_library(tep, data, out) : rc;
}
