// SPDX-License-Identifier: Apache-2.0
/* mem:ADDRESS[/LENGTH][:ACCESS][:MODIFIERS], as perf-record(1). */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "event/parser.h"

/* Any of r, w, x, each once. */
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

/* What the hardware of any architecture takes; the kernel judges the rest. */
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

static int fill(struct parser *parser, struct draft *draft, char *address, char *length)
{
	struct pd_attr *attr = &draft->spec.attr;
	char *rest = length ? length : address;
	char *first = take_part(&rest), *part = take_part(&rest);
	uint64_t bp_len = 0;
	int r;

	if (!length)
		address = first;
	if (parse_u64(address, &attr->config1) != 0)
		return error_set(parser->err, -EINVAL,
				 "a breakpoint's address is a number (0x...), not '%.64s'",
				 address);
	if (length && (parse_u64(first, &bp_len) != 0 || !length_is_possible(bp_len)))
		return error_set(parser->err, -EINVAL,
				 "a breakpoint's length is 1 to 8 bytes, not '%.32s'", first);
	attr->type = PERF_TYPE_BREAKPOINT;
	attr->sample_period = 1;
	attr->bp_type = HW_BREAKPOINT_RW;
	if (part && parse_access(part, &attr->bp_type) == 0)
		part = take_part(&rest);
	else if (part && !modifier_like(part))
		return error_set(parser->err, -EINVAL,
				 "a breakpoint's access is of r, w and x, not '%.32s'", part);
	/* The length of an instruction breakpoint is that of a long (uapi/linux/hw_breakpoint.h).
	 */
	attr->config2 = bp_len				   ? bp_len
			: attr->bp_type == HW_BREAKPOINT_X ? sizeof(long)
							   : HW_BREAKPOINT_LEN_4;
	if (!part)
		return 0;
	if (rest)
		return error_set(parser->err, -EINVAL,
				 "nothing may follow a breakpoint's modifiers");
	r = modifier_check(part, parser->err);
	return r ? r : modifier_apply(draft, part, false, parser->err);
}

int event_add_breakpoint(struct parser *parser, const struct event_words *words, const char *head,
			 const char *more)
{
	struct draft *draft = parser_add(parser, words);
	char *address = strdup(head), *length = more ? strdup(more) : NULL;
	int r;

	if (!draft || !address || (more && !length))
		r = error_sys(parser->err, -ENOMEM, "event list");
	else
		r = fill(parser, draft, address, length);
	free(address);
	free(length);
	return r;
}
