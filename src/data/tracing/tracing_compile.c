// SPDX-License-Identifier: Apache-2.0
/*
 * Compiles formats, of libtraceevent's tree of the arguments and its text of the format.
 *
 * Whatever it does not know makes the whole format the library's. Source of what the tree means:
 * libtraceevent, src/event-parse.c, eval_num_arg(), print_str_arg() and parse_args().
 */
#include "data/tracing/tracing_program.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/tracing/tracing_program_priv.h"

#define DEPTH_MAX  64 /* of expressions; programs recurse for each */
#define FORMAT_MAX 28 /* bytes of a conversion; the library cuts those above 30 */

struct compiler {
	struct tep_event *event;
	struct tracing_program *p;
	unsigned int depth;
};

static int number(struct compiler *c, struct tep_print_arg *arg, uint32_t *ret);
static int text(struct compiler *c, struct tep_print_arg *arg, uint32_t *ret);

static int add_node(struct compiler *c, const struct program_node *n, uint32_t *ret)
{
	struct tracing_program *p = c->p;

	if (array_grow(&p->nodes, &p->cap_nodes, p->nr_nodes + 1, sizeof(*p->nodes)))
		return -ENOMEM;
	*ret = (uint32_t)p->nr_nodes;
	p->nodes[p->nr_nodes++] = *n;
	return 0;
}

static int add_text(struct compiler *c, const char *s, uint32_t *ret, uint32_t *ret_len)
{
	size_t len = strlen(s);

	*ret = (uint32_t)c->p->texts.len;
	*ret_len = (uint32_t)len;
	return buf_append(&c->p->texts, s, len + 1);
}

/* Every record that the program prints reaches to there. */
static int need_bytes(struct compiler *c, int64_t offset, int64_t size)
{
	if (offset < 0 || size <= 0 || offset + size > 65536)
		return -ENOTSUP;
	if (c->p->end < offset + size)
		c->p->end = (uint32_t)(offset + size);
	return 0;
}

