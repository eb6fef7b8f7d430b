// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/intel_pt/packets.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "auxtrace/intel_pt/setup.h"

/* A PSB+ is much shorter. */

struct pt_walk {
	struct pt_packet_decoder *packets; /* NULL: there are no bytes */
	const uint8_t *data;
	size_t len, at;
	uint64_t ip;   /* compressed addresses continue it */
	bool ip_known; /* since a PSB there was an address in full */
	struct pt_errata errata;
};

int pt_walk_new(const struct aux_setup *setup, const struct aux_stretch *stretch,
		struct pt_walk **ret)
{
	struct pt_config config;
	struct pt_setup s;
	struct pt_walk *w;
	int rc = pt_setup_init(setup, &s);

	if (rc)
		return rc;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->data = stretch->data;
	w->len = stretch->len;
	w->errata = s.errata;
	if (w->len) {
		pt_setup_config(&s, w->data, w->len, &config);
		w->packets = pt_pkt_alloc_decoder(&config);
		if (!w->packets) {
			free(w);
			return -ENOMEM;
		}
	}
	*ret = w;
	return 0;
}

void pt_walk_free(struct pt_walk *w)
{
	if (!w)
		return;
	pt_pkt_free_decoder(w->packets);
	free(w);
}

/* Completes a compressed address. Returns false if the packet has none, or what it continues is
 * unknown. */
static bool complete_ip(struct pt_walk *w, const struct pt_packet_ip *p)
{
	static const uint8_t sizes[] = {
		[pt_ipc_update_16] = 16, [pt_ipc_update_32] = 32, [pt_ipc_sext_48] = 48,
		[pt_ipc_update_48] = 48, [pt_ipc_full] = 64,
	};
	unsigned int bits = p->ipc < sizeof(sizes) ? sizes[p->ipc] : 0;
	uint64_t mask = bits < 64 ? (1ull << bits) - 1 : UINT64_MAX;

	if (!bits)
		return false;
	if (p->ipc == pt_ipc_sext_48)
		w->ip = (uint64_t)((int64_t)(p->ip << 16) >> 16);
	else
		w->ip = (w->ip & ~mask) | (p->ip & mask);
	/* Behind a PSB and an overflow, addresses continue 0. */
	if (p->ipc == pt_ipc_sext_48 || p->ipc == pt_ipc_full)
		w->ip_known = true;
	return w->ip_known;
}

static void say_ip(struct pt_walk *w, const char *name, const struct pt_packet_ip *p, char *text,
		   size_t size)
{
	if (complete_ip(w, p))
		snprintf(text, size, "%s 0x%" PRIx64, name, w->ip);
	else if (p->ipc == pt_ipc_suppressed)
		snprintf(text, size, "%s no ip", name);
	else
		snprintf(text, size, "%s ...%" PRIx64, name, p->ip);
}

static void say_tnt(const struct pt_packet_tnt *p, char *text, size_t size)
{
	char bits[65];
	unsigned int n = p->bit_size < 64 ? p->bit_size : 64;

	for (unsigned int i = 0; i < n; i++)
		bits[i] = p->payload >> (n - 1 - i) & 1 ? 'T' : 'N';
	bits[n] = 0;
	snprintf(text, size, "TNT %s (%u)", bits, n);
}

static void say_mode(const struct pt_packet_mode *p, char *text, size_t size)
{
	static const char *const modes[] = {[ptem_unknown] = "?",
					    [ptem_16bit] = "16",
					    [ptem_32bit] = "32",
					    [ptem_64bit] = "64"};

	if (p->leaf == pt_mol_exec)
		snprintf(text, size, "MODE.Exec %s", modes[pt_get_exec_mode(&p->bits.exec)]);
	else
		snprintf(text, size, "MODE.TSX TXAbort:%u InTX:%u", p->bits.tsx.abrt,
			 p->bits.tsx.intx);
}

static void say_power(const struct pt_packet *p, char *text, size_t size)
{
	switch (p->type) {
	case ppt_exstop: snprintf(text, size, "EXSTOP IP:%u", p->payload.exstop.ip); break;
	case ppt_mwait:
		snprintf(text, size, "MWAIT Hints 0x%x Extensions 0x%x", p->payload.mwait.hints,
			 p->payload.mwait.ext);
		break;
	case ppt_pwre:
		snprintf(text, size, "PWRE HW:%u CState:%u Sub-CState:%u", p->payload.pwre.hw,
			 p->payload.pwre.state, p->payload.pwre.sub_state);
		break;
	default:
		snprintf(text, size,
			 "PWRX Last CState:%u Deepest CState:%u Wake interrupt:%u store:%u "
			 "autonomous:%u",
			 p->payload.pwrx.last, p->payload.pwrx.deepest, p->payload.pwrx.interrupt,
			 p->payload.pwrx.store, p->payload.pwrx.autonomous);
	}
}

static void say_unknown(const uint8_t *bytes, char *text, size_t size)
{
	const char *name = bytes[1] == 0x13   ? "CFE"
			   : bytes[1] == 0x53 ? "EVD"
			   : bytes[1] == 0x63 ? "BBP"
					      : "BEP";

	snprintf(text, size, "%s", name);
}

