// SPDX-License-Identifier: GPL-2.0
/*
 * auxsim: a software PMU that writes a synthetic trace into the AUX area.
 *
 * Each active event has a pinned hrtimer, which writes config.bytes of records (auxsim.h) a tick.
 * Without a sink the module behaves to the kernel's perf core as Intel PT does:
 *  - AUX area mapped writable: output ends and begins again at each watermark. Without space it
 * ends as TRUNCATED, and perf core disables the event.
 *  - AUX area mapped read-only: it wraps for ever. The head moves when the event stops.
 *
 * With sink=N it behaves as CoreSight's TMC: N CPUs write into one buffer of sinksize bytes, which
 * wraps. The trace reaches the AUX area only when an event stops, and only the last event of the
 * sink to stop gets it, for all of them; the others get nothing. Events of one recorder share a
 * sink, those of a second recorder fail with EBUSY (with busy=1 all others do). A sink that starts
 * forgets what it held.
 *
 * With lazy=1 (sink=1 if none is given) an event in overwrite mode that stops because its thread is
 * scheduled out leaves the AUX area and the head as they are; only a DISABLE of a running event
 * brings the trace.
 *
 * Address filters, as Intel PT's: with "filter" a tick writes only if the program counter is in one
 * of the ranges, and it ends in a "stop" range until the event begins again.
 */
#include <asm/irq_regs.h>
#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <linux/vmalloc.h>
#include "auxsim.h"

static char *name = "auxsim";
module_param(name, charp, 0444);
MODULE_PARM_DESC(name, "PMU name in /sys/bus/event_source/devices");
static bool nosg;
module_param(nosg, bool, 0444);
MODULE_PARM_DESC(nosg, "the AUX area is one contiguous allocation");
static bool noexcl;
module_param(noexcl, bool, 0444);
MODULE_PARM_DESC(noexcl, "several events may be opened for one CPU or thread");
static uint sink;
module_param(sink, uint, 0444);
MODULE_PARM_DESC(sink, "CPUs that share a sink (0: trace goes to the AUX area without one)");
static uint sinksize = 65536;
module_param(sinksize, uint, 0444);
MODULE_PARM_DESC(sinksize, "bytes of a sink, a power of two");
static bool busy;
module_param(busy, bool, 0444);
MODULE_PARM_DESC(busy, "one event at a time uses a sink");
static bool lazy;
module_param(lazy, bool, 0444);
MODULE_PARM_DESC(lazy, "the AUX area is not brought up to date when a thread is scheduled out");

/* Bytes of trace that all AUX areas got: what a full trace must hold. */
static atomic64_t published;

static int published_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%lld\n", atomic64_read(&published));
}

static const struct kernel_param_ops published_ops = {.get = published_get};
module_param_cb(published, &published_ops, NULL, 0444);
MODULE_PARM_DESC(published, "bytes that AUX areas got");

/* The filters that an event got last: "ACTION START SIZE" each, of which START 0 is in no map yet.
 */
static char filters[256];
module_param_string(filters, filters, sizeof(filters), 0444);
MODULE_PARM_DESC(filters, "address filters of the event that began last");

PMU_FORMAT_ATTR(bytes, "config:0-31"); /* of a tick (0: 1024) */
PMU_FORMAT_ATTR(tick, "config1:0-31"); /* the time between two, in us (0: 1000) */
PMU_FORMAT_ATTR(flush, "config2:0");   /* output ends and begins at each tick */
PMU_FORMAT_ATTR(offhead,
		"config2:1"); /* overwrite: the head is an offset, as PT's; else free-running */
PMU_FORMAT_ATTR(odd, "config2:2");	   /* 1 to 31 zero bytes at each begin */
PMU_FORMAT_ATTR(hwid, "config2:3");	   /* PERF_RECORD_AUX_OUTPUT_HW_ID at the start */
PMU_FORMAT_ATTR(partial, "config2:8-15");  /* PARTIAL at each Nth end */
PMU_FORMAT_ATTR(collide, "config2:16-23"); /* COLLISION at each Nth end */
PMU_FORMAT_ATTR(trunc, "config2:24-31");   /* TRUNCATED at each Nth end */
PMU_FORMAT_ATTR(fmt, "config2:32-39");	   /* the format bits of AUX flags */

