// SPDX-License-Identifier: Apache-2.0
#include "record/session/hosted.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/error.h"
#include "api/options.h"
#include "api/session_options.h"

struct ringtail_session {
	struct ringtail_session_opts given;
	char *output; /* opts refers to it */
	struct record_opts opts;
	struct messages messages;
	struct hosted_session *session; /* NULL: it did not start */
	bool stopped;
	struct ringtail_session_result result;
};

static void pass_message(enum message_level level, const char *text, void *arg)
{
	static const enum ringtail_message levels[] = {
		[MESSAGE_WARNING] = RINGTAIL_WARNING,
		[MESSAGE_INFO] = RINGTAIL_INFO,
		[MESSAGE_DETAIL] = RINGTAIL_DETAIL,
	};
	const struct ringtail_session *s = arg;

	s->given.message(levels[level], text, s->given.message_arg);
}

/* Ends the recording, and keeps what it has recorded. Returns what it returned. */
static int stop(struct ringtail_session *s, struct error *err)
{
	int rc = hosted_stop(s->session, err);
	struct session *session = hosted_session(s->session);
	struct session_result r;
	struct history_figures f;

	session_result(session, &r);
	s->result = (struct ringtail_session_result){
		.samples = session_memory(session, &f) ? f.written : r.samples,
		.lost = r.loss->total,
		.bytes = r.bytes,
		.snapshots = r.snapshots,
		.seconds = r.seconds,
	};
	s->stopped = true;
	return rc;
}

/* Returns when events are enabled, which is when the session takes commands. */
static int start(struct ringtail_session *s, struct error *err)
{
	int rc = session_options_make(&s->given, &s->opts, err);

	if (s->given.message)
		s->messages = (struct messages){.say = pass_message, .arg = s};
	return rc ?: hosted_start(&s->opts, &s->messages, &s->session, err);
}

int ringtail_session_start(const struct ringtail_session_opts *opts, struct ringtail_session **ret,
			   struct ringtail_error *err)
{
	struct ringtail_session *s = calloc(1, sizeof(*s));
	struct error why = ERROR_INIT;
	int rc;

	if (!s)
		return api_error(err, -ENOMEM, &why);
	rc = api_options_read(opts, &s->given, sizeof(s->given), &why);
	if (!rc && s->given.output) {
		s->given.output = s->output = strdup(s->given.output);
		rc = s->output ? 0 : error_set(&why, -ENOMEM, "out of memory");
	}
	if (!rc)
		rc = start(s, &why);
	if (rc) {
		ringtail_session_free(s);
		return api_error(err, rc, &why);
	}
	*ret = s;
	return 0;
}

int ringtail_session_snapshot(struct ringtail_session *s, const char *reason,
			      struct ringtail_error *err)
{
	struct error why = ERROR_INIT;
	char line[256];
	int rc;

	if (reason && (strstr(reason, "--") || strpbrk(reason, "\n\r") || strlen(reason) > 159))
		rc = error_set(&why, -EINVAL,
			       "a reason must be one line of at most 159 bytes, without '--'");
	else if (!s->opts.output.memory.bytes)
		rc = error_set(&why, -EINVAL,
			       "snapshots need samples in memory: set 'memory' in the options of "
			       "the session");
	else if (s->stopped)
		rc = error_set(&why, -ESHUTDOWN, "the recording has ended");
	else {
		snprintf(line, sizeof(line), "snapshot%s%s", reason && *reason ? " --reason " : "",
			 reason ? reason : "");
		rc = hosted_command(s->session, line, &why);
	}
	return rc ? api_error(err, rc, &why) : 0;
}

int ringtail_session_stop(struct ringtail_session *s, struct ringtail_error *err)
{
	struct error why = ERROR_INIT;
	int rc = stop(s, &why);

	return rc ? api_error(err, rc, &why) : 0;
}

const struct ringtail_session_result *ringtail_session_result(const struct ringtail_session *s)
{
	return s->stopped ? &s->result : NULL;
}

void ringtail_session_free(struct ringtail_session *s)
{
	if (!s)
		return;
	hosted_free(s->session);
	session_options_release(&s->opts);
	free(s->output);
	free(s);
}
