// SPDX-License-Identifier: Apache-2.0
/*
 * The flow of Intel PT (flow.c, flow_walk.c) beside that of libipt's own instruction decoder: the
 * same instructions and events, in the same order. A case is a piece of code and a trace, written
 * here as words. The cases are those that libipt's own tests have: each kind of branch, end and
 * beginning of tracing, overflow, power, and the errata of CPUs.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "auxtrace/intel_pt/intel_pt.h"
#include "base/buf.h"
#include "perfdata/aux_record.h"

#include "pt_trace.h"

#define BASE	 0x101000ull
#define CODE_MAX 256

/*
 * Of code and trace, addresses are offsets from BASE, in hexadecimal. Words of a trace: psb,
 * psbend, ovf, stop, pad; exec64, exec32; begin, commit and abort of a transaction; fup, tip, pge
 * and pgd with an address or "-"; tnt with T and N; ptw and ptwip with a value; exstop, exstopip,
 * mwait, pwre, pwrx; cbr, tsc, mtc, cyc, pip, vmcs with a value; hex with a byte; "full" in front
 * of an address that is not compressed.
 */
struct test {
	const char *name, *code, *trace;
	const char *ours; /* expected of this decoder, where it differs on purpose */
	uint8_t model;	  /* of family 6; 0: without errata */
};

#define START "psb exec64 fup 0 psbend "

