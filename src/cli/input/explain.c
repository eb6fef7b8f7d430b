// SPDX-License-Identifier: Apache-2.0
/* Messages about symbols: where they came from, and why there are none. */
#include <inttypes.h>

#include "base/plural.h"
#include "cli/input/input.h"
#include "cli/input/output.h"
#include "perfdata/symbols/symbol_lines.h"
#include "symbol/recorded/recorded.h"

static void say_recorded(const struct trace *t, const struct dso *dso, size_t functions, bool more)
{
	const struct pd_symbol_lines *lines = resolver_recorded_lines(t->resolver, dso);

	complain("%s: the recording itself names %zu function%s%s", dso->name, functions,
		 plural_s(functions), more ? "; files here name others" : "");
	if (lines && lines->nr_runs)
		complain("%s: the recording itself has the source lines of %zu piece%s of code",
			 dso->name, lines->nr_runs, plural_s(lines->nr_runs));
}

void input_explain_symbols(const struct input *in, const struct trace *t)
{
	size_t n = in->verbose ? state_dso_count(t->state) : 0;
	const char *refused = resolver_refused(t->resolver);
	uint64_t left_out = t->symbols ? recorded_symbols_left_out(t->symbols) : 0;

	if (refused && !in->quiet)
		complain("%s", refused);
	if (in->verbose && left_out)
		complain("the recording itself lacks the names of %" PRIu64
			 " function%s: pack left them out",
			 left_out, plural_s(left_out));
	for (size_t i = 0; i < n; i++) {
		const struct dso *dso = state_dso_at(t->state, i);
		bool asked = resolver_was_asked(t->resolver, dso);
		const char *why = asked ? resolver_why_not(t->resolver, dso) : NULL;
		const char *few = asked ? resolver_why_few(t->resolver, dso) : NULL;
		size_t own = resolver_recorded(t->resolver, dso);

		if (own)
			say_recorded(t, dso, own, asked && !why);
		if (why)
			complain("%s: no %ssymbols: %s", dso->name, own ? "other " : "", why);
		if (few)
			complain("%s: only exported symbols: %s", dso->name, few);
	}
}
