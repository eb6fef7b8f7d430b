// SPDX-License-Identifier: Apache-2.0
#include "data/tracing/tracing_check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "data/tracing/tracing_lex.h"
#include "data/tracing/tracing_roles.h"

#define PRINT_MAX    32768 /* bytes of the whole; those of the kernel are below 5000 */
#define TEXT_MAX     4096  /* bytes of adjacent literals */
#define DEPTH_MAX    48	   /* of parentheses and the like */
#define OPERANDS_MAX 400   /* of an argument: the library recurses for each */

#define ROLES_MAX 128 /* arguments */
#define TYPE_MAX  8   /* words of a type */

enum { NO_INDEX = 1 }; /* the library crashes on "a ? b : REC->c[1]" */

/* The library's form of an operand, as far as it matters. */
struct node {
	enum {
		NODE_OTHER,
		NODE_FIELD, /* a field or a cast of it */
		NODE_DATA,  /* the address of the data of a dynamic field */
	} kind;
	const struct tracing_field *field;
	bool cast;
};

struct check {
	const struct tracing_format *f;
	char *at; /* behind the current token */
	struct tracing_token tok;
	unsigned int long_size, depth, operands;
	struct tracing_needs *needs;
	struct tracing_number width; /* of the next conversion */
	bool no_memory;
};

static bool expression(struct check *c, struct node *n);
static bool operand(struct check *c, unsigned int flags, struct node *n);
static bool constant(struct check *c);
static bool call(struct check *c, struct node *n);

static void next(struct check *c)
{
	c->tok = tracing_token_next(&c->at);
}

static bool is_op(const struct check *c, const char *text)
{
	return tracing_token_is(&c->tok, TRACING_OP, text);
}

static bool is_word(const struct check *c, const char *text)
{
	return tracing_token_is(&c->tok, TRACING_WORD, text);
}

static bool take_op(struct check *c, const char *text)
{
	if (!is_op(c, text))
		return false;
	next(c);
	return true;
}

/* Takes one operator of a table that ends with NULL. */
static bool take_any(struct check *c, const char *const *ops)
{
	for (; *ops; ops++) {
		if (take_op(c, *ops))
			return true;
	}
	return false;
}

static bool need(struct check *c, struct tracing_need need)
{
	if (!tracing_needs_add(c->needs, &need))
		return true;
	c->no_memory = true;
	return false;
}

/* Joins adjacent literals. @to, of TEXT_MAX + 1 bytes, may be NULL. */
static bool strings(struct check *c, char *to)
{
	size_t len = 0;

	if (c->tok.kind != TRACING_TEXT)
		return false;
	for (; c->tok.kind == TRACING_TEXT; next(c)) {
		if (len + c->tok.len > TEXT_MAX)
			return false;
		if (to)
			memcpy(to + len, c->tok.p, c->tok.len);
		len += c->tok.len;
	}
	if (to)
		to[len] = '\0';
	return true;
}

/* "REC->name" or "(REC)->name". */
static bool is_field(const struct check *c)
{
	return is_word(c, "REC") || (is_op(c, "(") && !strncmp(c->at, "REC)", 4));
}

static bool field(struct check *c, const struct tracing_field **ret)
{
	if (take_op(c, "("))
		next(c);
	next(c);
	if (!take_op(c, "->") || c->tok.kind != TRACING_WORD)
		return false;
	*ret = tracing_format_field(c->f, c->tok.p, c->tok.len);
	next(c);
	return *ret;
}

/* "(name)" of a dynamic field; the library does not find the fields common to all events here. */
static bool data_field(struct check *c, const struct tracing_field **ret)
{
	const struct tracing_field *f;

	if (!take_op(c, "(") || c->tok.kind != TRACING_WORD)
		return false;
	f = tracing_format_field(c->f, c->tok.p, c->tok.len);
	next(c);
	if (!f || f < c->f->fields + c->f->nr_common || !(f->flags & TRACING_DYNAMIC) ||
	    f->size != 4)
		return false;
	*ret = f;
	return take_op(c, ")");
}

/* Parses the words of a type, with or without a star behind them. */
static bool type(struct check *c)
{
	unsigned int words = 0;

	for (; c->tok.kind == TRACING_WORD && !is_word(c, "REC"); next(c))
		words++;
	take_op(c, "*");
	return words && words <= TYPE_MAX;
}

