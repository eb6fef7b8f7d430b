// SPDX-License-Identifier: Apache-2.0
#include "record/aux/info.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if defined(__i386__) || defined(__x86_64__)
#include <cpuid.h>
#endif

#include "record/aux/info_coresight.h"
#include "event/catalog/pmu.h"
#include "sys/io/file.h"

#define DEVICES "bus/event_source/devices"

/* The words of AUXTRACE_INFO for intel_pt; the filter's text is between the last two. */
enum {
	PT_PMU_TYPE,
	PT_TIME_SHIFT,
	PT_TIME_MULT,
	PT_TIME_ZERO,
	PT_CAP_USER_TIME_ZERO,
	PT_TSC_BIT,
	PT_NORETCOMP_BIT,
	PT_HAVE_SCHED_SWITCH,
	PT_SNAPSHOT_MODE,
	PT_PER_CPU_MMAPS,
	PT_MTC_BIT,
	PT_MTC_FREQ_BITS,
	PT_TSC_CTC_N,
	PT_TSC_CTC_D,
	PT_CYC_BIT,
	PT_MAX_NONTURBO_RATIO,
	PT_FILTER_STR_LEN,
	PT_WORDS,
};

/* Of intel_bts. */
enum {
	BTS_PMU_TYPE,
	BTS_TIME_SHIFT,
	BTS_TIME_MULT,
	BTS_TIME_ZERO,
	BTS_CAP_USER_TIME_ZERO,
	BTS_SNAPSHOT_MODE,
	BTS_WORDS,
};

/* Of arm_spe_N. */
enum {
	SPE_PMU_TYPE,
	SPE_PER_CPU_MMAPS,
	SPE_WORDS,
};

/* How perf learns of context switches: by records of the tasks, or of all CPUs. */
#define SWITCHES_OF_TASKS 2
#define SWITCHES_OF_CPUS  3

static uint64_t format_bits(const struct pmu *pmu, const char *name)
{
	for (size_t i = 0; i < pmu->nr_formats; i++)
		if (!pmu->formats[i].word && !strcmp(pmu->formats[i].name, name))
			return pmu->formats[i].bits;
	return 0;
}

/* The config word of a term without a value, which is 1. */
static uint64_t format_flag(const struct pmu *pmu, const char *name)
{
	uint64_t bits = format_bits(pmu, name);

	return bits & -bits;
}

static uint64_t pmu_number(const struct aux_info_source *s, const struct plan_event *event,
			   const char *file)
{
	long long value = 0;

	return file_number(&value, "%s/" DEVICES "/%s/%s", s->sysfs, event->pmu, file) || value < 0
		       ? 0
		       : (uint64_t)value;
}

/* The trace of a task's ring is of that task: perf would ask the switches of CPU -1 for another. */
static unsigned int switches(const struct plan *plan)
{
	if (plan->task_rings)
		return 0;
	for (size_t i = 0; i < plan->nr; i++)
		if (plan->events[i].attr.flags & PD_ATTR_CONTEXT_SWITCH)
			return plan->target == TARGET_CPUS ? SWITCHES_OF_CPUS : SWITCHES_OF_TASKS;
	return 0;
}

/* A PMU without description has no formats. Returns 0 or -ENOMEM. */
static int load_pmu(const struct aux_info_source *s, const struct plan_event *event,
		    struct pmu *ret)
{
	const struct event_env env = {.sysfs = s->sysfs};
	int rc = pmu_load(&env, event->pmu, ret, NULL);

	if (rc)
		*ret = (struct pmu){0};
	return rc == -ENOMEM ? rc : 0;
}

static int add_intel_pt(const struct aux_info_source *s, const struct plan_event *event,
			struct buf *b)
{
	size_t len = event->filter ? strlen(event->filter) : 0;
	size_t filter_words = len ? len / 8 + 1 : 0, nr = PT_WORDS + filter_words + 1;
	uint64_t *w = calloc(nr, sizeof(*w));
	struct pmu pmu;
	int rc;

