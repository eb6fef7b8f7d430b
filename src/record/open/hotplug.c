// SPDX-License-Identifier: Apache-2.0
#include "record/open/hotplug.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock_ns.h"
#include "base/plural.h"
#include "sys/kernel/uevent.h"

/* The kernel reports a CPU online shortly before events can be opened there. */
#define TRIES 5

static int add(struct hotplug *h, const struct hotplug_cpu *cpu)
{
	if (array_grow(&h->cpus, &h->capacity, h->nr + 1, sizeof(*h->cpus)))
		return -ENOMEM;
	h->cpus[h->nr++] = *cpu;
	return 0;
}

int hotplug_init(struct hotplug *h, const struct target_opts *opts, const struct plan *plan)
{
	struct cpus online = {0};
	int rc = 0;

	h->all = !opts->cpus.nr;
	h->fd = -1;
	if (plan->task_rings)
		return 0;
	h->reopens = plan_has_cpu_events(plan);
	h->fd = uevent_open();
	/* open_plan() has reported the CPUs that went offline before it had opened all events. */
	cpus_online(&online, NULL);
	for (size_t i = 0; !rc && i < plan->cpus.nr; i++) {
		int cpu = plan->cpus.ids[i];

		rc = add(h, &(struct hotplug_cpu){
				    .cpu = cpu,
				    .sampled = cpus_has(&plan->sampled, cpu),
				    .known = true,
				    .recorded = cpus_has(&online, cpu),
			    });
	}
	cpus_release(&online);
	return rc;
}

void hotplug_release(struct hotplug *h)
{
	free(h->cpus);
	if (h->fd >= 0)
		close(h->fd);
	*h = (struct hotplug)HOTPLUG_INIT;
}

void hotplug_poll(struct hotplug *h)
{
	struct cpus online;
	time_t now = (time_t)(now_ns(CLOCK_MONOTONIC) / NS_PER_SEC);

	if (!h->nr || now == h->polled)
		return;
	if (cpus_online(&online, NULL))
		return;
	h->polled = now;
	hotplug_update(h, &online);
	cpus_release(&online);
}

static const char *why_not(const struct hotplug_cpu *c, int rc)
{
	if (!c->known || rc == -ENOENT)
		return "it was missing at the start";
	return rc == -ENOTSUP ? "ringtail cannot continue groups that are read together (:S)"
			      : strerror(-rc);
}

static enum message_level level_of(const struct hotplug_cpu *c)
{
	return c->sampled ? MESSAGE_WARNING : MESSAGE_DETAIL;
}

static void revived(struct hotplug *h, struct hotplug_cpu *c, int rc)
{
	enum message_level level = level_of(c);

	c->recorded = !rc;
	if (rc == -ENODEV && c->tries++ < TRIES)
		return;
	c->reported = rc;
	if (!rc)
		messages_say(h->messages, level,
			     "CPU %d is online again and recorded; its first events are lost",
			     c->cpu);
	else
		messages_say(h->messages, level, "CPU %d has come online and is not recorded: %s",
			     c->cpu, why_not(c, rc));
}

/*
 * Reports a CPU that was missing at the start only the first time. Events of tasks go on by
 * themselves on a CPU that is back.
 */
static void update_one(struct hotplug *h, struct hotplug_cpu *c, bool online)
{
	if (c->known && !h->reopens)
		return;
	if (online && !c->recorded && !c->reported) {
		c->missed |= c->sampled;
		c->due = c->known;
		if (!c->known)
			revived(h, c, -ENOENT);
	} else if (!online) {
		if (c->recorded)
			messages_say(h->messages, level_of(c), "CPU %d has gone offline", c->cpu);
		c->recorded = c->due = false;
		c->reported &= !c->known;
		c->tries = 0;
	}
}

/*
 * Returns the entry of @cpu, or NULL if it is not recorded, or no memory was left until the next
 * poll.
 */
static struct hotplug_cpu *find(struct hotplug *h, int cpu)
{
	for (size_t i = 0; i < h->nr; i++)
		if (h->cpus[i].cpu == cpu)
			return &h->cpus[i];
	if (!h->nr || !h->all || add(h, &(struct hotplug_cpu){.cpu = cpu, .sampled = true}))
		return NULL;
	return &h->cpus[h->nr - 1];
}

void hotplug_event(struct hotplug *h, int cpu, bool online)
{
	struct hotplug_cpu *c = find(h, cpu);

	if (c)
		update_one(h, c, online);
}

int hotplug_fd(const struct hotplug *h)
{
	return h->fd;
}

static struct hotplug_cpu *first_due(const struct hotplug *h)
{
	for (size_t i = 0; i < h->nr; i++)
		if (h->cpus[i].due)
			return &h->cpus[i];
	return NULL;
}

bool hotplug_due(struct hotplug *h, int *ret_cpu)
{
	struct hotplug_cpu *c;
	bool online;
	int cpu, more;

	while (!(c = first_due(h))) {
		more = h->fd < 0 ? 0 : uevent_next_cpu(h->fd, &cpu, &online);
		if (more < 0)
			h->polled = 0;
		if (more <= 0)
			return false;
		hotplug_event(h, cpu, online);
	}
	*ret_cpu = c->cpu;
	return true;
}

void hotplug_revived(struct hotplug *h, int cpu, int rc)
{
	struct hotplug_cpu *c = find(h, cpu);

	if (!c)
		return;
	c->due = false;
	revived(h, c, rc);
}

void hotplug_update(struct hotplug *h, const struct cpus *online)
{
	for (size_t i = 0; i < online->nr; i++)
		find(h, online->ids[i]);
	for (size_t i = 0; i < h->nr; i++)
		update_one(h, &h->cpus[i], cpus_has(online, h->cpus[i].cpu));
}

size_t hotplug_missed(const struct hotplug *h)
{
	size_t nr = 0;

	for (size_t i = 0; i < h->nr; i++)
		nr += h->cpus[i].missed;
	return nr;
}

void hotplug_say(const struct hotplug *h)
{
	size_t nr = hotplug_missed(h);
	struct buf list = {0};

	for (size_t i = 0; i < h->nr; i++)
		if (h->cpus[i].missed)
			buf_printf(&list, "%s%d%s", list.len ? ", " : "", h->cpus[i].cpu,
				   h->cpus[i].recorded ? " (for a moment)" : "");
	if (nr)
		messages_say(h->messages, MESSAGE_WARNING,
			     "lost what happened on %zu CPU%s after coming online: %.*s", nr,
			     plural_s(nr), (int)list.len, (const char *)list.data);
	buf_release(&list);
}
