/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The libopencsd decoder of one trace unit.
 *
 * cs_tree_new() allocates; the caller frees with cs_tree_free(). One thread at a time uses a tree;
 * any number of threads may use trees of their own. A lock of the process guards what libopencsd
 * shares between trees while they are created and destroyed; its error log is off. libopencsd keeps
 * some 80 bytes of each tree that was ever created.
 */
#ifndef RINGTAIL_AUXTRACE_CORESIGHT_TREE_H
#define RINGTAIL_AUXTRACE_CORESIGHT_TREE_H

#include "auxtrace/coresight/opencsd.h"
#include "auxtrace/coresight/setup.h"

struct cs_tree;

/* Called while data are fed. Indexes are the low 32 bits of those that were fed. */
struct cs_tree_ops {
	/* A packet of @size bytes; *@packet is of the unit's protocol (cs_packet_kind()). */
	void (*packet)(void *arg, uint32_t index, const void *packet, size_t size);
	/* These may be NULL: no instruction flow. */
	void (*element)(void *arg, uint32_t index, const ocsd_generic_trace_elem *elem);
	/* Copies at most @len bytes of code. Returns how many; 0: none. */
	uint32_t (*read)(void *arg, uint64_t addr, uint32_t len, uint8_t *buf);
};

/*
 * Creates the decoder of @unit. Returns 0, -ENOMEM, -ENOTSUP if libopencsd refuses the unit, or
 * -ELIBACC if it is not installed.
 */
int cs_tree_new(const struct cs_unit *unit, const struct cs_tree_ops *ops, void *arg,
		struct cs_tree **ret);

/* Accepts NULL. */
void cs_tree_free(struct cs_tree *t);

/*
 * Feeds @len bytes. Returns 0, or -EBADMSG after an error that libopencsd does not recover from;
 * the tree has then dropped all of them and waits for synchronisation.
 */
int cs_tree_feed(struct cs_tree *t, uint32_t index, const uint8_t *data, uint32_t len);

/* Ends the trace: what is held back is delivered. */
void cs_tree_end(struct cs_tree *t);

/* Forgets the trace before: the next begins with synchronisation. */
void cs_tree_reset(struct cs_tree *t);

enum cs_packet_kind {
	CS_PACKET_USUAL,
	CS_PACKET_CONTEXT,  /* it has a new context ID or VMID */
	CS_PACKET_UNSYNCED, /* bytes before the first synchronisation point */
	CS_PACKET_CUT,	    /* by the end of the trace */
	CS_PACKET_BAD,
};

/* Returns what a packet of @unit is. */
enum cs_packet_kind cs_packet_kind(const struct cs_unit *unit, const void *packet);

/* Reads the thread from a packet of kind CS_PACKET_CONTEXT. Returns false if it has none. */
bool cs_packet_tid(const struct cs_unit *unit, const void *packet, uint32_t *ret);

/* Fills @buf with libopencsd's text of a packet of @t. */
void cs_packet_text(const struct cs_tree *t, const void *packet, char *buf, size_t size);

#endif