/* clang-format off */
static const struct test tests[] = {
	{"a direct call and a compressed return", /* call 6; nop; 6: ret */
	 "e8 01 00 00 00 90 c3", START "tnt T fup 5 pgd -"},
	{"a return that is not compressed",
	 "e8 01 00 00 00 90 c3", START "tip 5 fup 5 pgd -"},
	{"a call to the next instruction is no call", /* call 5; 5: nop; ret; 7: nop */
	 "e8 00 00 00 00 90 c3 90", START "tip 7 fup 7 pgd -"},
	{"an indirect call and a compressed return", /* call *%rax; nop; 3: ret */
	 "ff d0 90 c3", START "tip 3 tnt T fup 2 pgd -"},
	{"an indirect call behind bits of later branches",
	 "ff d0 90 c3", START "tnt T tip 3 fup 2 pgd -"},
	{"a loop", /* dec %eax; jne 0; nop */
	 "ff c8 75 fc 90", START "tnt TTN fup 4 pgd -"},
	{"a loop in two packets",
	 "ff c8 75 fc 90", START "tnt TT tnt TTN fup 4 pgd -"},
	{"more branches than a short packet has",
	 "ff c8 75 fc 90", START "tnt TTTTTTTTTTTTTTTTTTTTTTTTTTN fup 4 pgd -"},
	{"an interrupt and the return from it", /* nop; nop; 2: nop; iretq */
	 "90 90 90 48 cf", START "fup 1 tip 2 tip 1 fup 1 pgd -"},
	{"an interrupt to where it came from",
	 "90 90", START "fup 1 tip 1 fup 1 pgd -"},
	{"two interrupts at one instruction", /* nop; iretq; 3: iretq */
	 "90 48 cf 48 cf", START "fup 0 tip 1 fup 1 tip 3 fup 3 pgd -"},
	{"an interrupt whose handler is not traced",
	 "90 90 90", START "fup 1 pgd 2"},
	{"tracing begins again where it ended",
	 "90 90 90", START "fup 1 pgd - pge 1 fup 2 pgd -"},
	{"tracing begins elsewhere",
	 "90 90 90 90", START "fup 1 pgd - pge 2 fup 3 pgd -"},
	{"a direct jump out of the trace", /* jmp 10 */
	 "eb 0e", START "pgd 10"},
	{"a direct call out of the trace", /* call 20 */
	 "e8 1b 00 00 00", START "pgd 20"},
	{"a conditional branch out of the trace", /* je 10 */
	 "74 0e 90", START "pgd 10"},
	{"a conditional branch that is not taken out of the trace",
	 "74 0e 90", START "pgd 2"},
	{"an indirect jump out of the trace",
	 "ff e0", START "pgd 80"},
	/* libipt does not say so. */
	{"an indirect call out of the trace, without an address",
	 "90 ff d0", START "pgd -", "0 1 off:fff "},
	{"a system call out of the trace", /* nop; syscall */
	 "90 0f 05", START "pgd -"},
	{"a direct call before a system call out of the trace", /* call 6; hlt; 6: syscall */
	 "e8 01 00 00 00 f4 0f 05", START "pgd -"},
	{"a direct jump before an interrupt instruction out of the trace",
	 "eb 01 f4 cd 80", START "pgd -"},
	/* libipt must know the filter of addresses for this. */
	{"code runs into an address where tracing ends",
	 "90 90 90", START "pgd 2", "0 1 off:2 "},
	{"a system call and its return", /* syscall; nop; 3: nop; sysret */
	 "0f 05 90 90 48 0f 07", START "tip 3 tip 2 fup 2 pgd -"},
	{"the address space changes", /* mov %rax,%cr3; nop */
	 "0f 22 d8 90 90", START "pip 1000 fup 4 pgd -"},
	{"the address space changes at a system call",
	 "0f 05 90 90", START "pip 1000 tip 2 fup 3 pgd -"},
	{"the address space changes at an interrupt",
	 "90 90 90", START "fup 0 pip 1000 tip 1 fup 2 pgd -"},
	{"tracing ends where the address space changes",
	 "90 0f 22 d8 90", START "pgd -"},
	{"a PSB in the middle",
	 "90 90 90 90", START "psb exec64 fup 2 psbend fup 3 pgd -"},
	{"a PSB between a call and its return: the return has an address",
	 "e8 01 00 00 00 90 c3", START "psb exec64 fup 6 psbend tip 5 fup 5 pgd -"},
	{"two PSBs at one address",
	 "90 90 90", START "psb exec64 fup 0 psbend fup 2 pgd -"},
	{"a PSB while tracing is off",
	 "90 90 90", START "fup 1 pgd - psb psbend exec64 pge 1 fup 2 pgd -"},
	{"a trace that begins off",
	 "90 90 90", "psb psbend exec64 pge 0 fup 2 pgd -"},
	{"tracing ends behind a PSB",
	 "90 90 90", START "fup 0 pgd -"},
	/* Behind lost trace there is a branch to where it goes on, as perf has it, but not libipt. */
	{"an overflow that ends in the trace",
	 "90 90 90 90", START "ovf fup 2 fup 3 pgd -", "lost:2 on:2 2 off@3:fff "},
	{"an overflow that ends where tracing begins",
	 "90 90 90 90", START "ovf exec64 pge 2 fup 3 pgd -"},
	{"times behind an overflow",
	 "90 90 90 90", START "ovf tsc 1000 cbr 8 fup 2 fup 3 pgd -",
	 "lost:2 on:2 2 off@3:fff "},
	{"an overflow inside of a PSB+",
	 "90 90 90 90", START "psb ovf fup 2 fup 3 pgd -", "lost:2 on:2 2 off@3:fff "},
	{"an overflow inside of a PSB+, ended where tracing begins",
	 "90 90 90 90", START "psb ovf exec64 pge 2 fup 3 pgd -"},
	{"an overflow behind a PSB+",
	 "90 90 90 90", START "fup 1 pgd - psb psbend ovf pge 2 fup 3 pgd -"},
	/* libipt before 2.1 has an error here. */
	{"a mode in front of an instruction, which is no interrupt", /* nop; call *%rax; hlt; nop */
	 "90 ff d0 f4 90", START "exec64 fup 1 exec64 tip 4 fup 5 pgd -", "0 1 4 off@5:fff "},
	/* libipt 2.2 has another order. */
	{"power changes while tracing is off, with an address",
	 "90", "psb psbend mwait pwre exstopip fup 0 ovf", "pwre mwait exstop lost:fff "},
	/* libipt before 2.1 does not tell of the MWAIT. */
	{"power changes while tracing is off, without one",
	 "90 90", "psb exec64 fup 0 psbend fup 0 pgd - mwait pwre exstop pwrx pge 1",
	 "off@0:fff pwre mwait exstop pwrx on:1 "},
	{"transactions: begin and commit",
	 "90 90 90 90", START "begin fup 1 commit fup 2 fup 3 pgd -"},
	{"a transaction aborts", /* nop; xbegin fallback; … */
	 "90 90 90 90 90", START "begin fup 1 abort fup 2 tip 3 fup 4 pgd -"},
	{"a transaction's abort leaves the trace",
	 "90 90 90 90 90", START "begin fup 1 abort fup 2 pgd 3"},
	/* Without an address, it stands where its packet does; with one, before its instruction. */
	{"PTWRITE without an address", /* ptwrite %rax; nop */
	 "f3 48 0f ae e0 90 90", START "ptw 42 fup 6 pgd -", "ptwrite:42 0 5 off@6:fff "},
	{"PTWRITE with an address",
	 "90 f3 48 0f ae e0 90 90", START "ptwip 42 fup 1 fup 7 pgd -",
	 "0 ptwrite:42 1 6 off@7:fff "},
	{"two PTWRITE with addresses",
	 "f3 48 0f ae e0 f3 48 0f ae e1 90", START "ptwip 42 fup 0 ptwip 43 fup 5 fup a pgd -",
	 "ptwrite:42 0 ptwrite:43 5 off@a:fff "},
	{"MWAIT, and power states behind it",
	 "90 90 90 90", START "mwait exstopip fup 1 pwre pwrx fup 3 pgd -",
	},
	{"the CPU stops its clock",
	 "90 90 90", START "exstop fup 2 pgd -"},
	{"the CPU stops its clock at an instruction",
	 "90 90 90", START "exstopip fup 1 fup 2 pgd -"},
	/* In the order of their packets; libipt 2.2 says EXSTOP before a PWRE that it stands behind. */
	{"power states while tracing is off",
	 "90 90 90", START "fup 1 pgd - pwre exstop pwrx pge 1 fup 2 pgd -",
	 "0 off@1:fff pwre exstop pwrx on:1 1 off@2:fff "},
	{"the clock stops, then power states, while tracing is off",
	 "90 90 90", START "fup 1 pgd - exstop pwre pwrx pge 1 fup 2 pgd -"},
	{"the mode of execution changes", /* nop; jmp *%rax; 3: dec %eax (a REX in 64 bits) */
	 "90 ff e0 48 90 90", START "exec32 tip 3 fup 5 pgd -"},
	{"tracing stops",
	 "90 90", START "fup 1 pgd - stop psb psbend exec64 pge 0 fup 1 pgd -"},
	/* libipt does not go to the FUP. */
	{"the trace ends behind a FUP",
	 "90 90", START "fup 1", "0 "},

	/* Errata. */
	{"BDM64: a conditional branch to a wrong place, from where the abort cannot be reached",
	 "48 85 18 74 04 90 74 05 90 f4 90 90 90", /* test; je 9; nop; je d; nop; 9: hlt; nop */
	 "psb exec64 begin fup 0 psbend tnt N abort fup 9 tip a fup b pgd -", .model = 0x3d},
	{"BDM64: a wrong place from where the abort can be reached",
	 "48 85 18 74 04 90 90 90 90 f4 90 90 90",
	 "psb exec64 begin fup 0 psbend tnt N abort fup 8 tip a fup b pgd -", .model = 0x3d},
	{"BDM64: an indirect branch to a wrong place",
	 "ff 20 f4 f4 f4 90 90", "psb exec64 begin fup 0 psbend tip 3 abort fup 3 tip 5 fup 6 pgd -",
	 .model = 0x3d},
	{"BDM70: a PSB+ with an address before tracing begins",
	 "90 90 90 90", "psb exec64 fup 1 psbend full pge 1 fup 2 pgd -", .model = 0x3d},
	{"BDM70: while tracing is off",
	 "90 90 90 90", START "fup 1 pgd - psb exec64 fup 2 psbend full pge 2 fup 3 pgd -", .model = 0x5e},
	{"SKD007: an overflow in the middle of a packet of cycles",
	 "90 90 90 90", START "hex 27 ovf fup 2 fup 3 pgd -", "lost:2 on:2 2 off@3:fff ", 0x5e},
	{"SKD010: an overflow without an address, before a branch",
	 "90 90 ff e0 90 90", START "ovf tip 4 fup 5 pgd -", "lost:4 on:4 4 off@5:fff ", 0x5e},
	{"SKD010: an overflow without an address, before a PSB",
	 "90 90 90 90", START "ovf psb exec64 fup 2 psbend fup 3 pgd -",
	 "lost:fff on:2 2 off@3:fff ", 0x5e},
	{"SKD010: an overflow without an address, before tracing ends",
	 "90 90 90 90", START "ovf pgd 2 full pge 2 fup 3 pgd -", .model = 0x5e},
	{"SKD022: a FUP at the entry to a guest that is not traced", /* nop; vmlaunch; nop; nop */
	 "90 0f 01 c2 90 90", START "fup 1 pgd - pge 4 fup 5 pgd -", .model = 0x5e},
	{"the same of other CPUs is no entry",
	 "90 0f 01 c2 90 90", START "fup 1 pgd - pge 4 fup 5 pgd -", .model = 0x7a},
	{"SKZ84: a damaged TMA, and a byte too many",
	 "90 90 90", START "hex 2 hex 73 hex 1 hex 2 hex 0 hex 0 hex ff hex 55 fup 2 pgd -", .model = 0x55},
	{"APL11: tracing ends behind an overflow",
	 "90 90 90 90", START "ovf pgd 1 exec64 full pge 2 fup 3 pgd -", .model = 0x7a},
	{"APL12: an address behind an overflow while tracing is off",
	 "90 90 90 90", START "ovf fup 1 exec64 full pge 2 fup 3 pgd -", .model = 0x5c},
	{"APL12: the same before a PSB",
	 "90 90 90 90", START "ovf fup 1 psb psbend exec64 pge 2 fup 3 pgd -", .model = 0x5c},
	{"APL12: an address behind an overflow that ends in the trace",
	 "90 90 90 90", START "ovf fup 2 fup 3 pgd -", "lost:2 on:2 2 off@3:fff ", 0x5c},
};
/* clang-format on */

