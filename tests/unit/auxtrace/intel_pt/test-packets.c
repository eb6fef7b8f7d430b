// SPDX-License-Identifier: Apache-2.0
/* Packets of Intel PT: names, bounds, bad bytes; and the first time of a stretch. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "auxtrace/intel_pt/intel_pt.h"
#include "perfdata/aux_record.h"
#include "perfdata/abi.h"

#include "pt_trace.h"

/* The words of AUXTRACE_INFO: ns are half of the ticks, plus 1000. */
static const uint64_t words[] = {8, 1, 1, 1000, 1, 1 << 10, 1 << 11, 0, 0, 1, 1 << 9, 0xf << 14};
static const struct aux_setup setup = {
	.type = PD_AUXTRACE_INTEL_PT, .priv = words, .nr_priv = sizeof(words) / sizeof(*words)};

static struct aux_decoder *walk_of(const char *cpuid, const uint8_t *data, size_t len)
{
	struct aux_setup of_cpu = setup;
	static struct aux_stretch stretch;
	struct aux_decoder *d = NULL;

	of_cpu.cpuid = cpuid;
	stretch = (struct aux_stretch){.data = data, .len = len};
	assert_int_equal(aux_intel_pt_decoder.packets(&of_cpu, &stretch, &d), 0);
	return d;
}

static struct aux_decoder *walk(const uint8_t *data, size_t len)
{
	return walk_of(NULL, data, len);
}

static void expect(struct aux_decoder *d, size_t len, const char *text)
{
	struct aux_packet p;

	assert_int_equal(aux_intel_pt_decoder.packet_next(d, &p), 1);
	assert_string_equal(p.text, text);
	assert_false(p.bad);
	assert_int_equal(p.len, len);
}

static void put_all(struct pt_trace *t)
{
	static const struct pt_packet packets[] = {
		{.type = ppt_cbr, .payload.cbr.ratio = 29},
		{.type = ppt_tma, .payload.tma = {.ctc = 0xb23c, .fc = 0x30}},
		{.type = ppt_mtc, .payload.mtc.ctc = 0x48},
		{.type = ppt_cyc, .payload.cyc.value = 0x123},
		{.type = ppt_vmcs, .payload.vmcs.base = 0x7000},
		{.type = ppt_stop},
		{.type = ppt_ovf},
		{.type = ppt_mnt, .payload.mnt.payload = 5},
		{.type = ppt_exstop, .payload.exstop.ip = 1},
		{.type = ppt_mwait, .payload.mwait = {.hints = 0x20, .ext = 1}},
		{.type = ppt_pwre, .payload.pwre = {.state = 6, .sub_state = 1, .hw = 1}},
		{.type = ppt_pwrx, .payload.pwrx = {.last = 3, .deepest = 6, .interrupt = 1}},
		{.type = ppt_ptw, .payload.ptw = {.payload = 0xabc, .plc = 1, .ip = 1}},
	};
	static const uint8_t newer[] = {2, 0x13, 0x81, 0x20, 2, 0x63, 1, 2, 0x33};

	pt_trace_psb(t, 4000, 0x401000);
	pt_trace_cond(t, true);
	pt_trace_cond(t, false);
	pt_trace_ip(t, ppt_tip, 0x401234);
	pt_trace_ip(t, ppt_tip_pgd, 0);
	pt_trace_pip(t, 0x1000);
	pt_trace_tsx(t, true, false);
	pt_trace_ip(t, ppt_tip_pge, 0xffffffff81000000);
	for (size_t i = 0; i < sizeof(packets) / sizeof(*packets); i++)
		pt_trace_put(t, &packets[i]);
	pt_trace_bytes(t, newer, sizeof(newer));
	pt_trace_bytes(t, "\0\0\0", 3);
}