static bool is_number_size(int64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* --- numbers -------------------------------------------------------------------------------------
 */

static int add_number(struct compiler *c, int64_t offset, int64_t size, uint32_t *ret)
{
	int rc = is_number_size(size) ? need_bytes(c, offset, size) : -ENOTSUP;
	struct program_node n = {
		.op = NODE_NUMBER, .offset = (uint32_t)offset, .size = (uint32_t)size};

	return rc ?: add_node(c, &n, ret);
}

static const struct tep_format_field *field_of(struct compiler *c, struct tep_print_arg *arg)
{
	return arg->field.field ?: tep_find_any_field(c->event, arg->field.name);
}

static int field_number(struct compiler *c, struct tep_print_arg *arg, uint32_t *ret)
{
	const struct tep_format_field *f = field_of(c, arg);

	return f ? add_number(c, f->offset, f->size, ret) : -ENOTSUP;
}

/* Names may be symbols of the kernel, to newer libraries. */
static int atom(struct compiler *c, const char *s, uint32_t *ret)
{
	struct program_node n = {.op = NODE_CONSTANT};

	if (!s || !isdigit((unsigned char)*s))
		return -ENOTSUP;
	n.value = strtoull(s, NULL, 0);
	return add_node(c, &n, ret);
}

/* The mask of a cast: the library never extends a sign. A pointer and all other types: none. */
static uint64_t mask_of(const char *type)
{
	static const struct {
		const char *name;
		uint64_t mask;
	} masks[] = {
		{"u8", 0xff},	{"u16", 0xffff},   {"u32", 0xffffffff},
		{"s8", 0xff},	{"s16", 0xffff},   {"s32", 0xffffffff},
		{"char", 0xff}, {"short", 0xffff}, {"int", 0xffffffff},
	};
	bool is_unsigned = !strncmp(type, "unsigned ", 9);

	if (is_unsigned)
		type += 9;
	for (size_t i = is_unsigned ? 6 : 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		if (!strcmp(type, masks[i].name))
			return masks[i].mask;
	}
	return UINT64_MAX;
}

static int cast(struct compiler *c, struct tep_print_arg *arg, uint32_t *ret)
{
	struct program_node n = {.op = NODE_MASKED};
	int rc;

	if (!arg->typecast.type)
		return -ENOTSUP;
	n.value = mask_of(arg->typecast.type);
	rc = number(c, arg->typecast.item, &n.a);
	if (rc || n.value == UINT64_MAX) {
		*ret = n.a;
		return rc;
	}
	return add_node(c, &n, ret);
}

/* "REC->array[number]" */
static int element(struct compiler *c, struct tep_print_arg *arg, uint32_t *ret)
{
	struct tep_print_arg *array = arg->op.left, *index = arg->op.right;
	const struct tep_format_field *f;
	uint64_t i;

	if (array->type != TEP_PRINT_FIELD || index->type != TEP_PRINT_ATOM ||
	    !isdigit((unsigned char)*index->atom.atom))
		return -ENOTSUP;
	f = field_of(c, array);
	i = strtoull(index->atom.atom, NULL, 0);
	if (!f || f->size <= 0 || !f->elementsize || i >= (uint64_t)f->size / f->elementsize)
		return -ENOTSUP;
	return add_number(c, f->offset + (int64_t)(i * f->elementsize), f->elementsize, ret);
}

/* @arg->op.right holds both results. */
static int choice(struct compiler *c, struct tep_print_arg *arg, enum node_op op,
		  int (*result)(struct compiler *, struct tep_print_arg *, uint32_t *),
		  uint32_t *ret)
{
	struct tep_print_arg *both = arg->op.right;
	struct program_node n = {.op = op};
	int rc;

	if (!both || both->type != TEP_PRINT_OP)
		return -ENOTSUP;
	rc = number(c, arg->op.left, &n.a) ?: result(c, both->op.left, &n.b)
					   ?: result(c, both->op.right, &n.c);
	return rc ?: add_node(c, &n, ret);
}

static int find_op(const char *text, enum node_op *ret)
{
	static const struct {
		const char *text;
		enum node_op op;
	} ops[] = {
		{"!", NODE_NOT},	 {"~", NODE_INVERT},
		{"|", NODE_OR},		 {"||", NODE_OR_ELSE},
		{"&", NODE_AND},	 {"&&", NODE_AND_ALSO},
		{"<", NODE_LESS},	 {"<=", NODE_LESS_EQUAL},
		{">", NODE_GREATER},	 {">=", NODE_GREATER_EQUAL},
		{"==", NODE_EQUAL},	 {"!=", NODE_UNEQUAL},
		{"<<", NODE_SHIFT_LEFT}, {">>", NODE_SHIFT_RIGHT},
		{"+", NODE_ADD},	 {"-", NODE_SUBTRACT},
		{"*", NODE_MULTIPLY},	 {"/", NODE_DIVIDE},
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (!strcmp(ops[i].text, text)) {
			*ret = ops[i].op;
			return 0;
		}
	}
	return -ENOTSUP;
}

/* Divisors and shifts are constants that C defines a result for. */
static bool is_defined(const struct compiler *c, const struct program_node *n)
{
	const struct program_node *right = &c->p->nodes[n->b];

	if (n->op == NODE_DIVIDE)
		return right->op == NODE_CONSTANT && right->value;
	if (n->op == NODE_SHIFT_LEFT || n->op == NODE_SHIFT_RIGHT)
		return right->op == NODE_CONSTANT && right->value < 64;
	return true;
}

static int operation(struct compiler *c, struct tep_print_arg *arg, uint32_t *ret)
{
	struct program_node n = {0};
	int rc;

	if (!strcmp(arg->op.op, "["))
		return element(c, arg, ret);
	if (!strcmp(arg->op.op, "?"))
		return choice(c, arg, NODE_CHOICE, number, ret);
	rc = find_op(arg->op.op, &n.op) ?: number(c, arg->op.left, &n.a)
					?: number(c, arg->op.right, &n.b);
	if (!rc && !is_defined(c, &n))
		rc = -ENOTSUP;
	return rc ?: add_node(c, &n, ret);
}

static int length(struct compiler *c, struct tep_print_arg *arg, uint32_t *ret)
{
	const struct tep_format_field *f = arg->dynarray.field;
	struct program_node n = {.op = NODE_LENGTH};
	int rc = f && f->size == 4 ? need_bytes(c, f->offset, f->size) : -ENOTSUP;

	if (rc)
		return rc;
	n.offset = (uint32_t)f->offset;
	return add_node(c, &n, ret);
}

static int number_inner(struct compiler *c, struct tep_print_arg *arg, uint32_t *ret)
{
	static const struct program_node zero = {.op = NODE_CONSTANT};

	switch (arg->type) {
	case TEP_PRINT_NULL: return add_node(c, &zero, ret);
	case TEP_PRINT_ATOM: return atom(c, arg->atom.atom, ret);
	case TEP_PRINT_FIELD: return field_number(c, arg, ret);
	case TEP_PRINT_TYPE: return cast(c, arg, ret);
	case TEP_PRINT_OP: return operation(c, arg, ret);
	case TEP_PRINT_DYNAMIC_ARRAY_LEN: return length(c, arg, ret);
	default: return -ENOTSUP;
	}
}

static int number(struct compiler *c, struct tep_print_arg *arg, uint32_t *ret)
{
	int rc = arg && c->depth < DEPTH_MAX ? 0 : -ENOTSUP;

	c->depth++;
	if (!rc)
		rc = number_inner(c, arg, ret);
	c->depth--;
	return rc;
}

/* --- texts ---------------------------------------------------------------------------------------
 */

/* Old formats name some values; the library knows these. */
static int64_t value_of(const char *s)
{
	static const struct {
		const char *name;
		int64_t value;
	} known[] = {
		{"HI_SOFTIRQ", 0},	{"TIMER_SOFTIRQ", 1},	  {"NET_TX_SOFTIRQ", 2},
		{"NET_RX_SOFTIRQ", 3},	{"BLOCK_SOFTIRQ", 4},	  {"IRQ_POLL_SOFTIRQ", 5},
		{"TASKLET_SOFTIRQ", 6}, {"SCHED_SOFTIRQ", 7},	  {"HRTIMER_SOFTIRQ", 8},
		{"RCU_SOFTIRQ", 9},	{"HRTIMER_NORESTART", 0}, {"HRTIMER_RESTART", 1},
	};

	if (isdigit((unsigned char)*s))
		return (int64_t)strtoull(s, NULL, 0);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(known[i].name, s))
			return known[i].value;
	}
	return -1;
}

