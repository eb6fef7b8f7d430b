/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between decoders of hardware traces and those who use their events.
 *
 * A decoder turns a stretch of trace into events, in the order of the trace. A stretch is
 * contiguous trace of one ring. It begins where the decoder can synchronise, so stretches are
 * independent: any number of threads may decode, each with an instance of its own.
 *
 * Bad trace is no failure. It becomes an event AUX_EVENT_ERROR with its offset, and decoding goes
 * on at the next synchronisation point. The same is true where code is missing.
 *
 * Offsets are positions in the ring. Times are ns of the recording's clock; 0 is unknown.
 */
#ifndef RINGTAIL_AUXTRACE_DECODER_DECODER_H
#define RINGTAIL_AUXTRACE_DECODER_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "perfdata/record.h"

/* --- what a decoder is given ---------------------------------------------------------------------
 */

#define AUX_SETUP_TESTPMU UINT32_MAX /* type of the test PMU, which has no AUXTRACE_INFO */

/* Of an AUX_OUTPUT_HW_ID record: the hardware's name for a CPU's trace. */
struct aux_hw_id {
	uint32_t cpu;
	uint64_t value;
};

/*
 * Of a recording; the same for all stretches of a ring. Constant while an instance lives. A field
 * that the recording leaves open is 0.
 */
struct aux_setup {
	uint32_t type;	      /* enum pd_auxtrace_type, or AUX_SETUP_TESTPMU */
	const uint64_t *priv; /* of AUXTRACE_INFO */
	size_t nr_priv;
	const struct pd_time_conv *time_conv; /* NULL: not recorded */
	uint64_t config;		      /* of the AUX event's attribute */
	bool user, kernel;		      /* the AUX event traces these */
	uint64_t aux_flags;		      /* of the ring's PERF_RECORD_AUX, all of them by OR */
	const struct aux_hw_id *hw_ids;	      /* in the order of the recording */
	size_t nr_hw_ids;
	const char *cpuid; /* "VENDOR,FAMILY,MODEL,STEPPING" of the recorded CPU; NULL: unknown */
};

/*
 * Converts a count of the hardware's clock to ns of the recording's. Returns false if @conv, which
 * may be NULL, cannot convert.
 */
bool aux_time(const struct pd_time_conv *conv, uint64_t cycles, uint64_t *ret);

struct aux_stretch {
	const uint8_t *data;
	size_t len;
	uint64_t offset;   /* of the first byte */
	uint32_t cpu, tid; /* of the ring; UINT32_MAX: none */
	uint64_t from, to; /* the trace is of this time, if known; else 0 */
	/*
	 * So many bytes behind @len are the trace's next ones, if the stretch ends where the
	 * decoder can synchronise. It may look at them to finish what began in the stretch.
	 */
	size_t more;
};

/* A task at a time: whose code runs. */
struct aux_task {
	uint32_t pid, tid; /* UINT32_MAX: unknown */
	uint8_t cpumode;   /* PERF_RECORD_MISC_USER or _KERNEL */
};

#define AUX_MISSING_MAX 112 /* bytes of such a name that are shown, with the NUL */

/* Code and tasks as the recording knows them. The functions may be called from any thread. */
struct aux_code {
	/*
	 * Copies at most @len bytes of code at @addr, as it was at @time, to @buf. Returns how
	 * many, which ends with the map of @addr, or -ENOENT. Then *@ret_missing, if not NULL, is
	 * the name of the file that lacks them, with its build-id; NULL where there is no map.
	 */
	int (*read)(void *arg, const struct aux_task *task, uint64_t time, uint64_t addr, void *buf,
		    size_t len, const char **ret_missing);
	/* Finds the thread that ran on @cpu at @time. Returns false if it is unknown. */
	bool (*task_on)(void *arg, uint32_t cpu, uint64_t time, struct aux_task *ret);
	void *arg;
	/*
	 * Returns a number that differs between two times if code may have changed in between
	 * without a change of maps. NULL: it never does.
	 */
	uint64_t (*version)(void *arg, uint64_t time);
	/*
	 * Returns whether code of @task that read() found at a time from @first to @last is the
	 * same at @last, but for what version() tells. It may return false although it is. NULL:
	 * unknown.
	 */
	bool (*steady)(void *arg, const struct aux_task *task, uint64_t first, uint64_t last);
};

