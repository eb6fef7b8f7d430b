// SPDX-License-Identifier: Apache-2.0
/* Feature sections on BPF programs: the result of BPF_OBJ_GET_INFO_BY_FD for each, and BTF ids. */
#include "perfdata/feature.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/feature_codec.h"

/* The arrays that a section can have (perf 6.1: util/bpf-utils.h). struct bpf_prog_info holds their
 * offsets into the data behind it. */
enum {
	ARRAY_INSNS = 0, /* the code of all functions, one behind the other */
	ARRAY_KSYMS = 3,
	ARRAY_FUNC_LENS = 4,
	ARRAY_TAGS = 8,
};

#define ALL_ARRAYS (1u << ARRAY_KSYMS | 1u << ARRAY_FUNC_LENS | 1u << ARRAY_TAGS)

/* A program's entry in the section. */
struct raw_prog {
	struct cursor info, data;
	uint64_t arrays;
};

/* Fields that an older struct bpf_prog_info lacks are 0. */
static uint32_t info_u32(const struct raw_prog *raw, size_t offset)
{
	struct cursor c = raw->info;
	uint32_t v = 0;

	if (cursor_bytes(&c, offset))
		cursor_u32(&c, &v);
	return v;
}

static struct cursor array_at(const struct raw_prog *raw, size_t offset)
{
	struct cursor c = raw->info, data = raw->data;
	uint64_t at = 0;

	if (cursor_bytes(&c, offset))
		cursor_u64(&c, &at);
	cursor_bytes(&data, at);
	return data;
}

static int get_raw(struct cursor *c, struct raw_prog *ret)
{
	uint32_t info_len = 0, data_len = 0;

	cursor_u32(c, &info_len);
	cursor_u32(c, &data_len);
	cursor_u64(c, &ret->arrays);
	ret->info = (struct cursor){.end = info_len, .swap = c->swap};
	ret->info.p = cursor_bytes(c, info_len);
	ret->data = (struct cursor){.end = data_len, .swap = c->swap};
	ret->data.p = cursor_bytes(c, data_len);
	/* Tests the pointers and not @bad, so that the compiler knows they are not NULL below. */
	return ret->info.p && ret->data.p ? 0 : -EBADMSG;
}

/* Bytes of code, or none. */
static struct cursor code_at(const struct raw_prog *raw)
{
	struct cursor code = array_at(raw, offsetof(struct bpf_prog_info, jited_prog_insns));
	uint32_t len = info_u32(raw, offsetof(struct bpf_prog_info, jited_prog_len));

	if (!(raw->arrays & 1u << ARRAY_INSNS) || len > cursor_left(&code))
		return (struct cursor){0};
	code.end = code.at + len;
	return code;
}

static int get_functions(const struct raw_prog *raw, struct pd_bpf_prog *prog)
{
	uint32_t nr = info_u32(raw, offsetof(struct bpf_prog_info, nr_jited_ksyms));
	struct cursor addrs = array_at(raw, offsetof(struct bpf_prog_info, jited_ksyms));
	struct cursor sizes = array_at(raw, offsetof(struct bpf_prog_info, jited_func_lens));
	struct cursor tags = array_at(raw, offsetof(struct bpf_prog_info, prog_tags));
	struct cursor code = code_at(raw);

	/* A program that was not compiled has no addresses. */
	if (nr != info_u32(raw, offsetof(struct bpf_prog_info, nr_jited_func_lens)) ||
	    nr != info_u32(raw, offsetof(struct bpf_prog_info, nr_prog_tags)) ||
	    (raw->arrays & ALL_ARRAYS) != ALL_ARRAYS)
		return 0;
	if (nr > cursor_left(&addrs) / sizeof(uint64_t))
		return -EBADMSG;
	prog->functions = calloc(nr ? nr : 1, sizeof(*prog->functions));
	if (!prog->functions)
		return -ENOMEM;
	for (; prog->nr < nr; prog->nr++) {
		struct pd_bpf_function *f = &prog->functions[prog->nr];
		const uint8_t *tag = cursor_bytes(&tags, sizeof(f->tag));

		if (!tag || !cursor_u64(&addrs, &f->addr) || !cursor_u32(&sizes, &f->size))
			return -EBADMSG;
		memcpy(f->tag, tag, sizeof(f->tag));
		f->code = code.p ? cursor_bytes(&code, f->size) : NULL;
	}
	return 0;
}

static int get_prog(struct cursor *c, struct pd_bpf_prog *prog)
{
	struct raw_prog raw;
	struct cursor name;
	const uint8_t *p;
	int err = get_raw(c, &raw);

	if (err)
		return err;
	prog->id = info_u32(&raw, offsetof(struct bpf_prog_info, id));
	name = raw.info;
	cursor_bytes(&name, offsetof(struct bpf_prog_info, name));
	p = cursor_bytes(&name, BPF_OBJ_NAME_LEN);
	if (p)
		memcpy(prog->name, p, sizeof(prog->name) - 1);
	return get_functions(&raw, prog);
}

int pd_feature_bpf_progs_decode(const uint8_t *p, size_t len, bool swap, struct pd_bpf_progs *ret)
{
	struct cursor c = {.p = p, .end = len, .swap = swap};
	uint32_t nr;
	int err;

	*ret = (struct pd_bpf_progs){0};
	err = pd_array_get(&c, 16, sizeof(*ret->progs), &ret->progs, &nr);
	while (!err && ret->nr < nr)
		err = get_prog(&c, &ret->progs[ret->nr++]);
	return err;
}

void pd_bpf_progs_release(struct pd_bpf_progs *v)
{
	for (size_t i = 0; i < v->nr; i++)
		free(v->progs[i].functions);
	free(v->progs);
	*v = (struct pd_bpf_progs){0};
}

int pd_feature_bpf_types_decode(const uint8_t *p, size_t len, bool swap,
				int (*next)(uint32_t id, void *arg), void *arg)
{
	struct cursor c = {.p = p, .end = len, .swap = swap};
	uint32_t nr = 0, id = 0, size = 0;
	int err = 0;

	cursor_u32(&c, &nr);
	for (uint32_t i = 0; !err && !c.bad && i < nr; i++) {
		cursor_u32(&c, &id);
		cursor_u32(&c, &size);
		if (cursor_bytes(&c, size))
			err = next(id, arg);
	}
	return c.bad ? -EBADMSG : err;
}
