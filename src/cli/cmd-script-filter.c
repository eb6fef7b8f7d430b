// SPDX-License-Identifier: Apache-2.0
#include "cli/cmd-script-filter.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "cli/input/input.h"

int script_filter_arg(struct script_filter *f, char *word)
{
	/* A filter may take the NULL behind the last word for the end. */
	if (array_grow(&f->args, &f->cap_args, f->nr_args + 2, sizeof(*f->args)))
		return -ENOMEM;
	f->args[f->nr_args++] = word;
	f->args[f->nr_args] = NULL;
	return 0;
}

int script_filter_load(const struct script_filter *f, struct dlfilter **ret)
{
	struct error err = ERROR_INIT;
	int rc = f->path ? dlfilter_load(f->path, f->args, f->nr_args, ret, &err) : 0;

	if (rc < 0)
		complain("%s", err.text);
	return rc;
}

void script_filter_release(struct script_filter *f, struct dlfilter *loaded)
{
	dlfilter_free(loaded);
	free(f->args);
}

static void print_filter(const char *name, const char *description, const char *more, void *verbose)
{
	printf("  %-36s %s\n", name, description);
	if (*(bool *)verbose && more)
		printf("      %s\n", more);
}

int script_filter_list(bool verbose)
{
	printf("List of available dlfilters:\n");
	return dlfilter_list(print_filter, &verbose) ? EXIT_FAILURE : EXIT_SUCCESS;
}
