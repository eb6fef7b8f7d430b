// SPDX-License-Identifier: Apache-2.0
#include "export/html/code.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/html/part.h"
#include "export/html/table.h"
#include "export/wire/json_out.h"
#include "render/text.h"
#include "report/annotate/listing.h"
#include "report/annotate/source.h"

/* A page has code of so many functions, and so many bytes of it, before they are compressed. */
#define FUNCTIONS_MAX 400
#define LACKING_MAX   400 /* functions without code, of which the page has the reason */
#define LINE_MAX      400 /* bytes of a line of source that the page draws */
#define BYTES_LEAST   ((uint64_t)512 << 10)
#define BYTES_MOST    ((uint64_t)16 << 20)
#define BYTES_SHARE   32    /* of the recording: one byte of so many */
#define INSNS_MAX     20000 /* of a function; a longer one has no code in the page */

const struct html_code html_code_empty = {
	.spots = {.size = sizeof(struct html_spot)},
};

/* --- the hottest functions -----------------------------------------------------------------------
 */

struct hot {
	const struct annotate_function *function;
	double share; /* of the event of which it has most */
};

static double share_of(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

static double heat_of(const struct annotate *a, const struct annotate_function *f)
{
	double most = 0;

	for (size_t e = 0; e < a->nr_events; e++) {
		double period = share_of(f->total[e].period, a->whole[e].period);
		double samples = share_of(f->total[e].samples, a->whole[e].samples);

		most = period > most ? period : most;
		most = samples > most ? samples : most;
	}
	return most;
}

/* Ties by name and place, so that a page is the same each time. */
static int by_heat(const void *pa, const void *pb)
{
	const struct hot *a = pa, *b = pb;

	if (a->share != b->share)
		return a->share < b->share ? 1 : -1;
	return strcmp(a->function->sym->name, b->function->sym->name)
		       ?: (a->function->sym->start > b->function->sym->start) -
				  (a->function->sym->start < b->function->sym->start);
}

/* Returns the functions, the hottest first, for free(); NULL: no memory. */
static struct hot *sort_functions(const struct annotate *a)
{
	struct hot *ret = calloc(a->nr + 1, sizeof(*ret));

	for (size_t i = 0; ret && i < a->nr; i++)
		ret[i] = (struct hot){&a->function[i], heat_of(a, &a->function[i])};
	if (ret && a->nr)
		qsort(ret, a->nr, sizeof(*ret), by_heat);
	return ret;
}

/* --- the text of a function ----------------------------------------------------------------------
 */

/* What writes the code of functions. */
struct coder {
	struct html_code *code;
	struct trace *trace;
	struct out *out;
	struct source_files *source;
	uint64_t room; /* bytes that are left */
	struct buf json, text;
};

/* Appends the beginning of a line of a source file; tabs stay. */
static int put_line(struct coder *c, const char *s, size_t len)
{
	int rc = 0;

	if (len > LINE_MAX)
		for (len = LINE_MAX; len && ((unsigned char)s[len] & 0xc0) == 0x80;)
			len--;
	c->text.len = 0;
	while (!rc && len) {
		const char *tab = memchr(s, '\t', len);
		size_t n = tab ? (size_t)(tab - s) : len;

		rc = text_escape_len(&c->text, s, n);
		if (!rc && tab)
			rc = buf_append(&c->text, "\t", 1);
		n += tab != NULL;
		s += n;
		len -= n;
	}
	return rc ?: json_append_string(&c->json, (const char *)c->text.data, c->text.len);
}

static int put_name(struct coder *c, const char *name)
{
	c->text.len = 0;
	return text_escape(&c->text, name)
		       ?: json_append_string(&c->json, (const char *)c->text.data, c->text.len);
}

/* Writes [row, "file", line, "text"] where a row begins another line of source. */
static int put_source(struct coder *c, const struct function_code *code, const struct listing *l)
{
	struct line_frame at = {0};
	const char *file = NULL, *text;
	uint32_t line = 0;
	size_t len;
	bool first = true;
	int rc = buf_printf(&c->json, "],\n\"lines\":[");

	for (size_t i = 0; !rc && i < l->nr && c->json.len <= c->room; i++) {
		if (!source_place(c->source, code->start + l->offset[i], &at) ||
		    (at.line == line && file && !strcmp(at.file, file)))
			continue;
		file = at.file;
		line = at.line;
		len = 0;
		text = source_text(c->source, file, line, &len);
		rc = buf_printf(&c->json, "%s[%zu,", first ? "" : ",\n", i) ?: put_name(c, file) ?:
		     buf_printf(&c->json, ",%" PRIu32 ",", line) ?:
		     put_line(c, text ?: "", text ? len : 0) ?: buf_append(&c->json, "]", 1);
		first = false;
	}
	return rc;
}

/* Writes [first row, last row, target row, lane, rows that jump …]. */
static int put_jumps(struct coder *c, const struct listing *l)
{
	int rc = buf_printf(&c->json, "],\n\"jumps\":[");

	for (size_t i = 0; !rc && i < l->nr_arrows; i++) {
		const struct listing_arrow *a = &l->arrow[i];

		rc = buf_printf(&c->json, "%s[%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%u", i ? "," : "",
				a->first, a->last, a->target, a->lane);
		for (uint32_t k = 0; !rc && k < a->nr_sources; k++)
			rc = buf_printf(&c->json, ",%" PRIu32, l->source[a->source + k]);
		rc = rc ?: buf_append(&c->json, "]", 1);
	}
	return rc;
}

static int put_text(struct coder *c, const struct function_code *code, struct listing *l)
{
	struct disasm_insn insn;
	int rc;

	c->json.len = 0;
	/* As text: the address may be beyond what JavaScript holds exactly. */
	rc = buf_printf(&c->json, "{\"start\":\"%" PRIx64 "\",\"truncated\":%s,\"at\":[",
			code->start + code->to_file, code->truncated ? "true" : "false");
	for (size_t i = 0; !rc && i < l->nr; i++)
		rc = buf_printf(&c->json, "%s%" PRIu32, i ? "," : "", l->offset[i]);
	rc = rc ?: buf_printf(&c->json, "],\n\"text\":[");
	for (size_t i = 0; !rc && i < l->nr && c->json.len <= c->room; i++) {
		listing_insn(l, i, &insn);
		rc = buf_append(&c->json, ",\n", i ? 2 : 0)
			     ?: json_append_string(&c->json, insn.text, strlen(insn.text));
	}
	return rc ?: put_jumps(c, l) ?: put_source(c, code, l) ?: buf_printf(&c->json, "]}");
}

/* --- spots ---------------------------------------------------------------------------------------
 */

/* An address with samples, in function @function of the code, in row @row of it. */
struct code_place {
	struct html_spot spot;
	uint64_t samples;
	uint32_t function, row;
};

struct code_places {
	struct code_place *place;
	size_t nr, cap;
};

/* Adds the addresses of a function, whose rows ascend as they do. */
static int add_places(struct code_places *p, const struct annotate *a,
		      const struct annotate_function *f, const struct function_code *code,
		      const struct listing *l, uint32_t function)
{
	uint32_t row = 0;

	for (size_t i = f->first; i < f->first + f->nr; i++) {
		const struct annotate_place *at = &a->place[i];
		struct code_place *last = p->nr ? &p->place[p->nr - 1] : NULL;

		if (at->addr < code->start || at->addr >= code->start + code->bytes.len)
			continue;
		while (row + 1 < l->nr && code->start + l->offset[row + 1] <= at->addr)
			row++;
		if (last && last->function == function && last->spot.addr == at->addr) {
			last->samples += at->weight.samples;
			continue;
		}
		if (array_grow(&p->place, &p->cap, p->nr + 1, sizeof(*p->place)))
			return -ENOMEM;
		p->place[p->nr++] =
			(struct code_place){{f->sym, at->addr}, at->weight.samples, function, row};
	}
	return 0;
}

static int by_samples(const void *pa, const void *pb)
{
	const struct code_place *a = pa, *b = pb;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return a->spot.addr < b->spot.addr ? -1 : a->spot.addr > b->spot.addr;
}

/* Numbers the spots; small numbers take little room, so the most frequent spots come first. */
static int number_spots(struct html_code *c, struct code_places *p)
{
	if (p->nr)
		qsort(p->place, p->nr, sizeof(*p->place), by_samples);
	if (array_grow(&c->rows, &c->cap_rows, p->nr + 1, sizeof(*c->rows)))
		return -ENOMEM;
	for (size_t i = 0; i < p->nr; i++) {
		uint32_t number = intern_put(&c->spots, &p->place[i].spot);

		if (number == INTERN_NONE)
			return -ENOMEM;
		c->rows[number] = (struct html_spot_row){p->place[i].function, p->place[i].row};
	}
	return 0;
}

/* --- writing -------------------------------------------------------------------------------------
 */

static int add_function(struct html_code *c, const struct annotate_function *f)
{
	if (array_grow(&c->functions, &c->cap, c->nr + 1, sizeof(*c->functions)))
		return -ENOMEM;
	c->functions[c->nr++] =
		(struct html_code_function){.sym = f->sym, .dso = f->dso, .number = INTERN_NONE};
	return 0;
}

/* Writes the code of the newest function, if there is room. */
static int write_listing(struct coder *c, const struct function_code *code, struct listing *l)
{
	struct html_code_function *f = &c->code->functions[c->code->nr - 1];
	struct html_part p;
	int rc = 0;

	if (l->nr <= INSNS_MAX)
		rc = source_begin(c->source, f->dso) ?: put_text(c, code, l);
	if (rc)
		return rc;
	if (l->nr > INSNS_MAX || c->json.len > c->room) {
		f->why = strdup("the page has no room for its code");
		return f->why ? 0 : -ENOMEM;
	}
	c->room -= c->json.len;
	html_part_begin(&p, c->out, "code");
	html_part_put(&p, c->json.data, c->json.len);
	f->written = true;
	return html_part_end(&p);
}

/* Only -ENOMEM and failures of the output are failures: code that is missing is explained. */
static int write_function(struct coder *c, const struct annotate *a,
			  const struct annotate_function *f, struct code_places *places)
{
	const struct map *image = state_image(c->trace->state);
	const struct code_source source = {c->trace->resolver, image ? image->dso : NULL};
	struct function_code code = {0};
	struct listing listing = {0};
	struct error why = ERROR_INIT;
	int rc = add_function(c->code, f);
	struct html_code_function *added;

	if (rc)
		return rc;
	added = &c->code->functions[c->code->nr - 1];
	rc = function_code_load(&source, f->dso, f->sym, f->base, &code, &why)
		     ?: listing_init(&listing, &code, DISASM_ATT, &why);
	if (!rc) {
		rc = write_listing(c, &code, &listing);
		if (!rc && added->written)
			rc = add_places(places, a, f, &code, &listing, (uint32_t)(c->code->nr - 1));
	} else if (rc != -ENOMEM) {
		c->text.len = 0;
		rc = text_escape(&c->text, why.text) ?: buf_append(&c->text, "", 1);
		added->why = rc ? NULL : strdup((const char *)c->text.data);
		rc = added->why ? 0 : -ENOMEM;
	}
	listing_release(&listing);
	function_code_release(&code);
	return rc;
}

static int write_functions(struct coder *c, const struct annotate *a)
{
	struct hot *hot = sort_functions(a);
	struct code_places places = {0};
	size_t i, written = 0;
	int rc = hot ? 0 : -ENOMEM;

	for (i = 0;
	     !rc && i < a->nr && written < FUNCTIONS_MAX && i - written < LACKING_MAX && c->room;
	     i++) {
		rc = write_function(c, a, hot[i].function, &places);
		written += !rc && c->code->functions[c->code->nr - 1].written;
	}
	c->code->left_out = a->nr - i;
	rc = rc ?: number_spots(c->code, &places);
	free(places.place);
	free(hot);
	return rc;
}

static uint64_t room_for(const struct trace *t)
{
	uint64_t share = t->counts.sample_bytes / BYTES_SHARE;

	if (share < BYTES_LEAST)
		return BYTES_LEAST;
	return share < BYTES_MOST ? share : BYTES_MOST;
}

int html_code_write(struct html_code *c, struct trace *t, const struct filter *f, struct out *out,
		    struct error *err)
{
	static const struct source_opts opts = {.demangle = true};
	struct coder coder = {.code = c, .trace = t, .out = out, .room = room_for(t)};
	struct annotate *a = NULL;
	int rc = annotate_run(t, f, &a, err);

	if (rc < 0)
		return rc;
	rc = source_new(t->resolver, &opts, &coder.source) ?: write_functions(&coder, a);
	if (rc == -ENOMEM)
		error_sys(err, rc, "%s", t->opts.path);
	source_free(coder.source);
	buf_release(&coder.json);
	buf_release(&coder.text);
	annotate_free(a);
	return rc;
}

/* --- samples -------------------------------------------------------------------------------------
 */

int html_code_spot(struct html_code *c, struct html_tree *tree, const struct export_sample *s,
		   uint64_t *ret)
{
	struct html_code_function *f;
	struct frame frame;
	struct html_spot spot;
	uint32_t number;

	*ret = 0;
	if (!intern_count(&c->spots) || !s->nr_frames || s->frame[0].is_return)
		return 0;
	frame = s->frame[0];
	frame.sym = frame.in ?: frame.sym; /* the function that contains the code */
	spot = (struct html_spot){frame.sym, frame.addr};
	number = intern_find(&c->spots, &spot);
	if (number == INTERN_NONE)
		return 0;
	*ret = (uint64_t)number + 1;
	f = &c->functions[c->rows[number].function];
	if (f->number != INTERN_NONE)
		return 0;
	if (frame.in)
		frame.lines = NULL; /* they are of the inlined function */
	frame.in = NULL;
	f->number = html_tree_function(tree, &frame);
	return f->number == INTERN_NONE ? -ENOMEM : 0;
}

/* --- the end -------------------------------------------------------------------------------------
 */

/* Writes [number or -1, "why" or null] of a function. */
static int put_function(struct buf *json, const struct html_code_function *f)
{
	int number = f->number == INTERN_NONE ? -1 : (int)f->number;
	int rc = buf_printf(json, "[%d,", number);

	rc = rc
		     ?: f->why ? json_append_string(json, f->why, strlen(f->why))
			       : buf_append(json, "null", 4);
	return rc ?: buf_append(json, "]", 1);
}

static int write_codes(const struct html_code *c, struct out *out)
{
	struct buf json = {0};
	struct html_part p;
	int rc;

	html_part_begin(&p, out, "codes");
	rc = buf_printf(&json, "{\"left_out\":%zu,\"functions\":[", c->left_out);
	for (size_t i = 0; !rc && i < c->nr; i++)
		rc = buf_append(&json, ",\n", i ? 2 : 0) ?: put_function(&json, &c->functions[i]);
	rc = rc ?: buf_append(&json, "]}", 2);
	html_part_put(&p, json.data, json.len);
	buf_release(&json);
	return html_part_end(&p) ?: rc;
}

/* Functions whose code the page lacks have no spots, by which others get their numbers. */
static int number_functions(struct html_code *c, struct html_tree *tree)
{
	for (size_t i = 0; i < c->nr; i++) {
		struct html_code_function *f = &c->functions[i];
		const struct frame frame = {.dso = f->dso, .sym = f->sym};

		if (f->number == INTERN_NONE)
			f->number = html_tree_function(tree, &frame);
		if (f->number == INTERN_NONE)
			return -ENOMEM;
	}
	return 0;
}

int html_code_end(struct html_code *c, struct html_tree *tree, struct out *out)
{
	struct html_table table = {.nr_columns = 2};
	int rc = number_functions(c, tree) ?: write_codes(c, out);

	for (uint32_t i = 0; !rc && i < intern_count(&c->spots); i++)
		rc = html_table_add(&table,
				    (const uint64_t[]){c->rows[i].function, c->rows[i].row});
	rc = rc ?: html_table_write(&table, out, "spots");
	html_table_release(&table);
	return rc;
}

void html_code_release(struct html_code *c)
{
	for (size_t i = 0; i < c->nr; i++)
		free(c->functions[i].why);
	free(c->functions);
	free(c->rows);
	intern_release(&c->spots);
}