/* Bytes of the type at the beginning of @text, up to a parenthesis; 0 if not known. */
static uint64_t type_size(char *text, unsigned int long_size)
{
	static const struct {
		const char *name;
		uint32_t size;
	} known[] = {
		/* The first two yield to the others: "unsigned char", "short int". */
		{"int", 4},    {"unsigned", 4}, {"char", 1},   {"short", 2},  {"bool", 1},
		{"u8", 1},     {"u16", 2},	{"u32", 4},    {"u64", 8},    {"s8", 1},
		{"s16", 2},    {"s32", 4},	{"s64", 8},    {"__u8", 1},   {"__u16", 2},
		{"__u32", 4},  {"__u64", 8},	{"__s8", 1},   {"__s16", 2},  {"__s32", 4},
		{"__s64", 8},  {"__le16", 2},	{"__le32", 4}, {"__le64", 8}, {"__be16", 2},
		{"__be32", 4}, {"__be64", 8},
	};
	unsigned int longs = 0;
	uint64_t size = 0;

	for (;;) {
		struct tracing_token t = tracing_token_next(&text);

		if (tracing_token_is(&t, TRACING_OP, "*"))
			return long_size;
		if (t.kind != TRACING_WORD)
			break;
		longs += tracing_token_is(&t, TRACING_WORD, "long");
		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
			if (tracing_token_is(&t, TRACING_WORD, known[i].name) && (i > 1 || !size))
				size = known[i].size;
		}
	}
	return longs > 1 ? sizeof(uint64_t) : longs ? long_size : size;
}

/* Replaces "sizeof(type)" in the text by the number: old versions of the library do not know it. */
static bool size_of(struct check *c, uint64_t *ret)
{
	char *begin = c->tok.p, *name, text[24];
	int len;

	next(c);
	if (!is_op(c, "("))
		return false;
	name = c->at;
	next(c);
	if (!type(c) || !is_op(c, ")"))
		return false;
	*ret = type_size(name, c->long_size);
	if (!*ret)
		return false;
	len = snprintf(text, sizeof(text), "%u", (unsigned int)*ret);
	memset(begin, ' ', (size_t)(c->at - begin));
	memcpy(begin, text, (size_t)len);
	next(c);
	return true;
}

static bool literal(struct check *c, uint64_t *ret)
{
	if (is_word(c, "sizeof"))
		return size_of(c, ret);
	*ret = c->tok.value;
	if (c->tok.kind != TRACING_NUMBER)
		return false;
	next(c);
	return true;
}

/*
 * Parses a divisor. No "/", "%" or "*" may follow: the library would put more than the number below
 * the "/".
 */
static bool divisor(struct check *c, uint64_t *ret)
{
	return literal(c, ret) && *ret && !is_op(c, "/") && !is_op(c, "%") && !is_op(c, "*");
}

static bool number_value(struct check *c, struct tracing_number *n)
{
	uint64_t bits;

	if (is_field(c)) {
		n->kind = TRACING_VALUE;
		return field(c, &n->field) && !(n->field->flags & TRACING_ARRAY);
	}
	if (is_word(c, "__get_dynamic_array_len")) {
		n->kind = TRACING_LENGTH;
		next(c);
		/* The library crashes on the length of a relative one. */
		return data_field(c, &n->field) && !(n->field->flags & TRACING_RELATIVE);
	}
	if (!literal(c, &n->value))
		return false;
	if (!take_op(c, "<<"))
		return true;
	if (!literal(c, &bits) || bits > 31 || n->value > UINT16_MAX)
		return false;
	n->value <<= bits;
	return true;
}

/*
 * Parses a number that gives the length of a read. Only simple forms are accepted, in which the
 * library and this code get the same value: a number, a shifted number, a field,
 * __get_dynamic_array_len(name), or one of these divided by a number.
 */
static bool number(struct check *c, struct tracing_number *n)
{
	unsigned int parens = 0;

	*n = (struct tracing_number){.kind = TRACING_CONSTANT, .div = 1};
	while (!is_field(c) && take_op(c, "("))
		parens++;
	if (parens > DEPTH_MAX || !number_value(c, n))
		return false;
	if (take_op(c, "/") && !divisor(c, &n->div))
		return false;
	while (parens && take_op(c, ")"))
		parens--;
	if (n->div == 1 && take_op(c, "/") && !divisor(c, &n->div))
		return false;
	return !parens;
}

