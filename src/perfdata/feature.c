// SPDX-License-Identifier: Apache-2.0
/* Feature sections of strings and numbers, and the elements of all other sections. */
#include "perfdata/feature.h"

#include <errno.h>
#include <stdlib.h>

#include "perfdata/feature_codec.h"

static const char *const feature_names[] = {
	[HEADER_TRACING_DATA] = "tracing data",
	[HEADER_BUILD_ID] = "build ids",
	[HEADER_HOSTNAME] = "hostname",
	[HEADER_OSRELEASE] = "os release",
	[HEADER_VERSION] = "perf version",
	[HEADER_ARCH] = "arch",
	[HEADER_NRCPUS] = "nrcpus",
	[HEADER_CPUDESC] = "cpudesc",
	[HEADER_CPUID] = "cpuid",
	[HEADER_TOTAL_MEM] = "total memory",
	[HEADER_CMDLINE] = "cmdline",
	[HEADER_EVENT_DESC] = "event description",
	[HEADER_CPU_TOPOLOGY] = "cpu topology",
	[HEADER_NUMA_TOPOLOGY] = "numa topology",
	[HEADER_BRANCH_STACK] = "branch stack",
	[HEADER_PMU_MAPPINGS] = "pmu mappings",
	[HEADER_GROUP_DESC] = "group description",
	[HEADER_AUXTRACE] = "auxtrace index",
	[HEADER_STAT] = "stat data",
	[HEADER_CACHE] = "cpu caches",
	[HEADER_SAMPLE_TIME] = "sample time",
	[HEADER_MEM_TOPOLOGY] = "memory topology",
	[HEADER_CLOCKID] = "clockid",
	[HEADER_DIR_FORMAT] = "directory format",
	[HEADER_BPF_PROG_INFO] = "bpf programs",
	[HEADER_BPF_BTF] = "bpf btf",
	[HEADER_COMPRESSED] = "compression",
	[HEADER_CPU_PMU_CAPS] = "cpu pmu capabilities",
	[HEADER_CLOCK_DATA] = "clock data",
	[HEADER_HYBRID_TOPOLOGY] = "hybrid topology",
	[HEADER_PMU_CAPS] = "pmu capabilities",
	[HEADER_CPU_DOMAIN_INFO] = "cpu domains",
	[HEADER_E_MACHINE] = "elf machine",
};

const char *pd_feature_name(unsigned int feature)
{
	if (feature == HEADER_RINGTAIL_SYMBOLS)
		return "symbols of ringtail";
	return feature < HEADER_LAST_KNOWN ? feature_names[feature] : NULL;
}

int pd_string_get(struct cursor *c, char **ret)
{
	const char *p;
	uint32_t len;
	char *s;

	if (!cursor_u32(c, &len))
		return -EBADMSG;
	p = (const char *)cursor_bytes(c, len);
	if (!p)
		return -EBADMSG;
	s = strndup(p, len); /* up to the NUL; the rest is padding */
	if (!s)
		return -ENOMEM;
	*ret = s;
	return 0;
}

int pd_array_get(struct cursor *c, size_t min, size_t size, void *ret_array, uint32_t *ret_nr)
{
	uint32_t nr;
	void *array;

	if (!cursor_u32(c, &nr) || nr > cursor_left(c) / min)
		return -EBADMSG;
	array = calloc(nr ? nr : 1, size);
	if (!array)
		return -ENOMEM;
	memcpy(ret_array, &array, sizeof(array));
	*ret_nr = nr;
	return 0;
}

int pd_strings_get(struct cursor *c, struct pd_strings *ret)
{
	uint32_t nr;
	int err = pd_array_get(c, PD_STRING_MIN, sizeof(*ret->s), &ret->s, &nr);

	while (!err && ret->nr < nr) {
		err = pd_string_get(c, &ret->s[ret->nr]);
		ret->nr += !err;
	}
	return err;
}

int pd_u32_put(struct buf *b, uint32_t v)
{
	return buf_append(b, &v, sizeof(v));
}

int pd_u64_put(struct buf *b, uint64_t v)
{
	return buf_append(b, &v, sizeof(v));
}

int pd_own_section_put(struct buf *b, struct pd_section section, bool swap)
{
	struct pd_own_section own = {PD_OWN_MAGIC, section};

	if (swap) {
		own.magic = __builtin_bswap64(own.magic);
		own.section.offset = __builtin_bswap64(section.offset);
		own.section.size = __builtin_bswap64(section.size);
	}
	return buf_append(b, &own, sizeof(own));
}

int pd_string_put(struct buf *b, const char *s)
{
	size_t len, padded;
	int err;

	if (!s)
		s = "";
	len = strlen(s);
	padded = (len + PD_STRING_ALIGN) & ~(size_t)(PD_STRING_ALIGN - 1);
	err = pd_u32_put(b, (uint32_t)padded);
	if (!err)
		err = buf_append(b, s, len);
	if (!err)
		err = buf_zero(b, padded - len);
	return err;
}

