// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/coresight/tree.h"

#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cs_tree {
	struct opencsd lib;
	const struct cs_unit *unit;
	const struct cs_tree_ops *ops;
	void *arg;
	dcd_tree_handle_t handle;
	unsigned char channel;
	bool address, other; /* packets since the last atom */
};

#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define LEAKS_IGNORED() __lsan_disable()
#define LEAKS_COUNTED() __lsan_enable()
#else
#define LEAKS_IGNORED()
#define LEAKS_COUNTED()
#endif

/* The configurations of libopencsd's decoders. */
union config {
	ocsd_etmv3_cfg v3;
	ocsd_ptm_cfg ptm;
	ocsd_etmv4_cfg v4;
};

static const struct {
	const char *decoder;
	ocsd_trace_protocol_t protocol;
} protocols[] = {
	[CS_ETMV3] = {OCSD_BUILTIN_DCD_ETMV3, OCSD_PROTOCOL_ETMV3},
	[CS_PTM] = {OCSD_BUILTIN_DCD_PTM, OCSD_PROTOCOL_PTM},
	[CS_ETMV4] = {OCSD_BUILTIN_DCD_ETMV4I, OCSD_PROTOCOL_ETMV4I},
	/* The C interface delivers no packets of ETE; with its version, the decoder of ETMv4 does.
	 */
	[CS_ETE] = {OCSD_BUILTIN_DCD_ETMV4I, OCSD_PROTOCOL_ETMV4I},
};

/* Guards libopencsd's error log, its register of decoders, and its map of trees. */
static pthread_mutex_t *library_lock(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	return &lock;
}

/* --- the top of the address space ----------------------------------------------------------------
 *
 * libopencsd (1.3 to 1.5) reads outside of its cache of code where address + 4 is beyond 2^64. So
 * there is no code in the last two pages, and nothing leads to the very last.
 */

#define TOP_PAGE 4096u
#define TOP	 (0 - 2 * (uint64_t)TOP_PAGE)

/* Moves an address in the last page to the page before. */
static void avoid_top(ocsd_etmv4_i_pkt *packet)
{
	if (packet->v_addr.val >= TOP + TOP_PAGE)
		packet->v_addr.val -= TOP_PAGE;
}

static int64_t signed_bits(uint32_t insn, unsigned int low, unsigned int nr)
{
	return (int64_t)((uint64_t)insn << (64 - low - nr)) >> (64 - nr);
}

/* Returns how far the A64 instruction branches, in bytes; 0 if it is no direct branch. */
static int64_t branch_offset(uint32_t insn)
{
	if ((insn & 0x7c000000) == 0x14000000) /* b, bl */
		return signed_bits(insn, 0, 26) * 4;
	if ((insn & 0xff000000) == 0x54000000 || /* b.cond */
	    (insn & 0x7e000000) == 0x34000000)	 /* cbz, cbnz */
		return signed_bits(insn, 5, 19) * 4;
	if ((insn & 0x7e000000) == 0x36000000) /* tbz, tbnz */
		return signed_bits(insn, 5, 14) * 4;
	return 0;
}

/* Returns how many of the bytes lie before a branch to the last page. */
static uint32_t before_top(uint64_t addr, const uint8_t *buf, uint32_t len)
{
	for (uint32_t i = 0; i + 4 <= len; i += 4) {
		uint32_t insn;

		memcpy(&insn, buf + i, sizeof(insn));
		if (addr + i + (uint64_t)branch_offset(le32toh(insn)) >= TOP + TOP_PAGE)
			return i;
	}
	return len;
}

/* --- speculation ---------------------------------------------------------------------------------
 */

/*
 * Makes a packet bad that takes back what a unit without speculation cannot have told. Also one
 * that says that a branch was predicted wrongly, if there are addresses and other packets since:
 * libopencsd 1.3 then uses an element that it has freed.
 */