/* "[number]" behind an array's field; the library takes only one pair. */
static bool subscript(struct check *c, unsigned int flags, struct node *n)
{
	const struct tracing_field *f = n->field;
	uint64_t i = c->tok.value;

	if (!take_op(c, "["))
		return true;
	if (flags & NO_INDEX || f->flags & TRACING_DYNAMIC || !f->count || f->count > f->size ||
	    c->tok.kind != TRACING_NUMBER)
		return false;
	i = c->tok.value;
	next(c);
	*n = (struct node){.kind = NODE_OTHER};
	return i < f->count && take_op(c, "]");
}

/* "(type)" */
static bool take_type(struct check *c)
{
	struct check ahead = *c;

	if (!take_op(&ahead, "(") || !type(&ahead) || !take_op(&ahead, ")"))
		return false;
	*c = ahead;
	return true;
}

/*
 * Whether the library parses "(type)" and this token as a cast. Otherwise the type is a name with
 * the value 0.
 */
static bool is_cast(const struct check *c)
{
	return c->tok.kind == TRACING_WORD || c->tok.kind == TRACING_NUMBER ||
	       c->tok.kind == TRACING_CHAR || is_op(c, "(");
}

static bool parenthesis(struct check *c, unsigned int flags, struct node *n)
{
	if (!take_type(c))
		return take_op(c, "(") && expression(c, n) && take_op(c, ")");
	if (!is_cast(c))
		return true;
	if (!operand(c, flags, n))
		return false;
	n->cast = true;
	return true;
}

static bool name(struct check *c)
{
	next(c);
	return !is_op(c, "(");
}

static bool operand_inner(struct check *c, unsigned int flags, struct node *n)
{
	static const char *const unary[] = {"-", "+", "~", "!", NULL};
	uint64_t ignored;

	if (is_field(c)) {
		n->kind = NODE_FIELD;
		return field(c, &n->field) && subscript(c, flags, n);
	}
	if (is_op(c, "("))
		return parenthesis(c, flags, n);
	if (take_any(c, unary)) {
		bool ok = operand(c, flags, n) && n->kind != NODE_DATA;

		n->kind = NODE_OTHER;
		return ok;
	}
	switch (c->tok.kind) {
	case TRACING_TEXT: return strings(c, NULL);
	case TRACING_NUMBER: return literal(c, &ignored);
	case TRACING_CHAR: next(c); return true;
	case TRACING_WORD:
		if (is_word(c, "sizeof"))
			return literal(c, &ignored);
		return *(c->at + strspn(c->at, " ")) == '(' ? call(c, n) : name(c);
	default: return false;
	}
}

static bool operand(struct check *c, unsigned int flags, struct node *n)
{
	bool ok;

	*n = (struct node){.kind = NODE_OTHER};
	if (++c->depth > DEPTH_MAX || ++c->operands > OPERANDS_MAX)
		return false;
	ok = operand_inner(c, flags, n);
	c->depth--;
	return ok;
}

static bool expression(struct check *c, struct node *n)
{
	static const char *const ops[] = {"|", "&", "^",  "<<", ">>", "<",  ">",  "<=", ">=",
					  "+", "-", "==", "!=", "*",  "||", "&&", NULL};
	static const char *const divisions[] = {"/", "%", NULL};
	struct node part;
	uint64_t div;
	bool alone = true, data;

	if (!operand(c, 0, n))
		return false;
	data = n->kind == NODE_DATA;
	for (;; alone = false) {
		if (take_any(c, divisions)) {
			if (!divisor(c, &div))
				return false;
		} else if (take_any(c, ops)) {
			if (!operand(c, 0, &part) || part.kind == NODE_DATA)
				return false;
		} else if (take_op(c, "?")) {
			if (!expression(c, &part) || part.kind == NODE_DATA || !take_op(c, ":"))
				return false;
			if (!operand(c, NO_INDEX, &part) || part.kind == NODE_DATA)
				return false;
		} else {
			break;
		}
	}
	if (!alone)
		*n = (struct node){.kind = NODE_OTHER};
	return alone || !data;
}

/*
 * The value in {value, "name"}. The library computes it while it parses, where it knows fewer
 * operators and fails on others.
 */
