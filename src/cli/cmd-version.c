// SPDX-License-Identifier: Apache-2.0
#include <elfutils/version.h>
#include <capstone/capstone.h>
#include <hwloc.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "cli/commands.h"
#include "cli/input.h"
#include "version.h"

static const char doc[] = "Show the version of ringtail and of the libraries it uses.";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	if (key == ARGP_KEY_ARG)
		usage_error(state, "'%s': 'ringtail version' takes no arguments", arg);
	return ARGP_ERR_UNKNOWN;
}

int cmd_version(int argc, char **argv)
{
	static const struct argp_child children[] = {{&help_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {.doc = doc, .children = children, .parser = parse_option};
	unsigned int hwloc = hwloc_get_api_version();
	int capstone[2];

	if (argp_parse(&argp, argc, argv, 0, NULL, NULL))
		exit(EXIT_USAGE);
	printf("ringtail %s\n", RINGTAIL_VERSION);
	printf("  libzstd %s\n", ZSTD_versionString());
	printf("  libtraceevent %s\n", LIBTRACEEVENT_VERSION);
	printf("  elfutils %d.%d\n", _ELFUTILS_VERSION / 1000, _ELFUTILS_VERSION % 1000);
	cs_version(&capstone[0], &capstone[1]);
	printf("  capstone %d.%d\n", capstone[0], capstone[1]);
	printf("  jansson %s\n", jansson_version_str());
	printf("  hwloc %u.%u.%u\n", hwloc >> 16, hwloc >> 8 & 0xff, hwloc & 0xff);
	return input_end(NULL, NULL, 0);
}