static void avoid_misprediction(struct cs_tree *t, ocsd_etmv4_i_pkt *packet)
{
	switch (packet->type) {
	case ETM4_PKT_I_ATOM_F1:
	case ETM4_PKT_I_ATOM_F2:
	case ETM4_PKT_I_ATOM_F3:
	case ETM4_PKT_I_ATOM_F4:
	case ETM4_PKT_I_ATOM_F5:
	case ETM4_PKT_I_ATOM_F6: t->address = t->other = false; break;
	case ETM4_PKT_I_ADDR_MATCH:
	case ETM4_PKT_I_ADDR_S_IS0:
	case ETM4_PKT_I_ADDR_S_IS1:
	case ETM4_PKT_I_ADDR_L_32IS0:
	case ETM4_PKT_I_ADDR_L_32IS1:
	case ETM4_PKT_I_ADDR_L_64IS0:
	case ETM4_PKT_I_ADDR_L_64IS1: t->address = true; break;
	case ETM4_PKT_I_CANCEL_F1:
	case ETM4_PKT_I_CANCEL_F1_MISPRED:
	case ETM4_PKT_I_CANCEL_F2:
	case ETM4_PKT_I_CANCEL_F3:
	case ETM4_PKT_I_MISPREDICT:
		if (!t->unit->idr8 ||
		    (t->address && t->other && packet->type != ETM4_PKT_I_CANCEL_F1))
			packet->type = ETM4_PKT_I_RESERVED;
		t->address = t->other = true; /* before the atom that is now the last */
		break;
	case ETM4_PKT_I_ADDR_CTXT_L_32IS0:
	case ETM4_PKT_I_ADDR_CTXT_L_32IS1:
	case ETM4_PKT_I_ADDR_CTXT_L_64IS0:
	case ETM4_PKT_I_ADDR_CTXT_L_64IS1: t->address = true; /* fallthrough */
	default: t->other = true;
	}
}

/* --- callbacks -----------------------------------------------------------------------------------
 */

static void on_packet(const void *arg, const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
		      const void *packet, const uint32_t size, const uint8_t *data)
{
	struct cs_tree *t = (void *)arg;

	(void)data;
	if (op != OCSD_OP_DATA || !packet)
		return;
	/* The packet is the library's own; its decoder reads it after this. */
	if (t->ops->element && (t->unit->protocol == CS_ETMV4 || t->unit->protocol == CS_ETE)) {
		avoid_top((void *)packet);
		avoid_misprediction(t, (void *)packet);
	}
	t->ops->packet(t->arg, (uint32_t)index, packet, size);
}

static ocsd_datapath_resp_t on_element(const void *arg, const ocsd_trc_index_t index,
				       const uint8_t channel, const ocsd_generic_trace_elem *elem)
{
	const struct cs_tree *t = arg;

	(void)channel;
	t->ops->element(t->arg, (uint32_t)index, elem);
	return OCSD_RESP_CONT;
}

static uint32_t on_read(const void *arg, const ocsd_vaddr_t addr, const ocsd_mem_space_acc_t space,
			const uint32_t len, uint8_t *buf)
{
	const struct cs_tree *t = arg;
	uint32_t n;

	(void)space;
	if (addr >= TOP)
		return 0;
	n = t->ops->read(t->arg, addr, len < TOP - addr ? len : (uint32_t)(TOP - addr), buf);
	return before_top(addr, buf, n);
}

/* Returns TRCIDR1, in whose bits 4 to 11 is the version; an ETE has it in TRCDEVARCH. */
static uint32_t version(const struct cs_unit *u)
{
	if (u->protocol != CS_ETE)
		return u->idr[1];
	return (u->idr[1] & ~0xff0u) | (u->devarch >> 4 & 0xf00u) | (u->devarch >> 12 & 0xf0u);
}

