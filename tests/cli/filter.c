// SPDX-License-Identifier: Apache-2.0
/*
 * A filter for script --dlfilter, in perf's interface: prints what it is given and what it asks
 * for, and leaves out the samples of the function that its first word names. perf takes it, too.
 */
#include "perfdata/abi.h"
#include "report/script/dlfilter_abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long ull;

struct dlfilter_calls perf_dlfilter_fns;

static int early, late, started;

const char *filter_description(const char **more)
{
	*more = "It is for a test.";
	return "Prints samples";
}

int start(void **data, void *ctx)
{
	int nr;
	char **words = perf_dlfilter_fns.args(ctx, &nr);

	started = 77;
	*data = &started;
	printf("start:");
	for (int i = 0; i < nr; i++)
		printf(" %s", words[i]);
	printf("\n");
	return nr && !strcmp(words[0], "refuse") ? -5 : 0;
}

int stop(void *data, void *ctx)
{
	(void)ctx;
	printf("stop: %d %d %d\n", *(int *)data, early, late);
	return 0;
}

int filter_event_early(void *data, const struct dlfilter_sample *s, void *ctx)
{
	const struct dlfilter_place *al = perf_dlfilter_fns.resolve_ip(ctx);

	(void)data;
	early++;
	printf("early: %llx %s\n", (ull)s->ip, al && al->filtered ? "filtered" : "kept");
	return 0;
}

static void print_place(const char *name, const struct dlfilter_place *al)
{
	const char *base = al && al->dso ? strrchr(al->dso, '/') : NULL;

	if (!al)
		printf(" %s none", name);
	else
		printf(" %s %s+%x %llx [%llx,%llx) in %s, binding %d, %d bits, kernel %d, build-id "
		       "%u",
		       name, al->sym ? al->sym : "?", al->sym ? al->symoff : 0, (ull)al->addr,
		       (ull)al->sym_start, (ull)al->sym_end, base ? base + 1 : "?", al->sym_binding,
		       al->is_64_bit ? 64 : 32, al->is_kernel_ip, al->buildid_size);
}

int filter_event(void *data, const struct dlfilter_sample *s, void *ctx)
{
	const struct dlfilter_place *al = perf_dlfilter_fns.resolve_ip(ctx);
	struct dlfilter_place other = {.size = sizeof(other)};
	struct pd_attr *attr = perf_dlfilter_fns.attr(ctx);
	unsigned int line = 0, len = 0;
	const char *file = perf_dlfilter_fns.srcline(ctx, &line);
	const unsigned char *insn = perf_dlfilter_fns.insn(ctx, &len);
	unsigned char code[4] = {0};
	int nr, got = perf_dlfilter_fns.object_code(ctx, s->ip, code, sizeof(code));
	char **words = perf_dlfilter_fns.args(ctx, &nr);

	late += *(int *)data == 77;
	printf("sample: %llx %d/%d %llu %llx %llu %llu %d %u %s", (ull)s->ip, s->pid, s->tid,
	       (ull)s->time, (ull)s->addr, (ull)s->period, (ull)s->weight, s->cpu, s->cpumode,
	       s->event);
	printf(" chain %llu branches %llu raw %u attr %u/%llu", (ull)s->raw_callchain_nr,
	       (ull)s->brstack_nr, s->raw_size, attr->type, (ull)attr->config);
	if (s->brstack_nr)
		printf(" from %llx", (ull)((const uint64_t *)s->brstack)[0]);
	print_place("at", al);
	printf(" comm %s", al && al->comm ? al->comm : "?");
	print_place("addr", perf_dlfilter_fns.resolve_addr(ctx));
	if (s->brstack_nr &&
	    !perf_dlfilter_fns.resolve_address(ctx, ((const uint64_t *)s->brstack)[0], &other)) {
		print_place("branch", &other);
		if (perf_dlfilter_fns.al_cleanup)
			perf_dlfilter_fns.al_cleanup(ctx, &other);
	}
	printf(" line %s:%u", file ? strrchr(file, '/') + 1 : "?", line);
	printf(" insn %u %02x code %d %02x%02x\n", len, insn ? insn[0] : 0, got, code[0], code[1]);
	if (nr && !strcmp(words[0], "fail"))
		return -7;
	return nr && al && al->sym && !strcmp(al->sym, words[0]);
}
