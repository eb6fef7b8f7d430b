// SPDX-License-Identifier: Apache-2.0
#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "symbol/lines/strings.h"
#include "symbol/lines/unit.h"

static const char *string_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;

	return dwarf_attr(die, name, &attr) ? dwarf_formstring(&attr) : NULL;
}

#define SPLIT_MAX ((off_t)1 << 30) /* bytes of a file; libdw reads its debug sections whole */

/* Returns whether libdw may open FOLDER/NAME; a file that is missing does no harm. */
static bool is_harmless(const char *folder, const char *name)
{
	bool whole = *name == '/';
	char path[PATH_MAX];
	struct stat st;
	int n = snprintf(path, sizeof(path), "%s%s%s", whole ? "" : folder, whole ? "" : "/", name);

	return n > 0 && n < PATH_MAX &&
	       (stat(path, &st) || (S_ISREG(st.st_mode) && st.st_size < SPLIT_MAX));
}

/* The same for the folder that the DIE names, relative to that of the file. */
static bool is_harmless_apart(const char *home, const char *folder, const char *name)
{
	bool whole = *folder == '/';
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s%s%s", whole ? "" : home, whole ? "" : "/", folder);

	return n > 0 && n < PATH_MAX && is_harmless(path, name);
}

bool unit_open_split(Dwarf_Die *die, const char *home, Dwarf_Die *ret)
{
	const char *name = string_of(die, DW_AT_dwo_name), *folder;
	Dwarf_Die split = {0};
	uint8_t type;

	*ret = *die;
	if (!name)
		name = string_of(die, DW_AT_GNU_dwo_name);
	if (!name)
		return true;
	folder = string_of(die, DW_AT_comp_dir);
	if (!is_harmless(home, name) || (folder && !is_harmless_apart(home, folder, name)) ||
	    dwarf_cu_info(die->cu, NULL, &type, NULL, &split, NULL, NULL, NULL) || !split.addr ||
	    !strings_end_in_nul(dwarf_getelf(dwarf_cu_getdwarf(split.cu))))
		return false;
	*ret = split;
	return true;
}
