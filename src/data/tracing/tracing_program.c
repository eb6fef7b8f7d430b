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

/* Writes the digits before @end, and zeros before them. Returns where the number begins. */
static char *hex_before(char *end, uint64_t v)
{
	if (v >> 32)
		hex_eight(end - 16, (uint32_t)(v >> 32));
	hex_eight(end - 8, (uint32_t)v);
	return end - hex_length(v);
}

static void make_upper(char *from, const char *end)
{
	for (; from < end; from++)
		*from = (char)(*from >= 'a' ? *from - 'a' + 'A' : *from);
}

static char *repeat(char *to, char c, size_t n)
{
	while (n--)
		*to++ = c;
	return to;
}

/* Writes at most NUMBER_MAX bytes to @to. Returns their end. */
static char *write_number(char *to, const struct program_piece *piece, uint64_t value)
{
	char text[NUMBER_MAX], *end = text + sizeof(text), *p, prefix[2];
	uint64_t v = value << piece->unused >> piece->unused;
	size_t before = 0, length, pad;

	memset(text, '0', sizeof(text));
	if (piece->type == 'd' || piece->type == 'i') {
		int64_t number = (int64_t)(value << piece->unused) >> piece->unused;

		p = decimal_before(end, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
		if (number < 0)
			prefix[before++] = '-';
	} else if (piece->type == 'u') {
		p = decimal_before(end, v);
	} else {
		p = hex_before(end, v);
		if (piece->type == 'X')
			make_upper(p, end);
		if (piece->alternate && v) {
			prefix[before++] = '0';
			prefix[before++] = piece->type;
		}
	}
	length = (size_t)(end - p);
	pad = length + before < piece->width ? piece->width - length - before : 0;
	if (piece->zeros && !piece->left)
		length += pad; /* zeros are there */
	else if (pad && !piece->left)
		to = repeat(to, ' ', pad);
	for (size_t i = 0; i < before; i++)
		*to++ = prefix[i];
	short_copy(to, end - length, length);
	to += length;
	return pad && piece->left ? repeat(to, ' ', pad) : to;
}

/* The format is the kernel's, and was checked: one conversion, of a number of that length. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static int put_by_printf(struct printing *pr, uint64_t value)
{
	const char *format = (const char *)pr->p->texts.data + pr->piece->format;

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
	p = hex_before(end, value);
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

static int put_argument(struct printing *pr)
{
	uint32_t node = pr->piece->node;

	switch (pr->piece->kind) {
	case PIECE_PRINTF: return put_by_printf(pr, evaluate(pr, node));
	case PIECE_POINTER: return put_pointer(pr, evaluate(pr, node));
	case PIECE_TEXT: return put_text_node(pr, node);
	default: return 0;
	}
}

static inline int put_piece(struct printing *pr, const struct program_piece *piece)
{
	struct buf *out = pr->out;
	size_t room = piece->len + NUMBER_MAX;
	char *begin, *to;

	if (out->cap - out->len < room && buf_reserve(out, room))
		return -ENOMEM;
	begin = to = (char *)out->data + out->len;
	short_copy(to, pr->p->texts.data + piece->text, piece->len);
	to += piece->len;
	if (piece->kind == PIECE_NUMBER)
		to = write_number(to, piece, evaluate(pr, piece->node));
	out->len += (size_t)(to - begin);
	if (piece->kind == PIECE_NUMBER || piece->kind == PIECE_LITERAL)
		return 0;
	pr->piece = piece;
	return put_argument(pr);
}

int tracing_program_print(const struct tracing_program *p, const struct tracing_data *data,
			  struct buf *out)
{
	struct printing pr = {.p = p, .data = data->p, .size = data->size, .out = out};
	size_t begin = out->len;
	int rc = data->swap || data->size < p->end ? -EAGAIN : 0;

	for (size_t i = 0; !rc && i < p->nr_pieces; i++)
		rc = put_piece(&pr, &p->pieces[i]);
	if (rc)
		out->len = begin;
	return rc;
}