/* --- writing -------------------------------------------------------------------------------------
 */

static uint64_t number(char **save)
{
	return strtoull(strtok_r(NULL, " ", save), NULL, 16);
}

static uint64_t address(char **save)
{
	const char *word = strtok_r(NULL, " ", save);

	return *word == '-' ? 0 : BASE + strtoull(word, NULL, 16);
}

static void put_branches(struct pt_trace *t, const char *bits)
{
	struct pt_packet p = {.type = strlen(bits) > 6 ? ppt_tnt_64 : ppt_tnt_8};

	for (; *bits; bits++) {
		p.payload.tnt.payload = p.payload.tnt.payload << 1 | (*bits == 'T');
		p.payload.tnt.bit_size++;
	}
	pt_trace_put(t, &p);
}

static bool put_address(struct pt_trace *t, const char *word, char **save)
{
	static const struct {
		const char *word;
		enum pt_packet_type type;
	} kinds[] = {
		{"fup", ppt_fup}, {"tip", ppt_tip}, {"pge", ppt_tip_pge}, {"pgd", ppt_tip_pgd}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(word, kinds[i].word)) {
			pt_trace_ip(t, kinds[i].type, address(save));
			return true;
		}
	return false;
}

static bool put_plain(struct pt_trace *t, const char *word)
{
	static const struct {
		const char *word;
		enum pt_packet_type type;
	} kinds[] = {{"psb", ppt_psb},
		     {"psbend", ppt_psbend},
		     {"ovf", ppt_ovf},
		     {"pad", ppt_pad},
		     {"stop", ppt_stop}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(word, kinds[i].word)) {
			pt_trace_plain(t, kinds[i].type);
			return true;
		}
	return false;
}

