// SPDX-License-Identifier: Apache-2.0
#include "record/control/control_command.h"

#include <errno.h>
#include <string.h>

#include "base/parse.h"

#define SPACE " \t\r\f\v"

enum argument {
	ARGUMENT_NONE,
	ARGUMENT_EVENT, /* optional, like all arguments */
	ARGUMENT_LIST,
	ARGUMENT_JSON,
	ARGUMENT_REQUEST,
};

// clang-format off
static const struct command_word {
	const char *name;
	enum control_verb verb;
	enum argument argument;
	const char *usage, *what;
} words[] = {
	{"enable", CONTROL_ENABLE, ARGUMENT_EVENT, "enable [EVENT]", "enable all events, or one"},
	{"disable", CONTROL_DISABLE, ARGUMENT_EVENT, "disable [EVENT]", "disable all events, or one"},
	{"snapshot", CONTROL_SNAPSHOT, ARGUMENT_REQUEST,
	 "snapshot [--reason TEXT] [--last T|SIZE|all] [--since-last]", "write the samples in memory"},
	{"rotate", CONTROL_ROTATE, ARGUMENT_NONE, "rotate", "finish the output, begin the next"},
	{"stop", CONTROL_STOP, ARGUMENT_NONE, "stop", "end the recording"},
	{"ping", CONTROL_PING, ARGUMENT_NONE, "ping", "only answer"},
	{"evlist", CONTROL_EVLIST, ARGUMENT_LIST, "evlist [-v|-g|-F]",
	 "list the events, with all fields, as groups, with frequencies"},
	{"stats", CONTROL_STATS, ARGUMENT_JSON, "stats [-j]", "show counts, -j as JSON"},
	{"help", CONTROL_HELP, ARGUMENT_NONE, "help", "this list"},
};
// clang-format on

#define NR_WORDS (sizeof(words) / sizeof(words[0]))

static const struct command_word *find_word(const char *name)
{
	for (size_t i = 0; i < NR_WORDS; i++)
		if (!strcmp(words[i].name, name))
			return &words[i];
	return NULL;
}

static int unknown_word(const char *name, struct error *err)
{
	struct buf names = {0};

	for (size_t i = 0; i < NR_WORDS; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", words[i].name);
	error_set(err, -EINVAL, "there is no command '%.64s'; the commands are: %.*s", name,
		  (int)names.len, (const char *)names.data);
	buf_release(&names);
	return -EINVAL;
}

/* Returns 0 or -EINVAL, with @err filled if there is more to report than the usage. */
static int take_argument(const struct command_word *w, char *arg, struct control_command *ret,
			 struct error *err)
{
	static const char *const lists[] = {
		[CONTROL_LIST_FIELDS] = "-v",
		[CONTROL_LIST_GROUPS] = "-g",
		[CONTROL_LIST_FREQ] = "-F",
	};

	switch (w->argument) {
	case ARGUMENT_NONE: return -EINVAL;
	case ARGUMENT_EVENT: ret->event = arg; return 0;
	case ARGUMENT_JSON: ret->json = true; return strcmp(arg, "-j") ? -EINVAL : 0;
	case ARGUMENT_REQUEST: return request_parse(arg, &ret->snapshot, err);
	case ARGUMENT_LIST:
		for (size_t i = CONTROL_LIST_FIELDS; i <= CONTROL_LIST_FREQ; i++) {
			if (!strcmp(arg, lists[i])) {
				ret->list = (enum control_list)i;
				return 0;
			}
		}
		return -EINVAL;
	}
	return -EINVAL;
}

int control_command_parse(char *line, struct control_command *ret, struct error *err)
{
	char *name = line + strspn(line, SPACE), *arg;
	struct control_command command = {0};
	struct error why = ERROR_INIT;
	const struct command_word *w;
	size_t len = strlen(name);

	while (len && strchr(SPACE, name[len - 1]))
		name[--len] = '\0';
	if (!len)
		return -ENOMSG;
	arg = name + strcspn(name, SPACE);
	if (*arg) {
		*arg++ = '\0';
		arg += strspn(arg, SPACE);
	}
	w = find_word(name);
	if (!w)
		return unknown_word(name, err);
	command.verb = w->verb;
	if (*arg && take_argument(w, arg, &command, &why))
		return why.code ? error_set(err, why.code, "%s: %s", name, why.text)
				: error_set(err, -EINVAL, "'%s %.64s' is wrong: the command is %s",
					    name, arg, w->usage);
	*ret = command;
	return 0;
}

int control_command_help(struct buf *out)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < NR_WORDS; i++)
		rc = buf_printf(out, "%-18s %s\n", words[i].usage, words[i].what);
	return rc;
}

/* --- the option ----------------------------------------------------------------------------------
 */

static int spec_fd(const char *text, size_t len, int *ret)
{
	char plain[16] = "";
	uint64_t n;

	if (len >= sizeof(plain))
		return -EINVAL;
	memcpy(plain, text, len);
	if (parse_u64(plain, &n) || n > INT_MAX)
		return -EINVAL;
	*ret = (int)n;
	return 0;
}

static int spec_path(const char *text, size_t len, char ret[PATH_MAX])
{
	if (len >= PATH_MAX)
		return -EINVAL;
	memcpy(ret, text, len);
	ret[len] = '\0';
	return 0;
}