	if (!w)
		return -ENOMEM;
	rc = load_pmu(s, event, &pmu);
	if (rc)
		goto out;
	w[PT_PMU_TYPE] = event->attr.type;
	if (s->conv) {
		w[PT_TIME_SHIFT] = s->conv->time_shift;
		w[PT_TIME_MULT] = s->conv->time_mult;
		w[PT_TIME_ZERO] = s->conv->time_zero;
		w[PT_CAP_USER_TIME_ZERO] = s->conv->time_mult != 0;
	}
	w[PT_TSC_BIT] = format_flag(&pmu, "tsc");
	w[PT_NORETCOMP_BIT] = format_flag(&pmu, "noretcomp");
	/* Without time stamps in the trace, switches cannot be related to it. */
	if (event->attr.config & w[PT_TSC_BIT])
		w[PT_HAVE_SCHED_SWITCH] = switches(s->plan);
	w[PT_SNAPSHOT_MODE] = s->plan->aux_mode == AUX_SNAPSHOT;
	w[PT_PER_CPU_MMAPS] = !s->plan->task_rings;
	w[PT_MTC_BIT] = format_flag(&pmu, "mtc");
	w[PT_MTC_FREQ_BITS] = format_bits(&pmu, "mtc_period");
	w[PT_TSC_CTC_N] = s->tsc;
	w[PT_TSC_CTC_D] = s->crystal;
	w[PT_CYC_BIT] = format_flag(&pmu, "cyc");
	w[PT_MAX_NONTURBO_RATIO] = pmu_number(s, event, "max_nonturbo_ratio");
	w[PT_FILTER_STR_LEN] = len;
	if (len)
		memcpy(&w[PT_WORDS], event->filter, len);
	w[nr - 1] = pmu_number(s, event, "caps/event_trace");
	rc = pd_auxtrace_info_encode(b, PD_AUXTRACE_INTEL_PT, w, nr);
	pmu_release(&pmu);
out:
	free(w);
	return rc;
}

static int add_intel_bts(const struct aux_info_source *s, const struct plan_event *event,
			 struct buf *b)
{
	uint64_t w[BTS_WORDS] = {
		[BTS_PMU_TYPE] = event->attr.type,
		[BTS_SNAPSHOT_MODE] = s->plan->aux_mode == AUX_SNAPSHOT,
	};

	if (s->conv) {
		w[BTS_TIME_SHIFT] = s->conv->time_shift;
		w[BTS_TIME_MULT] = s->conv->time_mult;
		w[BTS_TIME_ZERO] = s->conv->time_zero;
		w[BTS_CAP_USER_TIME_ZERO] = s->conv->time_mult != 0;
	}
	return pd_auxtrace_info_encode(b, PD_AUXTRACE_INTEL_BTS, w, BTS_WORDS);
}

static int add_arm_spe(const struct aux_info_source *s, const struct plan_event *event,
		       struct buf *b)
{
	/* perf 6.1 leaves the second word 0, and reads it nowhere. */
	const uint64_t w[SPE_WORDS] = {[SPE_PMU_TYPE] = event->attr.type};

	(void)s;
	return pd_auxtrace_info_encode(b, PD_AUXTRACE_ARM_SPE, w, SPE_WORDS);
}

static int add_hisi_ptt(const struct aux_info_source *s, const struct plan_event *event,
			struct buf *b)
{
	const uint64_t type = event->attr.type;

	(void)s;
	return pd_auxtrace_info_encode(b, PD_AUXTRACE_HISI_PTT, &type, 1);
}

static int add_cs_etm(const struct aux_info_source *s, const struct plan_event *event,
		      struct buf *b)
{
	return aux_info_coresight(s, event, b);
}

static const struct {
	const char *pmu;
	bool numbered; /* the name goes on with a number */
	int (*add)(const struct aux_info_source *s, const struct plan_event *event, struct buf *b);
} kinds[] = {
	{"intel_pt", false, add_intel_pt}, {"intel_bts", false, add_intel_bts},
	{"cs_etm", false, add_cs_etm},	   {"arm_spe_", true, add_arm_spe},
	{"hisi_ptt", true, add_hisi_ptt},
};

/*
 * The place of each event. All of a place have the same CPU and task, its AUX area's: perf refuses
 * a queue with several.
 */
