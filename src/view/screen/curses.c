// SPDX-License-Identifier: Apache-2.0
#include "view/screen/curses.h"

#ifdef RINGTAIL_STATIC

int curses_load(struct curses *ret, struct error *err)
{
	*ret = (struct curses){CURSES_FUNCTIONS(LIBRARY_ADDRESS)};
	return 0;
}

#else

int curses_load(struct curses *ret, struct error *err)
{
	static const char *const names[] = {CURSES_FUNCTIONS(LIBRARY_NAME)};

	_Static_assert(NCURSES_VERSION_MAJOR == 6, "the version of the file's name");
	return library_load("libncursesw.so.6", "libncursesw6", names,
			    sizeof(names) / sizeof(*names), ret, err);
}

#endif