enum {
	AXS_FLUSH = 1 << 0,
	AXS_OFFHEAD = 1 << 1,
	AXS_ODD = 1 << 2,
	AXS_HWID = 1 << 3,
	AXS_PARTIAL = 8, /* shifts from here on */
	AXS_COLLIDE = 16,
	AXS_TRUNC = 24,
	AXS_FMT = 32,
};

static struct attribute *axs_format_attrs[] = {
	&format_attr_bytes.attr,
	&format_attr_tick.attr,
	&format_attr_flush.attr,
	&format_attr_offhead.attr,
	&format_attr_odd.attr,
	&format_attr_hwid.attr,
	&format_attr_partial.attr,
	&format_attr_collide.attr,
	&format_attr_trunc.attr,
	&format_attr_fmt.attr,
	NULL,
};
static const struct attribute_group axs_format_group = {
	.name = "format",
	.attrs = axs_format_attrs,
};
static const struct attribute_group *axs_groups[] = {&axs_format_group, NULL};

struct axs_sink {
	raw_spinlock_t lock;
	void *data;  /* sinksize bytes */
	u64 written; /* since the first of its users started */
	unsigned int users;
	pid_t owner; /* recorder of its users */
};

/*
 * Numbers the records of a thread, over all its events. A thread runs on one CPU at a time, so that
 * no lock is needed; a thread whose place another one takes begins again.
 */
struct axs_chain {
	pid_t tid;
	u32 last;
};

struct axs_buf {
	void **pages;
	unsigned long size;
	bool overwrite;
};

#define AXS_FILTERS 4

struct axs_filter {
	u64 start, size;
	enum perf_addr_filter_action_t action;
};

struct axs_ev {
	struct perf_event *event;
	struct axs_filter filters[AXS_FILTERS];
	unsigned int nr_filters;
	bool halted; /* by a "stop" filter */
	struct perf_output_handle h;
	struct axs_buf *buf;   /* NULL: no output is begun */
	struct axs_sink *sink; /* NULL: none is in use */
	struct hrtimer timer;
	unsigned long base, done; /* the head when output began; bytes since then */
	u32 seq;
	u32 bytes, period_us, nends;
	u16 session;
	pid_t owner;
	bool hwid_sent;
};

static struct pmu axs_pmu;
static struct axs_sink *axs_sinks; /* of each CPU, used at multiples of sink */
static atomic_t axs_sessions;
static struct axs_chain axs_chains[4096];
typedef long (*copy_aux_t)(struct perf_output_handle *, struct perf_output_handle *, unsigned long,
			   unsigned long);
static copy_aux_t axs_copy_aux;

/* ---- output */

static bool axs_nth(struct axs_ev *ev, int shift)
{
	unsigned int n = (ev->event->attr.config2 >> shift) & 0xff;

	return n && ev->nends % n == 0;
}

static bool axs_begin(struct axs_ev *ev)
{
	ev->buf = perf_aux_output_begin(&ev->h, ev->event);
	if (!ev->buf)
		return false;
	ev->base = ev->h.head;
	ev->done = 0;
	return true;
}

