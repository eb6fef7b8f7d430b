// SPDX-License-Identifier: Apache-2.0
#include "symbol/lines/split.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "symbol/lines/strings.h"

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

/* Opens FILE.dwp of FILE.debug or FILE, if there is one. */
static void open_package(struct split_files *s)
{
	static const char debug[] = ".debug";
	size_t len = strlen(s->file);
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s.dwp", s->file);

	s->is_asked = true;
	if (!*s->file || n >= PATH_MAX || !dwp_open(path, &s->package) || len < sizeof(debug) ||
	    strcmp(s->file + len - strlen(debug), debug))
		return;
	snprintf(path, sizeof(path), "%.*s.dwp", (int)(len - strlen(debug)), s->file);
	dwp_open(path, &s->package);
}

static int open_packed(struct split_files *s, Dwarf_Die *die, struct split_unit *ret)
{
	int rc = -ENOENT;

	if (!s->is_asked)
		open_package(s);
	if (s->package.image.elf)
		rc = dwp_unit_open(&s->package, s->program, die, &ret->packed);
	if (rc)
		return rc;
	ret->die = ret->packed.die;
	return 0;
}

/* Opens the .dwo file of that name. */
static bool open_dwo(const struct split_files *s, Dwarf_Die *die, const char *name,
		     struct split_unit *ret)
{
	const char *folder = string_of(die, DW_AT_comp_dir);
	Dwarf_Die split = {0};
	uint8_t type;

	if (!is_harmless(s->folder, name) ||
	    (folder && !is_harmless_apart(s->folder, folder, name)) ||
	    dwarf_cu_info(die->cu, NULL, &type, NULL, &split, NULL, NULL, NULL) || !split.addr ||
	    !strings_are_sound(dwarf_getelf(dwarf_cu_getdwarf(split.cu))))
		return false;
	ret->die = split;
	return true;
}

void split_files_init(struct split_files *s, const struct elf_image *program, const char *file)
{
	char *slash;

	*s = (struct split_files){.program = program, .package.image = ELF_IMAGE_INIT};
	snprintf(s->file, sizeof(s->file), "%s", file);
	snprintf(s->folder, sizeof(s->folder), "%s", file);
	slash = strrchr(s->folder, '/');
	if (slash)
		slash[slash == s->folder] = 0;
	else
		strcpy(s->folder, ".");
}

void split_files_release(struct split_files *s)
{
	dwp_close(&s->package);
}

int split_unit_open(struct split_files *s, Dwarf_Die *die, struct split_unit *ret)
{
	const char *name = string_of(die, DW_AT_dwo_name);
	int rc;

	*ret = (struct split_unit){.die = *die, .packed.image = ELF_IMAGE_INIT};
	if (!name)
		name = string_of(die, DW_AT_GNU_dwo_name);
	if (!name)
		return 0;
	rc = open_packed(s, die, ret);
	if (!rc || rc == -ENOMEM)
		return rc;
	return open_dwo(s, die, name, ret) ? 0 : -ENOENT;
}

void split_unit_close(struct split_unit *u)
{
	dwp_unit_release(&u->packed);
}