/* Kinds of events that the user wants; a decoder leaves out the others where that is cheaper. */
enum {
	AUX_WANT_BRANCHES = 1u << 0,
	AUX_WANT_INSNS = 1u << 1, /* an event for each instruction */
	AUX_WANT_BLOCKS = 1u << 2,
	AUX_WANT_OTHERS = 1u << 3, /* power, PTWRITE, transactions, … */
	/*
	 * With AUX_WANT_BLOCKS: those of one time and task but the first may be one event, whose
	 * @ip is of the last block, and whose @insns are the instructions of all.
	 */
	AUX_WANT_COUNTS = 1u << 4,
};

/* --- events --------------------------------------------------------------------------------------
 */

enum aux_event_kind {
	AUX_EVENT_BRANCH,  /* control went from @ip to @to */
	AUX_EVENT_INSN,	   /* the instruction at @ip was executed */
	AUX_EVENT_BLOCK,   /* @insns instructions were executed in sequence, from @ip on */
	AUX_EVENT_PTWRITE, /* the instruction at @ip wrote @value */
	AUX_EVENT_POWER,   /* @text and @value say what changed */
	AUX_EVENT_SAMPLE,  /* @sample: an operation that the hardware sampled (SPE) */
	AUX_EVENT_RECORD,  /* @value: a record of the test PMU, by its number */
	AUX_EVENT_LOST,	   /* the hardware says that trace is missing here */
	AUX_EVENT_ERROR,   /* @text says what could not be decoded */
	AUX_EVENTS,
};

/* Why something could not be decoded. */
enum aux_cause {
	AUX_CAUSE_TRACE, /* the trace is damaged, or does not fit the code */
	AUX_CAUSE_CODE,	 /* code is missing */
	AUX_CAUSE_OTHER, /* the trace begins before a synchronisation point, or is of no known unit
			  */
};

/* Of branches and instructions; values as perf's PERF_IP_FLAG_*. */
enum {
	AUX_BRANCH = 1u << 0,
	AUX_CALL = 1u << 1,
	AUX_RETURN = 1u << 2,
	AUX_CONDITIONAL = 1u << 3,
	AUX_SYSCALLRET = 1u << 4,
	AUX_ASYNC = 1u << 5,
	AUX_INTERRUPT = 1u << 6,
	AUX_TX_ABORT = 1u << 7,
	AUX_TRACE_BEGIN = 1u << 8,
	AUX_TRACE_END = 1u << 9,
	AUX_IN_TX = 1u << 10,
	AUX_VMENTRY = 1u << 11,
	AUX_VMEXIT = 1u << 12,
};

/* What an operation did, in bits of aux_op.events; as SPE's event packet names them. */
struct aux_op {
	uint64_t events;				      /* raw bits of the architecture */
	uint64_t virt, phys;				      /* address of the data; 0: none */
	uint64_t context;				      /* of the context packet */
	uint32_t latency, issue_latency, translation_latency; /* cycles; 0: none */
	uint16_t source;				      /* raw data source */
	uint8_t op_class, op_type;
};

/* The vector extension of an operation, and how many lanes its predicate has active. */
enum aux_simd_arch {
	AUX_SIMD_NONE,
	AUX_SIMD_SVE,
	AUX_SIMD_SME,
	AUX_SIMD_ASE, /* Advanced SIMD, and scalar floating point that the trace tells as such */
};
enum aux_simd_lanes {
	AUX_LANES_UNKNOWN,
	AUX_LANES_PARTIAL,
	AUX_LANES_EMPTY,
	AUX_LANES_FULL,
	AUX_LANES_NO_PREDICATE, /* the operation has none */
};
#define AUX_SIMD_BITS 5 /* of both */

/* Returns both in the AUX_SIMD_BITS low bits; 0: no vector operation. */
static inline uint8_t aux_simd(enum aux_simd_arch arch, enum aux_simd_lanes lanes)
{
	return (uint8_t)(arch << 3 | lanes);
}

