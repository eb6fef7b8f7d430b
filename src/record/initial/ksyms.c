// SPDX-License-Identifier: Apache-2.0
#include "record/initial/ksyms.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/abi.h"
#include "sys/kernel/procfs.h"

/* The "modules" in kallsyms of code that the kernel reports as KSYMBOL. */
static const struct {
	const char *module;
	uint16_t type;
} loose_owners[] = {
	{"bpf", PERF_RECORD_KSYMBOL_TYPE_BPF},
	{"__builtin__ftrace", PERF_RECORD_KSYMBOL_TYPE_OOL},
	{"__builtin__kprobes", PERF_RECORD_KSYMBOL_TYPE_OOL},
};

static bool is(const char *s, size_t len, const char *what)
{
	return len == strlen(what) && !memcmp(s, what, len);
}

static int add_loose(struct kernel_symbols *syms, const struct proc_kallsym *sym)
{
	size_t i = 0, n = sizeof(loose_owners) / sizeof(loose_owners[0]);
	size_t name = syms->names.len;
	int rc;

	while (i < n && !is(sym->module, sym->module_len, loose_owners[i].module))
		i++;
	if (i == n || !sym->addr)
		return 0;
	rc = array_grow(&syms->loose, &syms->capacity, syms->count + 1, sizeof(*syms->loose));
	if (!rc)
		rc = buf_append(&syms->names, sym->name, sym->name_len);
	if (!rc)
		rc = buf_zero(&syms->names, 1);
	if (rc)
		return rc;
	syms->loose[syms->count++] = (struct kernel_symbol){sym->addr, name, loose_owners[i].type};
	return 0;
}

/* As in perf, _text marks the start of the kernel, and _stext where there is no _text. */
static void note_core(struct kernel_symbols *syms, const struct proc_kallsym *sym)
{
	bool text = is(sym->name, sym->name_len, "_text");

	if (text || (!syms->seen && is(sym->name, sym->name_len, "_stext"))) {
		syms->start_name = text ? "_text" : "_stext";
		syms->start = sym->addr;
		syms->seen = true;
	} else if (is(sym->name, sym->name_len, "_etext")) {
		syms->etext = sym->addr;
	}
}

static int by_addr(const void *a, const void *b)
{
	const struct kernel_symbol *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

int kernel_symbols_read(const char *proc, struct kernel_symbols *ret)
{
	struct proc_kallsym sym;
	char path[PATH_MAX], *line = NULL;
	size_t size = 0;
	ssize_t len;
	int rc = 0;
	FILE *f;

	if ((size_t)snprintf(path, sizeof(path), "%s/kallsyms", proc) >= sizeof(path))
		return -ENAMETOOLONG;
	f = fopen(path, "re");
	if (!f)
		return -errno;
	setvbuf(f, NULL, _IOFBF, 1 << 16);
	while (!rc && (len = getline(&line, &size, f)) > 0) {
		if (line[len - 1] == '\n')
			len--;
		if (proc_kallsym_parse(line, (size_t)len, &sym))
			continue;
		if (sym.module_len)
			rc = add_loose(ret, &sym);
		else if (sym.name[0] == '_')
			note_core(ret, &sym);
	}
	free(line);
	fclose(f);
	if (ret->count)
		qsort(ret->loose, ret->count, sizeof(*ret->loose), by_addr);
	return rc;
}

void kernel_symbols_release(struct kernel_symbols *syms)
{
	free(syms->loose);
	buf_release(&syms->names);
	*syms = (struct kernel_symbols){0};
}

const char *kernel_symbols_name(const struct kernel_symbols *syms, uint64_t addr)
{
	struct kernel_symbol key = {.addr = addr};
	const struct kernel_symbol *found = NULL;

	if (syms->count)
		found = bsearch(&key, syms->loose, syms->count, sizeof(key), by_addr);
	return found ? (const char *)syms->names.data + found->name : NULL;
}
