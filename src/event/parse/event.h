/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as people write them (perf's -e syntax), turned into attributes.
 *
 * Knows the kernel's generic hardware, software and hardware-cache names, rNNN, breakpoints
 * (mem:ADDR[/len][:rwx]), PMU terms by the PMU's sysfs format and aliases, tracepoints and globs of
 * them, groups in braces, modifiers; and functions and variables by their names (uprobe:FILE:NAME,
 * mem:FILE:NAME), as far as the env knows where they are. Vendor names come from libpfm4. No event
 * is opened here: what the kernel allows is record/'s to find out.
 * One thread.
 */
#ifndef RINGTAIL_EVENT_PARSE_EVENT_H
#define RINGTAIL_EVENT_PARSE_EVENT_H

#include <stddef.h>

#include "base/error.h"
#include "event/syntax/spec.h"

/*
 * Parses one -e argument (a comma list) and appends to @list. On failure @list is unchanged and
 * @err names the part, the position, and for an unknown name the nearest known ones.
 * Returns 0, -EINVAL (syntax), -ENOENT (unknown event, PMU or term), -EACCES (tracefs not
 * readable: says how to), -ENOMEM.
 */
int event_parse(struct event_list *list, const char *text, const struct event_env *env,
		struct error *err);

/*
 * The characters that the file and the name of an event take up that begins at @text, as
 * uprobe:FILE:NAME or mem:FILE:NAME does, whatever is in them; 0 for all other events.
 */
size_t event_place_length(const char *text);

#endif
