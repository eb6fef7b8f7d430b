// SPDX-License-Identifier: Apache-2.0
#include "record/trigger/request.h"

#include <errno.h>
#include <string.h>

#include "base/parse.h"

#define SPACE " \t\r\f\v"

/* --- words ---------------------------------------------------------------------------------------
 */

void request_set_reason(struct snapshot_request *request, const char *reason)
{
	char *to = request->what.reason;
	size_t len = strnlen(reason, sizeof(request->what.reason));

	if (len == sizeof(request->what.reason)) {
		len--;
		while (len && ((unsigned char)reason[len] & 0xc0) == 0x80)
			len--;
	}
	memcpy(to, reason, len);
	to[len] = '\0';
}

int request_parse_last(const char *text, struct pd_snapshot_bounds *ret, struct error *err)
{
	size_t len = strlen(text);
	uint64_t n = 0;

	if (!strcmp(text, "all")) {
		ret->last_ns = ret->last_bytes = 0;
		return 0;
	}
	if (!parse_time(text, &n) && n) {
		ret->last_ns = n;
		ret->last_bytes = 0;
		return 0;
	}
	if (len > 1 && strchr("BKMG", text[len - 1]) && !parse_size(text, &n) && n) {
		ret->last_bytes = n;
		ret->last_ns = 0;
		return 0;
	}
	return error_set(
		err, -EINVAL,
		"'%.64s' is neither a time such as 10s (ms, s, m, h, d), nor a size such as "
		"16M (B, K, M, G), nor 'all'",
		text);
}

static int take_reason(const char *text, struct snapshot_request *ret, struct error *err)
{
	if (!*text)
		return error_set(err, -EINVAL, "--reason: the text is missing");
	request_set_reason(ret, text);
	return 0;
}

static int take_last(const char *text, struct snapshot_request *ret, struct error *err)
{
	int rc = request_parse_last(text, &ret->what.bounds, err);

	ret->bounded = true;
	return rc ? error_prefix(err, "--last: ") : 0;
}

static int take_since_last(const char *text, struct snapshot_request *ret, struct error *err)
{
	ret->what.bounds.since_last = ret->bounded = true;
	return *text ? error_set(err, -EINVAL, "--since-last takes no value: leave out '%.64s'",
				 text)
		     : 0;
}

static const struct {
	const char *name;
	int (*take)(const char *text, struct snapshot_request *ret, struct error *err);
} words[] = {
	{"--reason", take_reason},
	{"--last", take_last},
	{"--since-last", take_since_last},
};

#define NR_WORDS (sizeof(words) / sizeof(words[0]))

/* Index of the word that @text begins with; NR_WORDS: none. */
static size_t word_at(const char *text)
{
	size_t len = strcspn(text, SPACE), i = 0;

	while (i < NR_WORDS && (strlen(words[i].name) != len || strncmp(words[i].name, text, len)))
		i++;
	return i;
}

/* Start of the next known word behind a space, or the end of the text. */
static char *next_word(char *text)
{
	char *at = text;

	while (*at && word_at(at) == NR_WORDS) {
		at += strcspn(at, SPACE);
		at += strspn(at, SPACE);
	}
	return at;
}

int request_parse(char *text, struct snapshot_request *ret, struct error *err)
{
	struct snapshot_request request = *ret;
	char *end, keep;
	int rc = 0;

	text += strspn(text, SPACE);
	while (!rc && *text) {
		size_t word = word_at(text), len;

		if (word == NR_WORDS)
			return error_set(err, -EINVAL,
					 "'%.64s' is none of --reason TEXT, --last T|SIZE|all, "
					 "--since-last",
					 text);
		text += strlen(words[word].name);
		text += strspn(text, SPACE);
		end = next_word(text);
		len = (size_t)(end - text);
		while (len && strchr(SPACE, text[len - 1]))
			len--;
		keep = text[len];
		text[len] = '\0';
		rc = words[word].take(text, &request, err);
		text[len] = keep;
		text = end;
	}
	if (!rc)
		*ret = request;
	return rc;
}

/* --- the queue -----------------------------------------------------------------------------------
 */

int request_queue_add(struct request_queue *q, const struct snapshot_request *request,
		      struct error *err)
{
	if (q->nr == REQUESTS_MAX) {
		q->refused++;
		return error_set(err, -ENOBUFS, "%d requests for snapshots wait already",
				 REQUESTS_MAX);
	}
	q->waiting[q->nr++] = *request;
	return 0;
}

static bool same_bounds(const struct pd_snapshot_bounds *a, const struct pd_snapshot_bounds *b)
{
	return a->last_ns == b->last_ns && a->last_bytes == b->last_bytes &&
	       a->since_last == b->since_last;
}

size_t request_queue_take(struct request_queue *q, struct snapshot_request ret[REQUESTS_MAX])
{
	size_t taken = 0, left = 0;

	for (size_t i = 0; i < q->nr; i++) {
		const struct snapshot_request *r = &q->waiting[i];

		if (!taken || same_bounds(&r->what.bounds, &ret[0].what.bounds))
			ret[taken++] = *r;
		else
			q->waiting[left++] = *r;
	}
	q->nr = left;
	return taken;
}
