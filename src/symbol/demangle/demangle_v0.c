// SPDX-License-Identifier: Apache-2.0
/*
 * Demangles Rust's v0 names ("_R…") by recursive descent over the grammar of RFC 2603.
 *
 * Back references make the text a graph, so that its output can be exponentially long. Depth, steps
 * and output are bounded; a name that exceeds a bound is printed mangled. Crate hashes and types of
 * constants are left out, as in libiberty's default.
 */
#include "symbol/demangle/demangle.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "symbol/demangle/demangle_v0.h"

#define DEPTH_MAX 200
#define STEPS_MAX 100000

static void type(struct v0 *d);

bool v0_enter(struct v0 *d)
{
	if (++d->depth > DEPTH_MAX || ++d->steps > STEPS_MAX)
		d->bad = true;
	return !d->bad;
}

void v0_put(struct v0 *d, const char *s, size_t len)
{
	if (d->bad || d->muted)
		return;
	if (d->out.len + len > DEMANGLE_MAX || buf_append(&d->out, s, len))
		d->bad = true;
}

void v0_puts(struct v0 *d, const char *s)
{
	v0_put(d, s, strlen(s));
}

char v0_peek(const struct v0 *d)
{
	return d->pos < d->len ? d->s[d->pos] : 0;
}

bool v0_eat(struct v0 *d, char c)
{
	if (d->bad || v0_peek(d) != c)
		return false;
	d->pos++;
	return true;
}

char v0_next(struct v0 *d)
{
	if (d->bad || d->pos >= d->len) {
		d->bad = true;
		return 0;
	}
	return d->s[d->pos++];
}

/* "_" is 0, "0_" is 1, "1_" is 2, … in base 62. */
static uint64_t base62(struct v0 *d)
{
	uint64_t x = 0;
	char c;

	if (v0_eat(d, '_'))
		return 0;
	while (!d->bad && !v0_eat(d, '_')) {
		unsigned int digit = 0;

		c = v0_next(d);
		if (c >= '0' && c <= '9')
			digit = (unsigned int)(c - '0');
		else if (c >= 'a' && c <= 'z')
			digit = 10 + (unsigned int)(c - 'a');
		else if (c >= 'A' && c <= 'Z')
			digit = 36 + (unsigned int)(c - 'A');
		else
			d->bad = true;
		if (__builtin_mul_overflow(x, (uint64_t)62, &x) ||
		    __builtin_add_overflow(x, (uint64_t)digit, &x))
			d->bad = true;
	}
	if (__builtin_add_overflow(x, (uint64_t)1, &x))
		d->bad = true;
	return x;
}

static uint64_t opt_base62(struct v0 *d, char tag)
{
	uint64_t x;

	if (!v0_eat(d, tag))
		return 0;
	x = base62(d);
	if (__builtin_add_overflow(x, (uint64_t)1, &x))
		d->bad = true;
	return x;
}

/* Reads an identifier without its disambiguator. */
static struct v0_ident undisambiguated(struct v0 *d)
{
	struct v0_ident id = {.puny = v0_eat(d, 'u')};
	size_t n = 0;
	char c = v0_next(d);

	if (c < '0' || c > '9') {
		d->bad = true;
		return id;
	}
	n = (size_t)(c - '0');
	while (n && v0_peek(d) >= '0' && v0_peek(d) <= '9') {
		n = n * 10 + (size_t)(v0_next(d) - '0');
		if (n > d->len)
			d->bad = true;
		if (d->bad)
			return id;
	}
	v0_eat(d, '_');
	if (d->bad || n > d->len - d->pos) {
		d->bad = true;
		return id;
	}
	id.s = d->s + d->pos;
	id.len = n;
	d->pos += n;
	return id;
}

struct v0_ident v0_identifier(struct v0 *d)
{
	uint64_t dis = opt_base62(d, 's');
	struct v0_ident id = undisambiguated(d);

	id.disambiguator = dis;
	return id;
}

void v0_put_char(struct v0 *d, uint32_t c)
{
	char b[4];

	v0_put(d, b, rust_utf8_encode(c, b));
}

