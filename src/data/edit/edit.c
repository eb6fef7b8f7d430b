// SPDX-License-Identifier: Apache-2.0
#include "data/edit/edit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/edit/copy.h"
#include "data/file/file_priv.h"
#include "perfdata/feature.h"
#include "perfdata/symbols/symbols.h"

/* Places in the header of a file. */
enum { AT_DATA_SIZE = 48, AT_FEATURES = 72 };

struct edit {
	struct data_file *df;
	const struct buf *table;
	struct stat st; /* of the recording */
	bool in_place;
	int out;	 /* -1: not open */
	struct buf tail; /* what follows the records */
};

static uint64_t in_file_order(const struct edit *e, uint64_t v)
{
	return e->df->swapped ? __builtin_bswap64(v) : v;
}

/* --- writing -------------------------------------------------------------------------------------
 */

/* Copies the first @end bytes. */
static int copy_records(const struct edit *e, uint64_t end)
{
	return copy_bytes(e->df->segments[0].fd, 0, end, e->out);
}

/* --- a file's features ---------------------------------------------------------------------------
 */

static bool has(const uint64_t features[4], unsigned int f)
{
	return features[f / 64] >> (f % 64) & 1;
}

/*
 * Reads where the contents of each feature are. Those before the end of the records stay there;
 * their entries of @ret are set, all others are zero.
 */
static void read_places(const struct edit *e, struct pd_section ret[HEADER_FEAT_BITS])
{
	const struct segment *s = &e->df->segments[0];
	uint64_t at = s->end;

	memset(ret, 0, HEADER_FEAT_BITS * sizeof(*ret));
	for (unsigned int f = 0; f < HEADER_FEAT_BITS; f++) {
		struct pd_section place;
		uint64_t bits;

		memcpy(&bits, e->df->head + AT_FEATURES + f / 64 * sizeof(bits), sizeof(bits));
		if (!(in_file_order(e, bits) >> (f % 64) & 1))
			continue;
		if (file_read(s->fd, &place, sizeof(place), at) != sizeof(place))
			return;
		at += sizeof(place);
		place.offset = in_file_order(e, place.offset);
		place.size = in_file_order(e, place.size);
		if (section_inside(place, s->end) && place.size == e->df->features[f].len)
			ret[f] = place;
	}
}

static int put_place(struct edit *e, uint64_t offset, uint64_t size)
{
	struct pd_section place = {in_file_order(e, offset), in_file_order(e, size)};

	return buf_append(&e->tail, &place, sizeof(place));
}

/*
 * Fills the tail with the table of @features, the place of the table of symbols, and those contents
 * that stand behind it.
 */
static int make_tail(struct edit *e, const uint64_t features[4])
{
	struct pd_section places[HEADER_FEAT_BITS];
	uint64_t end = e->df->segments[0].end, at = end;
	int rc = 0;

	read_places(e, places);
	for (unsigned int f = 0; f < HEADER_FEAT_BITS; f++)
		at += has(features, f) ? sizeof(struct pd_section) : 0;
	at += e->table->len ? sizeof(struct pd_own_section) : 0;
	for (unsigned int f = 0; f < HEADER_FEAT_BITS && !rc; f++) {
		const struct buf *b = &e->df->features[f];

		if (!has(features, f))
			continue;
		if (places[f].size) {
			rc = put_place(e, places[f].offset, places[f].size);
			continue;
		}
		rc = put_place(e, at, b->len);
		at += b->len;
	}
	if (!rc && e->table->len)
		rc = pd_own_section_put(&e->tail, (struct pd_section){at, e->table->len},
					e->df->swapped);
	for (unsigned int f = 0; f < HEADER_FEAT_BITS && !rc; f++) {
		const struct buf *b = &e->df->features[f];

		if (has(features, f) && !places[f].size && b->len)
			rc = buf_append(&e->tail, b->data, b->len);
	}
	if (!rc && e->table->len)
		rc = buf_append(&e->tail, e->table->data, e->table->len);
	return rc;
}

/* Writes the new size of the data, and which features there are. */
static int put_header(const struct edit *e, const uint64_t features[4])
{
	const struct segment *s = &e->df->segments[0];
	uint64_t words[4], size = in_file_order(e, s->end - s->begin);

	for (size_t i = 0; i < 4; i++)
		words[i] = in_file_order(e, features[i]);
	if (pwrite(e->out, &size, sizeof(size), AT_DATA_SIZE) != sizeof(size) ||
	    pwrite(e->out, words, sizeof(words), AT_FEATURES) != sizeof(words))
		return errno ? -errno : -EIO;
	return 0;
}

static int write_file(struct edit *e)
{
	uint64_t features[4];
	int rc;

	memcpy(features, e->df->header.features, sizeof(features));
	features[HEADER_RINGTAIL_SYMBOLS / 64] &= ~(1ULL << HEADER_RINGTAIL_SYMBOLS % 64);
	rc = make_tail(e, features);
	if (!rc)
		rc = copy_records(e, e->df->segments[0].end);
	if (!rc)
		rc = copy_write(e->out, e->tail.data, e->tail.len);
	return rc ? rc : put_header(e, features);
}

/* Returns whether the record at @place in the file is a piece of a table of symbols. */
static bool is_symbols(const struct edit *e, const struct pd_section *place)
{
	struct {
		struct perf_event_header hdr;
		uint64_t magic;
	} r;

	if (file_read(e->df->segments[0].fd, &r, sizeof(r), place->offset) != sizeof(r))
		return false;
	return in_file_order(e, r.magic) == PD_SYMBOLS_MAGIC;
}

