// SPDX-License-Identifier: Apache-2.0
#include "perfdata/snapshot_log.h"

#include <errno.h>

#include "perfdata/codec.h"

enum {
	WORD_KIND,
	WORD_NUMBER,
	WORDS_COMMON,
};

/* Words of a PD_SNAPSHOT_REQUEST. */
enum {
	WORD_ORIGIN = WORDS_COMMON,
	WORD_ASKED,
	WORD_LAST_NS,
	WORD_LAST_BYTES,
	WORD_SINCE_LAST,
	WORD_TIME,
	WORD_CPU,
	WORD_PID,
	WORD_TID,
	WORD_WALL_CLOCK,
	WORDS_REQUEST,
};

/* Words of a PD_SNAPSHOT_END. */
enum {
	WORD_BEGUN = WORDS_COMMON,
	WORD_TOOK,
	WORD_BYTES,
	WORD_SAMPLES,
	WORD_FIRST,
	WORD_LAST,
	WORD_LOST,
	WORD_EVICTED,
	WORD_REFUSED,
	WORDS_END,
};

/* Words of a PD_SNAPSHOT_TOTALS. */
enum {
	WORD_TAKEN = WORDS_COMMON,
	WORD_WRITTEN,
	WORD_PASSED,
	WORD_HELD,
	WORD_COUNTED,
	WORDS_TOTALS,
};

#define WORDS_MAX WORDS_REQUEST

_Static_assert((int)WORDS_END <= (int)WORDS_MAX, "words of both kinds fit");
_Static_assert(sizeof(((struct pd_snapshot_record *)0)->body) >=
		       sizeof(uint64_t) * (2 + WORDS_MAX) + sizeof(struct pd_snapshot_request),
	       "the largest record fits");

/* --- writing -------------------------------------------------------------------------------------
 */

static void put_request(const struct pd_snapshot_request *r, uint64_t *words)
{
	words[WORD_ORIGIN] = r->origin;
	words[WORD_ASKED] = r->asked;
	words[WORD_LAST_NS] = r->bounds.last_ns;
	words[WORD_LAST_BYTES] = r->bounds.last_bytes;
	words[WORD_SINCE_LAST] = r->bounds.since_last;
	words[WORD_TIME] = r->cause.time;
	words[WORD_CPU] = r->cause.cpu;
	words[WORD_PID] = r->cause.pid;
	words[WORD_TID] = r->cause.tid;
	words[WORD_WALL_CLOCK] = r->wall_clock;
}

static void put_figures(const struct pd_snapshot_figures *f, uint64_t *words)
{
	words[WORD_BEGUN] = f->begun;
	words[WORD_TOOK] = f->took;
	words[WORD_BYTES] = f->bytes;
	words[WORD_SAMPLES] = f->samples;
	words[WORD_FIRST] = f->first;
	words[WORD_LAST] = f->last;
	words[WORD_LOST] = f->lost;
	words[WORD_EVICTED] = f->evicted;
	words[WORD_REFUSED] = f->refused;
}

static void put_totals(const struct pd_snapshot_totals *t, uint64_t *words)
{
	words[WORD_TAKEN] = t->taken;
	words[WORD_WRITTEN] = t->written;
	words[WORD_PASSED] = t->passed;
	words[WORD_HELD] = t->held;
	words[WORD_COUNTED] = t->counted;
}

/* Copies @s, at most @max bytes with its NUL. Returns the end of the copy. */
static char *put_string(char *to, const char *s, size_t max)
{
	size_t len = strnlen(s, max - 1);

	memcpy(to, s, len);
	to[len] = '\0';
	return to + len + 1;
}

void pd_snapshot_encode(const struct pd_snapshot_log *log, struct pd_snapshot_record *ret)
{
	static const unsigned int words_of[] = {
		[PD_SNAPSHOT_REQUEST] = WORDS_REQUEST,
		[PD_SNAPSHOT_END] = WORDS_END,
		[PD_SNAPSHOT_TOTALS] = WORDS_TOTALS,
	};
	const struct pd_snapshot_request *r = &log->request;
	uint64_t *words = ret->body + 2;
	char *end;
	size_t size;

	*ret = (struct pd_snapshot_record){.header.type = PERF_RECORD_HEADER_EVENT_TYPE};
	ret->body[0] = PD_SNAPSHOT_MAGIC;
	ret->body[1] = words_of[log->kind];
	words[WORD_KIND] = log->kind;
	words[WORD_NUMBER] = log->number;
	end = (char *)(words + ret->body[1]);
	if (log->kind == PD_SNAPSHOT_REQUEST) {
		put_request(r, words);
		end = put_string(end, r->reason, sizeof(r->reason));
		end = put_string(end, r->cause.event, sizeof(r->cause.event));
		end = put_string(end, r->cause.comm, sizeof(r->cause.comm));
	} else if (log->kind == PD_SNAPSHOT_END) {
		put_figures(&log->figures, words);
	} else {
		put_totals(&log->totals, words);
	}
	size = (size_t)(end - (char *)ret);
	ret->header.size = (uint16_t)((size + 7) & ~(size_t)7);
}

