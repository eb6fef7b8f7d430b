// SPDX-License-Identifier: Apache-2.0
#include "event/parse/parser_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

struct draft *parser_add(struct parser *parser, const struct event_words *words)
{
	struct draft *draft;

	if (array_grow(&parser->drafts, &parser->cap, parser->count + 1, sizeof(*parser->drafts)))
		return NULL;
	draft = &parser->drafts[parser->count];
	*draft = (struct draft){.spec = {.callgraph = -1,
					 .time = -1,
					 .inherit = -1,
					 .overwrite = -1,
					 .exclude_guest = -1}};
	/* As perf: a host's profile leaves its guests out unless :G or a level asks for them. */
	draft->spec.attr.flags = PD_ATTR_EXCLUDE_GUEST;
	draft->spec.leader = (int)parser->count;
	draft->spec.name = strdup(words->written);
	if (!draft->spec.name)
		return NULL;
	parser->count++;
	return draft;
}

void parser_truncate(struct parser *parser, size_t count)
{
	while (parser->count > count)
		event_spec_release(&parser->drafts[--parser->count].spec);
}
