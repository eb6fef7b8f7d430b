// SPDX-License-Identifier: Apache-2.0
/*
 * BPF programs: a KSYMBOL for each function and a BPF_EVENT for each program, as the kernel writes
 * them at load time; then KSYMBOLs for the rest in kallsyms: trampolines, dispatchers, and the
 * programs themselves where bpf(2) is not allowed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/initial/ksyms.h"
#include "record/initial/synth.h"
#include "sys/kernel/bpf.h"

#define FUNCS_MAX 65536 /* functions of a program; the kernel allows 256 (BPF_MAX_SUBPROGS) */

/* The functions of one program. */
struct functions {
	uint32_t nr;
	uint64_t *addrs;
	uint32_t *lens; /* bytes */
	uint8_t (*tags)[BPF_TAG_SIZE];
};

static void functions_release(struct functions *f)
{
	free(f->addrs);
	free(f->lens);
	free(f->tags);
}

/* Reads @info and @f. Returns 0, -ENOMEM, or 1: not compiled, hidden, or too old a kernel. */
static int program_read(int fd, struct bpf_prog_info *info, struct functions *f)
{
	uint32_t nr;

	memset(info, 0, sizeof(*info));
	if (bpf_prog_info_get(fd, info) || !info->jited_prog_len)
		return 1;
	nr = info->nr_jited_ksyms;
	if (!nr || nr > FUNCS_MAX || nr != info->nr_jited_func_lens || nr != info->nr_prog_tags)
		return 1;
	f->nr = nr;
	f->addrs = calloc(nr, sizeof(*f->addrs));
	f->lens = calloc(nr, sizeof(*f->lens));
	f->tags = calloc(nr, sizeof(*f->tags));
	if (!f->addrs || !f->lens || !f->tags)
		return -ENOMEM;
	memset(info, 0, sizeof(*info));
	info->nr_jited_ksyms = info->nr_jited_func_lens = info->nr_prog_tags = nr;
	info->jited_ksyms = (uint64_t)(uintptr_t)f->addrs;
	info->jited_func_lens = (uint64_t)(uintptr_t)f->lens;
	info->prog_tags = (uint64_t)(uintptr_t)f->tags;
	return bpf_prog_info_get(fd, info) || !info->jited_ksyms ? 1 : 0;
}

static int synth_ksymbol(struct synth *s, uint64_t addr, uint32_t len, uint16_t type,
			 const char *name)
{
	struct {
		uint64_t addr;
		uint32_t len;
		uint16_t type, flags;
	} body = {addr, len, type, 0};

	s->stats.ksymbols++;
	return synth_record(s, PERF_RECORD_KSYMBOL, 0, &body, sizeof(body), name, strlen(name));
}

/* Finds the name of function @i in kallsyms, or composes it as the kernel does. */
static void function_name(const struct kernel_symbols *syms, const struct bpf_prog_info *info,
			  const struct functions *f, uint32_t i, char *ret, size_t size)
{
	const char *known = kernel_symbols_name(syms, f->addrs[i]);
	const char *suffix = f->nr == 1 ? info->name : "F";
	char tag[2 * BPF_TAG_SIZE + 1];

	for (int j = 0; j < BPF_TAG_SIZE; j++)
		snprintf(tag + 2 * j, 3, "%02x", f->tags[i][j]);
	if (known)
		snprintf(ret, size, "%s", known);
	else
		snprintf(ret, size, "bpf_prog_%s%s%.*s", tag, suffix[0] ? "_" : "",
			 BPF_OBJ_NAME_LEN, suffix);
}

static int synth_program(struct synth *s, const struct kernel_symbols *syms,
			 const struct bpf_prog_info *info, const struct functions *f)
{
	struct {
		uint16_t type, flags;
		uint32_t id;
		uint8_t tag[BPF_TAG_SIZE];
	} body = {.type = PERF_BPF_EVENT_PROG_LOAD, .id = info->id};
	char name[512]; /* KSYM_NAME_LEN */
	int rc = 0;

	for (uint32_t i = 0; !rc && i < f->nr; i++) {
		function_name(syms, info, f, i, name, sizeof(name));
		if (f->addrs[i])
			rc = synth_ksymbol(s, f->addrs[i], f->lens[i], PERF_RECORD_KSYMBOL_TYPE_BPF,
					   name);
	}
	if (rc)
		return rc;
	memcpy(body.tag, info->tag, sizeof(body.tag));
	s->stats.bpf++;
	return synth_record(s, PERF_RECORD_BPF_EVENT, 0, &body, sizeof(body), NULL, 0);
}

/* Adds the addresses that have their KSYMBOL now to @reported. */
static int note_reported(struct buf *reported, const struct functions *f)
{
	return buf_append(reported, f->addrs, f->nr * sizeof(*f->addrs));
}

static int synth_programs(struct synth *s, const struct kernel_symbols *syms, struct buf *reported)
{
	uint32_t id = 0;
	int rc = 0;

	while (!rc && !bpf_prog_next(id, &id)) {
		struct bpf_prog_info info;
		struct functions f = {0};
		int fd = bpf_prog_open(id);

		if (fd < 0)
			continue;
		rc = program_read(fd, &info, &f);
		if (!rc)
			rc = note_reported(reported, &f);
		if (!rc)
			rc = synth_program(s, syms, &info, &f);
		else if (rc == 1)
			rc = 0;
		functions_release(&f);
		close(fd);
	}
	return rc;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* kallsyms has no sizes: a symbol reaches to the next one, at most a page. */
static int synth_loose(struct synth *s, const struct kernel_symbols *syms,
		       const struct buf *reported)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < syms->count; i++) {
		const struct kernel_symbol *sym = &syms->loose[i];
		uint32_t len = SYNTH_PAGE_SIZE;

		if (reported->len &&
		    bsearch(&sym->addr, reported->data, reported->len / sizeof(uint64_t),
			    sizeof(uint64_t), by_value))
			continue;
		if (i + 1 < syms->count && sym[1].addr - sym->addr < len)
			len = (uint32_t)(sym[1].addr - sym->addr);
		rc = synth_ksymbol(s, sym->addr, len, sym->type,
				   (const char *)syms->names.data + sym->name);
	}
	return rc;
}

int synth_bpf(struct synth *s, const struct kernel_symbols *syms)
{
	struct buf reported = {0};
	int rc;

	rc = synth_programs(s, syms, &reported);
	if (!rc) {
		if (reported.len)
			qsort(reported.data, reported.len / sizeof(uint64_t), sizeof(uint64_t),
			      by_value);
		rc = synth_loose(s, syms, &reported);
	}
	buf_release(&reported);
	return rc;
}