/* Returns whether output ended as TRUNCATED, after which perf core disables the event. */
static bool axs_end(struct axs_ev *ev, bool truncated)
{
	struct axs_buf *b = ev->buf;
	unsigned long size = ev->done;
	u64 c2 = ev->event->attr.config2;

	ev->nends++;
	atomic64_add(ev->done, &published);
	if (b->overwrite) {
		unsigned long head = ev->base + ev->done;

		ev->h.head = c2 & AXS_OFFHEAD ? head & (b->size - 1) : head;
		size = min(size, b->size);
	}
	if (axs_nth(ev, AXS_PARTIAL))
		perf_aux_output_flag(&ev->h, PERF_AUX_FLAG_PARTIAL);
	if (axs_nth(ev, AXS_COLLIDE))
		perf_aux_output_flag(&ev->h, PERF_AUX_FLAG_COLLISION);
	truncated |= axs_nth(ev, AXS_TRUNC);
	if (truncated)
		perf_aux_output_flag(&ev->h, PERF_AUX_FLAG_TRUNCATED);
	if ((c2 >> AXS_FMT) & 0xff)
		perf_aux_output_flag(&ev->h, ((c2 >> AXS_FMT) & 0xff) << 8);
	ev->buf = NULL;
	perf_aux_output_end(&ev->h, size);
	return truncated;
}

static void axs_put(struct axs_ev *ev, const void *src, unsigned long n)
{
	struct axs_buf *b = ev->buf;

	while (n) {
		unsigned long off = (ev->base + ev->done) & (b->size - 1);
		unsigned long k = min(n, PAGE_SIZE - (off & ~PAGE_MASK));
		void *to = b->pages[off >> PAGE_SHIFT] + (off & ~PAGE_MASK);

		if (src) {
			memcpy(to, src, k);
			src += k;
		} else {
			memset(to, 0, k);
		}
		ev->done += k;
		n -= k;
	}
}

static bool axs_room(struct axs_ev *ev, unsigned long n)
{
	return ev->buf->overwrite || ev->done + n <= ev->h.size;
}

static u32 axs_next_in_thread(void)
{
	struct axs_chain *chain = &axs_chains[current->pid % ARRAY_SIZE(axs_chains)];

	if (chain->tid != current->pid) {
		chain->tid = current->pid;
		chain->last = 0;
	}
	return ++chain->last;
}

static void axs_fill(struct axs_ev *ev, struct axs_rec *r)
{
	r->magic = AXS_MAGIC;
	r->tid = current->pid;
	r->seq = ev->seq++;
	r->chain = ev->event->hw.target ? axs_next_in_thread() : 0;
	r->time = ev->event->clock();
	r->cpu = smp_processor_id();
	r->session = ev->session;
	r->crc = axs_crc(r);
}

/* ---- sinks */

/* -EBUSY: the sink of this CPU is another's. */
static int axs_sink_get(struct axs_ev *ev)
{
	struct axs_sink *s;
	unsigned long flags;
	int rc = 0;

	if (!sink)
		return 0;
	s = &axs_sinks[smp_processor_id() / sink];
	raw_spin_lock_irqsave(&s->lock, flags);
	if (s->users && (busy || s->owner != ev->owner)) {
		rc = -EBUSY;
	} else {
		if (!s->users++)
			s->written = 0;
		s->owner = ev->owner;
		ev->sink = s;
	}
	raw_spin_unlock_irqrestore(&s->lock, flags);
	return rc;
}

static void axs_sink_put_record(struct axs_ev *ev)
{
	struct axs_sink *s = ev->sink;
	struct axs_rec r;

	raw_spin_lock(&s->lock);
	axs_fill(ev, &r);
	memcpy(s->data + (s->written & (sinksize - 1)), &r, sizeof(r));
	s->written += sizeof(r);
	raw_spin_unlock(&s->lock);
}

/* Copies the newest of the sink to the AUX area. Returns whether older trace was lost. */
static bool axs_sink_sync(struct axs_ev *ev, struct axs_sink *s)
{
	unsigned long room = ev->buf->overwrite ? ev->buf->size : ev->h.size & ~31ul;
	unsigned long n = min3(s->written, (u64)sinksize, (u64)room);
	u64 from = s->written - n;

	for (; n; n -= sizeof(struct axs_rec), from += sizeof(struct axs_rec))
		axs_put(ev, s->data + (from & (sinksize - 1)), sizeof(struct axs_rec));
	return !ev->buf->overwrite && ev->done < s->written;
}

