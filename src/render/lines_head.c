// SPDX-License-Identifier: Apache-2.0
#include "render/lines_head.h"

#include <string.h>
#include <time.h>

#include "base/clock_ns.h"
#include "render/lines_number.h"
#include "render/text.h"

#define SHORT_COMM 8 /* bytes */

/* The first 8 bytes of a comm, or fewer that do not end in the middle of a character. */
static void put_short_comm(struct outbuf *out, const char *comm)
{
	char text[SHORT_COMM + 1];
	size_t n = strnlen(comm, SHORT_COMM + 1);

	for (n = n > SHORT_COMM ? SHORT_COMM : n; n && ((uint8_t)comm[n] & 0xc0) == 0x80;)
		n--;
	memcpy(text, comm, n);
	text[n] = '\0';
	text_append(out, text, SHORT_COMM);
}

static void put_comm(const struct lines *l, struct outbuf *out, const struct script_sample *s)
{
	const char *comm = s->comm;
	char unknown[16];

	if (!comm) {
		snprintf(unknown, sizeof(unknown), ":%d", (int)s->ws->s.tid);
		comm = unknown;
	}
	if (l->opts.short_task)
		put_short_comm(out, comm);
	else
		text_append(out, comm, s->has_chain && (s->fields & SCRIPT_IP) ? 0 : 16);
	outbuf_char(out, ' ');
}

static void put_cpu(const struct lines *l, struct outbuf *out, uint32_t cpu)
{
	if (l->opts.short_task) {
		put_int(out, (int)cpu, 3, ' ');
		outbuf_char(out, ' ');
		return;
	}
	outbuf_char(out, '[');
	put_int(out, (int)cpu, 3, '0');
	outbuf_text(out, "] ");
}

void lines_put_task(const struct lines *l, struct outbuf *out, const struct script_sample *s)
{
	const struct pd_sample *p = &s->ws->s;
	uint64_t f = s->fields;

	if (f & SCRIPT_COMM)
		put_comm(l, out, s);
	if ((f & SCRIPT_PID) && (f & SCRIPT_TID)) {
		put_int(out, (int)p->pid, 7, ' ');
		outbuf_char(out, '/');
		put_int(out, (int)p->tid, -7, ' ');
		outbuf_char(out, ' ');
	} else if (f & (SCRIPT_PID | SCRIPT_TID)) {
		put_int(out, (int)(f & SCRIPT_PID ? p->pid : p->tid), 7, ' ');
		outbuf_char(out, ' ');
	}
	if (f & SCRIPT_CPU)
		put_cpu(l, out, p->cpu);
}

/* Writes one letter for the mode, as perf's misc field has it. */
static void put_misc(struct outbuf *out, uint16_t misc)
{
	static const struct {
		uint16_t mode;
		char letter;
	} modes[] = {
		{PERF_RECORD_MISC_KERNEL, 'K'},	    {PERF_RECORD_MISC_USER, 'U'},
		{PERF_RECORD_MISC_HYPERVISOR, 'H'}, {PERF_RECORD_MISC_GUEST_KERNEL, 'G'},
		{PERF_RECORD_MISC_GUEST_USER, 'g'},
	};
	int n = 0;

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if ((misc & modes[i].mode) == modes[i].mode) {
			outbuf_char(out, modes[i].letter);
			n++;
		}
	outbuf_format(out, "%*s", 6 - n, " ");
}

uint64_t lines_since(struct lines *l, uint64_t time)
{
	uint64_t origin = l->begun ? l->origin : time;

	if (l->opts.since == LINES_BOOT)
		return time;
	if (!l->begun || l->opts.since == LINES_BEFORE)
		l->origin = time;
	l->begun = true;
	return time > origin ? time - origin : 0; /* a damaged trace may go back */
}

