// SPDX-License-Identifier: Apache-2.0
#include "data/file/file_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

ssize_t file_read(int fd, void *buf, size_t len, uint64_t off)
{
	size_t done = 0;

	if (off > INT64_MAX)
		return 0;
	while (done < len) {
		ssize_t n = pread(fd, (char *)buf + done, len - done, (off_t)(off + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return done ? (ssize_t)done : -errno;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

bool own_section_read(const struct data_file *df, uint64_t at, struct pd_section *ret)
{
	struct pd_own_section own;

	if (file_read(df->segments[0].fd, &own, sizeof(own), at) != sizeof(own) ||
	    load_u64(&own.magic, df->swapped) != PD_OWN_MAGIC)
		return false;
	ret->offset = load_u64(&own.section.offset, df->swapped);
	ret->size = load_u64(&own.section.size, df->swapped);
	return true;
}

int segment_add(struct data_file *df, const char *path, int fd, bool force, struct error *err)
{
	struct segment *s;
	struct stat st;

	if (fstat(fd, &st))
		return error_sys(err, -errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, -EINVAL, "%s is not a regular file", path);
	if (!force && st.st_uid && st.st_uid != geteuid())
		return error_set(
			err, -EPERM,
			"%s is owned by neither you nor root: use --force to read it anyway", path);
	if (array_grow(&df->segments, &df->cap_segments, df->nr_segments + 1,
		       sizeof(*df->segments)))
		return error_set(err, -ENOMEM, "%s: out of memory", path);

	s = &df->segments[df->nr_segments];
	*s = (struct segment){.fd = -1, .dev = st.st_dev, .ino = st.st_ino, .sure = UINT64_MAX};
	s->path = strdup(path);
	if (!s->path)
		return error_set(err, -ENOMEM, "%s: out of memory", path);
	s->size = s->end = (uint64_t)st.st_size;
	if (df->nr_segments)
		s->base = s[-1].base + s[-1].size;
	df->nr_segments++;
	return 0;
}

void data_close(struct data_file *df)
{
	if (!df)
		return;
	for (size_t i = 0; i < df->nr_segments; i++) {
		if (df->segments[i].fd >= 0)
			close(df->segments[i].fd);
		free(df->segments[i].path);
	}
	free(df->segments);
	for (size_t i = 0; i < HEADER_FEAT_BITS; i++)
		buf_release(&df->features[i]);
	free(df->symbol_records);
	pd_evlist_free(df->list);
	data_findings_release(df);
	free(df);
}

enum data_kind data_kind(const struct data_file *df)
{
	return df->kind;
}

bool data_features_cut(const struct data_file *df)
{
	return df->features_cut;
}

bool data_swapped(const struct data_file *df)
{
	return df->swapped;
}

const struct pd_header *data_header(const struct data_file *df)
{
	return &df->header;
}

struct pd_evlist *data_evlist(const struct data_file *df)
{
	return df->list;
}

unsigned int data_segments(const struct data_file *df)
{
	return (unsigned int)df->nr_segments;
}

uint64_t data_bytes(const struct data_file *df)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < df->nr_segments; i++)
		sum += df->segments[i].size;
	return sum;
}

const char *data_segment_path(const struct data_file *df, unsigned int segment)
{
	return segment < df->nr_segments ? df->segments[segment].path : "";
}

int data_feature(const struct data_file *df, unsigned int feature, const uint8_t **ret,
		 size_t *ret_len)
{
	if (feature >= HEADER_FEAT_BITS || !feature_has(df, feature))
		return -ENOENT;
	*ret = df->features[feature].data;
	*ret_len = df->features[feature].len;
	return 0;
}
