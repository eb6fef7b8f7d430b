/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code of an HTML page: the instructions of the hottest functions with their source lines and
 * jumps, and the instruction of each sample in them.
 *
 * Samples are counted by instruction before the page is written. So the page begins with the code,
 * a part "code" for each function, and the samples that follow name their instructions: a "spot" is
 * an instruction in which samples are, the most frequent first. One thread.
 */
#ifndef RINGTAIL_EXPORT_HTML_CODE_H
#define RINGTAIL_EXPORT_HTML_CODE_H

#include "export/html/tree.h"
#include "report/annotate/annotate.h"

/* The key of a spot; without padding. */
struct html_spot {
	const struct symbol *sym;
	uint64_t addr; /* in the dso, as in struct location */
};

/* Where the page shows a spot. */
struct html_spot_row {
	uint32_t function, row;
};

struct html_code_function {
	const struct symbol *sym;
	const struct dso *dso;
	uint32_t number; /* in the tree; INTERN_NONE: no sample came yet */
	bool written;	 /* it has a part */
	char *why;	 /* if not: what is missing */
};

/* html_code_empty: no code. */
struct html_code {
	struct html_code_function *functions;
	size_t nr, cap;
	size_t left_out; /* functions with samples that the page has no room for */
	struct intern spots;
	struct html_spot_row *rows; /* by spot */
	size_t cap_rows;
};

extern const struct html_code html_code_empty;

/*
 * Counts the samples of @t that @f accepts, and writes the code of the hottest functions to @out.
 * Returns 0, out->rc, or a negative errno with @err filled.
 */
int html_code_write(struct html_code *c, struct trace *t, const struct filter *f, struct out *out,
		    struct error *err);

/*
 * Sets *@ret to the spot of a sample, plus one; to 0, if its code is not in the page. Returns 0 or
 * -ENOMEM.
 */
int html_code_spot(struct html_code *c, struct html_tree *tree, const struct export_sample *s,
		   uint64_t *ret);

/* After the samples: writes the parts "codes" and "spots". Returns 0, out->rc or -ENOMEM. */
int html_code_end(struct html_code *c, struct html_tree *tree, struct out *out);
/* Frees the memory. */
void html_code_release(struct html_code *c);

#endif
