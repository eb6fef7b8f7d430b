// SPDX-License-Identifier: Apache-2.0
#include "perfdata/symbols/symbols.h"

#include <errno.h>
#include <string.h>

#include "perfdata/symbols/leb.h"

#define HEAD	      "RTSYMS01"
#define HEAD_LEN      (sizeof(HEAD) - 1)
#define TAG_FUNCTIONS 1u
#define TAG_LINES     2u
#define RECORD_WORDS  3u

/* --- writing -------------------------------------------------------------------------------------
 */

int pd_symbols_begin(struct buf *b, uint64_t left_out)
{
	struct buf head = {0};
	int rc = leb_put(&head, left_out);

	if (!rc)
		rc = buf_append(b, HEAD, HEAD_LEN);
	if (!rc)
		rc = leb_put_bytes(b, head.data, head.len);
	buf_release(&head);
	return rc;
}

int pd_symbols_put_function(struct buf *b, uint64_t *last, const struct pd_symbols_function *f)
{
	size_t was = b->len;
	int rc = leb_put(b, f->start - *last);

	if (!rc)
		rc = leb_put(b, f->size);
	if (!rc)
		rc = leb_put_bytes(b, f->name, f->name_len);
	if (rc)
		b->len = was;
	else
		*last = f->start;
	return rc;
}

static int put_body(struct buf *b, const struct pd_symbols_object *o)
{
	int rc = leb_put(b, o->kind);

	if (!rc)
		rc = leb_put(b, o->pid);
	if (!rc)
		rc = leb_put_bytes(b, o->build_id, o->build_id_size);
	if (!rc)
		rc = leb_put_bytes(b, o->name, o->name_len);
	if (!rc)
		rc = leb_put(b, TAG_FUNCTIONS);
	if (!rc)
		rc = leb_put_bytes(b, o->functions, o->functions_len);
	if (!rc && o->lines_len)
		rc = leb_put(b, TAG_LINES) ?: leb_put_bytes(b, o->lines, o->lines_len);
	return rc;
}

int pd_symbols_put_object(struct buf *b, const struct pd_symbols_object *o)
{
	struct buf body = {0};
	size_t was = b->len;
	int rc = put_body(&body, o);

	if (!rc)
		rc = leb_put_bytes(b, body.data, body.len);
	buf_release(&body);
	if (rc)
		b->len = was;
	return rc;
}

static int put_record(struct buf *b, const uint8_t *p, size_t len, size_t at, bool swap)
{
	size_t n = len - at < PD_SYMBOLS_PIECE ? len - at : PD_SYMBOLS_PIECE;
	struct perf_event_header hdr = {.type = PERF_RECORD_HEADER_EVENT_TYPE};
	uint64_t words[RECORD_WORDS] = {PD_SYMBOLS_MAGIC, at, len};
	size_t size = (sizeof(hdr) + sizeof(words) + n + 7) & ~(size_t)7;
	int rc;

	if (size < PD_PASSED_OVER_MIN)
		size = PD_PASSED_OVER_MIN;
	hdr.size = (uint16_t)size;
	if (swap) {
		hdr.type = __builtin_bswap32(hdr.type);
		hdr.size = __builtin_bswap16(hdr.size);
		for (size_t i = 0; i < RECORD_WORDS; i++)
			words[i] = __builtin_bswap64(words[i]);
	}
	rc = buf_append(b, &hdr, sizeof(hdr));
	if (!rc)
		rc = buf_append(b, words, sizeof(words));
	if (!rc)
		rc = buf_append(b, p + at, n);
	return rc ? rc : buf_zero(b, size - sizeof(hdr) - sizeof(words) - n);
}

int pd_symbols_put_records(struct buf *b, const uint8_t *p, size_t len, bool swap)
{
	int rc = 0;

	for (size_t at = 0; !rc && at < len; at += PD_SYMBOLS_PIECE)
		rc = put_record(b, p, len, at, swap);
	return rc;
}