int control_spec_parse(const char *arg, struct control_spec *ret, struct error *err)
{
	const char *first, *comma, *ack;
	size_t len;
	bool fifo;
	int rc;

	fifo = !strncmp(arg, "fifo:", 5);
	if (!fifo && strncmp(arg, "fd:", 3))
		return error_set(err, -EINVAL,
				 "'%.64s' is neither fd:CONTROL[,ACK] nor fifo:CONTROL[,ACK]", arg);
	first = strchr(arg, ':') + 1;
	comma = strchr(first, ',');
	len = comma ? (size_t)(comma - first) : strlen(first);
	ack = comma ? comma + 1 : "";
	ret->fifo = fifo;
	ret->fd = ret->ack_fd = -1;
	ret->path[0] = ret->ack_path[0] = '\0';
	if (fifo) {
		rc = spec_path(first, len, ret->path);
		if (!rc)
			rc = spec_path(ack, strlen(ack), ret->ack_path);
		if (rc || !len)
			return error_set(
				err, -EINVAL,
				"'%.64s' names no FIFO: give fifo:CONTROL or fifo:CONTROL,ACK",
				arg);
		return 0;
	}
	rc = spec_fd(first, len, &ret->fd);
	if (!rc && comma)
		rc = spec_fd(ack, strlen(ack), &ret->ack_fd);
	return rc ? error_set(err, rc,
			      "'%.64s': descriptors are numbers, such as fd:10 or fd:10,11", arg)
		  : 0;
}

/* --- answers -------------------------------------------------------------------------------------
 */

/* Prints text; control characters become '?', and those that JSON needs escaped get a backslash. */
static int print_text(const char *text, bool json, struct buf *out)
{
	int rc = 0;

	for (; !rc && *text; text++) {
		bool control = (unsigned char)*text < ' ' || *text == 0x7f;
		bool escaped = json && (*text == '"' || *text == '\\');

		rc = buf_printf(out, escaped ? "\\%c" : "%c", control ? '?' : *text);
	}
	return rc;
}

/*
 * Ends the line. As text, each trigger has a line of its own; its description is last, because it
 * has spaces.
 */
static int print_triggers(const struct control_figures *f, bool json, struct buf *out)
{
	const char *first = json && f->nr_triggers ? ", \"triggers\": [" : "";
	int rc = buf_printf(out, "%s", json ? first : "\n");

	for (size_t i = 0; !rc && i < f->nr_triggers; i++) {
		const struct control_trigger *t = &f->triggers[i];

		rc = buf_printf(out,
				json ? "%s{\"times\": %llu, \"snapshots\": %llu, "
				       "\"limited\": %llu, \"forgotten\": %llu, \"trigger\": \""
				     : "%stimes=%llu snapshots=%llu limited=%llu "
				       "forgotten=%llu trigger=",
				json && i ? ", " : "", (unsigned long long)t->times,
				(unsigned long long)t->snapshots, (unsigned long long)t->limited,
				(unsigned long long)t->forgotten);
		if (!rc)
			rc = print_text(t->text, json, out);
		if (!rc)
			rc = buf_printf(out, json ? "\"}" : "\n");
	}
	if (!rc && json)
		rc = buf_printf(out, f->nr_triggers ? "]}\n" : "}\n");
	return rc;
}

int control_figures_print(const struct control_figures *f, bool json, struct buf *out)
{
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {
		{"samples", f->samples},
		{"lost", f->lost},
		{"bytes", f->bytes},
		{"rings", f->rings},
		{"threads", f->threads},
		{"events", f->events},
		{"enabled", f->enabled},
		{"unread", f->unread},
		{"missed_cpus", f->missed_cpus},
		{"throttled", f->throttled},
	};
	int rc = buf_printf(out, json ? "{\"seconds\": %.3f" : "seconds=%.3f", f->seconds);

	for (size_t i = 0; !rc && i < sizeof(numbers) / sizeof(numbers[0]); i++)
		rc = buf_printf(out, json ? ", \"%s\": %llu" : " %s=%llu", numbers[i].name,
				(unsigned long long)numbers[i].value);
	if (!rc)
		rc = buf_printf(out,
				json ? ", \"throttled_seconds\": %.3f" : " throttled_seconds=%.3f",
				f->throttled_seconds);
	if (!rc && f->memory)
		rc = buf_printf(out,
				json ? ", \"held_seconds\": %.3f, \"held_samples\": %llu, "
				       "\"held_bytes\": %llu, \"held_memory\": %llu"
				     : " held_seconds=%.3f held_samples=%llu held_bytes=%llu "
				       "held_memory=%llu",
				f->held_seconds, (unsigned long long)f->held_samples,
				(unsigned long long)f->held_bytes,
				(unsigned long long)f->held_memory);
	if (!rc && f->nr_triggers)
		rc = buf_printf(out,
				json ? ", \"triggered\": %llu, \"limited\": %llu, "
				       "\"forgotten\": %llu"
				     : " triggered=%llu limited=%llu forgotten=%llu",
				(unsigned long long)f->triggered, (unsigned long long)f->limited,
				(unsigned long long)f->forgotten);
	if (!rc && f->budget)
		rc = buf_printf(out,
				json ? ", \"cpu_percent\": %.3f, \"frequency_percent\": %.3f"
				     : " cpu_percent=%.3f frequency_percent=%.3f",
				100 * f->cpu, 100 * f->share);
	return rc ? rc : print_triggers(f, json, out);
}

int control_answer_end(int rc, const char *reason, struct buf *out)
{
	size_t at = out->len;
	int failed = rc ? buf_printf(out, "error: %s", reason) : buf_printf(out, "ack");

	for (; !failed && at < out->len; at++)
		if (out->data[at] < ' ' || out->data[at] == 0x7f)
			out->data[at] = '?';
	return failed ? failed : buf_append(out, "\n", 2); /* with its NUL */
}
