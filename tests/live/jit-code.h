/* SPDX-License-Identifier: Apache-2.0 */
/* The code that the JITs of the tests make: it counts down for about a quarter of a second. */
#ifndef RINGTAIL_TESTS_LIVE_JIT_CODE_H
#define RINGTAIL_TESTS_LIVE_JIT_CODE_H

#include <stdint.h>

#if defined(__x86_64__)
/* mov $0x20000000, %ecx; 1: dec %ecx; jnz 1b; ret */
static const uint8_t code[] = {0xb9, 0, 0, 0, 0x20, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
#elif defined(__aarch64__)
/* mov w0, #0x20000000; 1: subs w0, w0, #1; b.ne 1b; ret */
static const uint32_t code[] = {0x52a40000, 0x71000400, 0x54ffffe1, 0xd65f03c0};
#else
static const uint8_t code[] = {0};
#endif

#endif