static void test_texts(void **state)
{
	struct pt_trace t;
	struct aux_packet p;
	struct aux_decoder *d;

	(void)state;
	pt_trace_init(&t, 4096);
	put_all(&t);
	d = walk(t.data, t.len);
	expect(d, 16, "PSB");
	expect(d, 8, "TSC 0xfa0");
	expect(d, 2, "MODE.Exec 64");
	expect(d, 5, "FUP 0x401000");
	expect(d, 2, "PSBEND");
	expect(d, 1, "TNT TN (2)");
	expect(d, 3, "TIP 0x401234");
	expect(d, 1, "TIP.PGD no ip");
	expect(d, 8, "PIP 0x1000 (NR=0)");
	expect(d, 2, "MODE.TSX TXAbort:0 InTX:1");
	expect(d, 7, "TIP.PGE 0xffffffff81000000");
	expect(d, 4, "CBR 29");
	expect(d, 7, "TMA CTC 0xb23c FC 0x30");
	expect(d, 2, "MTC 0x48");
	expect(d, 2, "CYC 0x123");
	expect(d, 7, "VMCS 0x7000");
	expect(d, 2, "TraceSTOP");
	expect(d, 2, "OVF");
	expect(d, 11, "MNT 0x5");
	expect(d, 2, "EXSTOP IP:1");
	expect(d, 10, "MWAIT Hints 0x20 Extensions 0x1");
	expect(d, 4, "PWRE HW:1 CState:6 Sub-CState:1");
	expect(d, 7, "PWRX Last CState:3 Deepest CState:6 Wake interrupt:1 store:0 autonomous:0");
	expect(d, 10, "PTWRITE 0xabc IP:1");
	expect(d, 4, "CFE");
	expect(d, 3, "BBP");
	expect(d, 2, "BEP");
	expect(d, 3, "PAD");
	assert_int_equal(aux_intel_pt_decoder.packet_next(d, &p), 0);
	aux_intel_pt_decoder.end(d);
	pt_trace_release(&t);
}

static void test_bad_bytes(void **state)
{
	static const uint8_t bad[] = {0x02, 0xff, 0x11};
	struct pt_trace t;
	struct aux_packet p;
	struct aux_decoder *d;

	(void)state;
	pt_trace_init(&t, 4096);
	pt_trace_bytes(&t, bad, sizeof(bad));
	pt_trace_psb(&t, 1, 0);
	/* The last packet is cut in its middle. */
	d = walk(t.data, t.len - 1);
	assert_int_equal(aux_intel_pt_decoder.packet_next(d, &p), 1);
	assert_true(p.bad);
	assert_int_equal(p.len, sizeof(bad));
	assert_string_equal(p.text, "no packet");
	expect(d, 16, "PSB");
	expect(d, 8, "TSC 0x1");
	assert_int_equal(aux_intel_pt_decoder.packet_next(d, &p), 1);
	assert_true(p.bad);
	assert_int_equal(p.len, 1);
	assert_string_equal(p.text, "a packet that is cut off");
	assert_int_equal(aux_intel_pt_decoder.packet_next(d, &p), 0);
	aux_intel_pt_decoder.end(d);
	pt_trace_release(&t);
}

static void test_sync(void **state)
{
	struct pt_trace t;

	(void)state;
	pt_trace_init(&t, 4096);
	pt_trace_psb(&t, 0xbc4cd2cfe8, 0);
	assert_int_equal(aux_intel_pt_decoder.sync(&setup, t.data, t.len, 0), 0);
	assert_int_equal(aux_intel_pt_decoder.sync(&setup, t.data, t.len, 1), t.len);
	assert_int_equal(aux_intel_pt_decoder.sync(&setup, t.data, t.len, t.len), t.len);
	pt_trace_release(&t);
}

static void test_other_kind(void **state)
{
	static const struct aux_setup spe = {.type = PD_AUXTRACE_ARM_SPE};
	static const struct aux_code code;
	struct aux_stretch s = {0};
	struct aux_decoder *d = NULL;

	(void)state;
	assert_int_equal(aux_intel_pt_decoder.packets(&spe, &s, &d), -ENOTSUP);
	assert_int_equal(aux_intel_pt_decoder.begin(&spe, &s, &code, 0, &d), -ENOTSUP);
	assert_null(d);
	aux_intel_pt_decoder.end(NULL);
}

/* Packets cover all bytes, whatever these are. */
static void walk_all(const uint8_t *data, size_t len)
{
	struct aux_decoder *d = walk(data, len);
	struct aux_packet p;
	size_t sum = 0;

	while (aux_intel_pt_decoder.packet_next(d, &p) == 1) {
		assert_true(p.len > 0);
		sum += p.len;
	}
	assert_int_equal(sum, len);
	aux_intel_pt_decoder.end(d);
}

