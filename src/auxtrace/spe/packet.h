/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of Arm SPE. Pure: any thread.
 *
 * Source: Arm Architecture Reference Manual for A-profile (DDI 0487), chapter "Statistical
 * Profiling Extension Sample Record Specification".
 */
#ifndef RINGTAIL_AUXTRACE_SPE_PACKET_H
#define RINGTAIL_AUXTRACE_SPE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum spe_kind {
	SPE_PADDING, /* one or more bytes */
	SPE_ALIGNMENT,
	SPE_END,
	SPE_TIMESTAMP,
	SPE_EVENTS,
	SPE_SOURCE,
	SPE_CONTEXT,
	SPE_OPERATION,
	SPE_ADDRESS,
	SPE_COUNTER,
};

/* Indexes of addresses. */
enum {
	SPE_PC,
	SPE_TARGET, /* of a branch */
	SPE_VIRT,   /* of data */
	SPE_PHYS,
	SPE_PREVIOUS_TARGET,
};

/* Indexes of counters. */
enum {
	SPE_LATENCY_TOTAL,
	SPE_LATENCY_ISSUE,
	SPE_LATENCY_TRANSLATION,
};

/* Classes of operations, and bits of the payload of branches. */
enum {
	SPE_OTHER,
	SPE_LOAD_STORE,
	SPE_BRANCH,
};
#define SPE_BRANCH_CONDITIONAL 0x01u
#define SPE_BRANCH_INDIRECT    0x02u
#define SPE_BRANCH_KIND	       0x18u
#define SPE_BRANCH_LINK	       0x08u
#define SPE_BRANCH_RETURN      0x10u

#define SPE_EVENT_NOT_TAKEN	    (1u << 6)
#define SPE_EVENT_PARTIAL_PREDICATE (1u << 17)
#define SPE_EVENT_EMPTY_PREDICATE   (1u << 18)
#define SPE_PREDICATED		    0x04u /* in the payload of an SVE operation */

/* Subclasses of payloads, of the class that each is named for. */
#define SPE_OTHER_IS_SVE(type)	    (((type)&0x89u) == 0x08u)
#define SPE_OTHER_IS_SME(type)	    (((type)&0x89u) == 0x88u)
#define SPE_OTHER_IS_ASE(type)	    (((type)&0xfcu) == 0x04u)
#define SPE_LOAD_STORE_IS_SVE(type) (((type)&0x0au) == 0x08u)
#define SPE_LOAD_STORE_IS_ASE(type) (((type)&0xfeu) == 0x04u)

struct spe_packet {
	enum spe_kind kind;
	uint8_t index; /* of context, address or counter; class of an operation */
	size_t len;    /* bytes with the header */
	uint64_t payload;
};

/*
 * Reads the packet at @p, whose position in the ring is @offset. Returns 0 with *@ret, -EBADMSG if
 * the bytes are no packet, -ENODATA if @len bytes do not hold the whole of it.
 */
int spe_packet_read(const uint8_t *p, size_t len, uint64_t offset, struct spe_packet *ret);

/* Returns the address in the payload of an address packet. */
uint64_t spe_packet_address(const struct spe_packet *packet);
/* Returns the exception level of an address of an instruction. */
unsigned int spe_packet_level(const struct spe_packet *packet);

/* Writes the packet's name and contents to @buf. */
void spe_packet_text(const struct spe_packet *packet, char *buf, size_t size);

#endif