static void configure(const struct cs_unit *u, union config *ret)
{
	switch (u->protocol) {
	case CS_ETMV3:
		ret->v3 = (ocsd_etmv3_cfg){u->idr[0],	u->config, u->ccer,
					   u->trace_id, ARCH_V7,   profile_CortexA};
		break;
	case CS_PTM:
		ret->ptm = (ocsd_ptm_cfg){u->idr[0],   u->config, u->ccer,
					  u->trace_id, ARCH_V7,	  profile_CortexA};
		break;
	case CS_ETMV4:
	case CS_ETE:
		/* Of all architectures the newest: it knows the branches of all before it. */
		ret->v4 = (ocsd_etmv4_cfg){
			.reg_idr0 = u->idr[0],
			.reg_idr1 = version(u),
			.reg_idr2 = u->idr[2],
			.reg_idr8 = u->idr8,
			.reg_configr = u->config,
			.reg_traceidr = u->trace_id,
			.arch_ver = ARCH_AA64,
			.core_prof = profile_CortexA,
		};
		break;
	}
}

static int error_of(ocsd_err_t err)
{
	return err == OCSD_OK ? 0 : err == OCSD_ERR_MEM ? -ENOMEM : -ENOTSUP;
}

/* Creates the decoder in t->handle; under the lock. */
static int fill(struct cs_tree *t)
{
	bool full = t->ops->element != NULL;
	union config config = {0};
	int flags = OCSD_OPFLG_PKTPROC_UNSYNC_ON_BAD_PKTS |
		    (full ? OCSD_CREATE_FLG_FULL_DECODER : OCSD_CREATE_FLG_PACKET_PROC);
	ocsd_err_t err;

	configure(t->unit, &config);
	err = t->lib.ocsd_dt_create_decoder(t->handle, protocols[t->unit->protocol].decoder, flags,
					    &config, &t->channel);
	if (err == OCSD_OK)
		err = t->lib.ocsd_dt_attach_packet_callback(
			t->handle, t->channel, OCSD_C_API_CB_PKT_MON, (void *)on_packet, t);
	/* Version 1.3 does not free what this allocates: 32 bytes. */
	LEAKS_IGNORED();
	if (err == OCSD_OK && full)
		err = t->lib.ocsd_dt_set_gen_elem_outfn(t->handle, on_element, t);
	LEAKS_COUNTED();
	if (err == OCSD_OK && full)
		err = t->lib.ocsd_dt_add_callback_mem_acc(t->handle, 0, UINT64_MAX,
							  OCSD_MEM_SPACE_ANY, on_read, t);
	return error_of(err);
}

int cs_tree_new(const struct cs_unit *unit, const struct cs_tree_ops *ops, void *arg,
		struct cs_tree **ret)
{
	struct cs_tree *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return -ENOMEM;
	*t = (struct cs_tree){.unit = unit, .ops = ops, .arg = arg};
	rc = opencsd_load(&t->lib, NULL);
	if (rc) {
		free(t);
		return rc;
	}
	pthread_mutex_lock(library_lock());
	/* Without this, decoders of all threads would write their errors into one object. */
	t->lib.ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 0);
	t->handle = t->lib.ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
	rc = t->handle != C_API_INVALID_TREE_HANDLE ? fill(t) : -ENOMEM;
	pthread_mutex_unlock(library_lock());
	if (rc) {
		cs_tree_free(t);
		return rc;
	}
	*ret = t;
	return 0;
}

void cs_tree_free(struct cs_tree *t)
{
	if (!t)
		return;
	pthread_mutex_lock(library_lock());
	if (t->handle != C_API_INVALID_TREE_HANDLE)
		t->lib.ocsd_destroy_dcd_tree(t->handle);
	pthread_mutex_unlock(library_lock());
	free(t);
}

void cs_tree_reset(struct cs_tree *t)
{
	uint32_t done;

	t->lib.ocsd_dt_process_data(t->handle, OCSD_OP_RESET, 0, 0, NULL, &done);
}

int cs_tree_feed(struct cs_tree *t, uint32_t index, const uint8_t *data, uint32_t len)
{
	while (len) {
		uint32_t done = 0;
		ocsd_datapath_resp_t resp = t->lib.ocsd_dt_process_data(t->handle, OCSD_OP_DATA,
									index, len, data, &done);

		if (OCSD_DATA_RESP_IS_FATAL(resp) || !done || done > len) {
			cs_tree_reset(t);
			return -EBADMSG;
		}
		index += done;
		data += done;
		len -= done;
	}
	return 0;
}