static void test_damage(void **state)
{
	struct pt_trace t;
	uint8_t *copy;

	(void)state;
	pt_trace_init(&t, 4096);
	put_all(&t);
	put_all(&t);
	for (size_t len = 0; len <= t.len; len++) {
		copy = malloc(len + 1); /* ASan sees a read behind it */
		memcpy(copy + 1, t.data, len);
		walk_all(copy + 1, len);
		free(copy);
	}
	srand(1);
	for (int i = 0; i < 10000; i++) {
		t.data[rand() % t.len] ^= 1 << rand() % 8;
		walk_all(t.data, t.len);
	}
	pt_trace_release(&t);
}

/* --- a recording of perf 4.14 --------------------------------------------------------------------
 */

/* The packets of all its trace, as perf report -D (6.1) prints them. It counts paddings otherwise.
 */
static const struct {
	const char *name;
	unsigned int count;
} recorded[] = {
	{"TNT", 69516},	 {"TIP", 12039},  {"MTC", 2802},  {"PIP", 441},	     {"FUP", 149},
	{"TSC", 24},	 {"TMA", 24},	  {"CBR", 24},	  {"MODE.Exec", 18}, {"MODE.TSX", 16},
	{"TIP.PGE", 10}, {"TIP.PGD", 10}, {"PSBEND", 10}, {"PSB", 10},
};
#define NAMES (sizeof(recorded) / sizeof(*recorded))

static void count_trace(const uint8_t *data, size_t len, unsigned int counts[NAMES])
{
	struct aux_decoder *d = walk(data, len);
	struct aux_packet p;

	while (aux_intel_pt_decoder.packet_next(d, &p) == 1) {
		size_t name = strcspn(p.text, " "), i = 0;

		assert_false(p.bad);
		while (i < NAMES &&
		       (strncmp(recorded[i].name, p.text, name) || recorded[i].name[name]))
			i++;
		if (i == NAMES && !strcmp(p.text, "PAD"))
			continue;
		if (i == NAMES)
			fail_msg("%s is not in the table", p.text);
		counts[i]++;
	}
	aux_intel_pt_decoder.end(d);
}

static uint8_t *load(const char *path, size_t *ret_size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data;
	long size;

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	size = ftell(file);
	assert_true(size > 0);
	rewind(file);
	data = malloc(size);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, size, file), size);
	fclose(file);
	*ret_size = size;
	return data;
}

static void test_recording(void **state)
{
	unsigned int counts[NAMES] = {0};
	size_t size, at, end;
	uint64_t words_of_header[7], len;
	uint8_t *file = load(
		TESTS_DATA
		"/corpus/google+perf_data_converter/src/quipper/testdata/perf.data.intel_pt-4.14",
		&size);

	(void)state;
	memcpy(words_of_header, file, sizeof(words_of_header));
	at = words_of_header[5]; /* the section of the records */
	end = at + words_of_header[6];
	while (at < end) {
		struct perf_event_header hdr;

		memcpy(&hdr, file + at, sizeof(hdr));
		memcpy(&len, file + at + sizeof(hdr), sizeof(len));
		at += hdr.size;
		if (hdr.type != PERF_RECORD_AUXTRACE)
			continue;
		count_trace(file + at, len, counts);
		at += len;
	}
	for (size_t i = 0; i < NAMES; i++)
		if (counts[i] != recorded[i].count)
			fail_msg("%s: %u, not %u", recorded[i].name, counts[i], recorded[i].count);
	free(file);
}

/* Of some CPUs, packets are damaged in known ways. */
static void test_errata(void **state)
{
	static const uint8_t cycles[] = {0x27, 0x02, 0xf3},
			     tma[] = {2, 0x73, 1, 2, 0, 0, 0xff, 0x55};
	struct aux_decoder *d = walk_of("GenuineIntel,6,94,3", cycles, sizeof(cycles));

	expect(d, 1, "CYC damaged by the CPU (SKD007)");
	expect(d, 2, "OVF");
	aux_intel_pt_decoder.end(d);
	d = walk_of("GenuineIntel,6,58,3", cycles, sizeof(cycles));
	expect(d, 2, "CYC 0x24");
	aux_intel_pt_decoder.end(d);
	d = walk_of("GenuineIntel,6,85,7", tma, sizeof(tma));
	expect(d, 8, "TMA damaged by the CPU (SKZ84)");
	aux_intel_pt_decoder.end(d);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errata),	   cmocka_unit_test(test_texts),
		cmocka_unit_test(test_bad_bytes),  cmocka_unit_test(test_sync),
		cmocka_unit_test(test_other_kind), cmocka_unit_test(test_damage),
		cmocka_unit_test(test_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
