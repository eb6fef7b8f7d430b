// SPDX-License-Identifier: Apache-2.0
/* Known instructions of several machines, the lengths of what Capstone does not know, random bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>
#include <errno.h>

#include "symbol/disasm/disasm.h"

static const struct disasm_machine amd64 = {.machine = EM_X86_64, .is_64 = true};
static const struct disasm_machine arm64 = {.machine = EM_AARCH64, .is_64 = true};

struct expected {
	uint8_t code[16];
	size_t size;
	const char *text; /* the beginning */
	enum disasm_kind kind;
	uint64_t target, data; /* 0: none */
};

/* At address 0x1000. */
static const struct expected amd64_code[] = {
	{{0x55}, 1, "pushq  %rbp", DISASM_OTHER, 0, 0},
	{{0x48, 0x89, 0xe5}, 3, "movq   %rsp, %rbp", DISASM_OTHER, 0, 0},
	{{0x75, 0xfe}, 2, "jne    0x1000", DISASM_JUMP, 0x1000, 0},
	{{0xeb, 0x10}, 2, "jmp    0x1012", DISASM_JUMP, 0x1012, 0},
	{{0x0f, 0x84, 0x00, 0x01, 0, 0}, 6, "je     0x1106", DISASM_JUMP, 0x1106, 0},
	{{0xe8, 0xfb, 0xff, 0xff, 0xff}, 5, "callq  0x1000", DISASM_CALL, 0x1000, 0},
	{{0xff, 0xe0}, 2, "jmpq   *%rax", DISASM_JUMP, 0, 0},
	{{0xff, 0x15, 0x10, 0, 0, 0}, 6, "callq", DISASM_CALL, 0, 0x1016},
	{{0xff, 0x25, 0x10, 0, 0, 0}, 6, "jmpq", DISASM_JUMP, 0, 0x1016},
	{{0x48, 0x8b, 0x05, 0xf9, 0xff, 0xff, 0xff}, 7, "movq   ", DISASM_OTHER, 0, 0x1000},
	{{0xc3}, 1, "retq", DISASM_RETURN, 0, 0},
	{{0xf3, 0x0f, 0x1e, 0xfa}, 4, "endbr64", DISASM_OTHER, 0, 0},
};

static const struct expected arm64_code[] = {
	{{0xfd, 0x7b, 0xbf, 0xa9}, 4, "stp    x29, x30", DISASM_OTHER, 0, 0},
	{{0x00, 0x00, 0x00, 0x14}, 4, "b      #0x1000", DISASM_JUMP, 0x1000, 0},
	{{0x41, 0x00, 0x00, 0x54}, 4, "b.ne   #0x1008", DISASM_JUMP, 0x1008, 0},
	{{0x40, 0x00, 0x00, 0xb4}, 4, "cbz    x0, #0x1008", DISASM_JUMP, 0x1008, 0},
	{{0x40, 0x00, 0x18, 0x36}, 4, "tbz    w0, #3, #0x1008", DISASM_JUMP, 0x1008, 0},
	{{0x02, 0x00, 0x00, 0x94}, 4, "bl     #0x1008", DISASM_CALL, 0x1008, 0},
	{{0x00, 0x00, 0x3f, 0xd6}, 4, "blr    x0", DISASM_CALL, 0, 0},
	{{0x00, 0x00, 0x1f, 0xd6}, 4, "br     x0", DISASM_JUMP, 0, 0},
	{{0xc0, 0x03, 0x5f, 0xd6}, 4, "ret", DISASM_RETURN, 0, 0},
};

/* Capstone 5 writes "push" and "call" without the suffix of the operand size. */
static bool same_text(const char *text, const char *expected)
{
	size_t stem = strcspn(expected, " ");

	if (!strncmp(text, expected, strlen(expected)))
		return true;
	return stem > 1 && expected[stem - 1] == 'q' && !strncmp(text, expected, stem - 1);
}

static void check(const struct disasm_machine *machine, const struct expected *all, size_t nr)
{
	struct disasm *d;

	assert_int_equal(disasm_new(machine, DISASM_DEFAULT, &d, NULL), 0);
	for (size_t i = 0; i < nr; i++) {
		const struct expected *e = &all[i];
		struct disasm_insn insn;

		disasm_next(d, e->code, sizeof(e->code), 0x1000, &insn);
		assert_true(insn.known);
		if (!same_text(insn.text, e->text))
			fail_msg("'%s', not '%s'", insn.text, e->text);
		assert_int_equal(insn.size, e->size);
		assert_int_equal(insn.kind, e->kind);
		assert_int_equal(insn.has_target, e->target != 0);
		assert_int_equal(insn.target, e->target);
		assert_int_equal(insn.has_data, e->data != 0);
		assert_int_equal(insn.data, e->data);
		/* An instruction that is cut is bytes. */
		disasm_next(d, e->code, e->size - 1 ? e->size - 1 : 1, 0x1000, &insn);
		assert_true(insn.size && (insn.size < e->size || e->size == 1));
	}
	disasm_free(d);
}