static bool constant_operand(struct check *c)
{
	bool ok = false;

	if (++c->depth > DEPTH_MAX || ++c->operands > OPERANDS_MAX)
		return false;
	if (take_op(c, "-") || take_op(c, "~")) {
		ok = constant_operand(c);
	} else if (take_type(c)) {
		ok = !is_cast(c) || constant_operand(c);
	} else if (take_op(c, "(")) {
		ok = constant(c) && take_op(c, ")");
	} else if (c->tok.kind == TRACING_NUMBER || c->tok.kind == TRACING_CHAR) {
		next(c);
		ok = true;
	} else if (c->tok.kind == TRACING_WORD && !is_word(c, "REC")) {
		ok = name(c);
	}
	c->depth--;
	return ok;
}

static bool constant(struct check *c)
{
	static const char *const ops[] = {
		"|", "&", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "+", "-", "||", "&&", NULL};

	do {
		if (!constant_operand(c))
			return false;
	} while (take_any(c, ops));
	return true;
}

/* Parses {value, "name"}, ... up to the parenthesis. */
static bool call_names(struct check *c)
{
	unsigned int operands = c->operands;

	do {
		c->operands = operands;
		if (!take_op(c, "{") || !constant(c) || !take_op(c, ","))
			return false;
		/* The library parses "}" behind "-1" as an operator. */
		if (is_op(c, "-") || is_op(c, "~"))
			return false;
		if (c->tok.kind == TRACING_TEXT ? !strings(c, NULL) : !constant_operand(c))
			return false;
		if (!take_op(c, "}"))
			return false;
	} while (take_op(c, ",") && !is_op(c, ")"));
	return take_op(c, ")");
}

static bool call_flags(struct check *c, struct node *n)
{
	return take_op(c, "(") && expression(c, n) && n->kind != NODE_DATA && take_op(c, ",") &&
	       strings(c, NULL) && take_op(c, ",") && call_names(c);
}

static bool call_symbolic(struct check *c, struct node *n)
{
	return take_op(c, "(") && expression(c, n) && n->kind != NODE_DATA && take_op(c, ",") &&
	       call_names(c);
}

/*
 * Parses the first argument of __print_hex() and __print_array(), the only one that the library
 * parses.
 */
static bool elements(struct check *c, const struct tracing_field **ret)
{
	if (is_word(c, "REC"))
		return field(c, ret);
	if (!is_word(c, "__get_dynamic_array") && !is_word(c, "__get_rel_dynamic_array"))
		return false;
	next(c);
	return data_field(c, ret);
}

static bool call_hex(struct check *c, struct node *n)
{
	struct tracing_need bytes = {.kind = TRACING_NEED_ELEMENTS, .size = 1};

	(void)n;
	c->needs->copies++;
	return take_op(c, "(") && elements(c, &bytes.field) && take_op(c, ",") &&
	       number(c, &bytes.number) && take_op(c, ")") && need(c, bytes);
}

static bool call_array(struct check *c, struct node *n)
{
	struct tracing_need array = {.kind = TRACING_NEED_ELEMENTS};
	uint64_t size = 0;

	(void)n;
	c->needs->copies++;
	if (!take_op(c, "(") || !elements(c, &array.field) || !take_op(c, ",") ||
	    !number(c, &array.number) || !take_op(c, ",") || !literal(c, &size) || !take_op(c, ")"))
		return false;
	array.size = (uint32_t)size;
	return (size == 1 || size == 2 || size == 4 || size == 8) && need(c, array);
}

static bool call_text(struct check *c, struct node *n)
{
	struct tracing_need data = {.kind = TRACING_NEED_DATA};

	(void)n;
	c->needs->copies++;
	return data_field(c, &data.field) && need(c, data);
}

static bool call_mask(struct check *c, struct node *n)
{
	struct tracing_need mask = {.kind = TRACING_NEED_MASK};

	(void)n;
	return data_field(c, &mask.field) && need(c, mask);
}

static bool call_data(struct check *c, struct node *n)
{
	n->kind = NODE_DATA;
	return data_field(c, &n->field) &&
	       need(c, (struct tracing_need){.kind = TRACING_NEED_DATA, .field = n->field});
}

static bool call_length(struct check *c, struct node *n)
{
	struct tracing_need data = {.kind = TRACING_NEED_DATA};

	(void)n;
	return data_field(c, &data.field) && !(data.field->flags & TRACING_RELATIVE) &&
	       need(c, data);
}

/*
 * __builtin_expect(operand, number): the library accepts an operator in the operand only behind
 * "!".
 */
