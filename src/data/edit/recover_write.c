// SPDX-License-Identifier: Apache-2.0
/* Writes the whole records of a recording, with a header and features that fit them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/edit/copy.h"
#include "data/edit/recover.h"
#include "data/edit/recover_priv.h"
#include "data/file/parts.h"

#define PAGE 4096u /* perf rounds the size of chunks up to it */

struct rewrite {
	struct data_file *df;
	const struct recovery *r;
	uint64_t features[HEADER_FEAT_BITS / 64]; /* of the new header */
	struct buf contents[HEADER_FEAT_BITS];	  /* owned; of features that are made anew */
	struct stat *before;			  /* of each segment; owned */
};

int recover_open(const struct segment *s)
{
	int fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && st.st_dev == s->dev && st.st_ino == s->ino)
		return fd;
	close(fd);
	return -ESTALE;
}

/* --- features ------------------------------------------------------------------------------------
 */

static void set_feature(struct rewrite *w, unsigned int f)
{
	w->features[f / 64] |= 1ull << (f % 64);
}

static int make_times(struct rewrite *w)
{
	if (!w->r->timed)
		return 0;
	set_feature(w, HEADER_SAMPLE_TIME);
	return pd_feature_sample_time_encode(&w->contents[HEADER_SAMPLE_TIME], &w->r->times);
}

/* Readers must know how much room a chunk needs. */
static int make_compressed(struct rewrite *w)
{
	const struct recovery *r = w->r;
	struct pd_compression c = {
		.version = 1,
		.type = 1,
		.ratio = r->compressed ? (uint32_t)(r->raw / r->compressed) : 0,
		.mmap_len = (r->chunk + PAGE - 1) / PAGE * PAGE,
	};

	if (!r->chunk || feature_has(w->df, HEADER_COMPRESSED))
		return 0;
	set_feature(w, HEADER_COMPRESSED);
	return pd_feature_compressed_encode(&w->contents[HEADER_COMPRESSED], &c);
}

static int make_directory(struct rewrite *w)
{
	struct parts parts = {.complete = true, .nr = w->df->nr_segments - 1};
	int rc;

	if (w->df->kind != DATA_DIRECTORY)
		return 0;
	parts.part = calloc(parts.nr + 1, sizeof(*parts.part));
	if (!parts.part)
		return -ENOMEM;
	for (size_t i = 0; i < parts.nr; i++)
		parts.part[i] =
			(struct part){w->r->segments[i + 1].bytes, w->r->segments[i + 1].records};
	set_feature(w, HEADER_DIR_FORMAT);
	rc = parts_encode(&parts, &w->contents[HEADER_DIR_FORMAT]);
	free(parts.part);
	return rc;
}

/* Traces may stand at other places than before. */
static int make_traces(struct rewrite *w)
{
	w->features[HEADER_AUXTRACE / 64] &= ~(1ull << HEADER_AUXTRACE % 64);
	if (!w->r->aux.nr || w->df->swapped)
		return 0;
	set_feature(w, HEADER_AUXTRACE);
	return pd_feature_auxtrace_encode(&w->contents[HEADER_AUXTRACE], &w->r->aux);
}

static int make_features(struct rewrite *w, const struct recover_feature *more, size_t nr)
{
	int rc;

	memcpy(w->features, w->df->header.features, sizeof(w->features));
	rc = make_traces(w);
	if (pd_evlist_sample_type(w->df->list) & PERF_SAMPLE_BRANCH_STACK)
		set_feature(w, HEADER_BRANCH_STACK); /* has no contents */
	if (rc || w->df->swapped)
		return rc;
	rc = make_times(w) ?: make_compressed(w) ?: make_directory(w);
	for (size_t i = 0; !rc && i < nr; i++) {
		unsigned int f = more[i].feature;

		if (feature_has(w->df, f) || !more[i].data.len)
			continue;
		set_feature(w, f);
		rc = buf_append(&w->contents[f], more[i].data.data, more[i].data.len);
	}
	return rc;
}