/* --- reading -------------------------------------------------------------------------------------
 */

static void take_string(const char **text, size_t *len, char *ret, size_t max)
{
	size_t n = strnlen(*text, *len);

	memcpy(ret, *text, n < max ? n : max - 1);
	ret[n < max ? n : max - 1] = '\0';
	n += n < *len; /* its NUL */
	*text += n;
	*len -= n;
}

static void take_request(const uint64_t *words, const char *text, size_t len,
			 struct pd_snapshot_request *ret)
{
	uint64_t origin = words[WORD_ORIGIN];

	ret->origin = origin < PD_SNAPSHOT_ORIGINS ? (enum pd_snapshot_origin)origin
						   : PD_SNAPSHOT_ORIGINS;
	ret->asked = words[WORD_ASKED];
	ret->bounds.last_ns = words[WORD_LAST_NS];
	ret->bounds.last_bytes = words[WORD_LAST_BYTES];
	ret->bounds.since_last = words[WORD_SINCE_LAST];
	ret->cause.time = words[WORD_TIME];
	ret->cause.cpu = (uint32_t)words[WORD_CPU];
	ret->cause.pid = (uint32_t)words[WORD_PID];
	ret->cause.tid = (uint32_t)words[WORD_TID];
	ret->wall_clock = words[WORD_WALL_CLOCK];
	take_string(&text, &len, ret->reason, sizeof(ret->reason));
	take_string(&text, &len, ret->cause.event, sizeof(ret->cause.event));
	take_string(&text, &len, ret->cause.comm, sizeof(ret->cause.comm));
}

static void take_figures(const uint64_t *words, struct pd_snapshot_figures *ret)
{
	ret->begun = words[WORD_BEGUN];
	ret->took = words[WORD_TOOK];
	ret->bytes = words[WORD_BYTES];
	ret->samples = words[WORD_SAMPLES];
	ret->first = words[WORD_FIRST];
	ret->last = words[WORD_LAST];
	ret->lost = words[WORD_LOST];
	ret->evicted = words[WORD_EVICTED];
	ret->refused = words[WORD_REFUSED];
}

static void take_totals(const uint64_t *words, struct pd_snapshot_totals *ret)
{
	ret->taken = words[WORD_TAKEN];
	ret->written = words[WORD_WRITTEN];
	ret->passed = words[WORD_PASSED];
	ret->held = words[WORD_HELD];
	ret->counted = words[WORD_COUNTED];
}

int pd_snapshot_decode(const struct perf_event_header *hdr, struct pd_snapshot_log *ret)
{
	uint64_t words[WORDS_MAX] = {0};
	struct pd_record record;

	if (hdr->type != PERF_RECORD_HEADER_EVENT_TYPE)
		return -ENOENT;
	if (pd_record_decode(hdr, NULL, &record))
		return -EBADMSG;
	if (!record.words.words)
		return -ENOENT;
	memcpy(words, record.words.words,
	       sizeof(words[0]) * (record.words.nr < WORDS_MAX ? record.words.nr : WORDS_MAX));
	if (words[WORD_KIND] >= PD_SNAPSHOT_KINDS)
		return -ENOENT;
	*ret = (struct pd_snapshot_log){
		.kind = (enum pd_snapshot_kind)words[WORD_KIND],
		.number = words[WORD_NUMBER],
	};
	if (ret->kind == PD_SNAPSHOT_REQUEST)
		take_request(words, (const char *)record.words.text, record.words.text_len,
			     &ret->request);
	else if (ret->kind == PD_SNAPSHOT_END)
		take_figures(words, &ret->figures);
	else
		take_totals(words, &ret->totals);
	return 0;
}

const char *pd_snapshot_origin_name(enum pd_snapshot_origin origin)
{
	static const char *const names[] = {
		[PD_SNAPSHOT_SIGNAL] = "signal",   [PD_SNAPSHOT_CONTROL] = "control",
		[PD_SNAPSHOT_EXIT] = "exit",	   [PD_SNAPSHOT_CRASH] = "crash",
		[PD_SNAPSHOT_TRIGGER] = "trigger", [PD_SNAPSHOT_SWITCH] = "switch",
	};

	return (unsigned int)origin < PD_SNAPSHOT_ORIGINS ? names[origin] : "?";
}
