// SPDX-License-Identifier: Apache-2.0
#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "symbol/lines/unit.h"

static const char *string_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;

	return dwarf_attr(die, name, &attr) ? dwarf_formstring(&attr) : NULL;
}

/* Returns whether libdw may open the file; one that is missing does no harm. */
static bool is_harmless(const char *folder, const char *name)
{
	char path[PATH_MAX];
	struct stat st;
	int n = *name == '/' || !folder ? snprintf(path, sizeof(path), "%s", name)
					: snprintf(path, sizeof(path), "%s/%s", folder, name);

	return n > 0 && n < PATH_MAX && (stat(path, &st) || S_ISREG(st.st_mode));
}

bool unit_open_split(Dwarf_Die *die, Dwarf_Die *ret)
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
	/* libdw first tries the folder of the file itself, which is no place of devices */
	if (!is_harmless(folder, name) ||
	    dwarf_cu_info(die->cu, NULL, &type, NULL, &split, NULL, NULL, NULL) || !split.addr)
		return false;
	*ret = split;
	return true;
}