static int add_names(struct compiler *c, const struct tep_print_flag_sym *list,
		     struct program_node *n)
{
	struct tracing_program *p = c->p;
	int rc = 0;

	n->first = (uint32_t)p->nr_names;
	for (; !rc && list; list = list->next) {
		struct program_name *name;

		if (!list->value || !list->str)
			return -ENOTSUP;
		if (array_grow(&p->names, &p->cap_names, p->nr_names + 1, sizeof(*p->names)))
			return -ENOMEM;
		name = &p->names[p->nr_names++];
		name->value = value_of(list->value);
		rc = add_text(c, list->str, &name->text, &name->len);
	}
	n->count = (uint32_t)p->nr_names - n->first;
	return rc;
}

static int flags(struct compiler *c, struct tep_print_arg *arg, uint32_t *ret)
{
	struct program_node n = {.op = NODE_TEXT_FLAGS};
	int rc = number(c, arg->flags.field, &n.a) ?: add_names(c, arg->flags.flags, &n);

	rc = rc ?: add_text(c, arg->flags.delim ?: "", &n.offset, &n.size);
	return rc ?: add_node(c, &n, ret);
}

static int symbols(struct compiler *c, struct tep_print_arg *arg, uint32_t *ret)
{
	struct program_node n = {.op = NODE_TEXT_SYMBOL};
	int rc = number(c, arg->symbol.field, &n.a) ?: add_names(c, arg->symbol.symbols, &n);

	return rc ?: add_node(c, &n, ret);
}