void v0_put_ident(struct v0 *d, const struct v0_ident *id)
{
	uint32_t chars[PUNYCODE_MAX];
	size_t n, i;

	if (!id->puny || d->bad) {
		v0_put(d, id->s, id->len);
		return;
	}
	n = punycode_decode(id->s, id->len, chars);
	if (!n) { /* the grammar allows it, so the rest may still be valid */
		v0_puts(d, "punycode{");
		v0_put(d, id->s, id->len);
		v0_puts(d, "}");
	}
	for (i = 0; i < n; i++)
		v0_put_char(d, chars[i]);
}

/* Follows a back reference, which must point backwards. The caller restores position *@ret_back. */
bool v0_backref(struct v0 *d, size_t *ret_back)
{
	size_t at = d->pos - 1; /* position of the 'B' */
	uint64_t to = base62(d);

	if (d->bad || to >= at) {
		d->bad = true;
		return false;
	}
	*ret_back = d->pos;
	d->pos = (size_t)to;
	return !d->muted; /* without output the reader need not follow it */
}

static void put_lifetime_name(struct v0 *d, uint64_t depth)
{
	char b[32];

	if (depth < 26)
		snprintf(b, sizeof(b), "'%c", (char)('a' + depth));
	else
		snprintf(b, sizeof(b), "'_%" PRIu64, depth);
	v0_puts(d, b);
}

/* Writes a lifetime. @index counts from the innermost binder; 0 is an erased lifetime. */
static void put_lifetime(struct v0 *d, uint64_t index)
{
	if (!index)
		v0_puts(d, "'_");
	else if (index > d->lifetimes)
		d->bad = true;
	else
		put_lifetime_name(d, d->lifetimes - index);
}

/* "G": writes for<'a, 'b>. Returns the number of lifetimes bound; the caller subtracts it. */
static uint64_t binder(struct v0 *d)
{
	uint64_t n = opt_base62(d, 'G'), i;

	if (n > 64)
		d->bad = true; /* no program binds so many, and each one costs output */
	if (!n || d->bad)
		return 0;
	v0_puts(d, "for<");
	for (i = 0; i < n; i++) {
		if (i)
			v0_puts(d, ", ");
		put_lifetime_name(d, d->lifetimes + i);
	}
	v0_puts(d, "> ");
	d->lifetimes += n;
	return n;
}

static void generic_args(struct v0 *d)
{
	bool any = false;

	while (!d->bad && !v0_eat(d, 'E')) {
		if (any)
			v0_puts(d, ", ");
		any = true;
		if (v0_eat(d, 'L'))
			put_lifetime(d, base62(d));
		else if (v0_eat(d, 'K'))
			v0_constant(d, false);
		else
			type(d);
	}
}

/* Skips the path of an impl, which only gives its place: the type of the impl is printed. */
static void impl_path(struct v0 *d)
{
	d->muted++;
	opt_base62(d, 's');
	v0_path(d, false);
	d->muted--;
}

static void nested_path(struct v0 *d, bool value)
{
	char ns = v0_next(d), number[32];
	struct v0_ident id;

	if (!((ns >= 'a' && ns <= 'z') || (ns >= 'A' && ns <= 'Z')))
		d->bad = true;
	v0_path(d, value);
	id = v0_identifier(d);
	if (d->bad)
		return;
	if (ns >= 'a') { /* ordinary namespaces: types, values */
		if (id.len) {
			v0_puts(d, "::");
			v0_put_ident(d, &id);
		}
		return;
	}
	v0_puts(d, "::{");
	if (ns == 'C')
		v0_puts(d, "closure");
	else if (ns == 'S')
		v0_puts(d, "shim");
	else
		v0_put(d, &ns, 1);
	if (id.len) {
		v0_puts(d, ":");
		v0_put_ident(d, &id);
	}
	snprintf(number, sizeof(number), "#%" PRIu64 "}", id.disambiguator);
	v0_puts(d, number);
}

static void impl_type(struct v0 *d, bool has_trait)
{
	v0_puts(d, "<");
	type(d);
	if (has_trait) {
		v0_puts(d, " as ");
		v0_path(d, false);
	}
	v0_puts(d, ">");
}

static void path_backref(struct v0 *d, bool value)
{
	size_t back = 0;

	if (v0_backref(d, &back))
		v0_path(d, value);
	if (!d->bad)
		d->pos = back;
}

