// SPDX-License-Identifier: Apache-2.0
#include "symbol/disasm/machine.h"

#include <elf.h>
#include <string.h>

/* jitdump-specification.txt: magic, version, size, e_machine, in the JIT's byte order. */
#define JITDUMP_MAGIC 0x4a695444u

static bool is_64(uint16_t machine)
{
	return machine != EM_386 && machine != EM_ARM && machine != EM_PPC;
}

static bool of_jitdump(const void *header, struct disasm_machine *ret)
{
	uint32_t word[4];
	bool swapped;

	memcpy(word, header, sizeof(word));
	swapped = word[0] == __builtin_bswap32(JITDUMP_MAGIC);
	if (!swapped && word[0] != JITDUMP_MAGIC)
		return false;
	ret->machine = (uint16_t)(swapped ? __builtin_bswap32(word[3]) : word[3]);
	ret->is_64 = is_64(ret->machine);
	ret->big_endian = swapped != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	return true;
}

bool machine_of_file(const void *header, size_t len, struct disasm_machine *ret)
{
	const uint8_t *p = header;
	bool big;

	if (len < MACHINE_HEADER_SIZE)
		return false;
	if (memcmp(p, ELFMAG, SELFMAG))
		return of_jitdump(p, ret);
	big = p[EI_DATA] == ELFDATA2MSB;
	*ret = (struct disasm_machine){
		.machine = (uint16_t)(p[18 + big] | p[19 - big] << 8), /* e_machine */
		.is_64 = p[EI_CLASS] == ELFCLASS64,
		.big_endian = big,
	};
	return true;
}

struct disasm_machine machine_of_name(const char *name)
{
	static const struct {
		const char *name;
		uint16_t machine;
	} machines[] = {
		{"x86_64", EM_X86_64}, {"i686", EM_386},	{"i586", EM_386},
		{"i386", EM_386},      {"aarch64", EM_AARCH64}, {"armv7l", EM_ARM},
		{"armv8l", EM_ARM},    {"ppc64le", EM_PPC64},	{"riscv64", EM_RISCV},
		{"s390x", EM_S390},
	};

	for (size_t i = 0; name && i < sizeof(machines) / sizeof(machines[0]); i++)
		if (!strcmp(name, machines[i].name))
			return (struct disasm_machine){
				.machine = machines[i].machine,
				.is_64 = is_64(machines[i].machine),
				.big_endian = machines[i].machine == EM_S390,
			};
	return (struct disasm_machine){0};
}
