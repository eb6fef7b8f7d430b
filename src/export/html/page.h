/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page around the data, which embed.py makes of the files in page/. Constants.
 *
 * Its content security policy has the hashes of its style and scripts, and allows nothing else.
 */
#ifndef RINGTAIL_EXPORT_HTML_PAGE_H
#define RINGTAIL_EXPORT_HTML_PAGE_H

extern const char html_page_head[]; /* before the data */
extern const char html_page_tail[]; /* behind them */

#endif
