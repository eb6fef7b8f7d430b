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

/* Words of a PD_SNAPSHOT_AUX_RING. */
enum {
	WORD_AUX_IDX = WORDS_COMMON,
	WORD_AUX_CPU,
	WORD_AUX_TID,
	WORD_AUX_ACTIVE,
	WORD_AUX_MODE,
	WORD_AUX_SCOPE,
	WORD_AUX_WINDOW,
	WORD_AUX_ASKED,
	WORD_AUX_FIRST,
	WORD_AUX_LAST,
	WORD_AUX_POSITION,
	WORD_AUX_FRESH,
	WORD_AUX_OLD,
	WORD_AUX_WRITTEN,
	WORD_AUX_AREA,
	WORD_AUX_LOST,
	WORD_AUX_TRUNCATED,
	WORD_AUX_RESTARTS,
	WORD_AUX_UNREPORTED,
	WORD_AUX_LOST_RECORDS,
	WORDS_AUX_RING,
};

#define WORDS_MAX WORDS_AUX_RING

_Static_assert((int)WORDS_END <= (int)WORDS_MAX && (int)WORDS_REQUEST <= (int)WORDS_MAX,
	       "words of all kinds fit");
_Static_assert(sizeof(((struct pd_snapshot_record *)0)->body) >=
		       sizeof(uint64_t) * (2 + WORDS_REQUEST) + sizeof(struct pd_snapshot_request),
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

static void put_aux_ring(const struct pd_aux_ring *a, uint64_t *words)
{
	words[WORD_AUX_IDX] = a->idx;
	words[WORD_AUX_CPU] = a->cpu;
	words[WORD_AUX_TID] = a->tid;
	words[WORD_AUX_ACTIVE] = a->active;
	words[WORD_AUX_MODE] = a->mode;
	words[WORD_AUX_SCOPE] = a->scope;
	words[WORD_AUX_WINDOW] = a->window;
	words[WORD_AUX_ASKED] = a->asked;
	words[WORD_AUX_FIRST] = a->first;
	words[WORD_AUX_LAST] = a->last;
	words[WORD_AUX_POSITION] = a->position;
	words[WORD_AUX_FRESH] = a->fresh;
	words[WORD_AUX_OLD] = a->old;
	words[WORD_AUX_WRITTEN] = a->written;
	words[WORD_AUX_AREA] = a->area;
	words[WORD_AUX_LOST] = a->lost;
	words[WORD_AUX_TRUNCATED] = a->truncated;
	words[WORD_AUX_RESTARTS] = a->restarts;
	words[WORD_AUX_UNREPORTED] = a->unreported;
	words[WORD_AUX_LOST_RECORDS] = a->lost_records;
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
		[PD_SNAPSHOT_AUX_RING] = WORDS_AUX_RING,
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
	} else if (log->kind == PD_SNAPSHOT_TOTALS) {
		put_totals(&log->totals, words);
	} else {
		put_aux_ring(&log->aux, words);
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

static void take_aux_ring(const uint64_t *words, struct pd_aux_ring *ret)
{
	uint64_t mode = words[WORD_AUX_MODE], scope = words[WORD_AUX_SCOPE];

	ret->idx = (uint32_t)words[WORD_AUX_IDX];
	ret->cpu = (uint32_t)words[WORD_AUX_CPU];
	ret->tid = (uint32_t)words[WORD_AUX_TID];
	ret->active = words[WORD_AUX_ACTIVE];
	ret->mode = mode < PD_AUX_MODES ? (enum pd_aux_mode)mode : PD_AUX_MODES;
	ret->scope = scope < PD_AUX_SCOPES ? (enum pd_aux_scope)scope : PD_AUX_SCOPES;
	ret->window = words[WORD_AUX_WINDOW];
	ret->asked = words[WORD_AUX_ASKED];
	ret->first = words[WORD_AUX_FIRST];
	ret->last = words[WORD_AUX_LAST];
	ret->position = words[WORD_AUX_POSITION];
	ret->fresh = words[WORD_AUX_FRESH];
	ret->old = words[WORD_AUX_OLD];
	ret->written = words[WORD_AUX_WRITTEN];
	ret->area = words[WORD_AUX_AREA];
	ret->lost = words[WORD_AUX_LOST];
	ret->truncated = words[WORD_AUX_TRUNCATED];
	ret->restarts = words[WORD_AUX_RESTARTS];
	ret->unreported = words[WORD_AUX_UNREPORTED];
	ret->lost_records = words[WORD_AUX_LOST_RECORDS];
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
	else if (ret->kind == PD_SNAPSHOT_TOTALS)
		take_totals(words, &ret->totals);
	else
		take_aux_ring(words, &ret->aux);
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

const char *pd_aux_mode_name(enum pd_aux_mode mode)
{
	static const char *const names[] = {
		[PD_AUX_FULL] = "full",
		[PD_AUX_SNAPSHOT] = "snapshot",
		[PD_AUX_SAMPLE] = "sample",
	};

	return (unsigned int)mode < PD_AUX_MODES ? names[mode] : "?";
}

const char *pd_aux_scope_name(enum pd_aux_scope scope)
{
	static const char *const names[] = {
		[PD_AUX_SCOPE_AREA] = "area",
		[PD_AUX_SCOPE_ACTIVE] = "active",
		[PD_AUX_SCOPE_WINDOW] = "window",
		[PD_AUX_SCOPE_ALL] = "all",
	};

	return (unsigned int)scope < PD_AUX_SCOPES ? names[scope] : "?";
}
