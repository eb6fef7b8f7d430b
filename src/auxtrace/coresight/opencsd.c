// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/coresight/opencsd.h"

#ifdef RINGTAIL_STATIC

int opencsd_load(struct opencsd *ret, struct error *err)
{
	*ret = (struct opencsd){OPENCSD_FUNCTIONS(LIBRARY_ADDRESS)};
	return 0;
}

#else

int opencsd_load(struct opencsd *ret, struct error *err)
{
	static const char *const names[] = {OPENCSD_FUNCTIONS(LIBRARY_NAME)};

	_Static_assert(OCSD_VER_MAJOR == 1, "the version of the file's name");
	return library_load("libopencsd_c_api.so.1", "libopencsd1", names,
			    sizeof(names) / sizeof(*names), ret, err);
}

#endif