/* Packets with a value, or of power. */
static void put_value(struct pt_trace *t, const char *word, char **save)
{
	struct pt_packet p = {0};

	if (!strncmp(word, "ptw", 3)) {
		p.type = ppt_ptw;
		p.payload.ptw.payload = number(save);
		p.payload.ptw.plc = 1;
		p.payload.ptw.ip = word[3] == 'i';
	} else if (!strncmp(word, "exstop", 6)) {
		p.type = ppt_exstop;
		p.payload.exstop.ip = word[6] == 'i';
	} else if (!strcmp(word, "mwait")) {
		p.type = ppt_mwait;
		p.payload.mwait.hints = 0x21;
		p.payload.mwait.ext = 1;
	} else if (!strcmp(word, "pwre")) {
		p.type = ppt_pwre;
		p.payload.pwre.state = 3;
	} else if (!strcmp(word, "pwrx")) {
		p.type = ppt_pwrx;
		p.payload.pwrx.deepest = 3;
		p.payload.pwrx.interrupt = 1;
	} else if (!strcmp(word, "cbr")) {
		p.type = ppt_cbr;
		p.payload.cbr.ratio = number(save);
	} else if (!strcmp(word, "mtc")) {
		p.type = ppt_mtc;
		p.payload.mtc.ctc = number(save);
	} else if (!strcmp(word, "cyc")) {
		p.type = ppt_cyc;
		p.payload.cyc.value = number(save);
	} else if (!strcmp(word, "vmcs")) {
		p.type = ppt_vmcs;
		p.payload.vmcs.base = number(save);
	} else {
		fail_msg("the word %s of a trace is unknown", word);
	}
	pt_trace_put(t, &p);
}