/* A field as large as a pointer may be one of a text that the recording has elsewhere. */
static int field_text(struct compiler *c, struct tep_print_arg *arg, uint32_t *ret)
{
	const struct tep_format_field *f = field_of(c, arg);
	struct program_node n = {.op = NODE_TEXT_FIELD};
	int rc;

	if (!f || (!(f->flags & TEP_FIELD_IS_ARRAY) && f->size == sizeof(long)))
		return -ENOTSUP;
	rc = need_bytes(c, f->offset, f->size);
	if (rc)
		return rc;
	n.offset = (uint32_t)f->offset;
	n.size = (uint32_t)f->size;
	return add_node(c, &n, ret);
}

static int data_text(struct compiler *c, struct tep_print_arg *arg, uint32_t *ret)
{
	const struct tep_format_field *f =
		arg->string.field ?: tep_find_any_field(c->event, arg->string.string);
	struct program_node n = {.op = NODE_TEXT_DATA};
	int rc = f && f->size == 4 ? need_bytes(c, f->offset, f->size) : -ENOTSUP;

	if (rc)
		return rc;
	n.offset = (uint32_t)f->offset;
	if (f->flags & TEP_FIELD_IS_RELATIVE)
		n.value = (uint64_t)f->offset + (uint64_t)f->size;
	return add_node(c, &n, ret);
}

static int atom_text(struct compiler *c, const char *s, uint32_t *ret)
{
	struct program_node n = {.op = NODE_TEXT};
	int rc = s ? add_text(c, s, &n.offset, &n.size) : -ENOTSUP;

	return rc ?: add_node(c, &n, ret);
}

static int text_inner(struct compiler *c, struct tep_print_arg *arg, uint32_t *ret)
{
	static const struct program_node none = {.op = NODE_TEXT_NONE};

	switch (arg->type) {
	case TEP_PRINT_ATOM: return atom_text(c, arg->atom.atom, ret);
	case TEP_PRINT_FIELD: return field_text(c, arg, ret);
	case TEP_PRINT_FLAGS: return flags(c, arg, ret);
	case TEP_PRINT_SYMBOL: return symbols(c, arg, ret);
	case TEP_PRINT_STRING: return data_text(c, arg, ret);
	case TEP_PRINT_TYPE: return add_node(c, &none, ret);
	case TEP_PRINT_OP:
		if (*arg->op.op != '?')
			return -ENOTSUP;
		return choice(c, arg, NODE_TEXT_CHOICE, text, ret);
	default: return -ENOTSUP;
	}
}

static int text(struct compiler *c, struct tep_print_arg *arg, uint32_t *ret)
{
	int rc = arg && c->depth < DEPTH_MAX ? 0 : -ENOTSUP;

	c->depth++;
	if (!rc)
		rc = text_inner(c, arg, ret);
	c->depth--;
	return rc;
}

/* --- the format ----------------------------------------------------------------------------------
 */

static int add_piece(struct compiler *c, const struct program_piece *piece)
{
	struct tracing_program *p = c->p;

	if (array_grow(&p->pieces, &p->cap_pieces, p->nr_pieces + 1, sizeof(*p->pieces)))
		return -ENOMEM;
	p->pieces[p->nr_pieces++] = *piece;
	return 0;
}

/* Takes the text up to a conversion, for @ret. */
static int literal(struct compiler *c, const char **at, struct program_piece *ret)
{
	const char *s;
	int rc = 0;

	ret->text = (uint32_t)c->p->texts.len;
	for (s = *at; !rc && *s; s++) {
		char ch = *s;

		if (ch == '%' && s[1] != '%')
			break;
		s += ch == '%';
		if (ch == '\\') {
			ch = *++s;
			if (!ch)
				return -ENOTSUP;
			ch = (char)(ch == 'n' ? '\n' : ch == 't' ? '\t' : ch == 'r' ? '\r' : ch);
		}
		rc = buf_append(&c->p->texts, &ch, 1);
	}
	*at = s;
	ret->len = (uint32_t)c->p->texts.len - ret->text;
	return rc;
}

/*
 * Reads "%[#-0][width][.precision][length]type". Returns its bytes; 0: not of this form. Versions
 * of the library differ in "+" and "%c".
 */
