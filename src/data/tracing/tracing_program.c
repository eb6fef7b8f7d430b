// SPDX-License-Identifier: Apache-2.0
/* Runs programs. Source of what is printed: libtraceevent, src/event-parse.c, print_event_cache().
 */
#include "data/tracing/tracing_program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/outbuf.h"
#include "data/tracing/tracing_program_priv.h"

/* A program that prints a record. */
struct printing {
	const struct tracing_program *p;
	const uint8_t *data;
	uint32_t size;
	struct buf *out;
	const struct program_piece *piece; /* the current one */
};

void tracing_program_free(struct tracing_program *p)
{
	if (!p)
		return;
	free(p->nodes);
	free(p->names);
	free(p->pieces);
	buf_release(&p->texts);
	free(p);
}

static inline int put(struct buf *out, const void *p, size_t n)
{
	if (out->cap - out->len < n)
		return buf_append(out, p, n);
	short_copy(out->data + out->len, p, n);
	out->len += n;
	return 0;
}

static int put_repeated(struct buf *out, char c, size_t n)
{
	int rc = buf_reserve(out, n);

	if (rc)
		return rc;
	memset(out->data + out->len, c, n);
	out->len += n;
	return 0;
}

/* --- numbers -------------------------------------------------------------------------------------
 */

static uint64_t read_number(const uint8_t *p, uint32_t size)
{
	uint16_t n16;
	uint32_t n32;
	uint64_t n64;

	switch (size) {
	case 1: return *p;
	case 2: memcpy(&n16, p, sizeof(n16)); return n16;
	case 4: memcpy(&n32, p, sizeof(n32)); return n32;
	default: memcpy(&n64, p, sizeof(n64)); return n64;
	}
}

static uint64_t compute(enum node_op op, uint64_t a, uint64_t b)
{
	switch (op) {
	case NODE_NOT: return !b;
	case NODE_INVERT: return ~b;
	case NODE_OR: return a | b;
	case NODE_OR_ELSE: return a || b;
	case NODE_AND: return a & b;
	case NODE_AND_ALSO: return a && b;
	case NODE_LESS: return a < b;
	case NODE_LESS_EQUAL: return a <= b;
	case NODE_GREATER: return a > b;
	case NODE_GREATER_EQUAL: return a >= b;
	case NODE_EQUAL: return a == b;
	case NODE_UNEQUAL: return a != b;
	case NODE_SHIFT_LEFT: return a << b;
	case NODE_SHIFT_RIGHT: return a >> b;
	case NODE_ADD: return a + b;
	case NODE_SUBTRACT: return a - b;
	case NODE_MULTIPLY: return a * b;
	default: return a / b;
	}
}

static inline uint64_t evaluate(const struct printing *pr, uint32_t node);

static uint64_t evaluate_node(const struct printing *pr, const struct program_node *n)
{
	switch (n->op) {
	case NODE_CONSTANT: return n->value;
	case NODE_NUMBER: return read_number(pr->data + n->offset, n->size);
	case NODE_LENGTH: return read_number(pr->data + n->offset, 4) >> 16;
	case NODE_MASKED: return evaluate(pr, n->a) & n->value;
	case NODE_CHOICE: return evaluate(pr, evaluate(pr, n->a) ? n->b : n->c);
	default: return compute(n->op, evaluate(pr, n->a), evaluate(pr, n->b));
	}
}

/* Inline for what most nodes are: a number of the record. */
static inline uint64_t evaluate(const struct printing *pr, uint32_t node)
{
	const struct program_node *n = &pr->p->nodes[node];

	return n->op == NODE_NUMBER ? read_number(pr->data + n->offset, n->size)
				    : evaluate_node(pr, n);
}

/* The value as C's conversions of that length take it. */
static int64_t narrow_signed(uint64_t v, int ls)
{
	return ls == -2 ? (int8_t)v : ls == -1 ? (int16_t)v : ls == 0 ? (int32_t)v : (int64_t)v;
}

static uint64_t narrow_unsigned(uint64_t v, int ls)
{
	return ls == -2 ? (uint8_t)v : ls == -1 ? (uint16_t)v : ls == 0 ? (uint32_t)v : v;
}

static char *hex_before(char *end, uint64_t v, const char *digits)
{
	do {
		*--end = digits[v & 15];
		v >>= 4;
	} while (v);
	return end;
}

#define ZEROS_MAX 32 /* that are put with the number */