static void put_word(struct pt_trace *t, const char *word, char **save)
{
	uint8_t byte;

	if (put_plain(t, word) || put_address(t, word, save))
		return;
	if (!strncmp(word, "exec", 4)) {
		pt_trace_exec(t, word[4] == '6' ? ptem_64bit : ptem_32bit);
	} else if (!strcmp(word, "begin") || !strcmp(word, "commit") || !strcmp(word, "abort")) {
		pt_trace_tsx(t, *word == 'b', *word == 'a');
	} else if (!strcmp(word, "tnt")) {
		put_branches(t, strtok_r(NULL, " ", save));
	} else if (!strcmp(word, "tsc")) {
		pt_trace_tsc(t, number(save));
	} else if (!strcmp(word, "pip")) {
		pt_trace_pip(t, number(save));
	} else if (!strcmp(word, "full")) {
		t->last_ip = UINT64_MAX;
	} else if (!strcmp(word, "hex")) {
		byte = (uint8_t)number(save);
		pt_trace_bytes(t, &byte, 1);
	} else {
		put_value(t, word, save);
	}
}

static void write_trace(struct pt_trace *t, const char *words)
{
	char *copy = strdup(words), *save, *word;

	assert_non_null(copy);
	pt_trace_init(t, 4096);
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		put_word(t, word, &save);
	free(copy);
}

struct code {
	uint8_t bytes[CODE_MAX];
	size_t len;
};

static struct code write_code(const char *hex)
{
	struct code c = {0};

	for (char *end; *hex && c.len < CODE_MAX; hex = end + (*end == ' '))
		c.bytes[c.len++] = (uint8_t)strtoul(hex, &end, 16);
	return c;
}

static int copy_code(const struct code *c, uint64_t addr, void *buf, size_t len)
{
	uint64_t at = addr - BASE;

	if (at >= c->len)
		return -1;
	len = len < c->len - at ? len : c->len - at;
	memcpy(buf, c->bytes + at, len);
	return (int)len;
}

