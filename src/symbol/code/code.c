// SPDX-License-Identifier: Apache-2.0
#include "symbol/code/code.h"

#include <errno.h>

#include "symbol/disasm/machine.h"
#include "symbol/elf/elf_image.h"

static int take_machine(const struct elf_image *img, struct disasm_machine *ret, struct error *why)
{
	uint8_t header[MACHINE_HEADER_SIZE];
	ssize_t n = elf_image_read(img, 0, header, sizeof(header));

	if (n < 0 || !machine_of_file(header, (size_t)n, ret))
		return error_set(why, -EBADMSG, "it is neither an ELF file nor a jitdump");
	return 0;
}

/* Reads up to @len bytes at offset @at of the file. */
static int read_bytes(const struct elf_image *img, uint64_t at, size_t len,
		      struct function_code *ret, struct error *why)
{
	ssize_t n;
	int rc = buf_reserve(&ret->bytes, len);

	if (rc)
		return error_set(why, rc, "out of memory");
	n = elf_image_read(img, at, ret->bytes.data, len);
	if (n < 0)
		return error_sys(why, (int)n, "cannot read the file");
	if (!n)
		return error_set(why, -ENODATA, "the file ends before the function");
	ret->bytes.len = (size_t)n;
	ret->truncated |= (size_t)n < len;
	return 0;
}

/* The addresses of these dsos are offsets in their files. */
static int load_file(const struct resolver *r, const struct dso *dso, size_t len,
		     struct function_code *ret, struct error *why)
{
	struct elf_image img = ELF_IMAGE_INIT;
	struct elf_space space = {0};
	uint64_t linked = ret->start;
	int rc = resolver_open_code_why(r, dso, &img, why);

	if (rc)
		return rc;
	rc = take_machine(&img, &ret->machine, why);
	if (!rc)
		rc = elf_space_file(&img, &space, why);
	if (!rc) {
		elf_space_unmap(&space, ret->start, &linked);
		ret->to_file = linked - ret->start;
		rc = read_bytes(&img, ret->start, len, ret, why);
	}
	elf_space_release(&space);
	elf_image_close(&img);
	return rc;
}

/* A jitdump has the code of each function at its address in the dso. */
static int load_jit(const struct resolver *r, const struct dso *dso, uint64_t base, size_t len,
		    struct function_code *ret, struct error *why)
{
	struct elf_image file = ELF_IMAGE_INIT;
	int rc = resolver_open_code_why(r, dso, &file, why);

	if (rc)
		return rc;
	ret->to_file = base;
	rc = take_machine(&file, &ret->machine, why);
	if (!rc)
		rc = read_bytes(&file, ret->start, len, ret, why);
	elf_image_close(&file);
	return rc;
}

/* Reads from a vmlinux or kcore, which adds @delta to its addresses. */
static int load_linked(const struct elf_image *img, uint64_t delta, uint64_t addr, size_t len,
		       struct function_code *ret, struct error *why)
{
	struct elf_space space = {0};
	uint64_t offset;
	int rc = take_machine(img, &ret->machine, why) ?: elf_space_file(img, &space, why);

	ret->to_file = addr - delta - ret->start;
	if (!rc && !elf_space_map(&space, 0, addr - delta, &offset))
		rc = error_set(why, -ENOENT, "the kernel's file has no code at that address");
	if (!rc)
		rc = read_bytes(img, offset, len, ret, why);
	elf_space_release(&space);
	return rc;
}

static int load_vmlinux(const struct resolver *r, const struct dso *dso, uint64_t addr, size_t len,
			struct function_code *ret, struct error *why)
{
	struct elf_image img = ELF_IMAGE_INIT;
	uint64_t delta;
	int rc = resolver_open_kernel(r, dso, &img, &delta);

	if (rc)
		return error_set(why, rc,
				 "no vmlinux of the recorded kernel was found: install the "
				 "kernel's debug symbols, name a vmlinux with -k, or, if the "
				 "recorded kernel runs here, read /proc/kcore as root");
	rc = load_linked(&img, delta, addr, len, ret, why);
	elf_image_close(&img);
	return rc;
}

/* @kernel is the kernel's own dso, also for a module. */
static int load_kcore(const struct resolver *r, const struct dso *kernel, uint64_t addr, size_t len,
		      struct function_code *ret, struct error *why)
{
	struct elf_image img = ELF_IMAGE_INIT;
	int rc = kernel ? resolver_open_kcore(r, kernel, &img) : -ENOENT;

	if (rc)
		return error_set(why, rc,
				 "code of a kernel module is in /proc/kcore, while the recorded "
				 "kernel runs and root reads it, or in a recording with 'record "
				 "--kcore'");
	rc = load_linked(&img, 0, addr, len, ret, why);
	elf_image_close(&img);
	return rc;
}

/* A kcore has the code as it ran, with its patches; but the user may name a vmlinux. */
static int load_kernel(const struct code_source *s, const struct dso *dso, uint64_t addr,
		       size_t len, struct function_code *ret, struct error *why)
{
	if (!resolver_names_vmlinux(s->resolver) &&
	    !load_kcore(s->resolver, dso, addr, len, ret, why))
		return 0;
	buf_release(&ret->bytes);
	return load_vmlinux(s->resolver, dso, addr, len, ret, why);
}

int function_code_load(const struct code_source *s, const struct dso *dso, const struct symbol *sym,
		       uint64_t base, struct function_code *ret, struct error *why)
{
	struct function_code c = {.start = sym->start};
	uint64_t size = sym->end - sym->start, addr = base + sym->start;
	size_t len = size < FUNCTION_CODE_MAX ? (size_t)size : FUNCTION_CODE_MAX;
	int rc;

	c.truncated = len < size;
	switch (dso->kind) {
	case DSO_ELF:
	case DSO_VDSO: rc = load_file(s->resolver, dso, len, &c, why); break;
	case DSO_KERNEL: rc = load_kernel(s, dso, addr, len, &c, why); break;
	case DSO_MODULE: rc = load_kcore(s->resolver, s->kernel, addr, len, &c, why); break;
	case DSO_JIT: rc = load_jit(s->resolver, dso, base, len, &c, why); break;
	case DSO_GUEST:
		rc = error_set(why, -ENOENT, "it belongs to a guest, whose files are not here");
		break;
	default: rc = error_set(why, -ENOENT, "the code was made at run time and is in no file");
	}
	if (rc)
		function_code_release(&c);
	else
		*ret = c;
	return rc;
}

void function_code_release(struct function_code *c)
{
	buf_release(&c->bytes);
	*c = (struct function_code){0};
}
