// SPDX-License-Identifier: Apache-2.0
#include "perfdata/regs.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"

// clang-format off
static const char *const x86[64] = {
	"AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP", "IP", "FLAGS", "CS", "SS", "DS", "ES", "FS", "GS",
	"R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15",
	/* 128 bits each: two words in a sample, so only the first bit has a name */
	[32] = "XMM0", [34] = "XMM1", [36] = "XMM2", [38] = "XMM3", [40] = "XMM4", [42] = "XMM5",
	[44] = "XMM6", [46] = "XMM7", [48] = "XMM8", [50] = "XMM9", [52] = "XMM10", [54] = "XMM11",
	[56] = "XMM12", [58] = "XMM13", [60] = "XMM14", [62] = "XMM15",
};
static const char *const arm64[64] = {
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
	"x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29",
	"lr", "sp", "pc", [46] = "vg",
};
static const char *const riscv[64] = {
	"pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
	"a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};
// clang-format on

static const struct arch {
	const char *name; /* as uname(2); a prefix is enough */
	const char *const *regs;
	uint64_t general;
} archs[] = {
	/* All but DS, ES, FS and GS, which the kernel refuses. */
	{"x86_64", x86, 0xff0fff},
	{"i386", x86, 0x0fff},
	{"i486", x86, 0x0fff},
	{"i586", x86, 0x0fff},
	{"i686", x86, 0x0fff},
	{"aarch64", arm64, (1ull << 33) - 1},
	{"arm64", arm64, (1ull << 33) - 1},
	{"riscv64", riscv, (1ull << 32) - 1},
};

static const char *this_machine(void)
{
#if defined(__x86_64__)
	return "x86_64";
#elif defined(__i386__)
	return "i686";
#elif defined(__aarch64__)
	return "aarch64";
#elif defined(__riscv) && __riscv_xlen == 64
	return "riscv64";
#else
	return "";
#endif
}

static const struct arch *find(const char *name)
{
	name = name ? name : this_machine();
	for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++)
		if (!strncmp(name, archs[i].name, strlen(archs[i].name)))
			return &archs[i];
	return NULL;
}

const char *pd_reg_name(const char *arch, unsigned int bit)
{
	const struct arch *a = find(arch);

	return a && bit < 64 ? a->regs[bit] : NULL;
}

uint64_t pd_regs_general(const char *arch)
{
	const struct arch *a = find(arch);

	return a ? a->general : 0;
}

static int unknown(const char *arch, const char *name, size_t len, struct error *err)
{
	struct buf names = {0};

	for (unsigned int bit = 0; bit < 64; bit++)
		if (pd_reg_name(arch, bit))
			buf_printf(&names, "%s%s", names.len ? ", " : "", pd_reg_name(arch, bit));
	error_set(err, -EINVAL, "unknown register '%.*s'; there are %.*s", len < 32 ? (int)len : 32,
		  name, (int)names.len, names.len ? (const char *)names.data : "none");
	buf_release(&names);
	return -EINVAL;
}

int pd_regs_parse(const char *arch, const char *list, uint64_t *ret, struct error *err)
{
	uint64_t mask = 0;

	for (const char *p = list;; p++) {
		size_t len = strcspn(p, ",");
		unsigned int bit = 0;

		while (bit < 64 &&
		       (!pd_reg_name(arch, bit) || strlen(pd_reg_name(arch, bit)) != len ||
			strncasecmp(pd_reg_name(arch, bit), p, len) != 0))
			bit++;
		if (bit == 64)
			return unknown(arch, p, len, err);
		mask |= 1ull << bit;
		if (!strncasecmp(p, "xmm", 3))
			mask |= 2ull << bit;
		p += len;
		if (!*p)
			break;
	}
	*ret = mask;
	return 0;
}
