// SPDX-License-Identifier: Apache-2.0
#include "record/trigger/trigger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/io/file.h"

int trigger_init(struct trigger *s, const struct trigger_ops *ops, const struct trigger_spec *spec)
{
	s->ops = ops;
	s->spec = spec;
	s->due = TRIGGER_NEVER;
	return rate_init(&s->rate, spec->limit, spec->limit_ns);
}

/* The thread may have ended since. */
static void name_thread(struct pd_snapshot_cause *cause)
{
	char *comm;

	if (cause->comm[0] || !cause->event[0] || cause->tid == UINT32_MAX ||
	    file_text(&comm, "/proc/%u/comm", cause->tid))
		return;
	snprintf(cause->comm, sizeof(cause->comm), "%s", comm);
	free(comm);
}

/* Sets "REASON (DETAIL)": the reason of the user, else the trigger's text. */
static void give_reason(struct trigger *s, const char *detail)
{
	const char *reason = s->spec->reason ? s->spec->reason : s->spec->text;
	char *text;

	if (!detail) {
		request_set_reason(&s->request, reason);
	} else if (asprintf(&text, "%s (%s)", reason, detail) > 0) {
		request_set_reason(&s->request, text);
		free(text);
	}
}

void trigger_fire(struct trigger *s, uint64_t times, const struct pd_snapshot_cause *cause,
		  const char *detail, uint64_t now)
{
	s->fired += times;
	if (s->waits || !rate_allows(&s->rate, now))
		return;
	s->request = (struct snapshot_request){.what.origin = PD_SNAPSHOT_TRIGGER};
	if (cause) {
		s->request.what.cause = *cause;
		s->request.what.asked = cause->time;
		name_thread(&s->request.what.cause);
	}
	give_reason(s, detail);
	s->waits = true;
	s->at = now + s->spec->after_ns;
}
