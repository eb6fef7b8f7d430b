// SPDX-License-Identifier: Apache-2.0
#include "count/attributes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/catalog/pmu.h"
#include "record/plan/tracefs_probe.h"

static bool is_clock(const struct pd_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
						    attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Reads PMU/events/NAME.@what for an event that is written PMU/NAME/. Returns false if none. */
static bool read_alias_file(const struct event_env *env, const char *written, const char *what,
			    char *out, size_t size)
{
	const char *slash = strchr(written, '/');
	size_t len = slash ? strcspn(slash + 1, "/,=") : 0;
	char pmu[64], file[160];

	if (!len || slash[1 + len] != '/' || (size_t)(slash - written) >= sizeof(pmu))
		return false;
	snprintf(pmu, sizeof(pmu), "%.*s", (int)(slash - written), written);
	snprintf(file, sizeof(file), "events/%.*s.%s", (int)(len < 96 ? len : 96), slash + 1, what);
	return pmu_read(env, pmu, file, out, size) > 0;
}

/* perf prints clocks in milliseconds; other units are those that sysfs gives. */
static void set_unit(struct count_event *event, const struct event_env *env)
{
	char text[64], *end;

	event->scale = 1;
	event->unit = "";
	if (is_clock(&event->attr)) {
		event->scale = 1e-6;
		event->unit = "msec";
		return;
	}
	if (!event->spec->name)
		return;
	if (read_alias_file(env, event->spec->name, "scale", text, sizeof(text))) {
		double scale = strtod(text, &end);

		if (end != text && !*end && scale > 0)
			event->scale = scale;
	}
	if (read_alias_file(env, event->spec->name, "unit", event->unit_text,
			    sizeof(event->unit_text)))
		event->unit = event->unit_text;
}

/* A uprobe of the PMU cannot be inherited (record/plan/tracefs_probe.h). */
static int set_place(struct count_event *event, const struct count_targets *targets,
		     struct error *err)
{
	const struct event_place *place = &event->spec->place;
	struct pd_attr *attr = &event->attr;
	int rc;

	if (!place->file)
		return 0;
	if (!place->probe)
		return place->fixed ? 0
				    : error_set(err, -EINVAL,
						"'%.128s': each process has its own addresses: use "
						"uprobe:FILE:FUNCTION, or mem:ADDRESS",
						event->name);
	if (!targets->inherit) {
		attr->config1 = (uintptr_t)place->file;
		return 0;
	}
	rc = tracefs_probe_new(NULL, place->file, attr->config2, attr->config != 0, &event->probe,
			       err);
	if (rc)
		return rc;
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->config = tracefs_probe_id(event->probe);
	attr->config2 = 0;
	return 0;
}

int count_event_init(struct count_event *event, const struct event_spec *spec,
		     const struct count_targets *targets, bool leader, const struct event_env *env,
		     struct error *err)
{
	struct pd_attr *attr = &event->attr;

	*event = (struct count_event){.spec = spec, .attr = spec->attr};
	event->name = strdup(spec->name ? spec->name : "?");
	if (!event->name)
		return error_set(err, -ENOMEM, "out of memory");
	if (spec->aux)
		return error_set(
			err, -EINVAL,
			"'%.128s' writes a trace and counts nothing: use 'ringtail record'",
			event->name);
	attr->sample_period = 0;
	attr->sample_type = 0;
	attr->flags &= ~(PD_ATTR_FREQ | PD_ATTR_PRECISE_IP);
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (targets->inherit && spec->inherit)
		attr->flags |= PD_ATTR_INHERIT;
	if (leader)
		attr->flags |= PD_ATTR_DISABLED | (targets->on_exec ? PD_ATTR_ENABLE_ON_EXEC : 0);
	set_unit(event, env);
	return set_place(event, targets, err);
}

void count_event_release(struct count_event *event)
{
	tracefs_probe_free(event->probe);
	free(event->name);
	*event = (struct count_event){0};
}

int count_event_user_only(struct count_event *event)
{
	char *name;

	if (asprintf(&name, "%s:u", event->name) < 0)
		return -ENOMEM;
	free(event->name);
	event->name = name;
	event->attr.flags |= PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_HV;
	return 0;
}