/*
 * @update: the AUX area gets the trace, if this is the last user. Returns whether trace was lost.
 */
static bool axs_sink_release(struct axs_ev *ev, bool update)
{
	struct axs_sink *s = ev->sink;
	unsigned long flags;
	bool lost = false;

	raw_spin_lock_irqsave(&s->lock, flags);
	if (!--s->users && update && ev->buf)
		lost = axs_sink_sync(ev, s);
	ev->sink = NULL;
	raw_spin_unlock_irqrestore(&s->lock, flags);
	return lost;
}

/* ---- address filters */

/* Whether the filters let this tick write. */
static bool axs_passes(struct axs_ev *ev)
{
	struct pt_regs *regs = get_irq_regs();
	u64 at = regs ? instruction_pointer(regs) : 0;
	bool ranges = false, inside = false;
	unsigned int i;

	for (i = 0; i < ev->nr_filters; i++) {
		const struct axs_filter *f = &ev->filters[i];
		bool in = f->start && at - f->start < f->size;

		if (f->action == PERF_ADDR_FILTER_ACTION_STOP) {
			ev->halted |= in;
			continue;
		}
		ranges = true;
		inside |= in;
	}
	return !ev->halted && (inside || !ranges);
}

static int axs_filters_validate(struct list_head *list)
{
	struct perf_addr_filter *filter;
	int nr = 0;

	list_for_each_entry(filter, list, entry)
	{
		if (!filter->size || filter->action == PERF_ADDR_FILTER_ACTION_START)
			return -EOPNOTSUPP;
		if (++nr > AXS_FILTERS)
			return -EOPNOTSUPP;
	}
	return 0;
}

static void axs_filters_sync(struct perf_event *event)
{
	struct perf_addr_filters_head *head = perf_event_addr_filters(event);
	const struct perf_addr_filter_range *range = event->addr_filter_ranges;
	struct axs_ev *ev = event->pmu_private;
	struct perf_addr_filter *filter;
	int len = 0;

	ev->nr_filters = 0;
	filters[0] = 0;
	list_for_each_entry(filter, &head->list, entry)
	{
		struct axs_filter *f = &ev->filters[ev->nr_filters++];

		f->start = range->start;
		f->size = range->size;
		f->action = filter->action;
		range++;
		len += scnprintf(filters + len, sizeof(filters) - len, "%s %#llx %#llx\n",
				 f->action == PERF_ADDR_FILTER_ACTION_STOP ? "stop" : "filter",
				 f->start, f->size);
	}
}

/* ---- ticks */

/* The trace of a tick. False: the event has stopped by itself. */
static bool axs_emit(struct axs_ev *ev)
{
	struct perf_event *event = ev->event;
	unsigned long left;
	struct axs_rec r;

	if (ev->nr_filters && !axs_passes(ev))
		return true;
	for (left = ev->bytes; left >= sizeof(r); left -= sizeof(r)) {
		if (ev->sink) {
			axs_sink_put_record(ev);
			local64_add(sizeof(r), &event->count);
			continue;
		}
		if (!ev->done && (event->attr.config2 & AXS_ODD)) {
			unsigned long pad = ev->seq * 7 % 31 + 1;

			if (axs_room(ev, pad))
				axs_put(ev, NULL, pad);
		}
		axs_fill(ev, &r);
		if (!axs_room(ev, sizeof(r))) {
			axs_end(ev, true);
			return false;
		}
		axs_put(ev, &r, sizeof(r));
		local64_add(sizeof(r), &event->count);
		if (!ev->buf->overwrite && ev->base + ev->done >= ev->h.wakeup)
			if (axs_end(ev, false) || !axs_begin(ev))
				return false;
	}
	if (!ev->sink && (event->attr.config2 & AXS_FLUSH) && ev->done)
		return !axs_end(ev, false) && axs_begin(ev);
	return true;
}