/* --- reading -------------------------------------------------------------------------------------
 */

static bool get_number(struct pd_symbols_cursor *c, uint64_t *ret)
{
	return leb_get(&c->p, c->end, ret);
}

static bool get_bytes(struct pd_symbols_cursor *c, const uint8_t **ret, size_t *ret_len)
{
	return leb_get_bytes(&c->p, c->end, ret, ret_len);
}

int pd_symbols_open(const uint8_t *p, size_t len, struct pd_symbols_cursor *ret,
		    uint64_t *ret_left_out)
{
	struct pd_symbols_cursor c = {p + (len < HEAD_LEN ? 0 : HEAD_LEN), p + len, 0}, head;
	const uint8_t *bytes;
	size_t n;

	if (len < HEAD_LEN || memcmp(p, HEAD, HEAD_LEN) != 0 || !get_bytes(&c, &bytes, &n))
		return -EBADMSG;
	head = (struct pd_symbols_cursor){bytes, bytes + n, 0};
	if (!get_number(&head, ret_left_out))
		return -EBADMSG;
	*ret = c;
	return 0;
}

static bool get_parts(struct pd_symbols_cursor *c, struct pd_symbols_object *o)
{
	while (c->p < c->end) {
		const uint8_t *part;
		uint64_t tag;
		size_t len;

		if (!get_number(c, &tag) || !get_bytes(c, &part, &len))
			return false;
		if (tag == TAG_FUNCTIONS) {
			o->functions = part;
			o->functions_len = len;
		} else if (tag == TAG_LINES) {
			o->lines = part;
			o->lines_len = len;
		}
	}
	return true;
}

/* Reads what is between the lengths of an object. Damaged parts only end the list of parts. */
static bool get_object(struct pd_symbols_cursor *c, struct pd_symbols_object *o)
{
	const uint8_t *name;
	uint64_t pid;

	if (!get_number(c, &o->kind) || !get_number(c, &pid) || pid > UINT32_MAX ||
	    !get_bytes(c, &o->build_id, &o->build_id_size) || o->build_id_size > PD_BUILD_ID_MAX ||
	    !get_bytes(c, &name, &o->name_len))
		return false;
	o->pid = (uint32_t)pid;
	o->name = (const char *)name;
	get_parts(c, o);
	return true;
}

int pd_symbols_next_object(struct pd_symbols_cursor *c, struct pd_symbols_object *ret)
{
	while (c->p < c->end) {
		struct pd_symbols_object o = {0};
		struct pd_symbols_cursor body;
		const uint8_t *p;
		size_t len;

		if (!get_bytes(c, &p, &len))
			return -EBADMSG;
		body = (struct pd_symbols_cursor){p, p + len, 0};
		if (!get_object(&body, &o))
			continue;
		*ret = o;
		return 1;
	}
	return 0;
}

void pd_symbols_functions(const struct pd_symbols_object *o, struct pd_symbols_cursor *ret)
{
	*ret = (struct pd_symbols_cursor){0};
	if (o->functions)
		*ret = (struct pd_symbols_cursor){o->functions, o->functions + o->functions_len, 0};
}

int pd_symbols_next_function(struct pd_symbols_cursor *c, struct pd_symbols_function *ret)
{
	struct pd_symbols_function f;
	const uint8_t *name;
	uint64_t more;

	if (c->p == c->end)
		return 0;
	if (!get_number(c, &more) || more > UINT64_MAX - c->last || !get_number(c, &f.size) ||
	    !get_bytes(c, &name, &f.name_len))
		return -EBADMSG;
	f.start = c->last + more;
	f.name = (const char *)name;
	if (!f.size || f.size > UINT64_MAX - f.start || !f.name_len || memchr(name, 0, f.name_len))
		return -EBADMSG;
	c->last = f.start;
	*ret = f;
	return 1;
}