/* --- libipt --------------------------------------------------------------------------------------
 */

static int read_for_libipt(uint8_t *buffer, size_t size, const struct pt_asid *asid, uint64_t ip,
			   void *context)
{
	int n = copy_code(context, ip, buffer, size);

	return n < 0 ? -pte_nomap : n;
}

static uint64_t offset_of(uint64_t ip)
{
	return ip ? ip - BASE : 0xfff;
}

static void say_event(struct buf *b, const struct pt_event *e)
{
	if (e->status_update)
		return;
	switch (e->type) {
	case ptev_enabled:
		buf_printf(b, "on:%" PRIx64 " ", offset_of(e->variant.enabled.ip));
		break;
	case ptev_disabled:
		buf_printf(b, "off:%" PRIx64 " ",
			   offset_of(e->ip_suppressed ? 0 : e->variant.disabled.ip));
		break;
	case ptev_async_disabled:
		buf_printf(b, "off@%" PRIx64 ":%" PRIx64 " ",
			   offset_of(e->variant.async_disabled.at),
			   offset_of(e->ip_suppressed ? 0 : e->variant.async_disabled.ip));
		break;
	case ptev_async_branch:
		buf_printf(b, "async@%" PRIx64 ":%" PRIx64 " ",
			   offset_of(e->variant.async_branch.from),
			   offset_of(e->variant.async_branch.to));
		break;
	case ptev_overflow:
		buf_printf(b, "lost:%" PRIx64 " ",
			   offset_of(e->ip_suppressed ? 0 : e->variant.overflow.ip));
		break;
	case ptev_ptwrite: buf_printf(b, "ptwrite:%" PRIx64 " ", e->variant.ptwrite.payload); break;
	case ptev_exstop: buf_printf(b, "exstop "); break;
	case ptev_mwait: buf_printf(b, "mwait "); break;
	case ptev_pwre: buf_printf(b, "pwre "); break;
	case ptev_pwrx: buf_printf(b, "pwrx "); break;
	default: break;
	}
}

static void run_libipt(const struct test *test, struct pt_trace *t, struct code *code,
		       struct buf *out)
{
	struct pt_insn_decoder *d;
	struct pt_config config;
	struct pt_event event;
	struct pt_insn insn;
	int status;

	pt_config_init(&config);
	config.begin = t->data;
	config.end = t->data + t->len;
	if (test->model) {
		config.cpu = (struct pt_cpu){pcv_intel, 6, test->model, 0};
		assert_int_equal(pt_cpu_errata(&config.errata, &config.cpu), 0);
	}
	d = pt_insn_alloc_decoder(&config);
	assert_non_null(d);
	assert_true(pt_image_set_callback(pt_insn_get_image(d), read_for_libipt, code) >= 0);
	status = pt_insn_sync_forward(d);
	while (status >= 0) {
		if (status & pts_event_pending) {
			status = pt_insn_event(d, &event, sizeof(event));
			if (status >= 0)
				say_event(out, &event);
			continue;
		}
		if (status & pts_eos)
			break;
		status = pt_insn_next(d, &insn, sizeof(insn));
		if (insn.iclass != ptic_error && (status >= 0 || status == -pte_eos))
			buf_printf(out, "%" PRIx64 " ", offset_of(insn.ip));
	}
	if (status < 0 && status != -pte_eos)
		buf_printf(out, "error:%s ", pt_errstr(pt_errcode(status)));
	pt_insn_free_decoder(d);
}

/* --- ours ----------------------------------------------------------------------------------------
 */

static int read_for_us(void *arg, const struct aux_task *task, uint64_t time, uint64_t addr,
		       void *buf, size_t len, const char **ret_missing)
{
	int n = copy_code(arg, addr, buf, len);

	if (n < 0 && ret_missing)
		*ret_missing = NULL;
	return n < 0 ? -ENOENT : n;
}

