// SPDX-License-Identifier: Apache-2.0
#include "record/session/service_status.h"

#include <unistd.h>

#include "base/buf.h"
#include "base/clock_ns.h"
#include "base/plural.h"
#include "sys/io/timer.h"

#define REPORT_MS 10000u /* longest interval between two status messages */

/* Half of the watchdog's time. */
static uint64_t interval_ms(const struct service_status *s)
{
	uint64_t half = s->notify->watchdog_ms / 2;

	if (!s->notify->watchdog_ms || half > REPORT_MS)
		return REPORT_MS;
	return half ? half : 1;
}

void service_status_open(struct service_status *s, const struct notify *notify)
{
	*s = (struct service_status){.timer = -1, .notify = notify};
	s->there = notify && notify->fd >= 0;
	if (s->there)
		s->timer = timer_open();
}

void service_status_release(struct service_status *s)
{
	if (!s->there)
		return;
	if (s->timer >= 0)
		close(s->timer);
	*s = (struct service_status){0};
}

void service_status_ready(struct service_status *s)
{
	if (!s->there)
		return;
	notify_send(s->notify, "READY=1\nSTATUS=recording");
	s->alive = now_ms();
	if (s->timer >= 0)
		timer_set(s->timer, interval_ms(s), true);
}

int service_status_fd(const struct service_status *s)
{
	return s->there ? s->timer : -1;
}

static void tell_alive(struct service_status *s)
{
	if (s->notify->watchdog_ms)
		notify_send(s->notify, "WATCHDOG=1");
	s->alive = now_ms();
}

static void print_memory(const struct service_news *news, struct buf *out)
{
	struct history_figures f;

	history_figures(flight_history(news->flight), &f);
	buf_printf(out, "memory holds %.1f s, %llu sample%s; %zu snapshot%s",
		   (double)(f.last - f.first) / 1e9, (unsigned long long)f.samples,
		   plural_s(f.samples), news->snapshots, plural_s(news->snapshots));
	if (news->given_up)
		buf_printf(out, ", %zu not written", news->given_up);
}

/* Returns 0, or -ENOMEM with the text incomplete. */
static int print_status(const struct service_news *news, struct buf *out)
{
	buf_printf(out, "STATUS=");
	if (news->flight)
		print_memory(news, out);
	else
		buf_printf(out, "recording: %llu MB written",
			   (unsigned long long)news->bytes >> 20);
	if (news->lost)
		buf_printf(out, "; %llu sample%s lost", (unsigned long long)news->lost,
			   plural_s(news->lost));
	return buf_append(out, "", 1);
}

void service_status_tell(struct service_status *s, const struct service_news *news)
{
	struct buf status = {0};

	if (!s->there || !timer_rang(s->timer))
		return;
	tell_alive(s);
	if (!print_status(news, &status))
		notify_send(s->notify, (const char *)status.data);
	buf_release(&status);
}

void service_status_alive(struct service_status *s)
{
	if (s->there && now_ms() - s->alive >= interval_ms(s))
		tell_alive(s);
}

void service_status_stopping(struct service_status *s)
{
	if (s->there)
		notify_send(s->notify, "STOPPING=1\nSTATUS=writing the rest of the output");
	service_status_alive(s);
}
