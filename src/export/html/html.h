/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording as one HTML page, which shows it in a browser without network.
 *
 * The page is page/page.html with style and scripts in it, and the data as parts (part.h). Samples
 * and marks are written as they come, tables at the end. export_run() writes it; its opts must be
 * the @export of a struct html_opts.
 */
#ifndef RINGTAIL_EXPORT_HTML_HTML_H
#define RINGTAIL_EXPORT_HTML_HTML_H

#include "export/html/before.h"

struct html_opts {
	struct export_opts export;
	/* JSON: "name" of the recording and of the one "before", "header", "stats" and "verdicts"
	 * by event; borrowed. */
	const char *facts;
	const struct html_before *before; /* compare with this recording; NULL: with none */
};

extern const struct export_format export_html;

#endif