static void say_branch(struct buf *b, const struct aux_event *e)
{
	bool async = e->flags & (AUX_ASYNC | AUX_TX_ABORT);

	if (e->flags & AUX_TRACE_BEGIN)
		buf_printf(b, "on:%" PRIx64 " ", offset_of(e->to));
	else if (e->flags & AUX_TRACE_END && async)
		buf_printf(b, "off@%" PRIx64 ":%" PRIx64 " ", offset_of(e->ip), offset_of(e->to));
	else if (e->flags & AUX_TRACE_END)
		buf_printf(b, "off:%" PRIx64 " ", offset_of(e->to));
	else if (async)
		buf_printf(b, "async@%" PRIx64 ":%" PRIx64 " ", offset_of(e->ip), offset_of(e->to));
}

static void say_ours(struct buf *b, const struct aux_event *e)
{
	switch (e->kind) {
	case AUX_EVENT_INSN: buf_printf(b, "%" PRIx64 " ", offset_of(e->ip)); break;
	case AUX_EVENT_BRANCH: say_branch(b, e); break;
	case AUX_EVENT_LOST: buf_printf(b, "lost:%" PRIx64 " ", offset_of(e->ip)); break;
	case AUX_EVENT_PTWRITE: buf_printf(b, "ptwrite:%" PRIx64 " ", e->value); break;
	case AUX_EVENT_POWER:
		if (strncmp(e->text, "cbr", 3))
			buf_printf(b, "%.*s ", (int)strcspn(e->text, ":"), e->text);
		break;
	case AUX_EVENT_ERROR: buf_printf(b, "error:%s ", e->text); break;
	default: break;
	}
}

static void run_ours(const struct test *test, const struct pt_trace *t, struct code *code,
		     struct buf *out)
{
	static const uint64_t words[] = {8, 1, 1, 0, 1};
	char cpuid[32];
	const struct aux_setup setup = {
		.cpuid = test->model ? cpuid : NULL,
		.type = PD_AUXTRACE_INTEL_PT,
		.priv = words,
		.nr_priv = sizeof(words) / sizeof(*words),
		.user = true,
		.kernel = true,
	};
	const struct aux_stretch stretch = {
		.data = t->data, .len = t->len, .cpu = UINT32_MAX, .tid = 1};
	const struct aux_code reader = {.read = read_for_us, .arg = code};
	struct aux_decoder *d;
	struct aux_event e;
	int rc;

	snprintf(cpuid, sizeof(cpuid), "GenuineIntel,6,%u,0", test->model);
	assert_int_equal(aux_intel_pt_decoder.begin(
				 &setup, &stretch, &reader,
				 AUX_WANT_BRANCHES | AUX_WANT_INSNS | AUX_WANT_OTHERS, &d),
			 0);
	while ((rc = aux_intel_pt_decoder.next(d, &e)) > 0)
		say_ours(out, &e);
	assert_int_equal(rc, 0);
	aux_intel_pt_decoder.end(d);
}

static void test_cases(void **state)
{
	unsigned int wrong = 0;

	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		const struct test *test = &tests[i];
		struct code code = write_code(test->code);
		struct buf theirs = {0}, ours = {0};
		struct pt_trace t;

		write_trace(&t, test->trace);
		run_libipt(test, &t, &code, &theirs);
		run_ours(test, &t, &code, &ours);
		assert_int_equal(buf_append(&theirs, "", 1) | buf_append(&ours, "", 1), 0);
		if (strcmp((char *)ours.data, test->ours ? test->ours : (char *)theirs.data)) {
			print_error("%s:\n  ours   %s\n  libipt %s\n", test->name,
				    (char *)ours.data, (char *)theirs.data);
			wrong++;
		}
		buf_release(&theirs);
		buf_release(&ours);
		pt_trace_release(&t);
	}
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest all[] = {cmocka_unit_test(test_cases)};

	return cmocka_run_group_tests(all, NULL, NULL);
}
