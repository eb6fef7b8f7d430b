// SPDX-License-Identifier: Apache-2.0
#include "record/session/session_budget.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock_ns.h"
#include "base/plural.h"
#include "sys/io/timer.h"

/* --- life ----------------------------------------------------------------------------------------
 */

static void say_what_stays(const struct session_budget *b)
{
	for (unsigned int i = 0; i < b->plan->nr; i++) {
		const struct plan_event *event = &b->plan->events[i];

		/* Members of a group are read with their leader. */
		if (event->dummy || !event->attr.sample_period || frequency_can(b->frequency, i))
			continue;
		messages_say(
			b->messages, MESSAGE_WARNING,
			event->attr.flags & PD_ATTR_FREQ
				? "--max-cpu does not change %s: tasks inherit it and keep its "
				  "frequency (record CPUs, with -a or -C, or without -i)"
				: "--max-cpu does not change %s, which has a period and no "
				  "frequency",
			event->name);
	}
}

int session_budget_open(struct session_budget *b, const struct record_opts *opts,
			const struct plan *plan, const struct opened *opened,
			const struct messages *messages, struct error *err)
{
	uint64_t most;

	*b = (struct session_budget){
		.plan = plan,
		.messages = messages,
		.clock = CLOCK_INIT,
		.timer = -1,
		.least = 1,
	};
	if (opts->max_cpu <= 0)
		return 0;
	b->frequency = frequency_new(plan, opened);
	if (!b->frequency)
		return error_set(err, -ENOMEM, "out of memory");
	b->timer = timer_open();
	if (b->timer < 0)
		return error_sys(err, b->timer, "timerfd");
	most = frequency_most(b->frequency);
	b->law.most = opts->max_cpu;
	b->law.least = most ? 1 / (double)most : 1;
	b->law.share = 1;
	clock_open(&b->clock, &opts->plan.sample);
	say_what_stays(b);
	return 0;
}

void session_budget_release(struct session_budget *b)
{
	if (b->frequency)
		clock_close(&b->clock);
	if (b->frequency && b->timer >= 0)
		close(b->timer);
	frequency_free(b->frequency);
	*b = (struct session_budget){0};
}

void session_budget_start(struct session_budget *b)
{
	if (!b->frequency)
		return;
	timer_set(b->timer, BUDGET_LOOK_MS, true);
	b->begin_cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	b->begin = now_ns(CLOCK_MONOTONIC);
	budget_init(&b->law, b->law.most, b->law.least, b->begin_cpu, b->begin);
}

int session_budget_fd(const struct session_budget *b)
{
	return b->frequency ? b->timer : -1;
}

/* --- while it runs -------------------------------------------------------------------------------
 */

static const char *an_event(const struct session_budget *b, uint64_t *ret_hz)
{
	for (unsigned int i = 0; i < b->plan->nr; i++) {
		if (!frequency_can(b->frequency, i))
			continue;
		*ret_hz = frequency_of(b->frequency, i);
		return b->plan->events[i].name;
	}
	return "";
}

static void say_change(struct session_budget *b, bool lower)
{
	uint64_t hz = 0;
	const char *event = an_event(b, &hz);

	messages_say_limited(b->messages, MESSAGE_INFO, &b->change,
			     "recording takes %.2f %% of a CPU, with --max-cpu %g%%: frequencies "
			     "are %s to %.3g %% of those requested (%s: %llu Hz)",
			     100 * b->law.usage, 100 * b->law.most, lower ? "lowered" : "raised",
			     100 * b->law.share, event, (unsigned long long)hz);
}

void session_budget_revived(struct session_budget *b)
{
	if (b->frequency)
		frequency_set(b->frequency, b->law.share);
}

void session_budget_look(struct session_budget *b)
{
	double before = b->law.share;
	bool lower;

	if (!b->frequency || !timer_rang(b->timer) ||
	    !budget_look(&b->law, now_ns(CLOCK_PROCESS_CPUTIME_ID), now_ns(CLOCK_MONOTONIC)))
		return;
	lower = b->law.share < before;
	frequency_set(b->frequency, b->law.share);
	frequency_changed(b->frequency, clock_now(&b->clock));
	b->lowered += lower;
	if (b->law.share < b->least)
		b->least = b->law.share;
	say_change(b, lower);
}

/* The whole recording counts, also its first seconds, before the first look. */
static void say_missed(const struct session_budget *b)
{
	double cpu = (double)(now_ns(CLOCK_PROCESS_CPUTIME_ID) - b->begin_cpu);
	double time = (double)(now_ns(CLOCK_MONOTONIC) - b->begin);

	if (cpu > b->law.most * time)
		messages_say(b->messages, MESSAGE_WARNING,
			     "--max-cpu %g%% was missed: recording took %.2f %% of a CPU over "
			     "%.1f s",
			     100 * b->law.most, 100 * cpu / time, time / 1e9);
}

void session_budget_end(const struct session_budget *b)
{
	if (b->frequency && b->begin)
		say_missed(b);
	if (b->lowered)
		messages_say(b->messages, MESSAGE_INFO,
			     "--max-cpu: frequencies were lowered %u time%s, down to %.3g %% of "
			     "those requested",
			     b->lowered, plural_s(b->lowered), 100 * b->least);
}
