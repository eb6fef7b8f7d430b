/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses events in perf's -e syntax into attributes. One thread.
 *
 * The syntax has the kernel's generic hardware, software and hardware-cache names, rNNN,
 * breakpoints (mem:ADDR[/len][:rwx]), PMU terms by the PMU's sysfs format and aliases, tracepoints
 * and globs of them, groups in braces, modifiers; and functions and variables by name
 * (uprobe:FILE:NAME, mem:FILE:NAME), if the env can find them. Vendor names come from libpfm4. The
 * parser opens no event: record/ finds out what the kernel allows.
 */
#ifndef RINGTAIL_EVENT_PARSE_EVENT_H
#define RINGTAIL_EVENT_PARSE_EVENT_H

#include <stddef.h>

#include "base/error.h"
#include "event/syntax/spec.h"

/*
 * Parses one -e argument (a comma list) and appends its events to @list. Returns 0, -EINVAL
 * (syntax), -ENOENT (unknown event, PMU or term), -EACCES (this user may not read tracefs; @err
 * contains advice) or -ENOMEM. On failure @list is unchanged, and @err names the part, the
 * position, and for an unknown name the nearest known ones.
 */
int event_parse(struct event_list *list, const char *text, const struct event_env *env,
		struct error *err);

/*
 * Returns the length of FILE:NAME, whatever characters are in it, if the event at @text has such a
 * place (uprobe:FILE:NAME, mem:FILE:NAME); 0 for all other events.
 */
size_t event_place_length(const char *text);

#endif
