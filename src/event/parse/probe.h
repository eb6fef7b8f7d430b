/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes of functions: uprobe:, uretprobe:, kprobe: and kretprobe:.
 */
#ifndef RINGTAIL_EVENT_PARSE_PROBE_H
#define RINGTAIL_EVENT_PARSE_PROBE_H

#include "event/parse/parser_state.h"
#include "event/parse/place.h"

/* The characters of "uprobe:" and the like that @text begins with; 0: it is no probe. */
size_t event_probe_prefix(const char *text);

/* Takes what stands behind the prefix that @prefix begins with. Returns as place.h's functions. */
int event_scan_probe(struct parser *parser, const char *prefix, struct place_text *ret);

/* A probe, of the kind that @words->head begins with. */
int event_add_probe(struct parser *parser, const struct event_words *words,
		    const struct place_text *text);

#endif
