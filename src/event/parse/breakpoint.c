// SPDX-License-Identifier: Apache-2.0
/*
 * mem:ADDRESS[/LENGTH][:ACCESS][:MODIFIERS], as in perf-record(1). The address may be the name of a
 * symbol of the kernel or of a file.
 */
#include "event/parse/breakpoint.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "event/parse/resolve.h"

/* Parses r, w and x, each at most once. */
static int parse_access(const char *text, uint32_t *ret)
{
	uint32_t access = 0;

	for (; *text; text++) {
		uint32_t bit = *text == 'r'   ? HW_BREAKPOINT_R
			       : *text == 'w' ? HW_BREAKPOINT_W
			       : *text == 'x' ? HW_BREAKPOINT_X
					      : 0;

		if (!bit || access & bit)
			return -EINVAL;
		access |= bit;
	}
	*ret = access;
	return access ? 0 : -EINVAL;
}

/* Accepts the lengths of any architecture; the kernel refuses what this one lacks. */
static bool length_is_possible(uint64_t len)
{
	return len >= HW_BREAKPOINT_LEN_1 && len <= HW_BREAKPOINT_LEN_8;
}

/* Takes the part up to the next colon off @*s. */
static char *take_part(char **s)
{
	char *part = *s, *colon;

	if (!part)
		return NULL;
	colon = strchr(part, ':');
	*s = colon ? colon + 1 : NULL;
	if (colon)
		*colon = '\0';
	return part;
}

/* Without a length: watches the whole variable, else 4 bytes or one instruction. */
static int default_length(struct parser *parser, const struct place_text *text,
			  const struct event_symbol *symbol, struct pd_attr *attr)
{
	/*
	 * The kernel wants sizeof(long) for an instruction breakpoint (uapi/linux/hw_breakpoint.h).
	 */
	attr->config2 = attr->bp_type == HW_BREAKPOINT_X ? sizeof(long) : HW_BREAKPOINT_LEN_4;
	if (!symbol->size || symbol->function || text->plus)
		return 0;
	attr->config2 = symbol->size;
	if (symbol->size <= HW_BREAKPOINT_LEN_8 && !(symbol->size & (symbol->size - 1)))
		return 0;
	return error_set(parser->err, -EINVAL,
			 "'%.64s' has %llu bytes, but a breakpoint watches 1, 2, 4 or 8: name an "
			 "offset and a length, as in %.64s+0/8",
			 text->name, (unsigned long long)symbol->size, text->name);
}

/* Sets the address; for a file that is loaded anywhere, its place in the file. */
static int set_place(struct parser *parser, struct event_spec *spec, const struct place_text *text,
		     struct event_symbol *ret)
{
	struct event_place *place = &spec->place;
	struct event_symbol symbol;
	int rc;

	*ret = (struct event_symbol){0};
	if (!text->file && parse_u64(text->name, &spec->attr.config1) == 0) {
		spec->attr.config1 += text->plus;
		return 0;
	}
	if (!parser->env->symbols || (!text->file && !*text->name))
		return error_set(
			parser->err, -EINVAL,
			"'%.64s' is no address for a breakpoint: give a number (0x...) or a name",
			text->name);
	rc = place_find(parser, text, &place->file, &symbol);
	if (rc)
		return rc;
	*ret = symbol;
	symbol.address += text->plus;
	if (symbol.fixed)
		spec->attr.config1 = symbol.address;
	if (place->file) {
		place->fixed = symbol.fixed;
		place->address = symbol.address;
		place->first_address = symbol.first_address;
		place->first_offset = symbol.first_offset;
	}
	return 0;
}

/* Parses what follows the place: "8:w:u" behind a slash, or "w:u". */
static int set_rest(struct parser *parser, struct draft *draft, const struct place_text *text,
		    const struct event_symbol *symbol, char *length, char *tail)
{
	struct pd_attr *attr = &draft->spec.attr;
	char *rest = length ? length : tail;
	char *bytes = length ? take_part(&rest) : NULL, *part = take_part(&rest);
	int rc;

	if (bytes && (parse_u64(bytes, &attr->config2) != 0 || !length_is_possible(attr->config2)))
		return error_set(parser->err, -EINVAL,
				 "'%.32s' is no length for a breakpoint: give 1 to 8 bytes", bytes);
	if (part && parse_access(part, &attr->bp_type) == 0)
		part = take_part(&rest);
	else if (part && !modifier_like(part))
		return error_set(
			parser->err, -EINVAL,
			"'%.32s' is no access for a breakpoint: give one or more of r, w and x",
			part);
	if (!bytes) {
		rc = default_length(parser, text, symbol, attr);
		if (rc)
			return rc;
	}
	if (!part)
		return 0;
	if (rest)
		return error_set(parser->err, -EINVAL,
				 "nothing may follow a breakpoint's modifiers");
	rc = modifier_check(part, parser->err);
	return rc ? rc : modifier_apply(draft, part, false, parser->err);
}

int event_add_breakpoint(struct parser *parser, const struct event_words *words,
			 const struct place_text *text, const char *length, const char *tail)
{
	struct draft *draft = parser_add(parser, words);
	char *length_copy = length ? strdup(length) : NULL, *tail_copy = tail ? strdup(tail) : NULL;
	struct event_symbol symbol;
	int rc = 0;

	if (!draft || (length && !length_copy) || (tail && !tail_copy))
		rc = error_sys(parser->err, -ENOMEM, "event list");
	if (!rc) {
		draft->spec.attr.type = PERF_TYPE_BREAKPOINT;
		draft->spec.attr.sample_period = 1;
		draft->spec.each = true;
		rc = set_place(parser, &draft->spec, text, &symbol);
	}
	if (!rc) {
		draft->spec.attr.bp_type = symbol.function ? HW_BREAKPOINT_X : HW_BREAKPOINT_RW;
		rc = set_rest(parser, draft, text, &symbol, length_copy, tail_copy);
	}
	free(length_copy);
	free(tail_copy);
	return rc;
}
