// SPDX-License-Identifier: Apache-2.0
#include "report/script/code_reader.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/disasm/machine.h"
#include "symbol/elf/elf_image.h"

struct dso_machine {
	bool known;
	struct disasm_machine machine;
};

struct code_reader {
	const struct trace *trace;
	const struct aux_code *code;
	struct disasm_machine own; /* of the recording; machine 0: not known */
	struct dso_machine *dsos;  /* by index */
	struct disasm *disasm;	   /* NULL: there is none yet */
	struct disasm_machine is;  /* of @disasm; it may be NULL because Capstone lacks it */
};

/* A recording without a name of its machine is taken for one of this machine, as everywhere. */
static struct disasm_machine own_machine(const struct trace *t)
{
	static const char own[] =
#if defined(__x86_64__)
		"x86_64";
#elif defined(__aarch64__)
		"aarch64";
#else
		"";
#endif
	return machine_of_name(t->arch ? t->arch : own);
}

int code_reader_new(const struct trace *t, const struct code_files *code, struct code_reader **ret)
{
	struct code_reader *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->trace = t;
	c->code = code_files_source(code);
	c->own = own_machine(t);
	c->dsos = calloc(state_dso_count(t->state) + 1, sizeof(*c->dsos));
	if (!c->dsos) {
		free(c);
		return -ENOMEM;
	}
	*ret = c;
	return 0;
}

void code_reader_free(struct code_reader *c)
{
	if (!c)
		return;
	disasm_free(c->disasm);
	free(c->dsos);
	free(c);
}

uint8_t code_mode(uint64_t addr)
{
	return addr >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
}

size_t code_reader_read(const struct code_reader *c, const struct walk_sample *ws, uint64_t addr,
			void *buf, size_t len)
{
	struct aux_task task = {ws->s.pid, ws->s.tid, code_mode(addr)};
	size_t got = 0;

	/* A read ends with a block of a file, or with a map. */
	while (got < len) {
		int rc = c->code->read(c->code->arg, &task, ws->rec->at.time, addr + got,
				       (uint8_t *)buf + got, len - got, NULL);

		if (rc <= 0)
			break;
		got += (size_t)rc;
	}
	return got;
}

static struct disasm_machine machine_at(struct code_reader *c, const struct dso *dso)
{
	struct elf_image img = ELF_IMAGE_INIT;
	uint8_t header[MACHINE_HEADER_SIZE];
	struct dso_machine *m;
	ssize_t n;

	if (!dso || (dso->kind != DSO_ELF && dso->kind != DSO_VDSO && dso->kind != DSO_JIT))
		return c->own;
	m = &c->dsos[dso->index];
	if (m->known)
		return m->machine;
	*m = (struct dso_machine){true, c->own};
	if (resolver_open_code(c->trace->resolver, dso, &img))
		return m->machine;
	n = elf_image_read(&img, 0, header, sizeof(header));
	if (n > 0)
		machine_of_file(header, (size_t)n, &m->machine);
	elf_image_close(&img);
	return m->machine;
}

static bool same_machine(const struct disasm_machine *a, const struct disasm_machine *b)
{
	return a->machine == b->machine && a->is_64 == b->is_64 && a->big_endian == b->big_endian;
}

const struct dso *code_reader_dso(const struct code_reader *c, const struct walk_sample *ws)
{
	struct location loc;

	state_find(c->trace->state, ws->s.pid, ws->s.cpumode, ws->s.ip, ws->rec->at, &loc);
	return loc.map ? loc.map->dso : NULL;
}

bool code_reader_is_64(struct code_reader *c, const struct dso *dso)
{
	return machine_at(c, dso).is_64;
}

bool code_reader_decode(struct code_reader *c, const struct frame *at, const uint8_t *bytes,
			size_t len, struct disasm_insn *ret)
{
	struct disasm_machine m = machine_at(c, at->dso);
	struct error unused;

	if (!same_machine(&m, &c->is)) {
		disasm_free(c->disasm);
		c->disasm = NULL;
		c->is = m;
		if (disasm_new(&m, DISASM_DEFAULT, &c->disasm, &unused))
			c->disasm = NULL;
	}
	if (!c->disasm || !len)
		return false;
	disasm_next(c->disasm, bytes, len, at->ip, ret);
	return ret->known;
}

/* Instructions of arm64 are words: b.cond, cbz and cbnz, tbz and tbnz. */
static bool is_arm64_conditional(const uint8_t *bytes)
{
	uint32_t w;

	memcpy(&w, bytes, sizeof(w));
	w = le32toh(w);
	return (w & 0xff000000) == 0x54000000 || (w & 0x7e000000) == 0x34000000 ||
	       (w & 0x7e000000) == 0x36000000;
}

/* Intel SDM, volume 2: jcc rel8 is 70 to 7f, rel32 0f 80 to 0f 8f; e0 to e3 loop and jrcxz. */
static bool is_x86_conditional(const uint8_t *bytes, size_t len)
{
	size_t i = 0;

	while (i < len && (bytes[i] == 0x2e || bytes[i] == 0x3e || bytes[i] == 0x66 ||
			   bytes[i] == 0x67 || bytes[i] == 0xf2 || (bytes[i] & 0xf0) == 0x40))
		i++;
	if (i >= len)
		return false;
	return (bytes[i] & 0xf0) == 0x70 || (bytes[i] & 0xfc) == 0xe0 ||
	       (bytes[i] == 0x0f && i + 1 < len && (bytes[i + 1] & 0xf0) == 0x80);
}

bool code_falls_through(const struct code_reader *c, const struct disasm_insn *insn,
			const uint8_t *bytes)
{
	switch (insn->kind) {
	case DISASM_OTHER: return true;
	case DISASM_CALL:
	case DISASM_RETURN: return false;
	case DISASM_JUMP: break;
	}
	if (c->is.machine == EM_AARCH64)
		return insn->size == 4 && is_arm64_conditional(bytes);
	return (c->is.machine == EM_X86_64 || c->is.machine == EM_386) &&
	       is_x86_conditional(bytes, insn->size);
}
