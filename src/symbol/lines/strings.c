// SPDX-License-Identifier: Apache-2.0
#include <gelf.h>
#include <string.h>

#include "symbol/lines/strings.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* What follows ".debug_" or ".zdebug_" in the name of a section of strings. */
static const char *const string_sections[] = {"str", "line_str", "str.dwo", "line_str.dwo"};

/* Returns what follows the prefix of debug sections, or NULL. */
static const char *kind_of(const char *name, bool *ret_gnu)
{
	*ret_gnu = !strncmp(name, ".zdebug_", 8);
	if (*ret_gnu)
		return name + 8;
	return strncmp(name, ".debug_", 7) ? NULL : name + 7;
}

static bool holds_strings(const char *name, bool *ret_gnu)
{
	const char *kind = name ? kind_of(name, ret_gnu) : NULL;

	for (size_t i = 0; kind && i < ARRAY_SIZE(string_sections); i++)
		if (!strcmp(kind, string_sections[i]))
			return true;
	return false;
}

static bool ends_in_nul(Elf_Scn *scn, bool gnu, const GElf_Shdr *shdr)
{
	const char *bytes;
	Elf_Data *data;

	if (gnu)
		elf_compress_gnu(scn, 0, 0);
	else if (shdr->sh_flags & SHF_COMPRESSED)
		elf_compress(scn, 0, 0);
	data = elf_getdata(scn, NULL);
	if (!data || !data->d_buf || !data->d_size)
		return true;
	bytes = data->d_buf;
	return !bytes[data->d_size - 1];
}

bool strings_end_in_nul(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t names;
	bool gnu;

	if (elf_getshdrstrndx(elf, &names))
		return true;
	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type != SHT_NOBITS &&
		    holds_strings(elf_strptr(elf, names, shdr.sh_name), &gnu) &&
		    !ends_in_nul(scn, gnu, &shdr))
			return false;
	return true;
}
