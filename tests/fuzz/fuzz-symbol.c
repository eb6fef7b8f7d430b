// SPDX-License-Identifier: Apache-2.0
/*
 * Any file as a source of symbols: ELF and jitdump by their magic, a mangled name if it begins
 * with an underscore, a recording's own table by its head, else a list like kallsyms. The table
 * made of it is asked for addresses all over, and what it finds must cover them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/demangle/demangle.h"
#include "symbol/resolve/kallsyms.h"
#include "symbol/resolve/locate.h"
#include "symbol/recorded/recorded.h"
#include "symbol/resolve/sources.h"

#define SYMBOLS 512

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(struct symtab *t)
{
	uint64_t addr = 0;

	for (size_t i = 0; i < SYMBOLS; i++) {
		const struct symbol *s = symtab_find(t, addr, true);
		if (s && (addr < s->start || addr >= s->end || !strlen(s->name)))
			abort();
		addr = s ? s->end : addr + 1 + (addr >> 4);
	}
}

static void build(struct symtab_builder *b)
{
	struct symtab *t;

	if (symtab_build(b, &t))
		return;
	ask(t);
	symtab_free(t);
}

/* As of a stripped program: the table that is packed in it. */
static void add_packed(const struct elf_image *img, const struct elf_space *space,
		       struct symtab_builder *b, size_t *count)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elf_section(img, ".gnu_debugdata", &shdr);
	Elf_Data *data = scn ? elf_section_data(scn, &shdr) : NULL;
	struct elf_image packed = ELF_IMAGE_INIT;
	struct buf mem = {0};

	if (!data || source_unxz(data->d_buf, data->d_size, &mem) ||
	    elf_image_memory(&mem, &packed, NULL))
		return;
	elf_add_symbols(&packed, SHT_SYMTAB, space, b, count);
	elf_image_close(&packed);
}

static void read_in(const struct elf_image *img, struct elf_space *space)
{
	struct symtab_builder b = {0};
	size_t count = 0;

	elf_add_symbols(img, SHT_SYMTAB, space, &b, &count);
	add_packed(img, space, &b, &count);
	elf_add_symbols(img, SHT_DYNSYM, space, &b, &count);
	elf_add_plt(img, space, &b, &count);
	build(&b);
	elf_space_release(space);
}

/* Names are looked up by the path of a file. */
static void locate(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"main", "_start", "0x1000", "ns::f"};
	struct event_symbol symbol;
	char path[48];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (size_t i = 0; write(fd, data, size) == (ssize_t)size && i < 4; i++) {
		struct error err = ERROR_INIT;

		if (locate_symbols.find(path, names[i], &symbol, &err) != err.code)
			abort();
		if (lseek(fd, 0, SEEK_SET))
			break;
	}
	close(fd);
}

static void read_elf(const uint8_t *data, size_t size)
{
	struct elf_image img = ELF_IMAGE_INIT;
	struct elf_space space;
	struct buf mem = {0};
	uint64_t value;

	locate(data, size);
	elf_version(EV_CURRENT);
	if (buf_append(&mem, data, size) || elf_image_memory(&mem, &img, NULL))
		return;
	source_has_symtab(&img);
	elf_symbol_value(&img, "_text", &value);
	if (!elf_space_file(&img, &space, NULL))
		read_in(&img, &space);
	if (!elf_space_module(&img, &space))
		read_in(&img, &space);
	elf_image_close(&img);
}

static void read_list(const uint8_t *data, size_t size)
{
	struct buf text = {0};
	struct symtab *t;
	uint64_t value;

	if (buf_append(&text, data, size))
		return;
	kallsyms_hidden(&text);
	kallsyms_address(&text, "_text", &value);
	if (!kallsyms_table(&text, NULL, 0x1000, NULL, &t)) {
		ask(t);
		symtab_free(t);
	}
	if (!kallsyms_table(&text, "ext4", 0, NULL, &t)) {
		ask(t);
		symtab_free(t);
	}
	buf_release(&text);
}

static void read_name(const uint8_t *data, size_t size)
{
	char *name = strndup((const char *)data, size), *text;

	if (!name)
		return;
	text = demangle_name(name);
	if (text && (!*text || strlen(text) > DEMANGLE_MAX))
		abort();
	free(text);
	free(name);
}

static int take_code(void *arg, const struct jitdump_code *code)
{
	const size_t *size = arg;

	if (!code->size || code->addr + code->size <= code->addr)
		abort();
	if (!code->moved && (code->offset > *size || code->size > *size - code->offset ||
			     memchr(code->name, 0, code->name_len)))
		abort();
	return 0;
}

static void read_jitdump(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct jitdump_info info;

	if (fd >= 0 && write(fd, data, size) == (ssize_t)size)
		jitdump_read(fd, &info, take_code, &size, NULL);
	close(fd);
}

/* The table of symbols that a recording carries. */
static void read_recorded(const uint8_t *data, size_t size)
{
	struct dso dsos[] = {{.name = "/bin/a", .kind = DSO_ELF},
			     {.name = "[kernel.kallsyms]", .kind = DSO_KERNEL},
			     {.name = "//anon", .kind = DSO_ANON}};
	const struct pd_symbol_lines *lines;
	struct recorded_symbols *rs;
	struct symtab *t;

	if (recorded_symbols_new(data, size, &rs))
		return;
	for (size_t i = 0; i < sizeof(dsos) / sizeof(dsos[0]); i++) {
		t = recorded_symbols_table(rs, &dsos[i], 1);
		if (t)
			ask(t);
		lines = recorded_symbols_lines(rs, &dsos[i]);
		for (size_t n = 0; lines && n < lines->nr_runs; n++)
			pd_symbol_lines_find(lines, lines->run[n].start);
	}
	recorded_symbols_free(rs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 4 && !memcmp(data, ELFMAG, SELFMAG))
		read_elf(data, size);
	else if (size > 4 && (!memcmp(data, "DTiJ", 4) || !memcmp(data, "JiTD", 4)))
		read_jitdump(data, size);
	else if (size > 8 && !memcmp(data, "RTSYMS01", 8))
		read_recorded(data, size);
	else if (size && data[0] == '_')
		read_name(data, size);
	else
		read_list(data, size);
	return 0;
}
