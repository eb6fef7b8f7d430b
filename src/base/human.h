/* SPDX-License-Identifier: Apache-2.0 */
/* Formats numbers for messages. Each function returns @out. Any thread. */
#ifndef RINGTAIL_BASE_HUMAN_H
#define RINGTAIL_BASE_HUMAN_H

#include <stdint.h>

#define HUMAN_COUNT_SIZE 27
#define HUMAN_SIZE_SIZE	 16

/* Writes 12345678 as "12,345,678". */
const char *human_count(uint64_t n, char out[HUMAN_COUNT_SIZE]);

/* Writes 1572864 bytes as "1.5 MB". */
const char *human_size(uint64_t bytes, char out[HUMAN_SIZE_SIZE]);

#endif
