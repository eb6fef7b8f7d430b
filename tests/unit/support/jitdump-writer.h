/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a jitdump as a JIT does, in either byte order. */
#ifndef RINGTAIL_TESTS_JITDUMP_WRITER_H
#define RINGTAIL_TESTS_JITDUMP_WRITER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/buf.h"

#define JITDUMP_PID 42

/* A jitdump in the making. */
struct jitdump_writer {
	bool swap;
	struct buf b;
};

static inline void jitw_put32(struct jitdump_writer *d, uint32_t v)
{
	v = d->swap ? __builtin_bswap32(v) : v;
	assert_int_equal(buf_append(&d->b, &v, sizeof(v)), 0);
}

static inline void jitw_put64(struct jitdump_writer *d, uint64_t v)
{
	v = d->swap ? __builtin_bswap64(v) : v;
	assert_int_equal(buf_append(&d->b, &v, sizeof(v)), 0);
}

static inline void jitw_header(struct jitdump_writer *d, uint64_t flags)
{
	jitw_put32(d, 0x4a695444);
	jitw_put32(d, 1);
	jitw_put32(d, 40);
	jitw_put32(d, 62);
	jitw_put32(d, 0);
	jitw_put32(d, JITDUMP_PID);
	jitw_put64(d, 1);
	jitw_put64(d, flags);
}

static inline void jitw_record(struct jitdump_writer *d, uint32_t id, uint32_t size, uint64_t time)
{
	jitw_put32(d, id);
	jitw_put32(d, size);
	jitw_put64(d, time);
}

/* Returns the place of the code in the file. */
static inline size_t jitw_load(struct jitdump_writer *d, uint64_t time, uint64_t addr,
			       uint64_t index, const char *name, const char *code)
{
	jitw_record(d, 0, (uint32_t)(56 + strlen(name) + 1 + strlen(code)), time);
	jitw_put32(d, JITDUMP_PID);
	jitw_put32(d, JITDUMP_PID);
	jitw_put64(d, addr);
	jitw_put64(d, addr);
	jitw_put64(d, strlen(code));
	jitw_put64(d, index);
	assert_int_equal(buf_append(&d->b, name, strlen(name) + 1), 0);
	assert_int_equal(buf_append(&d->b, code, strlen(code)), 0);
	return d->b.len - strlen(code);
}

static inline void jitw_move(struct jitdump_writer *d, uint64_t time, uint64_t from, uint64_t to,
			     uint64_t size, uint64_t index)
{
	jitw_record(d, 1, 64, time);
	jitw_put32(d, JITDUMP_PID);
	jitw_put32(d, JITDUMP_PID);
	jitw_put64(d, to);
	jitw_put64(d, from);
	jitw_put64(d, to);
	jitw_put64(d, size);
	jitw_put64(d, index);
}

#endif