static void known_amd64(void **state)
{
	check(&amd64, amd64_code, sizeof(amd64_code) / sizeof(amd64_code[0]));
}

static void known_arm64(void **state)
{
	check(&arm64, arm64_code, sizeof(arm64_code) / sizeof(arm64_code[0]));
}

static void intel_syntax(void **state)
{
	static const uint8_t code[] = {0x48, 0x89, 0xe5};
	struct disasm_insn insn;
	struct disasm *d;

	assert_int_equal(disasm_new(&amd64, DISASM_INTEL, &d, NULL), 0);
	disasm_next(d, code, sizeof(code), 0, &insn);
	assert_string_equal(insn.text, "mov    rbp, rsp");
	disasm_free(d);
}

/* Lengths as by objdump. */
static void vex_lengths(void **state)
{
	static const struct {
		uint8_t code[16];
		size_t size; /* 0: there is none */
	} all[] = {
		{{0xc5, 0xf8, 0x77}, 3},				/* vzeroupper */
		{{0xc4, 0xe2, 0x7d, 0x5a, 0x00}, 5},			/* vbroadcasti128 (%rax) */
		{{0x62, 0xf1, 0x6d, 0x48, 0xf5, 0xcb}, 6},		/* vpmaddwd zmm */
		{{0x62, 0xf1, 0x6d, 0x48, 0xf5, 0x48, 0x01}, 7},	/* with disp8 */
		{{0x62, 0xf1, 0x6d, 0x48, 0xf5, 0x44, 0x88, 0x01}, 8},	/* with SIB and disp8 */
		{{0x62, 0xf1, 0x6d, 0x48, 0xf5, 0x88, 1, 2, 3, 4}, 10}, /* with disp32 */
		{{0x62, 0xf1, 0x6d, 0x48, 0xf5, 0x0d, 1, 2, 3, 4}, 10}, /* relative to rip */
		{{0x62, 0xf1, 0x6d, 0x48, 0xf5, 0x0c, 0x25, 1, 2, 3, 4}, 11}, /* no base */
		{{0x62, 0xf3, 0x7d, 0x48, 0x3b, 0xc8, 0x01}, 7},	      /* vextracti32x8 $1 */
		{{0x62, 0xf1, 0x75, 0x48, 0x72, 0xf1, 0x05}, 7},	      /* vpslld $5 */
		{{0x64, 0x62, 0xf1, 0x6d, 0x48, 0xf5, 0x08}, 7},	      /* %fs: */
		{{0x90, 0x90, 0x90, 0x90}, 0},
		{{0xc4, 0xe0, 0x7d, 0x5a, 0x00}, 0}, /* no such map */
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_int_equal(disasm_x86_vex_length(all[i].code, 16), all[i].size);
		/* Cut before the end. */
		for (size_t len = 0; len < all[i].size; len++)
			assert_int_equal(disasm_x86_vex_length(all[i].code, len), 0);
	}
}

/* Texts as by objdump, with the spaces of Capstone. */
static void evex(void **state)
{
	static const struct {
		uint8_t code[12];
		const char *att, *intel;
	} all[] = {
		{{0x62, 0xa1, 0x6d, 0x40, 0xf5, 0xdc},
		 "vpmaddwd %zmm20, %zmm18, %zmm19",
		 "vpmaddwd zmm19, zmm18, zmm20"},
		{{0x62, 0xf1, 0x7d, 0x48, 0xf5, 0x41, 0x01},
		 "vpmaddwd 0x40(%rcx), %zmm0, %zmm0",
		 "vpmaddwd zmm0, zmm0, zmmword ptr [rcx + 0x40]"},
		{{0x62, 0xf1, 0x6d, 0x2b, 0x61, 0x4c, 0x88, 0xff},
		 "vpunpcklwd -0x20(%rax, %rcx, 4), %ymm2, %ymm1{%k3}",
		 "vpunpcklwd ymm1{k3}, ymm2, ymmword ptr [rax + rcx*4 - 0x20]"},
		{{0x62, 0xf2, 0x7d, 0x89, 0x1d, 0xca},
		 "vpabsw %xmm2, %xmm1{%k1}{z}",
		 "vpabsw xmm1{k1}{z}, xmm2"},
		{{0x62, 0xf1, 0x75, 0x48, 0x71, 0xd2, 0x04},
		 "vpsrlw $4, %zmm2, %zmm1",
		 "vpsrlw zmm1, zmm2, 4"},
		{{0x62, 0xf1, 0x6d, 0x48, 0xf1, 0x48, 0x01},
		 "vpsllw 0x10(%rax), %zmm2, %zmm1",
		 "vpsllw zmm1, zmm2, xmmword ptr [rax + 0x10]"},
		{{0xc4, 0xc2, 0x7d, 0x5a, 0x60, 0x30},
		 "vbroadcasti128 0x30(%r8), %ymm4",
		 "vbroadcasti128 ymm4, xmmword ptr [r8 + 0x30]"},
		{{0x62, 0xe1, 0x75, 0x40, 0xfe, 0x0c, 0x37},
		 "vpaddd (%rdi, %rsi), %zmm17, %zmm17",
		 NULL},
	};
	struct disasm *att, *intel;
	struct disasm_insn insn;

	assert_int_equal(disasm_new(&amd64, DISASM_DEFAULT, &att, NULL), 0);
	assert_int_equal(disasm_new(&amd64, DISASM_INTEL, &intel, NULL), 0);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		disasm_next(att, all[i].code, sizeof(all[i].code), 0, &insn);
		assert_string_equal(insn.text, all[i].att);
		assert_int_equal(insn.size, disasm_x86_vex_length(all[i].code, 12));
		disasm_next(intel, all[i].code, sizeof(all[i].code), 0, &insn);
		/* Capstone 4 writes a space before a comma of the last. */
		if (all[i].intel)
			assert_string_equal(insn.text, all[i].intel);
	}
	disasm_free(att);
	disasm_free(intel);
}