/* In values, generic arguments follow "::". */
void v0_path(struct v0 *d, bool value)
{
	struct v0_ident id;

	if (!v0_enter(d))
		return;
	switch (v0_next(d)) {
	case 'C':
		id = v0_identifier(d);
		if (!d->bad)
			v0_put_ident(d, &id);
		break;
	case 'N': nested_path(d, value); break;
	case 'M':
		impl_path(d);
		impl_type(d, false);
		break;
	case 'X':
		impl_path(d);
		impl_type(d, true);
		break;
	case 'Y': impl_type(d, true); break;
	case 'I':
		v0_path(d, value);
		v0_puts(d, value ? "::<" : "<");
		generic_args(d);
		v0_puts(d, ">");
		break;
	case 'B': path_backref(d, value); break;
	default: d->bad = true;
	}
	d->depth--;
}

static const char *basic_type(char tag)
{
	static const char *const names[26] = {
		['a' - 'a'] = "i8",   ['b' - 'a'] = "bool",  ['c' - 'a'] = "char",
		['d' - 'a'] = "f64",  ['e' - 'a'] = "str",   ['f' - 'a'] = "f32",
		['h' - 'a'] = "u8",   ['i' - 'a'] = "isize", ['j' - 'a'] = "usize",
		['l' - 'a'] = "i32",  ['m' - 'a'] = "u32",   ['n' - 'a'] = "i128",
		['o' - 'a'] = "u128", ['p' - 'a'] = "_",     ['s' - 'a'] = "i16",
		['t' - 'a'] = "u16",  ['u' - 'a'] = "()",    ['v' - 'a'] = "...",
		['x' - 'a'] = "i64",  ['y' - 'a'] = "u64",   ['z' - 'a'] = "!",
	};

	return tag >= 'a' && tag <= 'z' ? names[tag - 'a'] : NULL;
}

static void reference(struct v0 *d, bool mutable)
{
	uint64_t life;

	v0_puts(d, "&");
	if (v0_eat(d, 'L')) {
		life = base62(d);
		if (life) {
			put_lifetime(d, life);
			v0_puts(d, " ");
		}
	}
	if (mutable)
		v0_puts(d, "mut ");
	type(d);
}

static void tuple(struct v0 *d)
{
	size_t n = 0;

	v0_puts(d, "(");
	for (; !d->bad && !v0_eat(d, 'E'); n++) {
		if (n)
			v0_puts(d, ", ");
		type(d);
	}
	v0_puts(d, n == 1 ? ",)" : ")");
}

static void put_abi(struct v0 *d)
{
	struct v0_ident id;
	size_t i;

	v0_puts(d, "extern \"");
	if (v0_eat(d, 'C')) {
		v0_puts(d, "C");
	} else {
		id = undisambiguated(d);
		if (d->bad || !id.len || id.puny) {
			d->bad = true;
			return;
		}
		for (i = 0; i < id.len; i++) /* symbols cannot contain '-' */
			v0_put(d, id.s[i] == '_' ? "-" : id.s + i, 1);
	}
	v0_puts(d, "\" ");
}

static void function_type(struct v0 *d)
{
	uint64_t bound = binder(d);
	size_t n;

	if (v0_eat(d, 'U'))
		v0_puts(d, "unsafe ");
	if (v0_eat(d, 'K'))
		put_abi(d);
	v0_puts(d, "fn(");
	for (n = 0; !d->bad && !v0_eat(d, 'E'); n++) {
		if (n)
			v0_puts(d, ", ");
		type(d);
	}
	v0_puts(d, ")");
	if (!v0_eat(d, 'u')) {
		v0_puts(d, " -> ");
		type(d);
	}
	d->lifetimes -= bound;
}

/*
 * Writes the path of a trait. Its "<" may stay open for bindings of associated types. Returns
 * whether it does.
 */
static bool path_open_generics(struct v0 *d)
{
	bool open = false;
	size_t back = 0;

	if (!v0_enter(d))
		return false;
	if (v0_eat(d, 'B')) {
		if (v0_backref(d, &back))
			open = path_open_generics(d);
		if (!d->bad)
			d->pos = back;
	} else if (v0_eat(d, 'I')) {
		v0_path(d, false);
		v0_puts(d, "<");
		generic_args(d);
		open = true;
	} else {
		v0_path(d, false);
	}
	d->depth--;
	return open;
}

