// SPDX-License-Identifier: Apache-2.0
#include <gelf.h>
#include <string.h>

#include "symbol/lines/strings.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* What follows ".debug_" or ".zdebug_" in the name of a section of strings. */
static const char *const string_sections[] = {"str", "line_str", "str.dwo", "line_str.dwo"};

/* The same of tables that begin with a length. */
static const char *const table_sections[] = {"str_offsets",	"rnglists",	"loclists",
					     "str_offsets.dwo", "rnglists.dwo", "loclists.dwo"};
#define LENGTH 4 /* bytes, at least */

/* Returns what follows the prefix of debug sections, or NULL. */
static const char *kind_of(const char *name, bool *ret_gnu)
{
	*ret_gnu = !strncmp(name, ".zdebug_", 8);
	if (*ret_gnu)
		return name + 8;
	return strncmp(name, ".debug_", 7) ? NULL : name + 7;
}

static bool is_one_of(const char *name, const char *const *kinds, size_t nr, bool *ret_gnu)
{
	const char *kind = name ? kind_of(name, ret_gnu) : NULL;

	for (size_t i = 0; kind && i < nr; i++)
		if (!strcmp(kind, kinds[i]))
			return true;
	return false;
}

static const Elf_Data *section_data(Elf_Scn *scn, bool gnu, const GElf_Shdr *shdr)
{
	const Elf_Data *data;

	if (gnu)
		elf_compress_gnu(scn, 0, 0);
	else if (shdr->sh_flags & SHF_COMPRESSED)
		elf_compress(scn, 0, 0);
	data = elf_getdata(scn, NULL);
	return data && data->d_buf && data->d_size ? data : NULL;
}

static bool is_sound(Elf_Scn *scn, const char *name, const GElf_Shdr *shdr)
{
	const Elf_Data *data;
	bool gnu, strings = is_one_of(name, string_sections, ARRAY_SIZE(string_sections), &gnu);

	if (!strings && !is_one_of(name, table_sections, ARRAY_SIZE(table_sections), &gnu))
		return true;
	data = section_data(scn, gnu, shdr);
	if (!data)
		return true;
	return strings ? !((const char *)data->d_buf)[data->d_size - 1] : data->d_size >= LENGTH;
}

bool strings_are_sound(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return true;
	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type != SHT_NOBITS &&
		    !is_sound(scn, elf_strptr(elf, names, shdr.sh_name), &shdr))
			return false;
	return true;
}