static enum hrtimer_restart axs_tick(struct hrtimer *t)
{
	struct axs_ev *ev = container_of(t, struct axs_ev, timer);
	bool run = ev->buf;

#ifdef PERF_PMU_CAP_AUX_PAUSE
	if (run && !ev->event->hw.aux_paused)
#else
	if (run)
#endif
		run = axs_emit(ev);
	if (!run) {
		ev->event->hw.state |= PERF_HES_STOPPED;
		return HRTIMER_NORESTART;
	}
	hrtimer_forward_now(t, ns_to_ktime(ev->period_us * 1000ull));
	return HRTIMER_RESTART;
}

/* ---- the PMU's functions, which perf core calls with interrupts off */

static int axs_begin_trace(struct perf_event *event)
{
	struct axs_ev *ev = event->pmu_private;
	int rc;

	event->hw.state = PERF_HES_STOPPED;
	rc = axs_sink_get(ev);
	if (rc)
		return rc;
	if (!axs_begin(ev)) {
		if (ev->sink)
			axs_sink_release(ev, false);
		return -EINVAL;
	}
	event->hw.state = 0;
	ev->halted = false;
	perf_event_addr_filters_sync(event);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	if ((event->attr.config2 & AXS_HWID) && !ev->hwid_sent) {
		ev->hwid_sent = true;
		perf_report_aux_output_id(event, 0xA05100000000ull | ev->session);
	}
#endif
	hrtimer_start(&ev->timer, ns_to_ktime(ev->period_us * 1000ull),
		      HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

static void axs_start(struct perf_event *event, int flags)
{
#ifdef PERF_PMU_CAP_AUX_PAUSE
	if (flags & PERF_EF_RESUME) /* perf core has set hw.aux_paused */
		return;
#endif
	axs_begin_trace(event);
}

static void axs_stop(struct perf_event *event, int flags)
{
	struct axs_ev *ev = event->pmu_private;
	/* A DISABLE from another CPU is an interrupt here; the scheduler is not. */
	bool leaves = event->hw.target && !in_hardirq();
	bool lost = false;

#ifdef PERF_PMU_CAP_AUX_PAUSE
	if (flags & PERF_EF_PAUSE)
		return;
#endif
	hrtimer_cancel(&ev->timer);
	event->hw.state |= PERF_HES_STOPPED;
	if (ev->sink)
		lost = axs_sink_release(ev, !lazy || !leaves || !ev->buf || !ev->buf->overwrite);
	if (ev->buf)
		axs_end(ev, lost);
}

static int axs_add(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED;
	return flags & PERF_EF_START ? axs_begin_trace(event) : 0;
}

static void axs_del(struct perf_event *event, int flags)
{
	axs_stop(event, PERF_EF_UPDATE);
}

static void axs_read(struct perf_event *event)
{
}

/* PERF_SAMPLE_AUX: the sample needs @size bytes, also where fewer were ever written. */
static long axs_snapshot(struct perf_event *event, struct perf_output_handle *out,
			 unsigned long size)
{
	struct axs_ev *ev = event->pmu_private;
	unsigned long to, flags;
	long ret = 0;

	local_irq_save(flags);
	if (ev->buf && axs_copy_aux) {
		to = ev->base + ev->done;
		ret = axs_copy_aux(&ev->h, out, to - min(size, ev->buf->size), to);
	}
	local_irq_restore(flags);
	return ret;
}

static void *axs_setup_aux(struct perf_event *event, void **pages, int nr, bool overwrite)
{
	struct axs_buf *b = kzalloc(sizeof(*b), GFP_KERNEL);

	if (b) {
		b->pages = pages;
		b->size = (unsigned long)nr << PAGE_SHIFT;
		b->overwrite = overwrite;
	}
	return b;
}

static void axs_free_aux(void *aux)
{
	kfree(aux);
}

/* ---- events */

static void axs_destroy(struct perf_event *event)
{
	struct axs_ev *ev = event->pmu_private;

	hrtimer_cancel(&ev->timer);
	kfree(ev);
}

static int axs_event_init(struct perf_event *event)
{
	struct axs_ev *ev;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (has_branch_stack(event))
		return -EOPNOTSUPP;
	ev = kzalloc(sizeof(*ev), GFP_KERNEL);
	if (!ev)
		return -ENOMEM;
	ev->event = event;
	ev->bytes = (u32)event->attr.config ?: 1024;
	ev->period_us = max_t(u32, (u32)event->attr.config1 ?: 1000, 20);
	ev->session = atomic_inc_return(&axs_sessions);
	ev->owner = event->parent ? ((struct axs_ev *)event->parent->pmu_private)->owner
				  : current->tgid;
	hrtimer_init(&ev->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	ev->timer.function = axs_tick;
	event->pmu_private = ev;
	event->destroy = axs_destroy;
	return 0;
}

static struct pmu axs_pmu = {
	.module = THIS_MODULE,
	.attr_groups = axs_groups,
	.task_ctx_nr = perf_sw_context,
	.event_init = axs_event_init,
	.add = axs_add,
	.del = axs_del,
	.start = axs_start,
	.stop = axs_stop,
	.read = axs_read,
	.setup_aux = axs_setup_aux,
	.free_aux = axs_free_aux,
	.nr_addr_filters = AXS_FILTERS,
	.addr_filters_validate = axs_filters_validate,
	.addr_filters_sync = axs_filters_sync,
};

/* ---- the module */

static void axs_free_sinks(void)
{
	unsigned int i;

	for (i = 0; axs_sinks && i < nr_cpu_ids; i++)
		vfree(axs_sinks[i].data);
	kfree(axs_sinks);
}

static int __init axs_make_sinks(void)
{
	unsigned int i;

	axs_sinks = kcalloc(nr_cpu_ids, sizeof(*axs_sinks), GFP_KERNEL);
	if (!axs_sinks)
		return -ENOMEM;
	for (i = 0; i < DIV_ROUND_UP(nr_cpu_ids, sink); i++) {
		raw_spin_lock_init(&axs_sinks[i].lock);
		axs_sinks[i].data = vzalloc(sinksize);
		if (!axs_sinks[i].data) {
			axs_free_sinks();
			return -ENOMEM;
		}
	}
	return 0;
}

static int __init axs_init(void)
{
	struct kprobe kp = {.symbol_name = "perf_output_copy_aux"};
	int rc;

	if (lazy && !sink)
		sink = 1;
	if (sinksize < PAGE_SIZE || (sinksize & (sinksize - 1)))
		return -EINVAL;
	/* perf_output_copy_aux() is not exported. */
	if (IS_ENABLED(CONFIG_KPROBES) && !register_kprobe(&kp)) {
		axs_copy_aux = (copy_aux_t)kp.addr;
		unregister_kprobe(&kp);
	}
	axs_pmu.capabilities = PERF_PMU_CAP_ITRACE;
	if (!noexcl)
		axs_pmu.capabilities |= PERF_PMU_CAP_EXCLUSIVE;
	if (nosg)
		axs_pmu.capabilities |= PERF_PMU_CAP_AUX_NO_SG;
#ifdef PERF_PMU_CAP_AUX_PAUSE
	axs_pmu.capabilities |= PERF_PMU_CAP_AUX_PAUSE;
#endif
	/* As CoreSight, a sink has no bytes to add to samples. */
	if (!sink && axs_copy_aux)
		axs_pmu.snapshot_aux = axs_snapshot;
	rc = sink ? axs_make_sinks() : 0;
	if (rc)
		return rc;
	rc = perf_pmu_register(&axs_pmu, name, -1);
	if (rc)
		axs_free_sinks();
	return rc;
}

static void __exit axs_exit(void)
{
	perf_pmu_unregister(&axs_pmu);
	axs_free_sinks();
}

module_init(axs_init);
module_exit(axs_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("synthetic AUX-area perf PMU for tests of recorders");