static void dyn_trait(struct v0 *d)
{
	bool open = path_open_generics(d);
	struct v0_ident id;

	while (v0_eat(d, 'p')) {
		v0_puts(d, open ? ", " : "<");
		open = true;
		id = undisambiguated(d);
		if (d->bad)
			return;
		v0_put_ident(d, &id);
		v0_puts(d, " = ");
		type(d);
	}
	if (open)
		v0_puts(d, ">");
}

static void dyn_type(struct v0 *d)
{
	uint64_t bound, life;
	size_t n;

	v0_puts(d, "dyn ");
	bound = binder(d);
	for (n = 0; !d->bad && !v0_eat(d, 'E'); n++) {
		if (n)
			v0_puts(d, " + ");
		dyn_trait(d);
	}
	d->lifetimes -= bound;
	if (!v0_eat(d, 'L')) {
		d->bad = true;
		return;
	}
	life = base62(d);
	if (life) {
		v0_puts(d, " + ");
		put_lifetime(d, life);
	}
}

static void type_backref(struct v0 *d)
{
	size_t back = 0;

	if (v0_backref(d, &back))
		type(d);
	if (!d->bad)
		d->pos = back;
}

static void array(struct v0 *d, bool sized)
{
	v0_puts(d, "[");
	type(d);
	if (sized) {
		v0_puts(d, "; ");
		v0_constant(d, true);
	}
	v0_puts(d, "]");
}

static void type(struct v0 *d)
{
	char tag = v0_peek(d);
	const char *basic = basic_type(tag);

	if (!v0_enter(d))
		return;
	v0_next(d);
	if (basic) {
		v0_puts(d, basic);
		d->depth--;
		return;
	}
	switch (tag) {
	case 'R': reference(d, false); break;
	case 'Q': reference(d, true); break;
	case 'P':
		v0_puts(d, "*const ");
		type(d);
		break;
	case 'O':
		v0_puts(d, "*mut ");
		type(d);
		break;
	case 'A': array(d, true); break;
	case 'S': array(d, false); break;
	case 'T': tuple(d); break;
	case 'F': function_type(d); break;
	case 'D': dyn_type(d); break;
	case 'B': type_backref(d); break;
	default:
		if (!d->bad)
			d->pos--;
		v0_path(d, false);
	}
	d->depth--;
}

/* Length of the mangled part: letters, digits and underscores. The rest is a suffix. */
static size_t mangled_length(const char *s)
{
	size_t n = 0;

	while ((s[n] >= '0' && s[n] <= '9') || (s[n] >= 'a' && s[n] <= 'z') ||
	       (s[n] >= 'A' && s[n] <= 'Z') || s[n] == '_')
		n++;
	return n;
}

/* Writes suffixes like ".cold", but not ".llvm.…", which link-time optimization adds. */
static void put_suffix(struct v0 *d, const char *s)
{
	const char *llvm = strstr(s, ".llvm.");

	if (*s && *s != '.')
		d->bad = true;
	v0_put(d, s, llvm ? (size_t)(llvm - s) : strlen(s));
}

char *demangle_rust_v0(const char *name)
{
	struct v0 d = {0};

	if (strnlen(name, DEMANGLE_MAX) == DEMANGLE_MAX)
		return NULL;
	name += !strncmp(name, "__R", 3);
	/* a digit is the version of a later encoding */
	if (name[0] != '_' || name[1] != 'R' || name[2] < 'A' || name[2] > 'Z')
		return NULL;
	d.s = name + 2;
	d.len = mangled_length(d.s);
	v0_path(&d, true);
	if (!d.bad && d.pos < d.len && v0_peek(&d) >= 'A' && v0_peek(&d) <= 'Z') {
		d.muted++; /* the instantiating crate */
		v0_path(&d, false);
		d.muted--;
	}
	if (!d.bad && d.pos != d.len)
		d.bad = true;
	put_suffix(&d, d.s + d.len);
	if (!d.bad && d.out.len && !buf_zero(&d.out, 1))
		return (char *)d.out.data;
	buf_release(&d.out);
	return NULL;
}
