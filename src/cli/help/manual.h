/* SPDX-License-Identifier: Apache-2.0 */
/* Shows man pages, with man(1). One thread. */
#ifndef RINGTAIL_CLI_HELP_MANUAL_H
#define RINGTAIL_CLI_HELP_MANUAL_H

/*
 * Becomes man(1) with the page @page, if standard output is a terminal and man finds the page.
 * Returns only if not; then nothing was printed.
 */
void manual_open(const char *page);

#endif