/* The date and time of day, as perf's field tod. */
static void put_wall_time(const struct lines *l, struct outbuf *out, uint64_t clock)
{
	uint64_t ns = l->wall + clock;
	time_t seconds = (time_t)(ns / NS_PER_SEC);
	char text[64];
	struct tm tm;

	if (!l->wall_known || !localtime_r(&seconds, &tm) ||
	    !strftime(text, sizeof(text), "%F %H:%M:%S", &tm)) {
		outbuf_text(out, "disabled ");
		return;
	}
	outbuf_format(out, "%s.%06u ", text, (unsigned int)(ns % NS_PER_SEC / 1000));
}

static void put_seconds(struct outbuf *out, uint64_t seconds)
{
	put_int(out, (int64_t)seconds, 5, ' ');
	outbuf_char(out, '.');
}

/* Writes what follows the seconds. */
static void put_fraction(const struct lines *l, struct outbuf *out, uint64_t ns)
{
	size_t n = l->opts.ns ? 9 : 6;
	char *to = outbuf_room(out, 9 + 2);

	if (!to)
		return;
	if (l->opts.ns)
		decimal_digits(to, ns, 9);
	else
		decimal_digits(to, ns / 1000, 6);
	to[n] = ':';
	to[n + 1] = ' ';
	out->b.len += n + 2;
}

void lines_put_time(struct lines *l, struct outbuf *out, uint64_t clock)
{
	uint64_t time = lines_since(l, clock);

	put_seconds(out, time / NS_PER_SEC);
	put_fraction(l, out, time % NS_PER_SEC);
}

/* Fields that decide about what is kept of a head. */
#define HEAD_FIELDS (SCRIPT_COMM | SCRIPT_TID | SCRIPT_PID | SCRIPT_CPU | SCRIPT_TIME)

/* Writes the task and the seconds, as they are in all lines of a task within a second. */
static void put_kept_head(const struct lines *l, struct outbuf *out, const struct script_sample *s,
			  uint64_t second)
{
	const struct pd_sample *p = &s->ws->s;
	struct kept_head *kept = line_texts_head(s->texts, p->cpu);
	/* The name of a task is not padded before call chains. */
	uint64_t fields = s->fields & (s->has_chain ? HEAD_FIELDS | SCRIPT_IP : HEAD_FIELDS);
	size_t begin = out->b.len, len;

	if (kept->len && kept->tid == p->tid && kept->pid == p->pid && kept->cpu == p->cpu &&
	    kept->comm == s->comm && kept->second == second && kept->fields == fields) {
		outbuf_bytes(out, kept->text, kept->len);
		return;
	}
	lines_put_task(l, out, s);
	if (fields & SCRIPT_TIME)
		put_seconds(out, second);
	len = out->b.len - begin;
	kept->len = 0;
	if (out->failed || !len || len > sizeof(kept->text))
		return;
	kept->comm = s->comm;
	kept->second = second;
	kept->fields = fields;
	kept->pid = p->pid;
	kept->tid = p->tid;
	kept->cpu = p->cpu;
	kept->len = (uint32_t)len;
	memcpy(kept->text, out->b.data + begin, len);
}

void lines_put_head(struct lines *l, struct outbuf *out, const struct script_sample *s)
{
	uint64_t f = s->fields, time = f & SCRIPT_TIME ? s->ws->s.time : 0;

	if (l->opts.since == LINES_BOOT && !(f & (SCRIPT_MISC | SCRIPT_TOD))) {
		put_kept_head(l, out, s, time / NS_PER_SEC);
		if (f & SCRIPT_TIME)
			put_fraction(l, out, time % NS_PER_SEC);
		return;
	}
	lines_put_task(l, out, s);
	if (f & SCRIPT_MISC)
		put_misc(out, s->ws->s.misc);
	if (f & SCRIPT_TOD)
		put_wall_time(l, out, s->ws->s.time);
	if (f & SCRIPT_TIME)
		lines_put_time(l, out, time);
}