void cs_tree_end(struct cs_tree *t)
{
	uint32_t done;

	t->lib.ocsd_dt_process_data(t->handle, OCSD_OP_EOT, 0, 0, NULL, &done);
}

static enum cs_packet_kind kind_v4(const ocsd_etmv4_i_pkt *p)
{
	switch (p->type) {
	case ETM4_PKT_I_NOTSYNC: return CS_PACKET_UNSYNCED;
	case ETM4_PKT_I_INCOMPLETE_EOT: return CS_PACKET_CUT;
	case ETM4_PKT_I_BAD_SEQUENCE:
	case ETM4_PKT_I_BAD_TRACEMODE:
	case ETM4_PKT_I_RESERVED:
	case ETM4_PKT_I_RESERVED_CFG: return CS_PACKET_BAD;
	case ETM4_PKT_I_CTXT:
	case ETM4_PKT_I_ADDR_CTXT_L_32IS0:
	case ETM4_PKT_I_ADDR_CTXT_L_32IS1:
	case ETM4_PKT_I_ADDR_CTXT_L_64IS0:
	case ETM4_PKT_I_ADDR_CTXT_L_64IS1: return CS_PACKET_CONTEXT;
	default: return CS_PACKET_USUAL;
	}
}

static enum cs_packet_kind kind_v3(const ocsd_etmv3_pkt *p)
{
	switch (p->type) {
	case ETM3_PKT_NOTSYNC: return CS_PACKET_UNSYNCED;
	case ETM3_PKT_INCOMPLETE_EOT: return CS_PACKET_CUT;
	case ETM3_PKT_BAD_SEQUENCE:
	case ETM3_PKT_BAD_TRACEMODE:
	case ETM3_PKT_RESERVED: return CS_PACKET_BAD;
	default: return CS_PACKET_USUAL;
	}
}

static enum cs_packet_kind kind_ptm(const ocsd_ptm_pkt *p)
{
	switch (p->type) {
	case PTM_PKT_NOTSYNC: return CS_PACKET_UNSYNCED;
	case PTM_PKT_INCOMPLETE_EOT: return CS_PACKET_CUT;
	case PTM_PKT_BAD_SEQUENCE:
	case PTM_PKT_RESERVED: return CS_PACKET_BAD;
	default: return CS_PACKET_USUAL;
	}
}

enum cs_packet_kind cs_packet_kind(const struct cs_unit *unit, const void *packet)
{
	switch (unit->protocol) {
	case CS_ETMV3: return kind_v3(packet);
	case CS_PTM: return kind_ptm(packet);
	case CS_ETMV4:
	case CS_ETE: return kind_v4(packet);
	}
	return CS_PACKET_BAD;
}

bool cs_packet_tid(const struct cs_unit *unit, const void *packet, uint32_t *ret)
{
	const ocsd_etmv4_i_pkt *p = packet;

	if (unit->tid_source == CS_TID_CONTEXT && p->context.updated_c)
		*ret = p->context.ctxtID;
	else if (unit->tid_source == CS_TID_VMID && p->context.updated_v)
		*ret = p->context.VMID;
	else
		return false;
	return true;
}

void cs_packet_text(const struct cs_tree *t, const void *packet, char *buf, size_t size)
{
	char text[512], *description, *contents;

	*text = '\0';
	t->lib.ocsd_pkt_str(protocols[t->unit->protocol].protocol, packet, text, sizeof(text));
	/* "NAME : DESCRIPTION; CONTENTS": the name is enough where there are contents. */
	for (size_t n = strlen(text); n && strchr(" ;.", text[n - 1]);)
		text[--n] = '\0';
	description = strstr(text, " : ");
	contents = description ? strstr(description, "; ") : NULL;
	if (contents) {
		*description = '\0';
		snprintf(buf, size, "%s %s", text, contents + 2);
	} else {
		snprintf(buf, size, "%s", text);
	}
}