/* Texts as by objdump. */
static void arm64_atomics(void **state)
{
	static const struct {
		uint32_t word;
		const char *text; /* NULL: none of them */
	} all[] = {
		{0xb8200041, "ldadd  w0, w1, [x2]"},
		{0xf8e003e1, "ldaddal x0, x1, [sp]"},
		{0x386310a4, "ldclrlb w3, w4, [x5]"},
		{0x78be23bf, "ldeorah w30, wzr, [x29]"},
		{0xf8213062, "ldset  x1, x2, [x3]"},
		{0xb8214062, "ldsmax w1, w2, [x3]"},
		{0xb8e15062, "ldsminal w1, w2, [x3]"},
		{0x38216062, "ldumaxb w1, w2, [x3]"},
		{0xf8217062, "ldumin x1, x2, [x3]"},
		{0xb820005f, "stadd  w0, [x2]"},
		{0x3860005f, "staddlb w0, [x2]"},
		{0xf821707f, "stumin x1, [x3]"},
		{0xb8218062, "swp    w1, w2, [x3]"},
		{0x78e18062, "swpalh w1, w2, [x3]"},
		{0xf821807f, "swp    x1, xzr, [x3]"},
		{0x88a17c62, "cas    w1, w2, [x3]"},
		{0x08e17c62, "casab  w1, w2, [x3]"},
		{0x48e1fc62, "casalh w1, w2, [x3]"},
		{0xc8a1ffe2, "casl   x1, x2, [sp]"},
		{0x08207c82, "casp   w0, w1, w2, w3, [x4]"},
		{0x4860fc82, "caspal x0, x1, x2, x3, [x4]"},
		{0xd65f03c0, NULL}, /* ret */
		{0xb8209020, NULL}, /* no such swap */
		{0x08217c82, NULL}, /* a pair from an odd register */
	};
	char text[64];

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_int_equal(disasm_arm64_atomic(all[i].word, text, sizeof(text)),
				 all[i].text != NULL);
		if (all[i].text)
			assert_string_equal(text, all[i].text);
	}
}

static void unknown_machine(void **state)
{
	const struct disasm_machine m = {.machine = 0xfeed};
	struct error err = ERROR_INIT;
	struct disasm *d;

	assert_int_equal(disasm_new(&m, DISASM_DEFAULT, &d, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "65261"));
}

/* Instructions cover any bytes, and their text is printable. */
static void random_bytes(void **state)
{
	static const uint16_t machines[] = {EM_X86_64, EM_386,	EM_AARCH64, EM_ARM,    EM_PPC,
					    EM_PPC64,  EM_MIPS, EM_S390,    EM_SPARCV9};
	uint8_t code[4096];

	srandom(1);
	for (size_t m = 0; m < sizeof(machines) / sizeof(machines[0]); m++) {
		const struct disasm_machine machine = {machines[m], m & 1, m % 3 == 1};
		struct disasm_insn insn;
		struct disasm *d;

		assert_int_equal(disasm_new(&machine, DISASM_DEFAULT, &d, NULL), 0);
		for (size_t i = 0; i < sizeof(code); i++)
			code[i] = (uint8_t)random();
		for (size_t at = 0; at < sizeof(code); at += insn.size) {
			/* A copy of what is left, so that a sanitizer sees reads behind it. */
			size_t len = sizeof(code) - at;
			uint8_t *copy = malloc(len);

			assert_non_null(copy);
			memcpy(copy, code + at, len);
			disasm_next(d, copy, len, at, &insn);
			free(copy);
			assert_true(insn.size && insn.size <= len);
			assert_true(strlen(insn.text) > 0);
			for (const char *s = insn.text; *s; s++)
				assert_true(*s >= ' ' && *s < 0x7f);
		}
		disasm_free(d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_amd64),
		cmocka_unit_test(known_arm64),
		cmocka_unit_test(intel_syntax),
		cmocka_unit_test(vex_lengths),
		cmocka_unit_test(evex),
		cmocka_unit_test(arm64_atomics),
		cmocka_unit_test(unknown_machine),
		cmocka_unit_test(random_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
