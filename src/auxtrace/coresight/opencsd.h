/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of libopencsd that the decoder uses. Internal to auxtrace/coresight. */
#ifndef RINGTAIL_AUXTRACE_CORESIGHT_OPENCSD_H
#define RINGTAIL_AUXTRACE_CORESIGHT_OPENCSD_H

#include <opencsd/c_api/opencsd_c_api.h>

#include "sys/io/library.h"

#define OPENCSD_FUNCTIONS(X)              \
	X(ocsd_def_errlog_init)           \
	X(ocsd_create_dcd_tree)           \
	X(ocsd_destroy_dcd_tree)          \
	X(ocsd_dt_create_decoder)         \
	X(ocsd_dt_process_data)           \
	X(ocsd_dt_attach_packet_callback) \
	X(ocsd_dt_set_gen_elem_outfn) X(ocsd_dt_add_callback_mem_acc) X(ocsd_pkt_str)

/* clang-format off */
struct opencsd {
	OPENCSD_FUNCTIONS(LIBRARY_POINTER)
};
/* clang-format on */

/* Returns 0, or -ELIBACC with @err filled: the library is not installed. Any thread. */
int opencsd_load(struct opencsd *ret, struct error *err);

#endif