/* Writes the table that the stream shall carry, and no earlier one. */
static int write_stream(struct edit *e)
{
	const struct data_file *df = e->df;
	uint64_t at = 0;
	int rc = 0;

	if (e->table->len)
		rc = pd_symbols_put_records(&e->tail, e->table->data, e->table->len, df->swapped);
	for (size_t i = 0; !rc && i < df->nr_symbol_records; i++) {
		const struct pd_section *place = &df->symbol_records[i];

		if (place->offset < at || !is_symbols(e, place))
			continue;
		rc = copy_bytes(df->segments[0].fd, at, place->offset, e->out);
		at = place->offset + place->size;
	}
	if (!rc)
		rc = copy_bytes(df->segments[0].fd, at, df->segments[0].end, e->out);
	return rc ? rc : copy_write(e->out, e->tail.data, e->tail.len);
}

/* --- what is refused -----------------------------------------------------------------------------
 */

/* Writing the recording anew would hide the damage. That of the table of symbols may go. */
static int refuse_damage(struct data_file *df, struct error *err)
{
	const char *path = df->segments[0].path;
	size_t n;
	const struct data_finding *f = data_findings(df, &n);

	if (df->kind != DATA_PIPE && !df->header.data.size)
		return error_set(err, -EBADMSG,
				 "%s: its recorder was killed or still runs (size of data is 0): "
				 "'ringtail recover' completes it",
				 path);
	for (size_t i = 0; i < n; i++)
		if (f[i].severity == DATA_DAMAGED && strcmp(f[i].text, PD_SYMBOLS_DAMAGED) != 0)
			return error_set(err, -EBADMSG,
					 "%s: %s: pack leaves a damaged recording as it is", path,
					 f[i].text);
	return 0;
}

static int refuse_form(const struct data_file *df, struct error *err)
{
	const char *path = df->segments[0].path;

	if (df->kind != DATA_PIPE &&
	    (df->head_len < sizeof(df->header) || df->header.size != sizeof(df->header)))
		return error_set(err, -ENOTSUP, "%s: its header is in an older format", path);
	return 0;
}

/* Finds the file that @out names. It sets @e->in_place if that is the recording. */
static int find_output(struct edit *e, const char *out, char **ret, struct error *err)
{
	const struct segment *s = &e->df->segments[0];
	const char *path = out ? out : s->path;
	struct stat st;
	bool exists;

	if (out && e->df->kind == DATA_DIRECTORY)
		return error_set(err, -ENOTSUP,
				 "%s is a directory: copy it, and pack the copy in its place",
				 s->path);
	if (fstat(s->fd, &e->st))
		return error_sys(err, -errno, "%s", s->path);
	if (out && !strcmp(out, "-"))
		return error_set(err, -EINVAL, "-o -: pack writes a file: name it");
	exists = !lstat(path, &st);
	if (exists && stat(path, &st)) /* a link that leads nowhere */
		return error_sys(err, -errno, "%s", path);
	e->in_place = exists && st.st_dev == e->st.st_dev && st.st_ino == e->st.st_ino;
	if (!out && !e->in_place)
		return error_set(err, -EINVAL, "%s cannot be changed: name an output (-o)", path);
	if (exists && !S_ISREG(st.st_mode))
		return error_set(err, -EINVAL, "%s is not a regular file", path);
	*ret = exists ? realpath(path, NULL) : strdup(path);
	return *ret ? 0 : error_sys(err, -errno, "%s", path);
}

static int prepare(struct edit *e, const char *out, char **ret, struct error *err)
{
	int rc = find_output(e, out, ret, err);

	if (!rc)
		rc = refuse_form(e->df, err);
	if (!rc && e->in_place)
		rc = copy_refuse_writer(&e->df->segments[0], &e->st, err);
	return rc ? rc : refuse_damage(e->df, err);
}

int edit_check(struct data_file *df, const char *out, struct error *err)
{
	struct edit e = {.df = df, .out = -1};
	char *path = NULL;
	int rc = prepare(&e, out, &path, err);

	free(path);
	return rc;
}

/* --- the new file --------------------------------------------------------------------------------
 */

/* Writes the file @temp, and renames it to @path. */
static int fill_new(struct edit *e, const char *temp, const char *path, struct error *err)
{
	int rc = e->df->kind == DATA_PIPE ? write_stream(e) : write_file(e);

	if (!rc)
		rc = copy_attributes(&e->st, e->out);
	if (close(e->out) && !rc)
		rc = -errno;
	if (rc)
		return error_sys(err, rc, "%s", path);
	if (e->in_place)
		rc = copy_refuse_writer(&e->df->segments[0], &e->st, err);
	if (!rc && rename(temp, path))
		rc = error_sys(err, -errno, "%s", path);
	return rc;
}

static int write_new(struct edit *e, const char *path, struct error *err)
{
	char temp[PATH_MAX];
	sigset_t old;
	int rc;

	if (snprintf(temp, sizeof(temp), "%s.XXXXXX", path) >= (int)sizeof(temp))
		return error_sys(err, -ENAMETOOLONG, "%.200s", path);
	copy_block_signals(&old);
	e->out = mkostemp(temp, O_CLOEXEC);
	if (e->out < 0) {
		rc = error_sys(err, -errno, "%s", path);
	} else {
		rc = fill_new(e, temp, path, err);
		if (rc)
			unlink(temp);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL); /* a signal that waits ends the program here */
	return rc;
}

int edit_set_symbols(struct data_file *df, const struct buf *table, const char *out,
		     struct error *err)
{
	struct edit e = {.df = df, .table = table, .out = -1};
	char *path = NULL;
	int rc = prepare(&e, out, &path, err);

	if (!rc)
		rc = write_new(&e, path, err);
	buf_release(&e.tail);
	free(path);
	return rc;
}