static bool call_expect(struct check *c, struct node *n)
{
	uint64_t ignored;

	if (!take_op(c, "("))
		return false;
	if (is_op(c, "!") ? !expression(c, n) : !operand(c, NO_INDEX, n))
		return false;
	return n->kind != NODE_DATA && take_op(c, ",") && c->tok.kind == TRACING_NUMBER &&
	       literal(c, &ignored) && take_op(c, ")");
}

static bool call(struct check *c, struct node *n)
{
	static const struct {
		const char *name;
		bool (*check)(struct check *c, struct node *n);
	} calls[] = {
		{"__print_flags", call_flags},
		{"__print_flags_u64", call_flags},
		{"__print_symbolic", call_symbolic},
		{"__print_symbolic_u64", call_symbolic},
		{"__print_hex", call_hex},
		{"__print_hex_str", call_hex},
		{"__print_array", call_array},
		{"__get_str", call_text},
		{"__get_rel_str", call_text},
		{"__get_bitmask", call_mask},
		{"__get_rel_bitmask", call_mask},
		{"__get_cpumask", call_mask},
		{"__get_rel_cpumask", call_mask},
		{"__get_dynamic_array", call_data},
		{"__get_rel_dynamic_array", call_data},
		{"__get_sockaddr", call_data},
		{"__get_dynamic_array_len", call_length},
		{"__builtin_expect", call_expect},
	};
	struct node inner = {.kind = NODE_OTHER};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (!is_word(c, calls[i].name))
			continue;
		/* The library has one function for both sizes of values. */
		if (c->tok.len > 4 && !memcmp(c->tok.p + c->tok.len - 4, "_u64", 4))
			memset(c->tok.p + c->tok.len - 4, ' ', 4);
		next(c);
		if (!calls[i].check(c, &inner))
			return false;
		if (calls[i].check == call_data)
			*n = inner;
		return true;
	}
	return false;
}

static bool argument(struct check *c, const struct tracing_role *role)
{
	struct tracing_need extent = {.kind = TRACING_NEED_SOCKADDR};
	struct tracing_number width = c->width;
	struct node n;

	c->operands = 0;
	c->width = (struct tracing_number){.value = 1, .div = 1};
	if (role->kind == TRACING_ROLE_WIDTH)
		return number(c, &c->width) &&
		       need(c,
			    (struct tracing_need){.kind = TRACING_NEED_WIDTH, .number = c->width});
	if (!expression(c, &n))
		return false;
	extent.field = n.field;
	switch (role->kind) {
	case TRACING_ROLE_TEXT: c->needs->copies++; return n.kind != NODE_DATA;
	case TRACING_ROLE_FIELD:
		return n.kind == NODE_FIELD && n.field->size == role->size &&
		       !(n.field->flags & TRACING_DYNAMIC);
	case TRACING_ROLE_SOCKADDR:
		if (n.kind == NODE_FIELD && n.field->flags & TRACING_DYNAMIC)
			return false;
		return n.kind != NODE_OTHER && need(c, extent);
	case TRACING_ROLE_BUFFER:
		c->needs->copies++;
		extent.kind = TRACING_NEED_ELEMENTS;
		extent.number = width;
		extent.size = 1;
		return n.kind == NODE_DATA && !n.cast && need(c, extent);
	default: return n.kind != NODE_DATA;
	}
}

static bool print_is_good(struct check *c)
{
	struct tracing_role roles[ROLES_MAX];
	char format[TEXT_MAX + 1];
	int nr, at = 0;

	next(c);
	if (!strings(c, format))
		return false;
	nr = tracing_roles(format, roles, ROLES_MAX);
	if (nr < 0)
		return false;
	while (take_op(c, ",")) {
		static const struct tracing_role surplus = {.kind = TRACING_ROLE_NUMBER};

		if (!argument(c, at < nr ? &roles[at] : &surplus))
			return false;
		at += at < nr;
	}
	return at == nr && c->tok.kind == TRACING_END;
}

int tracing_check_print(const struct tracing_format *f, char *print, unsigned int long_size,
			struct tracing_needs *ret)
{
	struct tracing_needs needs = {0};
	struct check c = {.f = f, .at = print, .long_size = long_size, .needs = &needs};

	if (strlen(print) <= PRINT_MAX && print_is_good(&c)) {
		*ret = needs;
		return 0;
	}
	tracing_needs_release(&needs);
	return c.no_memory ? -ENOMEM : -EINVAL;
}
