/* SPDX-License-Identifier: Apache-2.0 */
/* Sort keys of instructions per cycle, whose values are known only behind the last sample. */
#ifndef RINGTAIL_REPORT_TABLE_KEYS_IPC_H
#define RINGTAIL_REPORT_TABLE_KEYS_IPC_H

#include "report/blocks/ipc.h"
#include "report/table/hist.h"

/*
 * Puts the IPC of the function into each cell of a key that is of_blocks: the cells then point into
 * @list, which must outlive them. No row may be looked up afterwards.
 */
void keys_ipc_fill(struct hist *h, const struct ipc_list *list);

#endif