static int add_ids(const struct opened *o, struct buf *b)
{
	struct pd_id_entry *entries = calloc(o->nr_fds + 1, sizeof(*entries));
	pid_t *tasks = calloc(o->nr_places + 1, sizeof(*tasks));
	int rc = entries && tasks ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < o->nr_fds; i++) {
		const struct open_fd *fd = &o->fds[i];
		pid_t *task = &tasks[fd->ring % o->nr_places];

		if (o->rings[fd->ring].kind == RING_AUX)
			*task = !*task || *task == fd->task ? fd->task : -1;
	}
	for (size_t i = 0; !rc && i < o->nr_fds; i++) {
		const struct open_fd *fd = &o->fds[i];
		size_t place = fd->ring % o->nr_places;

		entries[i] = (struct pd_id_entry){
			.id = fd->id,
			.idx = place,
			.cpu = o->rings[fd->ring].cpu,
			.tid = tasks[place] ? tasks[place] : -1,
		};
	}
	if (!rc)
		rc = pd_id_index_encode(b, entries, o->nr_fds);
	free(entries);
	free(tasks);
	return rc;
}

int aux_info_build(const struct aux_info_source *source, struct buf *b)
{
	const struct plan *plan = source->plan;
	int rc = source->conv ? pd_time_conv_encode(b, source->conv) : 0;

	/* The records of a task's ring have CPUs, but their ring has none. */
	if (!rc && (plan->aux_mode == AUX_SAMPLE || plan->task_rings))
		rc = add_ids(source->opened, b);
	for (size_t i = 0; !rc && i < plan->nr; i++) {
		const struct plan_event *event = &plan->events[i];

		for (size_t k = 0; event->aux && k < sizeof(kinds) / sizeof(*kinds); k++) {
			size_t len = strlen(kinds[k].pmu);

			if (!strncmp(event->pmu, kinds[k].pmu, len) &&
			    (kinds[k].numbered || !event->pmu[len]))
				return kinds[k].add(source, event, b);
		}
	}
	return rc;
}

bool aux_info_conv(const struct perf_event_mmap_page *page, struct pd_time_conv *ret)
{
	uint32_t seq;

	/* The kernel makes the sequence odd while it writes (arch_perf_update_userpage()). */
	do {
		seq = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
		*ret = (struct pd_time_conv){
			.time_shift = page->time_shift,
			.time_mult = page->time_mult,
			.time_zero = page->time_zero,
			.time_cycles = page->time_cycles,
			.time_mask = page->time_mask,
			.cap_user_time_zero = page->cap_user_time_zero,
			.cap_user_time_short = page->cap_user_time_short,
		};
		atomic_thread_fence(memory_order_acquire);
	} while (seq & 1 || seq != __atomic_load_n(&page->lock, __ATOMIC_RELAXED));
	return ret->cap_user_time_zero;
}

static void read_ratio(struct aux_info_source *s)
{
#if defined(__i386__) || defined(__x86_64__)
	unsigned int eax, ebx, ecx, edx;

	if (__get_cpuid(0x15, &eax, &ebx, &ecx, &edx)) {
		s->tsc = ebx;
		s->crystal = eax;
	}
#else
	(void)s;
#endif
}

int aux_info_emit(const struct plan *plan, const struct opened *opened, record_emit_fn *emit,
		  void *arg, struct error *err)
{
	struct aux_info_source s = {.sysfs = "/sys", .plan = plan, .opened = opened};
	struct pd_time_conv conv;
	struct buf b = {0};
	int rc;

	if (plan->aux_mode == AUX_NONE)
		return 0;
	for (size_t i = 0; !s.conv && i < opened->nr_rings; i++)
		if (opened->rings[i].memory && aux_info_conv(opened->rings[i].memory, &conv))
			s.conv = &conv;
	read_ratio(&s);
	rc = aux_info_build(&s, &b);
	if (rc)
		error_sys(err, rc, "AUXTRACE_INFO, the description of the trace");
	for (size_t at = 0; !rc && at < b.len;) {
		const struct perf_event_header *hdr = (const void *)(b.data + at);

		at += hdr->size;
		rc = emit(hdr, arg);
	}
	buf_release(&b);
	return rc;
}
