// SPDX-License-Identifier: Apache-2.0
#include "symbol/types/type_file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "symbol/lines/debug.h"
#include "symbol/lines/unit_list.h"
#include "symbol/types/follow.h"

#define FUNCTIONS_KEPT 32 /* samples repeat their functions */

struct type_unit {
	bool is_read;
	bool is_open; /* @split is */
	struct split_unit split;
	struct globals globals;
};

struct type_function {
	uint64_t start, end; /* equal: none */
	struct type_unit *unit;
	struct function_data function;
};

struct type_file {
	struct debug debug;
	struct elf_image program;
	Dwarf_CFI *eh_frame; /* owned; NULL: none */
	struct unit_list units;
	struct type_unit *unit; /* of @units; NULL: there is no debug information */
	struct objects objects;
	struct disasm *disasm;			   /* NULL: not to be had */
	struct type_function kept[FUNCTIONS_KEPT]; /* each where its number falls */
};

static bool open_debug(struct type_file *f)
{
	if (!f->debug.image.elf || debug_check(&f->debug.image) ||
	    objects_read(&f->debug.image, &f->objects) || debug_open(&f->debug) ||
	    unit_list_make(&f->debug, &f->units))
		return false;
	f->unit = calloc(f->units.nr ? f->units.nr : 1, sizeof(*f->unit));
	return f->unit;
}

int type_file_new(struct elf_image *debug, struct elf_image *program, struct type_file **ret)
{
	const struct disasm_machine machine = {EM_X86_64, true, false};
	struct type_file *f = calloc(1, sizeof(*f));

	if (!f) {
		elf_image_close(debug);
		elf_image_close(program);
		return -ENOMEM;
	}
	f->debug.image = *debug;
	f->debug.alt = (struct elf_image)ELF_IMAGE_INIT;
	f->program = *program;
	*debug = *program = (struct elf_image)ELF_IMAGE_INIT;
	if (open_debug(f) && f->program.elf)
		f->eh_frame = dwarf_getcfi_elf(f->program.elf);
	if (disasm_new(&machine, DISASM_INTEL, &f->disasm, NULL))
		f->disasm = NULL;
	*ret = f;
	return 0;
}

void type_file_free(struct type_file *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < FUNCTIONS_KEPT; i++)
		function_release(&f->kept[i].function);
	for (size_t i = 0; f->unit && i < f->units.nr; i++) {
		globals_release(&f->unit[i].globals);
		if (f->unit[i].is_open)
			split_unit_close(&f->unit[i].split);
	}
	free(f->unit);
	objects_release(&f->objects);
	unit_list_release(&f->units);
	dwarf_cfi_end(f->eh_frame);
	debug_close(&f->debug);
	elf_image_close(&f->program);
	disasm_free(f->disasm);
	free(f);
}

/* Returns the unit with the code at @addr; NULL: there is none. */
static struct type_unit *unit_of(struct type_file *f, uint64_t addr)
{
	uint32_t at = f->unit ? range_set_find(&f->units.ranges, addr) : RANGE_NONE;
	struct type_unit *u;

	if (at == RANGE_NONE)
		return NULL;
	u = &f->unit[at];
	if (!u->is_read) {
		u->is_read = true;
		u->is_open = !split_unit_open(&f->debug.split, &f->units.die[at], &u->split);
		if (u->is_open && globals_read(&u->split.die, &u->globals))
			globals_release(&u->globals);
	}
	return u->is_open ? u : NULL;
}

static struct type_function *slot_of(struct type_file *f, uint64_t start)
{
	return &f->kept[hash_word(0, start) % FUNCTIONS_KEPT];
}

struct type_function *type_file_kept(struct type_file *f, uint64_t start, uint64_t end)
{
	struct type_function *fn = slot_of(f, start);

	return fn->start == start && fn->end == end ? fn : NULL;
}

struct type_function *type_file_read(struct type_file *f, uint64_t start, uint64_t end,
				     const uint8_t *code, size_t len)
{
	struct type_function *fn = slot_of(f, start);
	int rc = 0;

	function_release(&fn->function);
	*fn = (struct type_function){.start = start, .end = end, .unit = unit_of(f, start)};
	if (f->disasm && len)
		rc = function_decode(f->disasm, code, len, start, &fn->function);
	if (!rc && fn->unit)
		rc = function_read(&fn->unit->split.die, start, &fn->function);
	if (rc)
		function_release(&fn->function);
	return fn;
}

/* The access of a jump is that of the comparison before it, with which processors fuse it. */
static size_t accessing(const struct function_data *fn, size_t at)
{
	if (at != SIZE_MAX && at && !fn->code[at].has_memory && fn->code[at].is_conditional &&
	    fn->code[at - 1].is_compare)
		return at - 1;
	return at;
}

enum accessed type_file_find(struct type_file *f, const struct type_function *fn, uint64_t addr,
			     struct typed *ret)
{
	static const struct globals none;
	struct follow follow = {
		.function = &fn->function,
		.globals = fn->unit ? &fn->unit->globals : &none,
		.objects = &f->objects,
		.cfi = {f->eh_frame, f->unit ? dwarf_getcfi(f->debug.dwarf) : NULL},
	};
	size_t at = accessing(&fn->function, function_at(&fn->function, addr));
	const struct access *a;

	if (at == SIZE_MAX)
		return ACCESSED_UNKNOWN;
	a = &fn->function.code[at];
	if (a->is_stack)
		return ACCESSED_STACK;
	if (a->has_memory && follow_access(&follow, at, ret))
		return ACCESSED_TYPED;
	return a->is_canary ? ACCESSED_CANARY : ACCESSED_UNKNOWN;
}
