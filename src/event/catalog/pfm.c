// SPDX-License-Identifier: Apache-2.0
#include "event/catalog/pfm.h"

#include <errno.h>

#ifdef RINGTAIL_STATIC

static int take_functions(struct pfm *ret, struct error *err)
{
	*ret = (struct pfm){PFM_FUNCTIONS(LIBRARY_ADDRESS)};
	return 0;
}

#else

static int take_functions(struct pfm *ret, struct error *err)
{
	static const char *const names[] = {PFM_FUNCTIONS(LIBRARY_NAME)};

	return library_load("libpfm.so.4", "libpfm4", names, sizeof(names) / sizeof(*names), ret,
			    err);
}

#endif

int pfm_load(struct pfm *ret, struct error *err)
{
	int rc = take_functions(ret, err);

	return rc ? rc : ret->pfm_initialize() == PFM_SUCCESS ? 0 : -ENOENT;
}
