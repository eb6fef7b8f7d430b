// SPDX-License-Identifier: Apache-2.0
/*
 * Rust's v0 names ("_R…"), a recursive descent over the grammar of RFC 2603.
 *
 * Back references make the text a graph, so it can print exponentially long: depth, steps and
 * output are all bounded, and a name that exceeds a bound stays as it is.
 * Printed without crate hashes and without types of constants, as libiberty's default is.
 */
#include "symbol/demangle.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define DEPTH_MAX 200
#define STEPS_MAX 100000

struct v0 {
	const char *s; /* behind "_R" */
	size_t len, pos;
	struct buf out;
	bool bad;
	unsigned int muted; /* parsed but not printed */
	unsigned int depth, steps;
	uint64_t lifetimes; /* bound by the binders around us */
};

struct ident {
	const char *s;
	size_t len;
	bool puny;
	uint64_t disambiguator;
};

static void path(struct v0 *d, bool value);
static void type(struct v0 *d);
static void constant(struct v0 *d, bool in_value);

static bool enter(struct v0 *d)
{
	if (++d->depth > DEPTH_MAX || ++d->steps > STEPS_MAX)
		d->bad = true;
	return !d->bad;
}

static void put(struct v0 *d, const char *s, size_t len)
{
	if (d->bad || d->muted)
		return;
	if (d->out.len + len > DEMANGLE_MAX || buf_append(&d->out, s, len))
		d->bad = true;
}

static void puts0(struct v0 *d, const char *s)
{
	put(d, s, strlen(s));
}

static char peek(const struct v0 *d)
{
	return d->pos < d->len ? d->s[d->pos] : 0;
}

static bool eat(struct v0 *d, char c)
{
	if (d->bad || peek(d) != c)
		return false;
	d->pos++;
	return true;
}

static char next(struct v0 *d)
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

	if (eat(d, '_'))
		return 0;
	while (!d->bad && !eat(d, '_')) {
		unsigned int digit = 0;

		c = next(d);
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

	if (!eat(d, tag))
		return 0;
	x = base62(d);
	if (__builtin_add_overflow(x, (uint64_t)1, &x))
		d->bad = true;
	return x;
}

/* Reads an identifier without its disambiguator. */
static struct ident undisambiguated(struct v0 *d)
{
	struct ident id = {.puny = eat(d, 'u')};
	size_t n = 0;
	char c = next(d);

	if (c < '0' || c > '9') {
		d->bad = true;
		return id;
	}
	n = (size_t)(c - '0');
	while (n && peek(d) >= '0' && peek(d) <= '9') {
		n = n * 10 + (size_t)(next(d) - '0');
		if (n > d->len)
			d->bad = true;
		if (d->bad)
			return id;
	}
	eat(d, '_');
	if (d->bad || n > d->len - d->pos) {
		d->bad = true;
		return id;
	}
	id.s = d->s + d->pos;
	id.len = n;
	d->pos += n;
	return id;
}

static struct ident identifier(struct v0 *d)
{
	uint64_t dis = opt_base62(d, 's');
	struct ident id = undisambiguated(d);

	id.disambiguator = dis;
	return id;
}