static void say_value(const struct pt_packet *p, char *text, size_t size)
{
	switch (p->type) {
	case ppt_pip:
		snprintf(text, size, "PIP 0x%" PRIx64 " (NR=%u)", p->payload.pip.cr3,
			 p->payload.pip.nr);
		break;
	case ppt_vmcs: snprintf(text, size, "VMCS 0x%" PRIx64, p->payload.vmcs.base); break;
	case ppt_cbr: snprintf(text, size, "CBR %u", p->payload.cbr.ratio); break;
	case ppt_tsc: snprintf(text, size, "TSC 0x%" PRIx64, p->payload.tsc.tsc); break;
	case ppt_tma:
		snprintf(text, size, "TMA CTC 0x%x FC 0x%x", p->payload.tma.ctc, p->payload.tma.fc);
		break;
	case ppt_mtc: snprintf(text, size, "MTC 0x%x", p->payload.mtc.ctc); break;
	case ppt_cyc: snprintf(text, size, "CYC 0x%" PRIx64, p->payload.cyc.value); break;
	case ppt_mnt: snprintf(text, size, "MNT 0x%" PRIx64, p->payload.mnt.payload); break;
	case ppt_ptw:
		snprintf(text, size, "PTWRITE 0x%" PRIx64 " IP:%u", p->payload.ptw.payload,
			 p->payload.ptw.ip);
		break;
	default: say_power(p, text, size);
	}
}

static void say(struct pt_walk *w, const struct pt_packet *p, char *text, size_t size)
{
	static const char *const names[] = {
		[ppt_psb] = "PSB",	  [ppt_psbend] = "PSBEND",   [ppt_fup] = "FUP",
		[ppt_tip] = "TIP",	  [ppt_tip_pge] = "TIP.PGE", [ppt_tip_pgd] = "TIP.PGD",
		[ppt_stop] = "TraceSTOP", [ppt_ovf] = "OVF",	     [ppt_pad] = "PAD",
	};

	switch (p->type) {
	case ppt_psb:
	case ppt_ovf:
		w->ip = 0;
		w->ip_known = true;
		/* fallthrough */
	case ppt_psbend:
	case ppt_stop:
	case ppt_pad: snprintf(text, size, "%s", names[p->type]); break;
	case ppt_fup:
	case ppt_tip:
	case ppt_tip_pge:
	case ppt_tip_pgd: say_ip(w, names[p->type], &p->payload.ip, text, size); break;
	case ppt_tnt_8:
	case ppt_tnt_64: say_tnt(&p->payload.tnt, text, size); break;
	case ppt_mode: say_mode(&p->payload.mode, text, size); break;
#if LIBIPT_VERSION >= 0x201
	case ppt_cfe:
	case ppt_evd:
#endif
	case ppt_unknown: say_unknown(w->data + w->at, text, size); break;
	default: say_value(p, text, size);
	}
}

static void say_bad(struct pt_walk *w, int status, struct aux_packet *ret)
{
	ret->bad = true;
	ret->len = pt_setup_sync(w->data, w->len, w->at + 1) - w->at;
	w->ip_known = false;
	snprintf(ret->text, sizeof(ret->text), "%s",
		 status == -pte_eos ? "a packet that is cut off" : "no packet");
}

/* Packets that some CPUs damage; libipt's flow knows them. Returns whether one is here. */
static bool take_damaged(const struct pt_walk *w, struct aux_packet *ret)
{
	const uint8_t *p = w->data + w->at;
	size_t left = w->len - w->at;

	if (w->errata.skd007 && left > 2 && (p[0] & 7) == 7 && p[1] == 0x02 && p[2] == 0xf3) {
		ret->len = 1;
		snprintf(ret->text, sizeof(ret->text), "CYC damaged by the CPU (SKD007)");
		return true;
	}
	if (w->errata.skz84 && left > 7 && p[0] == 0x02 && p[1] == 0x73 && p[6] & 0xfe) {
		ret->len = 8;
		snprintf(ret->text, sizeof(ret->text), "TMA damaged by the CPU (SKZ84)");
		return true;
	}
	return false;
}

int pt_walk_next(struct pt_walk *w, struct aux_packet *ret)
{
	struct pt_packet packet;
	int status;

	if (w->at >= w->len)
		return 0;
	ret->bad = false;
	/* A walk over paddings is faster than libipt's. */
	for (ret->len = 0; w->at + ret->len < w->len && !w->data[w->at + ret->len]; ret->len++)
		;
	if (ret->len) {
		snprintf(ret->text, sizeof(ret->text), "PAD");
		w->at += ret->len;
		return 1;
	}
	if (take_damaged(w, ret)) {
		w->at += ret->len;
		return 1;
	}
	status = pt_pkt_sync_set(w->packets, w->at);
	if (status >= 0)
		status = pt_pkt_next(w->packets, &packet, sizeof(packet));
	if (status <= 0 || packet.size > w->len - w->at) {
		say_bad(w, status, ret);
	} else {
		ret->len = packet.size;
		say(w, &packet, ret->text, sizeof(ret->text));
	}
	w->at += ret->len;
	return 1;
}