static int put_number(struct printing *pr, uint64_t value)
{
	const struct program_piece *piece = pr->piece;
	char text[24 + ZEROS_MAX], *end = text + sizeof(text), *p, prefix[2];
	uint64_t v = narrow_unsigned(value, piece->ls);
	size_t before = 0, len, pad;
	int rc = 0;

	if (piece->type == 'd' || piece->type == 'i') {
		int64_t number = narrow_signed(value, piece->ls);

		p = decimal_before(end, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
		if (number < 0)
			prefix[before++] = '-';
	} else if (piece->type == 'u') {
		p = decimal_before(end, v);
	} else {
		p = hex_before(end, v,
			       piece->type == 'x' ? "0123456789abcdef" : "0123456789ABCDEF");
		if (piece->alternate && v) {
			prefix[before++] = '0';
			prefix[before++] = piece->type;
		}
	}
	len = (size_t)(end - p) + before;
	pad = len < piece->width ? piece->width - len : 0;
	if (piece->zeros && !piece->left && pad <= ZEROS_MAX)
		for (; pad; pad--)
			*--p = '0';
	if (pad && !piece->left && !piece->zeros)
		rc = put_repeated(pr->out, ' ', pad);
	if (!rc && before)
		rc = put(pr->out, prefix, before);
	if (!rc && pad && !piece->left && piece->zeros)
		rc = put_repeated(pr->out, '0', pad);
	if (!rc)
		rc = put(pr->out, p, (size_t)(end - p));
	if (!rc && pad && piece->left)
		rc = put_repeated(pr->out, ' ', pad);
	return rc;
}

/* The format is the kernel's, and was checked: one conversion, of a number of that length. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static int put_by_printf(struct printing *pr, uint64_t value)
{
	const char *format = (const char *)pr->p->texts.data + pr->piece->text;

	switch (pr->piece->ls) {
	case -2: return buf_printf(pr->out, format, (signed char)value);
	case -1: return buf_printf(pr->out, format, (short)value);
	case 0: return buf_printf(pr->out, format, (int)value);
	case 1: return buf_printf(pr->out, format, (long)value);
	default: return buf_printf(pr->out, format, (long long)value);
	}
}
#pragma GCC diagnostic pop

/* As glibc's "%p". */
static int put_pointer(struct printing *pr, uint64_t value)
{
	char text[24], *end = text + sizeof(text), *p;

	if (!value)
		return put(pr->out, "(nil)", 5);
	p = hex_before(end, value, "0123456789abcdef");
	*--p = 'x';
	*--p = '0';
	return put(pr->out, p, (size_t)(end - p));
}

/* --- texts ---------------------------------------------------------------------------------------
 */

static int put_text(struct printing *pr, const void *text, size_t len)
{
	const struct program_piece *piece = pr->piece;
	size_t pad = len < piece->width ? piece->width - len : 0;
	int rc = 0;

	if (pad && !piece->left)
		rc = put_repeated(pr->out, ' ', pad);
	if (!rc)
		rc = put(pr->out, text, len);
	if (!rc && pad && piece->left)
		rc = put_repeated(pr->out, ' ', pad);
	return rc;
}

static int put_name(struct printing *pr, const struct program_name *name)
{
	return put_text(pr, pr->p->texts.data + name->text, name->len);
}

static int put_unnamed(struct printing *pr, uint64_t v)
{
	return v ? put_pointer(pr, v) : put(pr->out, "0x0", 3);
}

static int put_symbol(struct printing *pr, const struct program_node *n)
{
	const struct program_name *name = pr->p->names + n->first;
	int64_t v = (int64_t)evaluate(pr, n->a);

	for (uint32_t i = 0; i < n->count; i++) {
		if (name[i].value == v)
			return put_name(pr, &name[i]);
	}
	return put_unnamed(pr, (uint64_t)v);
}

static int put_flags(struct printing *pr, const struct program_node *n)
{
	const struct program_name *name = pr->p->names + n->first;
	const uint8_t *delimiter = pr->p->texts.data + n->offset;
	int64_t v = (int64_t)evaluate(pr, n->a);
	bool any = false;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < n->count; i++) {
		int64_t flag = name[i].value;

		if (!v && flag < 0) {
			rc = put_name(pr, &name[i]);
			break;
		}
		if (flag <= 0 || (v & flag) != flag)
			continue;
		rc = any ? put(pr->out, delimiter, n->size) : 0;
		if (!rc)
			rc = put_name(pr, &name[i]);
		any = true;
		v &= ~flag;
	}
	if (!rc && v) {
		rc = any ? put(pr->out, delimiter, n->size) : 0;
		if (!rc)
			rc = put_unnamed(pr, (uint64_t)v);
	}
	return rc;
}

/* The library reads up to a NUL, wherever that is; libraries differ in what they do without length.
 */
static int put_data(struct printing *pr, const struct program_node *n)
{
	uint64_t place = read_number(pr->data + n->offset, 4);
	uint64_t begin = (place & 0xffff) + n->value, len = place >> 16;

	if (!len || begin + len > pr->size)
		return -EAGAIN;
	return put_text(pr, pr->data + begin,
			strnlen((const char *)pr->data + begin, pr->size - begin));
}

static int put_text_node(struct printing *pr, uint32_t node)
{
	const struct program_node *n = &pr->p->nodes[node];

	switch (n->op) {
	case NODE_TEXT: return put_text(pr, pr->p->texts.data + n->offset, n->size);
	case NODE_TEXT_FIELD:
		return put_text(pr, pr->data + n->offset,
				strnlen((const char *)pr->data + n->offset, n->size));
	case NODE_TEXT_DATA: return put_data(pr, n);
	case NODE_TEXT_FLAGS: return put_flags(pr, n);
	case NODE_TEXT_SYMBOL: return put_symbol(pr, n);
	case NODE_TEXT_CHOICE: return put_text_node(pr, evaluate(pr, n->a) ? n->b : n->c);
	default: return 0;
	}
}

static int put_piece(struct printing *pr)
{
	const struct program_piece *piece = pr->piece;

	switch (piece->kind) {
	case PIECE_LITERAL: return put(pr->out, pr->p->texts.data + piece->text, piece->len);
	case PIECE_NUMBER: return put_number(pr, evaluate(pr, piece->node));
	case PIECE_PRINTF: return put_by_printf(pr, evaluate(pr, piece->node));
	case PIECE_POINTER: return put_pointer(pr, evaluate(pr, piece->node));
	default: return put_text_node(pr, piece->node);
	}
}

int tracing_program_print(const struct tracing_program *p, const struct tracing_data *data,
			  struct buf *out)
{
	struct printing pr = {.p = p, .data = data->p, .size = data->size, .out = out};
	size_t begin = out->len;
	int rc = data->swap || data->size < p->end ? -EAGAIN : 0;

	for (size_t i = 0; !rc && i < p->nr_pieces; i++) {
		pr.piece = &p->pieces[i];
		rc = put_piece(&pr);
	}
	if (rc)
		out->len = begin;
	return rc;
}