static void put_char(struct v0 *d, uint32_t c)
{
	char b[4];
	size_t n = 0;

	if (c < 0x80) {
		b[n++] = (char)c;
	} else if (c < 0x800) {
		b[n++] = (char)(0xc0 | c >> 6);
		b[n++] = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		b[n++] = (char)(0xe0 | c >> 12);
		b[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		b[n++] = (char)(0x80 | (c & 0x3f));
	} else {
		b[n++] = (char)(0xf0 | c >> 18);
		b[n++] = (char)(0x80 | (c >> 12 & 0x3f));
		b[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		b[n++] = (char)(0x80 | (c & 0x3f));
	}
	put(d, b, n);
}

static bool valid_char(uint32_t c)
{
	return c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
}

/* RFC 3492, 6.1 */
static uint32_t puny_adapt(uint32_t delta, uint32_t points, bool first)
{
	uint32_t k = 0;

	delta /= first ? 700 : 2;
	delta += delta / points;
	while (delta > (36 - 1) * 26 / 2) {
		delta /= 36 - 1;
		k += 36;
	}
	return k + 36 * delta / (delta + 38);
}

#define PUNY_MAX 256

/* One generalized variable-length integer (RFC 3492, 3.3). Returns false at bad input. */
static bool puny_delta(const char *s, size_t len, size_t *pos, uint32_t bias, uint32_t *ret)
{
	uint32_t delta = 0, w = 1, k = 0, t, digit;

	do {
		if (*pos >= len)
			return false;
		if (s[*pos] >= 'a' && s[*pos] <= 'z')
			digit = (uint32_t)(s[*pos] - 'a');
		else if (s[*pos] >= '0' && s[*pos] <= '9')
			digit = 26 + (uint32_t)(s[*pos] - '0');
		else
			return false;
		(*pos)++;
		k += 36;
		t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
		if (digit > (UINT32_MAX - delta) / w)
			return false;
		delta += digit * w;
		if (w > UINT32_MAX / (36 - t))
			return false;
		w *= 36 - t;
	} while (digit >= t);
	*ret = delta;
	return true;
}

/* Decodes into @out; returns the number of characters, or 0 at bad input. */
static size_t punycode(const struct ident *id, uint32_t out[PUNY_MAX])
{
	const char *sep = memrchr(id->s, '_', id->len);
	size_t basic = sep ? (size_t)(sep - id->s) : 0, pos = sep ? basic + 1 : 0, n = 0;
	uint32_t c = 0x80, i = 0, bias = 72, delta;
	bool first = true;

	if (basic > PUNY_MAX || pos >= id->len)
		return 0;
	for (; n < basic; n++)
		out[n] = (uint8_t)id->s[n];
	while (pos < id->len) {
		if (n == PUNY_MAX || !puny_delta(id->s, id->len, &pos, bias, &delta) ||
		    __builtin_add_overflow(i, delta, &i))
			return 0;
		n++;
		bias = puny_adapt(delta, (uint32_t)n, first);
		first = false;
		if (__builtin_add_overflow(c, i / (uint32_t)n, &c) || !valid_char(c))
			return 0;
		i %= (uint32_t)n;
		memmove(out + i + 1, out + i, (n - 1 - i) * sizeof(*out));
		out[i++] = c;
	}
	return n;
}

static void put_ident(struct v0 *d, const struct ident *id)
{
	uint32_t chars[PUNY_MAX];
	size_t n, i;

	if (!id->puny || d->bad) {
		put(d, id->s, id->len);
		return;
	}
	n = punycode(id, chars);
	if (!n) { /* valid for the grammar, so the rest may still be good */
		puts0(d, "punycode{");
		put(d, id->s, id->len);
		puts0(d, "}");
	}
	for (i = 0; i < n; i++)
		put_char(d, chars[i]);
}

/* Back references point to what stands before them; the position to return to is the caller's. */
static bool backref(struct v0 *d, size_t *ret_back)
{
	size_t at = d->pos - 1; /* of the 'B' */
	uint64_t to = base62(d);

	if (d->bad || to >= at) {
		d->bad = true;
		return false;
	}
	*ret_back = d->pos;
	d->pos = (size_t)to;
	return !d->muted; /* what is not printed needs no second reading */
}

static void put_lifetime_name(struct v0 *d, uint64_t depth)
{
	char b[32];

	if (depth < 26)
		snprintf(b, sizeof(b), "'%c", (char)('a' + depth));
	else
		snprintf(b, sizeof(b), "'_%" PRIu64, depth);
	puts0(d, b);
}

/* @index counts from the innermost binder; 0 is an erased lifetime. */
static void put_lifetime(struct v0 *d, uint64_t index)
{
	if (!index)
		puts0(d, "'_");
	else if (index > d->lifetimes)
		d->bad = true;
	else
		put_lifetime_name(d, d->lifetimes - index);
}

/* "G": for<'a, 'b>. Returns how many lifetimes it bound, for binder_end(). */
static uint64_t binder(struct v0 *d)
{
	uint64_t n = opt_base62(d, 'G'), i;

	if (n > 64)
		d->bad = true; /* no program has so many, and each costs output */
	if (!n || d->bad)
		return 0;
	puts0(d, "for<");
	for (i = 0; i < n; i++) {
		if (i)
			puts0(d, ", ");
		put_lifetime_name(d, d->lifetimes + i);
	}
	puts0(d, "> ");
	d->lifetimes += n;
	return n;
}

static void generic_args(struct v0 *d)
{
	bool any = false;

	while (!d->bad && !eat(d, 'E')) {
		if (any)
			puts0(d, ", ");
		any = true;
		if (eat(d, 'L'))
			put_lifetime(d, base62(d));
		else if (eat(d, 'K'))
			constant(d, false);
		else
			type(d);
	}
}

/* The path of an impl says where it stands; only its type is of interest. */
static void impl_path(struct v0 *d)
{
	d->muted++;
	opt_base62(d, 's');
	path(d, false);
	d->muted--;
}

static void nested_path(struct v0 *d, bool value)
{
	char ns = next(d), number[32];
	struct ident id;

	if (!((ns >= 'a' && ns <= 'z') || (ns >= 'A' && ns <= 'Z')))
		d->bad = true;
	path(d, value);
	id = identifier(d);
	if (d->bad)
		return;
	if (ns >= 'a') { /* ordinary namespaces: types, values */
		if (id.len) {
			puts0(d, "::");
			put_ident(d, &id);
		}
		return;
	}
	puts0(d, "::{");
	if (ns == 'C')
		puts0(d, "closure");
	else if (ns == 'S')
		puts0(d, "shim");
	else
		put(d, &ns, 1);
	if (id.len) {
		puts0(d, ":");
		put_ident(d, &id);
	}
	snprintf(number, sizeof(number), "#%" PRIu64 "}", id.disambiguator);
	puts0(d, number);
}

static void impl_type(struct v0 *d, bool has_trait)
{
	puts0(d, "<");
	type(d);
	if (has_trait) {
		puts0(d, " as ");
		path(d, false);
	}
	puts0(d, ">");
}

static void path_backref(struct v0 *d, bool value)
{
	size_t back = 0;

	if (backref(d, &back))
		path(d, value);
	if (!d->bad)
		d->pos = back;
}

/* In values generic arguments are written behind "::". */
static void path(struct v0 *d, bool value)
{
	struct ident id;

	if (!enter(d))
		return;
	switch (next(d)) {
	case 'C':
		id = identifier(d);
		if (!d->bad)
			put_ident(d, &id);
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
		path(d, value);
		puts0(d, value ? "::<" : "<");
		generic_args(d);
		puts0(d, ">");
		break;
	case 'B': path_backref(d, value); break;
	default: d->bad = true;
	}
	d->depth--;
}

static const char *basic_type(char tag)
{
	static const char *const names[26] = {
		['a' - 'a'] = "i8",   ['b' - 'a'] = "bool", ['c' - 'a'] = "char", ['d' - 'a'] = "f64",
		['e' - 'a'] = "str",  ['f' - 'a'] = "f32",  ['h' - 'a'] = "u8",	  ['i' - 'a'] = "isize",
		['j' - 'a'] = "usize", ['l' - 'a'] = "i32", ['m' - 'a'] = "u32",  ['n' - 'a'] = "i128",
		['o' - 'a'] = "u128", ['p' - 'a'] = "_",    ['s' - 'a'] = "i16",  ['t' - 'a'] = "u16",
		['u' - 'a'] = "()",   ['v' - 'a'] = "...",  ['x' - 'a'] = "i64",  ['y' - 'a'] = "u64",
		['z' - 'a'] = "!",
	};

	return tag >= 'a' && tag <= 'z' ? names[tag - 'a'] : NULL;
}

static void reference(struct v0 *d, bool mutable)
{
	uint64_t life;

	puts0(d, "&");
	if (eat(d, 'L')) {
		life = base62(d);
		if (life) {
			put_lifetime(d, life);
			puts0(d, " ");
		}
	}
	if (mutable)
		puts0(d, "mut ");
	type(d);
}

static void tuple(struct v0 *d)
{
	size_t n = 0;

	puts0(d, "(");
	for (; !d->bad && !eat(d, 'E'); n++) {
		if (n)
			puts0(d, ", ");
		type(d);
	}
	puts0(d, n == 1 ? ",)" : ")");
}

static void put_abi(struct v0 *d)
{
	struct ident id;
	size_t i;

	puts0(d, "extern \"");
	if (eat(d, 'C')) {
		puts0(d, "C");
	} else {
		id = undisambiguated(d);
		if (d->bad || !id.len || id.puny) {
			d->bad = true;
			return;
		}
		for (i = 0; i < id.len; i++) /* '-' cannot stand in a symbol */
			put(d, id.s[i] == '_' ? "-" : id.s + i, 1);
	}
	puts0(d, "\" ");
}

static void function_type(struct v0 *d)
{
	uint64_t bound = binder(d);
	size_t n;

	if (eat(d, 'U'))
		puts0(d, "unsafe ");
	if (eat(d, 'K'))
		put_abi(d);
	puts0(d, "fn(");
	for (n = 0; !d->bad && !eat(d, 'E'); n++) {
		if (n)
			puts0(d, ", ");
		type(d);
	}
	puts0(d, ")");
	if (!eat(d, 'u')) {
		puts0(d, " -> ");
		type(d);
	}
	d->lifetimes -= bound;
}

/*
 * The path of a trait whose "<" may stay open for bindings of associated types. Returns whether it
 * does.
 */
static bool path_open_generics(struct v0 *d)
{
	bool open = false;
	size_t back = 0;

	if (!enter(d))
		return false;
	if (eat(d, 'B')) {
		if (backref(d, &back))
			open = path_open_generics(d);
		if (!d->bad)
			d->pos = back;
	} else if (eat(d, 'I')) {
		path(d, false);
		puts0(d, "<");
		generic_args(d);
		open = true;
	} else {
		path(d, false);
	}
	d->depth--;
	return open;
}

static void dyn_trait(struct v0 *d)
{
	bool open = path_open_generics(d);
	struct ident id;

	while (eat(d, 'p')) {
		puts0(d, open ? ", " : "<");
		open = true;
		id = undisambiguated(d);
		if (d->bad)
			return;
		put_ident(d, &id);
		puts0(d, " = ");
		type(d);
	}
	if (open)
		puts0(d, ">");
}

static void dyn_type(struct v0 *d)
{
	uint64_t bound, life;
	size_t n;

	puts0(d, "dyn ");
	bound = binder(d);
	for (n = 0; !d->bad && !eat(d, 'E'); n++) {
		if (n)
			puts0(d, " + ");
		dyn_trait(d);
	}
	d->lifetimes -= bound;
	if (!eat(d, 'L')) {
		d->bad = true;
		return;
	}
	life = base62(d);
	if (life) {
		puts0(d, " + ");
		put_lifetime(d, life);
	}
}

static void type_backref(struct v0 *d)
{
	size_t back = 0;

	if (backref(d, &back))
		type(d);
	if (!d->bad)
		d->pos = back;
}

static void array(struct v0 *d, bool sized)
{
	puts0(d, "[");
	type(d);
	if (sized) {
		puts0(d, "; ");
		constant(d, true);
	}
	puts0(d, "]");
}

static void type(struct v0 *d)
{
	char tag = peek(d);
	const char *basic = basic_type(tag);

	if (!enter(d))
		return;
	next(d);
	if (basic) {
		puts0(d, basic);
		d->depth--;
		return;
	}
	switch (tag) {
	case 'R': reference(d, false); break;
	case 'Q': reference(d, true); break;
	case 'P':
		puts0(d, "*const ");
		type(d);
		break;
	case 'O':
		puts0(d, "*mut ");
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
		path(d, false);
	}
	d->depth--;
}

/* The hex digits of a constant up to '_'. Returns how many, with the first in *@ret. */
static size_t hex_digits(struct v0 *d, const char **ret)
{
	size_t n = 0;
	char c;

	*ret = d->s + d->pos;
	while (!d->bad && !eat(d, '_')) {
		c = next(d);
		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			d->bad = true;
		n++;
	}
	return d->bad ? 0 : n;
}

static bool hex_value(const char *s, size_t n, uint64_t *ret)
{
	uint64_t x = 0;

	while (n && *s == '0')
		s++, n--;
	if (n > 16)
		return false;
	for (; n; s++, n--)
		x = x << 4 | (uint64_t)(*s <= '9' ? *s - '0' : *s - 'a' + 10);
	*ret = x;
	return true;
}

static void const_int(struct v0 *d, bool is_signed)
{
	const char *digits;
	char number[32];
	uint64_t x;
	size_t n;

	if (is_signed && eat(d, 'n'))
		puts0(d, "-");
	n = hex_digits(d, &digits);
	if (d->bad)
		return;
	if (hex_value(digits, n, &x)) {
		snprintf(number, sizeof(number), "%" PRIu64, x);
		puts0(d, number);
	} else {
		puts0(d, "0x");
		put(d, digits, n);
	}
}

static void const_bool(struct v0 *d)
{
	const char *digits;
	size_t n = hex_digits(d, &digits);

	if (d->bad || n != 1 || digits[0] > '1')
		d->bad = true;
	else
		puts0(d, digits[0] == '1' ? "true" : "false");
}

/* A character as Rust's debug format prints it. */
static void put_quoted(struct v0 *d, uint32_t c, char quote)
{
	static const char *const named[128] = {
		['\t'] = "\\t", ['\r'] = "\\r", ['\n'] = "\\n", ['\\'] = "\\\\", [0x7f] = "\\u{7f}",
	};
	char b[16];

	if (c == (uint32_t)(uint8_t)quote) {
		snprintf(b, sizeof(b), "\\%c", quote);
		puts0(d, b);
	} else if (c == 0) {
		puts0(d, "\\0");
	} else if (c < 128 && named[c]) {
		puts0(d, named[c]);
	} else if (c < 0x20) {
		snprintf(b, sizeof(b), "\\u{%x}", c);
		puts0(d, b);
	} else {
		put_char(d, c);
	}
}

static void const_char(struct v0 *d)
{
	const char *digits;
	size_t n = hex_digits(d, &digits);
	uint64_t x = 0;

	if (d->bad || !hex_value(digits, n, &x) || x > 0x10ffff || !valid_char((uint32_t)x)) {
		d->bad = true;
		return;
	}
	puts0(d, "'");
	put_quoted(d, (uint32_t)x, '\'');
	puts0(d, "'");
}

static int hex_byte(const char *s)
{
	uint64_t x;

	return hex_value(s, 2, &x) ? (int)x : -1;
}

/* A str constant: its UTF-8 as hex. */
static void const_str(struct v0 *d)
{
	const char *digits;
	size_t n = hex_digits(d, &digits), i, k;

	if (d->bad || n % 2) {
		d->bad = true;
		return;
	}
	puts0(d, "\"");
	for (i = 0; i < n && !d->bad;) {
		uint32_t c = (uint32_t)hex_byte(digits + i);
		size_t more = c < 0x80 ? 0 : c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;

		if ((c >= 0x80 && c < 0xc2) || c > 0xf4 || i + 2 * (more + 1) > n) {
			d->bad = true;
			return;
		}
		c &= more ? 0x3fu >> more : 0x7f;
		for (k = 1; k <= more; k++)
			c = c << 6 | ((uint32_t)hex_byte(digits + i + 2 * k) & 0x3f);
		if (!valid_char(c))
			d->bad = true;
		put_quoted(d, c, '"');
		i += 2 * (more + 1);
	}
	puts0(d, "\"");
}

static void const_list(struct v0 *d, const char *open, const char *close, bool comma_if_one)
{
	size_t n;

	puts0(d, open);
	for (n = 0; !d->bad && !eat(d, 'E'); n++) {
		if (n)
			puts0(d, ", ");
		constant(d, true);
	}
	if (n == 1 && comma_if_one)
		puts0(d, ",");
	puts0(d, close);
}

static void const_fields(struct v0 *d)
{
	struct ident id;
	size_t n;

	puts0(d, " { ");
	for (n = 0; !d->bad && !eat(d, 'E'); n++) {
		if (n)
			puts0(d, ", ");
		id = identifier(d);
		if (d->bad)
			return;
		put_ident(d, &id);
		puts0(d, ": ");
		constant(d, true);
	}
	puts0(d, " }");
}

/* "V": a value of a struct or an enum variant. */
static void const_adt(struct v0 *d)
{
	char tag = next(d);

	path(d, true);
	if (tag == 'T')
		const_list(d, "(", ")", false);
	else if (tag == 'S')
		const_fields(d);
	else if (tag != 'U')
		d->bad = true;
}

static void const_backref(struct v0 *d, bool in_value)
{
	size_t back = 0;

	if (backref(d, &back))
		constant(d, in_value);
	if (!d->bad)
		d->pos = back;
}

/* "R", "Q": "Re…" is a literal of type &str; others are "&value". */
static void const_ref(struct v0 *d, char tag)
{
	if (tag == 'R' && eat(d, 'e')) {
		const_str(d);
		return;
	}
	puts0(d, tag == 'R' ? "&" : "&mut ");
	constant(d, true);
}

/* Composite constants that stand among generic arguments are put into braces. */
static void constant(struct v0 *d, bool in_value)
{
	char tag;
	bool braces;

	if (!enter(d))
		return;
	tag = next(d);
	braces = !in_value && tag && strchr("eRQATV", tag) && !(tag == 'R' && peek(d) == 'e');
	if (braces)
		puts0(d, "{");
	switch (tag) {
	case 'p': puts0(d, "_"); break;
	case 'h': case 't': case 'm': case 'y': case 'o': case 'j': const_int(d, false); break;
	case 'a': case 's': case 'l': case 'x': case 'n': case 'i': const_int(d, true); break;
	case 'b': const_bool(d); break;
	case 'c': const_char(d); break;
	case 'e':
		puts0(d, "*");
		const_str(d);
		break;
	case 'R': case 'Q': const_ref(d, tag); break;
	case 'A': const_list(d, "[", "]", false); break;
	case 'T': const_list(d, "(", ")", true); break;
	case 'V': const_adt(d); break;
	case 'B': const_backref(d, in_value); break;
	default: d->bad = true;
	}
	if (braces)
		puts0(d, "}");
	d->depth--;
}

/* The length of what is mangled: letters, digits and underscores; the rest is a suffix. */
static size_t mangled_length(const char *s)
{
	size_t n = 0;

	while ((s[n] >= '0' && s[n] <= '9') || (s[n] >= 'a' && s[n] <= 'z') ||
	       (s[n] >= 'A' && s[n] <= 'Z') || s[n] == '_')
		n++;
	return n;
}

/* ".llvm.…" comes from a link step and says nothing; any other suffix (".cold") is kept. */
static void put_suffix(struct v0 *d, const char *s)
{
	const char *llvm = strstr(s, ".llvm.");

	if (*s && *s != '.' && *s != '$')
		d->bad = true;
	put(d, s, llvm ? (size_t)(llvm - s) : strlen(s));
}

char *demangle_rust_v0(const char *name)
{
	struct v0 d = {0};

	if (strnlen(name, DEMANGLE_MAX) == DEMANGLE_MAX)
		return NULL;
	name += !strncmp(name, "__R", 3);
	/* a digit would be the version of a later encoding */
	if (name[0] != '_' || name[1] != 'R' || name[2] < 'A' || name[2] > 'Z')
		return NULL;
	d.s = name + 2;
	d.len = mangled_length(d.s);
	path(&d, true);
	if (!d.bad && d.pos < d.len && peek(&d) >= 'A' && peek(&d) <= 'Z') {
		d.muted++; /* the crate that instantiated it */
		path(&d, false);
		d.muted--;
	}
	if (!d.bad && d.pos != d.len)
		d.bad = true;
	put_suffix(&d, d.s + d.len);
	if (!d.bad && !buf_zero(&d.out, 1))
		return (char *)d.out.data;
	buf_release(&d.out);
	return NULL;
}
