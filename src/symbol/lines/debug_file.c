// SPDX-License-Identifier: Apache-2.0
#include "symbol/lines/debug_file.h"

#include <errno.h>

#include "symbol/lines/debug.h"

/* Opens the @kept contents of the file, or with NULL the file itself. */
static bool open_image(const struct resolver *r, const struct dso *dso, const struct buf *kept,
		       struct elf_image *ret)
{
	return kept ? !elf_image_borrow(kept, ret, NULL) : !resolver_open_image(r, dso, ret);
}

static int open_program(const struct resolver *r, const struct dso *dso, const struct buf *kept,
			struct elf_image *ret, struct elf_space *ret_space)
{
	struct elf_image program = ELF_IMAGE_INIT, debug = ELF_IMAGE_INIT;
	bool there = open_image(r, dso, kept, &program);
	int rc = 0;

	if (!there && !dso->build_id_size)
		return -ENOENT;
	if (there && debug_is_in(&program))
		rc = elf_space_file(&program, ret_space, NULL);
	else if (resolver_open_debug(r, dso, there ? &program : NULL, &debug))
		rc = -ENOENT;
	else
		rc = elf_space_file(there ? &program : &debug, ret_space, NULL);
	*ret = debug.elf ? debug : program;
	if (debug.elf)
		elf_image_close(&program);
	return rc;
}

static int open_kernel(const struct resolver *r, const struct dso *dso, struct elf_image *ret,
		       uint64_t *ret_delta)
{
	struct elf_image debug = ELF_IMAGE_INIT;
	int rc = resolver_open_kernel(r, dso, ret, ret_delta);

	if (rc || debug_is_in(ret) || resolver_open_debug(r, dso, ret, &debug))
		return rc;
	elf_image_close(ret);
	*ret = debug;
	return 0;
}

int debug_file_open(const struct resolver *r, const struct dso *dso, const struct buf *kept,
		    struct elf_image *ret, struct debug_space *ret_space)
{
	struct elf_image img = ELF_IMAGE_INIT;
	struct debug_space s = {.form = dso->kind == DSO_ELF ? DEBUG_IN_FILE : DEBUG_MOVED};
	int rc = -ENOENT;

	if (dso->kind == DSO_ELF)
		rc = open_program(r, dso, kept, &img, &s.space);
	else if (dso->kind == DSO_KERNEL)
		rc = open_kernel(r, dso, &img, &s.delta);
	if (rc) {
		elf_image_close(&img);
		debug_space_release(&s);
		return rc;
	}
	*ret = img;
	*ret_space = s;
	return 0;
}

bool debug_space_linked(const struct debug_space *s, uint64_t addr, uint64_t *ret)
{
	*ret = addr - s->delta;
	return s->form == DEBUG_MOVED || elf_space_unmap(&s->space, addr, ret);
}

bool debug_space_of_linked(const struct debug_space *s, uint64_t linked, uint64_t *ret)
{
	*ret = linked + s->delta;
	return s->form == DEBUG_MOVED || elf_space_map(&s->space, 0, linked, ret);
}

void debug_space_release(struct debug_space *s)
{
	elf_space_release(&s->space);
	*s = (struct debug_space){0};
}
