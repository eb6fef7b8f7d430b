// SPDX-License-Identifier: Apache-2.0
#include "render/text_annotate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "render/text.h"

#define PERCENT_WIDTH	8
#define SAMPLES_WIDTH	10
#define PERIOD_WIDTH	14
#define TAB_WIDTH	8
#define SUMMARY_PERCENT 0.5 /* lines below are not in the summary */
#define BYTES_SHOWN	10  /* columns for the code; longer instructions use more */

struct page {
	FILE *out;
	const struct annotate_view *v;
	int address_width;
	struct annotate_weight *weight; /* of a row, by evsel index */
	struct line_frame shown;	/* the source line above the current row */
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

static void put_percent(const struct page *p, double percent)
{
	const char *color = p->v->opts->colors ? text_share_color(percent) : "";

	fprintf(p->out, "%s%*.2f%s", color, PERCENT_WIDTH, percent, *color ? TEXT_COLOR_END : "");
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
		put_percent(p, annotate_percent(w, all_of(p->v, e), opts));
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
		fprintf(p->out, "%*s", PERCENT_WIDTH, "Percent");
		if (opts->show_samples)
			fprintf(p->out, "%*s", SAMPLES_WIDTH, "Samples");
		if (opts->show_period)
			fprintf(p->out, "%*s", PERIOD_WIDTH, "Period");
	}
	fprintf(p->out, "  %*s  Instruction\n#\n", p->address_width + 1, "Address");
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
	/* Names of C++ functions are long. */
	if (sym != v->function->sym || addr == sym->start)
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

/* --- source lines --------------------------------------------------------------------------------
 */

const char *annotate_file_name(const char *path, const struct annotate_opts *opts)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] && !opts->full_paths ? slash + 1 : path;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Writes text of a source file: tabs as spaces, the rest escaped. */
static void put_source_text(FILE *out, const char *text, size_t len)
{
	struct buf spaced = {0}, escaped = {0};
	size_t column = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < len; i++) {
		size_t n = text[i] == '\t' ? TAB_WIDTH - column % TAB_WIDTH : 1;

		column += n;
		rc = text[i] == '\t' ? buf_printf(&spaced, "%*s", (int)n, "")
				     : buf_append(&spaced, &text[i], 1);
	}
	if (!rc && spaced.len && !text_escape_len(&escaped, (char *)spaced.data, spaced.len))
		fwrite(escaped.data, 1, escaped.len, out);
	buf_release(&spaced);
	buf_release(&escaped);
}

/* Writes the source line of a row, if it differs from the one above. */
static void put_source(struct page *p, uint64_t addr)
{
	const struct annotate_view *v = p->v;
	struct line_frame at;
	const char *text;
	size_t len;

	if (!v->source || !source_place(v->source, addr, &at))
		return;
	if (!same_text(at.function, p->shown.function)) {
		put_numbers(p, true);
		text_put(p->out, at.function ? at.function : "[unknown]", 0);
		fputs(at.inlined ? " (inlined):\n" : ":\n", p->out);
	} else if (at.line == p->shown.line && same_text(at.file, p->shown.file)) {
		return;
	}
	text = source_text(v->source, at.file, at.line, &len);
	put_numbers(p, true);
	if (!text || v->opts->print_line || !same_text(at.file, p->shown.file)) {
		text_put(p->out, annotate_file_name(at.file, v->opts), 0);
		putc(':', p->out);
	}
	fprintf(p->out, "%" PRIu32, at.line);
	if (text) {
		fputs("  ", p->out);
		put_source_text(p->out, text, len);
	}
	putc('\n', p->out);
	p->shown = at;
}

/* A source line with its samples, for the summary. */
struct line_sum {
	struct line_frame at;
	struct annotate_weight weight;
};

static int compare_places(const void *a, const void *b)
{
	const struct line_sum *x = a, *y = b;

	return strcmp(x->at.file, y->at.file)
		       ?: (x->at.line > y->at.line) - (x->at.line < y->at.line);
}

static int compare_weights(const void *a, const void *b)
{
	const struct line_sum *x = a, *y = b;

	if (x->weight.period != y->weight.period)
		return x->weight.period > y->weight.period ? -1 : 1;
	return compare_places(a, b);
}

/* Adds up equal places. Returns their number. */
static size_t join_lines(struct line_sum *sum, size_t nr)
{
	size_t kept = 0;

	if (!nr)
		return 0;
	qsort(sum, nr, sizeof(*sum), compare_places);
	for (size_t i = 0; i < nr; i++) {
		if (kept && !compare_places(&sum[kept - 1], &sum[i])) {
			sum[kept - 1].weight.samples += sum[i].weight.samples;
			sum[kept - 1].weight.period += sum[i].weight.period;
		} else {
			sum[kept++] = sum[i];
		}
	}
	qsort(sum, kept, sizeof(*sum), compare_weights);
	return kept;
}

/* Writes the source lines with most samples of the first event. */
static int put_summary(const struct page *p)
{
	const struct annotate_view *v = p->v;
	const struct annotate_function *f = v->function;
	struct line_sum *sum = calloc(f->nr + 1, sizeof(*sum));
	size_t nr = 0, e = v->events[0];

	if (!sum)
		return -ENOMEM;
	for (size_t i = 0; i < f->nr; i++) {
		const struct annotate_place *place = &v->annotate->place[f->first + i];

		sum[nr].weight = place->weight;
		if (place->event == e && source_place(v->source, place->addr, &sum[nr].at))
			nr++;
	}
	nr = join_lines(sum, nr);
	fputs("# Source lines:\n", p->out);
	for (size_t i = 0; i < nr; i++) {
		double share = annotate_percent(&sum[i].weight, all_of(v, e), v->opts);

		if (share < SUMMARY_PERCENT)
			continue;
		fprintf(p->out, "# %*.2f  ", PERCENT_WIDTH - 2, share);
		text_put(p->out, annotate_file_name(sum[i].at.file, v->opts), 0);
		fprintf(p->out, ":%" PRIu32 "\n", sum[i].at.line);
	}
	fputs("#\n", p->out);
	free(sum);
	return 0;
}

/* --- the page ------------------------------------------------------------------------------------
 */

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
	const struct function_code *code = v->listing->code;
	struct page p = {.out = out, .v = v};
	size_t arrows = 0, cursor = 0;
	int rc = 0;

	p.address_width = width_of(code->start + code->to_file + code->bytes.len);
	p.weight = calloc(v->annotate->nr_events + 1, sizeof(*p.weight));
	if (!p.weight)
		return -ENOMEM;
	p.shown.function = v->function->sym->name;
	if (!v->opts->quiet)
		put_heads(&p);
	if (!v->opts->quiet && v->opts->print_line && v->source)
		rc = put_summary(&p);
	if (!v->opts->quiet)
		put_headings(&p);
	put_label(&p, code->start + code->to_file);
	for (size_t i = 0; !rc && i < v->listing->nr; i++) {
		uint64_t at = code->start + v->listing->offset[i];
		struct disasm_insn insn;

		listing_insn(v->listing, i, &insn);
		annotate_sum(v->annotate, v->function, at, at + insn.size, &cursor, p.weight);
		put_source(&p, at);
		put_row(&p, i, &insn, &arrows);
	}
	free(p.weight);
	return rc;
}