static const struct buf *contents_of(const struct rewrite *w, unsigned int f)
{
	return w->contents[f].len ? &w->contents[f] : &w->df->features[f];
}

static bool wants(const struct rewrite *w, unsigned int f)
{
	return w->features[f / 64] >> (f % 64) & 1;
}

static uint64_t in_file_order(const struct rewrite *w, uint64_t v)
{
	return w->df->swapped ? __builtin_bswap64(v) : v;
}

/* Appends the contents of the features, in the order of their places. */
static int put_contents(const struct rewrite *w, struct buf *tail)
{
	int rc = 0;

	for (unsigned int f = 0; !rc && f < HEADER_FEAT_BITS; f++)
		if (wants(w, f) && contents_of(w, f)->len)
			rc = buf_append(tail, contents_of(w, f)->data, contents_of(w, f)->len);
	return rc;
}

/* Writes the table of features, which begins at file offset @at, and their contents. */
static int write_features(const struct rewrite *w, uint64_t at, int out)
{
	struct pd_section own = {0};
	struct buf tail = {0};
	int rc = 0;

	for (unsigned int f = 0; f < HEADER_FEAT_BITS; f++)
		at += !wants(w, f)		     ? 0
		      : f == HEADER_RINGTAIL_SYMBOLS ? sizeof(struct pd_own_section)
						     : sizeof(struct pd_section);
	for (unsigned int f = 0; !rc && f < HEADER_FEAT_BITS; f++) {
		uint64_t size = contents_of(w, f)->len;
		struct pd_section place = {in_file_order(w, at), in_file_order(w, size)};

		if (!wants(w, f))
			continue;
		if (f == HEADER_RINGTAIL_SYMBOLS)
			own = (struct pd_section){at, size};
		else
			rc = buf_append(&tail, &place, sizeof(place));
		at += size;
	}
	if (!rc && wants(w, HEADER_RINGTAIL_SYMBOLS))
		rc = pd_own_section_put(&tail, own, w->df->swapped);
	if (!rc)
		rc = put_contents(w, &tail);
	if (!rc)
		rc = copy_write(out, tail.data, tail.len);
	buf_release(&tail);
	return rc;
}

static int write_header(const struct rewrite *w, uint64_t bytes, int out)
{
	uint64_t words[HEADER_FEAT_BITS / 64], size = in_file_order(w, bytes);

	for (size_t i = 0; i < HEADER_FEAT_BITS / 64; i++)
		words[i] = w->features[i];
	words[HEADER_RINGTAIL_SYMBOLS / 64] &= ~(1ull << HEADER_RINGTAIL_SYMBOLS % 64);
	for (size_t i = 0; i < HEADER_FEAT_BITS / 64; i++)
		words[i] = in_file_order(w, words[i]);
	if (pwrite(out, &size, sizeof(size), RECOVER_AT_DATA_SIZE) != sizeof(size) ||
	    pwrite(out, words, sizeof(words), RECOVER_AT_FEATURES) != sizeof(words))
		return errno ? -errno : -EIO;
	return 0;
}

/* --- files ---------------------------------------------------------------------------------------
 */

/* Fills @out with the new form of a segment, and syncs it. */
static int write_segment(const struct rewrite *w, size_t segment, int out)
{
	const struct recover_segment *seg = &w->r->segments[segment];
	const struct segment *s = &w->df->segments[segment];
	int from = s->fd >= 0 ? s->fd : recover_open(s);
	int rc = from < 0 ? from : 0;

	if (!rc)
		rc = copy_bytes(from, 0, s->begin, out);
	for (size_t i = 0; !rc && i < seg->nr; i++)
		rc = copy_bytes(from, seg->spans[i].from, seg->spans[i].to, out);
	if (!rc && !segment && w->df->kind != DATA_PIPE)
		rc = write_features(w, s->begin + seg->bytes, out)
			     ?: write_header(w, seg->bytes, out);
	if (from >= 0 && from != s->fd)
		close(from);
	return rc ? rc : copy_attributes(&w->before[segment], out);
}