int pd_strings_put(struct buf *b, const struct pd_strings *v)
{
	return pd_feature_strings_encode(b, (const char *const *)v->s, v->nr);
}

int pd_feature_string_decode(const uint8_t *p, size_t len, bool swap, char **ret)
{
	struct cursor c = {.p = p, .end = len, .swap = swap};

	return pd_string_get(&c, ret);
}

int pd_feature_string_encode(struct buf *b, const char *s)
{
	return pd_string_put(b, s);
}

int pd_feature_nrcpus_decode(const uint8_t *p, size_t len, bool swap, struct pd_nrcpus *ret)
{
	struct cursor c = {.p = p, .end = len, .swap = swap};
	struct pd_nrcpus v = {0};

	cursor_u32(&c, &v.configured);
	cursor_u32(&c, &v.online);
	if (c.bad)
		return -EBADMSG;
	*ret = v;
	return 0;
}

int pd_feature_nrcpus_encode(struct buf *b, const struct pd_nrcpus *v)
{
	int err = pd_u32_put(b, v->configured);

	return err ? err : pd_u32_put(b, v->online);
}

int pd_feature_u64_decode(const uint8_t *p, size_t len, bool swap, uint64_t *ret)
{
	struct cursor c = {.p = p, .end = len, .swap = swap};

	return cursor_u64(&c, ret) ? 0 : -EBADMSG;
}

int pd_feature_u64_encode(struct buf *b, uint64_t v)
{
	return pd_u64_put(b, v);
}

int pd_feature_strings_decode(const uint8_t *p, size_t len, bool swap, struct pd_strings *ret)
{
	struct cursor c = {.p = p, .end = len, .swap = swap};

	*ret = (struct pd_strings){0};
	return pd_strings_get(&c, ret);
}

int pd_feature_strings_encode(struct buf *b, const char *const *s, size_t nr)
{
	int err = pd_u32_put(b, (uint32_t)nr);

	for (size_t i = 0; !err && i < nr; i++)
		err = pd_string_put(b, s[i]);
	return err;
}

void pd_strings_release(struct pd_strings *v)
{
	for (size_t i = 0; i < v->nr; i++)
		free(v->s[i]);
	free(v->s);
	*v = (struct pd_strings){0};
}

int pd_feature_sample_time_decode(const uint8_t *p, size_t len, bool swap,
				  struct pd_sample_time *ret)
{
	struct cursor c = {.p = p, .end = len, .swap = swap};
	struct pd_sample_time v = {0};

	cursor_u64(&c, &v.first);
	cursor_u64(&c, &v.last);
	if (c.bad)
		return -EBADMSG;
	*ret = v;
	return 0;
}

int pd_feature_sample_time_encode(struct buf *b, const struct pd_sample_time *v)
{
	int err = pd_u64_put(b, v->first);

	return err ? err : pd_u64_put(b, v->last);
}

#define CLOCK_DATA_VERSION 1

int pd_feature_clock_data_decode(const uint8_t *p, size_t len, bool swap, struct pd_clock_data *ret)
{
	struct cursor c = {.p = p, .end = len, .swap = swap};
	struct pd_clock_data v = {0};
	uint32_t version = 0;

	cursor_u32(&c, &version);
	cursor_u32(&c, &v.clockid);
	cursor_u64(&c, &v.wall_clock_ns);
	cursor_u64(&c, &v.clockid_time_ns);
	if (c.bad || version != CLOCK_DATA_VERSION)
		return -EBADMSG;
	*ret = v;
	return 0;
}

int pd_feature_clock_data_encode(struct buf *b, const struct pd_clock_data *v)
{
	int err = pd_u32_put(b, CLOCK_DATA_VERSION);

	if (!err)
		err = pd_u32_put(b, v->clockid);
	if (!err)
		err = pd_u64_put(b, v->wall_clock_ns);
	if (!err)
		err = pd_u64_put(b, v->clockid_time_ns);
	return err;
}

int pd_feature_compressed_decode(const uint8_t *p, size_t len, bool swap,
				 struct pd_compression *ret)
{
	struct cursor c = {.p = p, .end = len, .swap = swap};
	struct pd_compression v = {0};

	cursor_u32(&c, &v.version);
	cursor_u32(&c, &v.type);
	cursor_u32(&c, &v.level);
	cursor_u32(&c, &v.ratio);
	cursor_u32(&c, &v.mmap_len);
	if (c.bad)
		return -EBADMSG;
	*ret = v;
	return 0;
}

int pd_feature_compressed_encode(struct buf *b, const struct pd_compression *v)
{
	const uint32_t words[] = {v->version, v->type, v->level, v->ratio, v->mmap_len};

	return buf_append(b, words, sizeof(words));
}
