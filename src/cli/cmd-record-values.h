/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the arguments of the options of `ringtail record`, except events. */
#ifndef RINGTAIL_CLI_CMD_RECORD_VALUES_H
#define RINGTAIL_CLI_CMD_RECORD_VALUES_H

#include <argp.h>

#include "cli/cmd-record-options.h"

/* Options without a letter. */
enum record_key {
	KEY_AFFINITY = 256,
	KEY_AIO,
	KEY_ALL_CGROUPS,
	KEY_ALL_KERNEL,
	KEY_ALL_USER,
	KEY_AUX_SAMPLE,
	KEY_BUFFER_MEMORY,
	KEY_BUILDID_ALL,
	KEY_BUILDID_MMAP,
	KEY_BPF_FILTER,
	KEY_CALL_GRAPH,
	KEY_CLANG_OPT,
	KEY_CLANG_PATH,
	KEY_CODE_PAGE,
	KEY_CONTROL,
	KEY_DATA_MMAP,
	KEY_DATA_PAGE,
	KEY_DEBUGINFOD,
	KEY_DRY_RUN,
	KEY_DURATION,
	KEY_EXCLUDE_PERF,
	KEY_EXIT_WITH_PARENT,
	KEY_FAIL_ON_LOSS,
	KEY_FILTER,
	KEY_FLUSH_INTERVAL,
	KEY_FOR_EACH_CGROUP,
	KEY_GROUP,
	KEY_KCORE,
	KEY_KERNEL_CALLCHAINS,
	KEY_LAST,
	KEY_NAMESPACES,
	KEY_NO_BPF_EVENT,
	KEY_NO_PROPAGATE_STATUS,
	KEY_NO_CONTROL_SOCKET,
	KEY_NUM_THREAD_SYNTHESIZE,
	KEY_OFF_CPU,
	KEY_OFF_CPU_THRESH,
	KEY_OVERWRITE,
	KEY_PER_THREAD,
	KEY_PHYS_DATA,
	KEY_PROC_MAP_TIMEOUT,
	KEY_PROPAGATE_STATUS,
	KEY_RUNNING_TIME,
	KEY_SAMPLE_CPU,
	KEY_SAMPLE_IDENTIFIER,
	KEY_SAMPLE_MEM_INFO,
	KEY_SETUP_FILTER,
	KEY_STRICT_FREQ,
	KEY_LATENCY,
	KEY_SINCE_LAST,
	KEY_SNAPSHOT_ON_CRASH,
	KEY_SNAPSHOT_ON_EXIT,
	KEY_SNAPSHOT_SCOPE,
	KEY_MAX_CPU,
	KEY_MAX_SIZE,
	KEY_SYMBOLS,
	KEY_SYMBOLS_BUDGET,
	KEY_MAX_STACK,
	KEY_MMAP_FLUSH,
	KEY_NO_BUFFERING,
	KEY_SWITCH_EVENTS,
	KEY_SWITCH_MAX_FILES,
	KEY_SWITCH_OUTPUT,
	KEY_SWITCH_OUTPUT_EVENT,
	KEY_SYNTH,
	KEY_TAIL_SYNTHESIZE,
	KEY_THREADS,
	KEY_TIMESTAMP_BOUNDARY,
	KEY_TIMESTAMP_FILENAME,
	KEY_TRANSACTION,
	KEY_TRIGGER,
	KEY_USER_CALLCHAINS,
	KEY_USER_REGS,
	KEY_VMLINUX,
};

/*
 * Sets the option @key with its argument @arg, which is borrowed. Returns false if @key is not an
 * option of this module. If the argument is wrong, prints an error and exits with 2.
 */
bool record_value_take(struct argp_state *state, struct record_command *cmd, int key,
		       const char *arg);

/* Returns @arg of @option, a number from @min to @max. If it is none, exits with 2. */
uint64_t record_number(struct argp_state *state, const char *option, const char *arg, uint64_t min,
		       uint64_t max);

/* Prints an error and exits with 1: the usage is right, but the recording is not possible. */
void __attribute__((noreturn, format(printf, 1, 2))) record_fail(const char *fmt, ...);

#endif