/* Refuses a recording that has a writer, or has changed. */
static int refuse_writers(struct rewrite *w, bool first, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < w->df->nr_segments; i++) {
		struct segment s = w->df->segments[i];
		const int kept = s.fd;

		if (kept < 0)
			s.fd = recover_open(&s);
		if (s.fd < 0 || (first && fstat(s.fd, &w->before[i])))
			rc = error_sys(err, s.fd < 0 ? s.fd : -errno, "%s", s.path);
		else
			rc = copy_refuse_writer(&s, &w->before[i], err);
		if (kept < 0 && s.fd >= 0)
			close(s.fd);
	}
	return rc;
}

static int write_file(struct rewrite *w, const char *path, bool replace, struct error *err)
{
	char temp[PATH_MAX];
	int out, rc;

	if (snprintf(temp, sizeof(temp), "%s.XXXXXX", path) >= (int)sizeof(temp))
		return error_sys(err, -ENAMETOOLONG, "%.200s", path);
	out = mkostemp(temp, O_CLOEXEC);
	if (out < 0)
		return error_sys(err, -errno, "%s", path);
	rc = write_segment(w, 0, out);
	if (close(out) && !rc)
		rc = -errno;
	if (rc)
		error_sys(err, rc, "%s", path);
	else if (replace)
		rc = refuse_writers(w, false, err);
	if (!rc && renameat2(AT_FDCWD, temp, AT_FDCWD, path, replace ? 0 : RENAME_NOREPLACE))
		rc = error_sys(err, -errno, "%s", path);
	if (rc)
		unlink(temp);
	return rc;
}

/* --- directories ---------------------------------------------------------------------------------
 */

static const char *name_of(const struct segment *s)
{
	const char *slash = strrchr(s->path, '/');

	return slash ? slash + 1 : s->path;
}

static bool is_segment(const struct data_file *df, const char *name)
{
	for (size_t i = 0; i < df->nr_segments; i++)
		if (!strcmp(name_of(&df->segments[i]), name))
			return true;
	return false;
}

/* Returns whether the directory @path has files besides the recording's, such as kcore_dir. */
static bool has_others(const struct data_file *df, const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	bool found = false;

	while (dir && !found && (e = readdir(dir)))
		found = strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
			!is_segment(df, e->d_name);
	if (dir)
		closedir(dir);
	return found;
}

/* Removes the recording's files from @path; moves others to @to, if that is not NULL. */
static void empty_directory(const struct data_file *df, const char *path, const char *to)
{
	DIR *dir = opendir(path), *other = to ? opendir(to) : NULL;
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (is_segment(df, e->d_name))
			unlinkat(dirfd(dir), e->d_name, 0);
		else if (other)
			renameat(dirfd(dir), e->d_name, dirfd(other), e->d_name);
	}
	if (dir)
		closedir(dir);
	if (other)
		closedir(other);
	rmdir(path);
}

