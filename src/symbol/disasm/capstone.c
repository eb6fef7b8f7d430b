// SPDX-License-Identifier: Apache-2.0
#include "symbol/disasm/capstone.h"

#ifdef RINGTAIL_STATIC

int capstone_load(struct capstone *ret, struct error *err)
{
	*ret = (struct capstone){CAPSTONE_FUNCTIONS(LIBRARY_ADDRESS)};
	return 0;
}

#else

#define TEXT(x)	  #x
#define NUMBER(x) TEXT(x)
#define VERSION	  NUMBER(CS_API_MAJOR)

int capstone_load(struct capstone *ret, struct error *err)
{
	static const char *const names[] = {CAPSTONE_FUNCTIONS(LIBRARY_NAME)};

	return library_load("libcapstone.so." VERSION, "libcapstone" VERSION, names,
			    sizeof(names) / sizeof(*names), ret, err);
}

#endif