static size_t parse_conversion(const char *s, struct program_piece *ret, bool *ret_simple)
{
	const char *begin = s++;

	*ret_simple = true;
	for (; *s && strchr("#-0", *s); s++) {
		ret->left |= *s == '-';
		ret->zeros |= *s == '0';
		ret->alternate |= *s == '#';
	}
	for (; isdigit((unsigned char)*s) && ret->width < 10000; s++)
		ret->width = ret->width * 10 + (uint32_t)(*s - '0');
	for (; *s == '.' || isdigit((unsigned char)*s); s++)
		*ret_simple = false;
	for (; *s == 'h' || *s == 'l'; s++)
		ret->ls += *s == 'l' ? 1 : -1;
	if (*s == 'z' || *s == 'L')
		ret->ls = *s++ == 'z' ? 1 : 2;
	ret->type = *s;
	ret->unused = ret->ls == -2 ? 56 : ret->ls == -1 ? 48 : ret->ls == 0 ? 32 : 0;
	if (!*s || ret->ls < -2 || ret->ls > 2 || s - begin > FORMAT_MAX || ret->width > 1000)
		return 0;
	return (size_t)(s + 1 - begin);
}

/* Appends the conversion as a format of its own. */
static int keep_format(struct compiler *c, const char *s, size_t len, struct program_piece *piece)
{
	piece->kind = PIECE_PRINTF;
	piece->format = (uint32_t)c->p->texts.len;
	return buf_append(&c->p->texts, s, len) ?: buf_append(&c->p->texts, "", 1);
}

/* Takes a conversion and its argument, for @ret. */
static int conversion(struct compiler *c, const char **at, struct tep_print_arg **arg,
		      struct program_piece *ret)
{
	bool simple;
	size_t len = parse_conversion(*at, ret, &simple);
	int rc = len && *arg ? 0 : -ENOTSUP;

	if (rc)
		return rc;
	ret->kind = PIECE_NUMBER;
	switch (ret->type) {
	case 's':
		ret->kind = PIECE_TEXT;
		rc = simple && !ret->zeros && !ret->alternate && !ret->ls
			     ? text(c, *arg, &ret->node)
			     : -ENOTSUP;
		break;
	case 'p':
		ret->kind = PIECE_POINTER;
		rc = len == 2 && !isalnum((unsigned char)(*at)[2]) ? number(c, *arg, &ret->node)
								   : -ENOTSUP;
		break;
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
		rc = number(c, *arg, &ret->node);
		if (!rc && (!simple || ret->width > NUMBER_MAX))
			rc = keep_format(c, *at, len, ret);
		break;
	case 'o': rc = number(c, *arg, &ret->node) ?: keep_format(c, *at, len, ret); break;
	default: return -ENOTSUP;
	}
	*at += len;
	*arg = (*arg)->next;
	return rc;
}

static int compile(struct compiler *c)
{
	const char *at = c->event->print_fmt.format;
	struct tep_print_arg *arg = c->event->print_fmt.args;
	int rc = 0;

	while (!rc && *at) {
		struct program_piece piece = {.kind = PIECE_LITERAL};

		rc = literal(c, &at, &piece);
		if (!rc && *at)
			rc = conversion(c, &at, &arg, &piece);
		if (!rc)
			rc = add_piece(c, &piece);
	}
	return rc;
}

int tracing_program_new(struct tep_event *event, struct tracing_program **ret)
{
	struct compiler c = {.event = event};
	int rc;

	if (event->flags & (TEP_EVENT_FL_FAILED | TEP_EVENT_FL_ISBPRINT | TEP_EVENT_FL_PRINTRAW) ||
	    event->handler || !event->print_fmt.format || sizeof(long) != 8 ||
	    tep_get_long_size(event->tep) != 8)
		return -ENOTSUP;
	c.p = calloc(1, sizeof(*c.p));
	if (!c.p)
		return -ENOMEM;
	rc = compile(&c);
	if (rc)
		tracing_program_free(c.p);
	else
		*ret = c.p;
	return rc;
}