static int fill_directory(const struct rewrite *w, const char *temp, const struct stat *st)
{
	int dir = open(temp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), out, rc;

	if (dir < 0)
		return -errno;
	rc = 0;
	for (size_t i = 0; !rc && i < w->df->nr_segments; i++) {
		out = openat(dir, name_of(&w->df->segments[i]),
			     O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		rc = out < 0 ? -errno : write_segment(w, i, out);
		if (out >= 0 && close(out) && !rc)
			rc = -errno;
	}
	if (!rc)
		rc = copy_attributes(st, dir);
	close(dir);
	return rc;
}

/* Puts @temp in the place of @path; what was there has the name @temp afterwards. */
static int exchange(const char *temp, const char *path)
{
	char aside[PATH_MAX];

	if (!renameat2(AT_FDCWD, temp, AT_FDCWD, path, RENAME_EXCHANGE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* The file system cannot: for a moment, the recording is under another name. */
	if (snprintf(aside, sizeof(aside), "%s.killed", temp) >= (int)sizeof(aside))
		return -ENAMETOOLONG;
	if (rename(path, aside))
		return -errno;
	if (rename(temp, path)) {
		int rc = -errno;

		rename(aside, path);
		return rc;
	}
	return rename(aside, temp) ? -errno : 0;
}

static int write_directory(struct rewrite *w, const char *from, const char *path, bool replace,
			   struct error *err)
{
	char temp[PATH_MAX];
	struct stat st;
	int rc;

	if (!replace && has_others(w->df, from))
		return error_set(err, -ENOTSUP,
				 "%s also has other files: copy it, and recover the copy in its "
				 "place",
				 from);
	if (snprintf(temp, sizeof(temp), "%s.XXXXXX", path) >= (int)sizeof(temp))
		return error_sys(err, -ENAMETOOLONG, "%.200s", path);
	if (stat(from, &st) || !mkdtemp(temp))
		return error_sys(err, -errno, "%s", path);
	rc = fill_directory(w, temp, &st);
	if (rc)
		error_sys(err, rc, "%s", path);
	else if (replace)
		rc = refuse_writers(w, false, err);
	if (!rc) {
		rc = replace ? exchange(temp, path)
			     : (renameat2(AT_FDCWD, temp, AT_FDCWD, path, RENAME_NOREPLACE) ? -errno
											    : 0);
		if (rc)
			error_sys(err, rc, "%s", path);
	}
	if (rc || replace)
		empty_directory(w->df, temp, rc ? NULL : path);
	return rc;
}

/* -------------------------------------------------------------------------------------------------
 */

static int refuse_form(const struct data_file *df, const struct recovery *r, const char *out,
		       struct error *err)
{
	const char *path = df->segments[0].path;

	if (!r->records)
		return error_set(err, -ENODATA, "%s: it has no readable record", path);
	if (df->kind != DATA_PIPE &&
	    (df->head_len < sizeof(df->header) || df->header.size != sizeof(df->header)))
		return error_set(err, -ENOTSUP, "%s: its header is in an older format", path);
	if (!out && r->left_out)
		return error_set(
			err, -ENOTSUP,
			"%s: %llu readable samples are in damaged compressed chunks, which a "
			"recovered file cannot have: write it elsewhere (-o)",
			path, (unsigned long long)r->left_out);
	return 0;
}

/* The recording's path: of a directory, without the name of its first file. */
static char *original_path(const struct data_file *df)
{
	char *path = realpath(df->segments[0].path, NULL);
	char *slash = path && df->kind == DATA_DIRECTORY ? strrchr(path, '/') : NULL;

	if (slash)
		*slash = '\0';
	return path;
}

static int write_new(struct rewrite *w, const char *out, struct error *err)
{
	char *from = original_path(w->df);
	int rc;

	if (!from && !out)
		return error_set(err, -EINVAL, "%s has no place: name an output (-o)",
				 w->df->segments[0].path);
	if (w->df->kind == DATA_DIRECTORY)
		rc = write_directory(w, from, out ? out : from, !out, err);
	else
		rc = write_file(w, out ? out : from, !out, err);
	free(from);
	return rc;
}

int recover_write(struct data_file *df, struct recovery *r, const struct recover_feature *features,
		  size_t nr_features, const char *out, struct error *err)
{
	struct rewrite w = {.df = df, .r = r};
	sigset_t old;
	int rc = refuse_form(df, r, out, err);

	if (rc)
		return rc;
	w.before = calloc(df->nr_segments, sizeof(*w.before));
	rc = w.before ? make_features(&w, features, nr_features) : -ENOMEM;
	if (rc)
		error_sys(err, rc, "%s", df->segments[0].path);
	else
		rc = refuse_writers(&w, true, err);
	if (!rc) {
		copy_block_signals(&old);
		rc = write_new(&w, out, err);
		pthread_sigmask(SIG_SETMASK, &old, NULL); /* a signal that waits ends us here */
	}
	for (size_t f = 0; f < HEADER_FEAT_BITS; f++)
		buf_release(&w.contents[f]);
	free(w.before);
	return rc;
}
