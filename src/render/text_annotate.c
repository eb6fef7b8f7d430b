// SPDX-License-Identifier: Apache-2.0
#include "render/text_annotate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "render/text.h"

#define PERCENT_WIDTH 8
#define SAMPLES_WIDTH 10
#define PERIOD_WIDTH  14
#define BYTES_SHOWN   10 /* columns for the code; longer instructions use more */

struct page {
	FILE *out;
	const struct annotate_view *v;
	int address_width;
	struct annotate_weight *weight; /* of a row, by evsel index */
};

double annotate_percent(const struct annotate_weight *part, const struct annotate_weight *all,
			const struct annotate_opts *opts)
{
	uint64_t p = opts->hits ? part->samples : part->period;
	uint64_t a = opts->hits ? all->samples : all->period;

	return a ? 100.0 * (double)p / (double)a : 0;
}

static const struct annotate_weight *all_of(const struct annotate_view *v, size_t event)
{
	return v->opts->global ? &v->annotate->whole[event] : &v->function->total[event];
}

/* Writes the numbers of a row, or spaces of their width. */
static void put_numbers(const struct page *p, bool blank)
{
	const struct annotate_opts *opts = p->v->opts;

	for (size_t i = 0; i < p->v->nr_events; i++) {
		size_t e = p->v->events[i];
		const struct annotate_weight *w = &p->weight[e];

		if (blank) {
			fprintf(p->out, "%*s", PERCENT_WIDTH, "");
			if (opts->show_samples)
				fprintf(p->out, "%*s", SAMPLES_WIDTH, "");
			if (opts->show_period)
				fprintf(p->out, "%*s", PERIOD_WIDTH, "");
			continue;
		}
		fprintf(p->out, "%*.2f", PERCENT_WIDTH, annotate_percent(w, all_of(p->v, e), opts));
		if (opts->show_samples)
			fprintf(p->out, "%*" PRIu64, SAMPLES_WIDTH, w->samples);
		if (opts->show_period)
			fprintf(p->out, "%*" PRIu64, PERIOD_WIDTH, w->period);
	}
	fputs(" : ", p->out);
}

static void put_headings(const struct page *p)
{
	const struct annotate_opts *opts = p->v->opts;

	putc('#', p->out);
	for (size_t i = 0; i < p->v->nr_events; i++) {
		fprintf(p->out, "%*s", PERCENT_WIDTH - !i, "Percent");
		if (opts->show_samples)
			fprintf(p->out, "%*s", SAMPLES_WIDTH, "Samples");
		if (opts->show_period)
			fprintf(p->out, "%*s", PERIOD_WIDTH, "Period");
	}
	fprintf(p->out, "   %*s  Instruction\n#\n", p->address_width + 1, "Address");
}

/* Writes a comment for each event: its share of the samples. */
static void put_heads(const struct page *p)
{
	const struct annotate_view *v = p->v;
	const struct annotate_function *f = v->function;

	fputs("# ", p->out);
	text_put(p->out, f->sym->name, 0);
	fputs(" in ", p->out);
	text_put(p->out, f->dso->name, 0);
	putc('\n', p->out);
	for (size_t i = 0; i < v->nr_events; i++) {
		size_t e = v->events[i];

		fprintf(p->out, "# %.2f%% of event '",
			annotate_percent(&f->total[e], &v->annotate->whole[e], v->opts));
		text_put(p->out, pd_evlist_at(v->annotate->trace->evlist, e)->name, 0);
		fprintf(p->out, "', %" PRIu64 " sample%s; percent: %s %s\n", f->total[e].samples,
			plural_s(f->total[e].samples), v->opts->global ? "global" : "local",
			v->opts->hits ? "hits" : "period");
	}
	if (v->listing->code->truncated)
		fprintf(p->out, "# only its first %zu bytes are there\n",
			v->listing->code->bytes.len);
	if (v->listing->unknown)
		fprintf(p->out,
			"# %zu of %zu instructions are not known to the disassembler: .byte, "
			".inst\n",
			v->listing->unknown, v->listing->nr);
	fputs("#\n", p->out);
	put_headings(p);
}

static void put_bytes(const struct page *p, size_t i, const struct disasm_insn *insn)
{
	const uint8_t *bytes = listing_bytes(p->v->listing, i);

	for (size_t k = 0; k < insn->size; k++)
		fprintf(p->out, "%02x ", bytes[k]);
	for (size_t k = insn->size; k < BYTES_SHOWN; k++)
		fputs("   ", p->out);
}

/* Writes the function that a branch leads to. */
static void put_target(const struct page *p, const struct disasm_insn *insn)
{
	const struct annotate_view *v = p->v;
	uint64_t addr = insn->target - v->listing->code->to_file;
	const struct symbol *sym =
		resolver_find(v->annotate->trace->resolver, v->function->dso, 0, addr);

	if (!sym)
		return;
	fputs(" <", p->out);
	text_put(p->out, sym->name, 0);
	if (addr != sym->start)
		fprintf(p->out, "+0x%" PRIx64, addr - sym->start);
	putc('>', p->out);
}

static void put_row(const struct page *p, size_t i, const struct disasm_insn *insn, size_t *arrows)
{
	char margin[LISTING_MARGIN];

	put_numbers(p, false);
	fprintf(p->out, "%*" PRIx64 ": ", p->address_width, insn->addr);
	if (p->v->opts->show_bytes)
		put_bytes(p, i, insn);
	listing_margin(p->v->listing, i, arrows, margin);
	fprintf(p->out, "%s %s", margin, insn->text);
	if (insn->has_target)
		put_target(p, insn);
	if (insn->has_data)
		fprintf(p->out, "  # 0x%" PRIx64, insn->data);
	putc('\n', p->out);
}

static int width_of(uint64_t addr)
{
	int n = 1;

	while (addr >>= 4)
		n++;
	return n < 7 ? 7 : n;
}

/* Writes the function's name as a label. */
static void put_label(const struct page *p, uint64_t start)
{
	put_numbers(p, true);
	fprintf(p->out, "%016" PRIx64 " <", start);
	text_put(p->out, p->v->function->sym->name, 0);
	fputs(">:\n", p->out);
}

int annotate_render(FILE *out, const struct annotate_view *v)
{
	const struct annotate_code *code = v->listing->code;
	struct page p = {.out = out, .v = v};
	size_t arrows = 0, cursor = 0;

	p.address_width = width_of(code->start + code->to_file + code->bytes.len);
	p.weight = calloc(v->annotate->nr_events + 1, sizeof(*p.weight));
	if (!p.weight)
		return -ENOMEM;
	if (!v->opts->quiet)
		put_heads(&p);
	put_label(&p, code->start + code->to_file);
	for (size_t i = 0; i < v->listing->nr; i++) {
		uint64_t at = code->start + v->listing->offset[i];
		struct disasm_insn insn;

		listing_insn(v->listing, i, &insn);
		annotate_sum(v->annotate, v->function, at, at + insn.size, &cursor, p.weight);
		put_row(&p, i, &insn, &arrows);
	}
	free(p.weight);
	return 0;
}
