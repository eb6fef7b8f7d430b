// SPDX-License-Identifier: Apache-2.0
#include "sys/io/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

int library_load(const char *soname, const char *package, const char *const *names, size_t nr,
		 void *ret, struct error *err)
{
	void *lib = dlopen(soname, RTLD_LAZY | RTLD_LOCAL), *at;

	for (size_t i = 0; lib && i < nr; i++) {
		at = dlsym(lib, names[i]);
		if (!at)
			return error_set(err, -ELIBACC,
					 "%s has no function %s: install the Debian "
					 "package %s anew",
					 soname, names[i], package);
		memcpy((char *)ret + i * sizeof(at), &at, sizeof(at));
	}
	return lib ? 0
		   : error_set(err, -ELIBACC, "%s: install the Debian package %s", dlerror(),
			       package);
}