/* Returns the extension in such a value. */
static inline enum aux_simd_arch aux_simd_arch(uint8_t simd)
{
	return simd >> 3;
}

/* Returns the lanes in such a value. */
static inline enum aux_simd_lanes aux_simd_lanes(uint8_t simd)
{
	return simd & 7;
}

struct aux_event {
	enum aux_event_kind kind;
	uint64_t offset; /* of the packet that tells it, the last one of several */
	uint64_t time;	 /* of the newest time in the trace before it */
	struct aux_task task;
	uint32_t cpu_plus_1; /* that executed it, where the trace says it; 0: that of the ring */
	uint64_t ip, to;     /* 0: outside the trace (filtered, or tracing was off) */
	uint64_t insns;	     /* AUX_EVENT_BLOCK; of a branch: since the branch before, if known */
	uint64_t cycles;     /* since the event before that has any */
	uint32_t flags;	     /* AUX_BRANCH, … */
	uint8_t insn_len;    /* AUX_EVENT_INSN, and of branches if known */
	uint8_t simd;	     /* aux_simd(); 0: no vector operation */
	uint8_t insn[16];
	uint64_t value;
	struct aux_op sample;
	enum aux_cause cause; /* AUX_EVENT_ERROR */
	char text[160];	      /* AUX_EVENT_ERROR, _POWER */
};

/* Returns perf's letters for flags, such as "call" or "tr strt jmp", in @buf, which it fills. */
const char *aux_flags_name(uint32_t flags, char *buf, size_t size);

/* --- decoders ------------------------------------------------------------------------------------
 */

/* A packet, for those who look into a trace. */
struct aux_packet {
	size_t len;	/* bytes, at least 1 */
	bool bad;	/* these bytes are no packet; the next synchronisation point is behind */
	char text[128]; /* its name and what it holds, such as "TIP 0x401000" */
};

/* A decoder's own state. */
struct aux_decoder;

/* The functions of a kind of trace. All return -ENOMEM when memory is short. */
struct aux_decoder_ops {
	const char *name;  /* "intel_pt", … */
	const char *lacks; /* the library that the program was built without; NULL: none */
	/* Loads its library. Returns 0, or -ELIBACC with @err filled. NULL: it needs none. */
	int (*load)(struct error *err);

	/*
	 * Returns the offset in @data of the first synchronisation point at or behind @from; @len
	 * if there is none. Bytes before @from are earlier ones of the trace, for decoders that
	 * must look behind. Contiguous trace begins at 0 if @from is 0.
	 */
	size_t (*sync)(const struct aux_setup *setup, const uint8_t *data, size_t len, size_t from);

	/*
	 * Begins a walk over the packets of @stretch; NULL where the trace is not decoded by
	 * packets. packet_next() returns 1 with *@ret, or 0 at the end. Packets cover all bytes.
	 */
	int (*packets)(const struct aux_setup *setup, const struct aux_stretch *stretch,
		       struct aux_decoder **ret);
	int (*packet_next)(struct aux_decoder *d, struct aux_packet *ret);

	/*
	 * Begins to decode @stretch; NULL in a build without this decoder. What the pointers lead
	 * to outlives the instance. Returns 0, or a negative errno: -ENOTSUP for a setup that the
	 * decoder does not know.
	 */
	int (*begin)(const struct aux_setup *setup, const struct aux_stretch *stretch,
		     const struct aux_code *code, unsigned int want, struct aux_decoder **ret);
	/*
	 * Begins another stretch with an instance of begin(), for the same code and events. So the
	 * instance may keep what it knows of the code. NULL: not supported. Returns as begin().
	 */
	int (*again)(struct aux_decoder *d, const struct aux_setup *setup,
		     const struct aux_stretch *stretch);
	/* Returns 1 with *@ret, 0 at the end of the stretch, or a negative errno. */
	int (*next)(struct aux_decoder *d, struct aux_event *ret);

	/* Frees an instance of packets() or begin(); accepts NULL. */
	void (*end)(struct aux_decoder *d);
};

#endif
