// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/decoder/decoder.h"

#include <stddef.h>

/* Names as perf script prints them for combinations that hardware produces. */
static const struct {
	uint32_t flags;
	const char *name;
} names[] = {
	{AUX_BRANCH | AUX_CALL, "call"},
	{AUX_BRANCH | AUX_RETURN, "return"},
	{AUX_BRANCH | AUX_CONDITIONAL, "jcc"},
	{AUX_BRANCH, "jmp"},
	{AUX_BRANCH | AUX_CALL | AUX_INTERRUPT, "int"},
	{AUX_BRANCH | AUX_RETURN | AUX_INTERRUPT, "iret"},
	{AUX_BRANCH | AUX_CALL | AUX_SYSCALLRET, "syscall"},
	{AUX_BRANCH | AUX_RETURN | AUX_SYSCALLRET, "sysret"},
	{AUX_BRANCH | AUX_ASYNC, "async"},
	{AUX_BRANCH | AUX_CALL | AUX_ASYNC | AUX_INTERRUPT, "hw int"},
	{AUX_BRANCH | AUX_TX_ABORT, "tx abrt"},
	{AUX_BRANCH | AUX_CALL | AUX_VMENTRY, "vmentry"},
	{AUX_BRANCH | AUX_CALL | AUX_VMEXIT, "vmexit"},
};

static const char *name_of(uint32_t flags)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].flags == flags)
			return names[i].name;
	return NULL;
}

/* Copies @s behind @at, as far as it fits; every line has a name, and snprintf() is slow. */
static size_t append(char *buf, size_t size, const char *s, size_t at)
{
	while (*s && at + 1 < size)
		buf[at++] = *s++;
	buf[at] = 0;
	return at;
}

const char *aux_flags_name(uint32_t flags, char *buf, size_t size)
{
	uint32_t edges = AUX_TRACE_BEGIN | AUX_TRACE_END;
	const char *edge = flags & AUX_TRACE_BEGIN ? "tr strt"
			   : flags & AUX_TRACE_END ? "tr end"
						   : "";
	const char *name = name_of(flags & ~(edges | AUX_IN_TX));
	const char *tx = flags & AUX_IN_TX ? " (x)" : "";
	size_t n;

	if (!name)
		name = flags & ~(edges | AUX_IN_TX) ? "?" : "";
	/* A bare jump at an edge is the edge itself, as perf has it. */
	if (*edge && (flags & ~(edges | AUX_IN_TX)) == AUX_BRANCH)
		name = "";
	n = append(buf, size, edge, 0);
	n = append(buf, size, *edge && *name ? "  " : "", n);
	n = append(buf, size, name, n);
	append(buf, size, tx, n);
	return buf;
}
