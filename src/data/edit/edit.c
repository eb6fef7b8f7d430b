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

#include "data/file/file_priv.h"
#include "perfdata/symbols.h"

#define COPY_BYTES  (1u << 20)
#define PIECE_BYTES (64u << 20) /* a signal waits for one piece */

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

static int write_all(int fd, const uint8_t *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

/* Returns -EINTR if a signal that write_new() blocks waits. */
static int check_signals(void)
{
	sigset_t waiting;

	if (sigpending(&waiting))
		return -errno;
	return sigismember(&waiting, SIGINT) || sigismember(&waiting, SIGTERM) ||
			       sigismember(&waiting, SIGHUP)
		       ? -EINTR
		       : 0;
}

/* Copies through memory, where the kernel cannot copy by itself. */
static int copy_by_hand(const struct edit *e, uint64_t at, uint64_t end)
{
	uint8_t *bytes = malloc(COPY_BYTES);
	int rc = bytes ? 0 : -ENOMEM;

	while (!rc && at < end) {
		size_t want = end - at < COPY_BYTES ? end - at : COPY_BYTES;
		ssize_t n = file_read(e->df->segments[0].fd, bytes, want, at);

		if (n <= 0)
			rc = n < 0 ? (int)n : -ENODATA;
		else
			rc = write_all(e->out, bytes, (size_t)n) ?: check_signals();
		at += n > 0 ? (uint64_t)n : 0;
	}
	free(bytes);
	return rc;
}

/* Copies the first @end bytes. A file system that can shares their blocks. */
static int copy_records(const struct edit *e, uint64_t end)
{
	off64_t at = 0;
	int rc = 0;

	while (!rc && (uint64_t)at < end) {
		uint64_t left = end - (uint64_t)at;
		ssize_t n = copy_file_range(e->df->segments[0].fd, &at, e->out, NULL,
					    left < PIECE_BYTES ? left : PIECE_BYTES, 0);

		if (n <= 0)
			return copy_by_hand(e, (uint64_t)at, end);
		rc = check_signals();
	}
	return rc;
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

/* Fills the tail with the table of @features and those contents that stand behind it. */
static int make_tail(struct edit *e, const uint64_t features[4])
{
	struct pd_section places[HEADER_FEAT_BITS];
	uint64_t end = e->df->segments[0].end, at = end;
	int rc = 0;

	read_places(e, places);
	for (unsigned int f = 0; f < HEADER_FEAT_BITS; f++)
		at += has(features, f) ? sizeof(struct pd_section) : 0;
	for (unsigned int f = 0; f < HEADER_FEAT_BITS && !rc; f++) {
		const struct buf *b = f == HEADER_RINGTAIL_SYMBOLS ? e->table : &e->df->features[f];

		if (!has(features, f))
			continue;
		if (places[f].size && b != e->table) {
			rc = put_place(e, places[f].offset, places[f].size);
			continue;
		}
		rc = put_place(e, at, b->len);
		at += b->len;
	}
	for (unsigned int f = 0; f < HEADER_FEAT_BITS && !rc; f++) {
		const struct buf *b = f == HEADER_RINGTAIL_SYMBOLS ? e->table : &e->df->features[f];

		if (has(features, f) && (!places[f].size || b == e->table) && b->len)
			rc = buf_append(&e->tail, b->data, b->len);
	}
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
	const uint64_t ours = 1ULL << HEADER_RINGTAIL_SYMBOLS % 64;
	int rc;

	memcpy(features, e->df->header.features, sizeof(features));
	features[HEADER_RINGTAIL_SYMBOLS / 64] &= ~ours;
	if (e->table->len)
		features[HEADER_RINGTAIL_SYMBOLS / 64] |= ours;
	rc = make_tail(e, features);
	if (!rc)
		rc = copy_records(e, e->df->segments[0].end);
	if (!rc)
		rc = write_all(e->out, e->tail.data, e->tail.len);
	return rc ? rc : put_header(e, features);
}

static int write_stream(struct edit *e)
{
	int rc = pd_symbols_put_records(&e->tail, e->table->data, e->table->len, e->df->swapped);

	if (!rc)
		rc = copy_records(e, e->df->segments[0].end);
	return rc ? rc : write_all(e->out, e->tail.data, e->tail.len);
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
				 "pack leaves such a recording as it is",
				 path);
	for (size_t i = 0; i < n; i++)
		if (f[i].severity == DATA_DAMAGED && strcmp(f[i].text, PD_SYMBOLS_DAMAGED) != 0)
			return error_set(err, -EBADMSG,
					 "%s: %s: pack leaves a damaged recording as it is", path,
					 f[i].text);
	return 0;
}

/*
 * Refuses a file that somebody has open for writing. The kernel grants no lease on it. Where leases
 * do not work, the file must at least not change.
 */
static int refuse_writer(const struct edit *e, struct error *err)
{
	const struct segment *s = &e->df->segments[0];
	bool busy = false;
	struct stat st;

	fcntl(s->fd, F_SETSIG, SIGURG); /* a signal for the lease's end does nothing */
	if (!fcntl(s->fd, F_SETLEASE, F_RDLCK))
		fcntl(s->fd, F_SETLEASE, F_UNLCK);
	else
		busy = errno == EAGAIN;
	if (fstat(s->fd, &st))
		return error_sys(err, -errno, "%s", s->path);
	if (busy || (uint64_t)st.st_size != s->size || st.st_mtim.tv_sec != e->st.st_mtim.tv_sec ||
	    st.st_mtim.tv_nsec != e->st.st_mtim.tv_nsec)
		return error_set(err, -EBUSY,
				 "%s is open for writing: pack it when its recorder has ended",
				 s->path);
	return 0;
}

static int refuse_form(const struct data_file *df, bool remove, struct error *err)
{
	const char *path = df->segments[0].path;

	if (df->kind == DATA_PIPE && remove)
		return error_set(err, -ENOTSUP, "%s: ringtail cannot remove names from a stream",
				 path);
	if (df->kind == DATA_PIPE && feature_has(df, HEADER_RINGTAIL_SYMBOLS))
		return error_set(err, -ENOTSUP,
				 "%s: a stream that carries names cannot be packed again", path);
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

static int prepare(struct edit *e, bool remove, const char *out, char **ret, struct error *err)
{
	int rc = find_output(e, out, ret, err);

	if (!rc)
		rc = refuse_form(e->df, remove, err);
	if (!rc && e->in_place)
		rc = refuse_writer(e, err);
	return rc ? rc : refuse_damage(e->df, err);
}

int edit_check(struct data_file *df, bool remove, const char *out, struct error *err)
{
	struct edit e = {.df = df, .out = -1};
	char *path = NULL;
	int rc = prepare(&e, remove, out, &path, err);

	free(path);
	return rc;
}

/* --- the new file --------------------------------------------------------------------------------
 */

/*
 * Keeps the permissions and times of the recording. The owner is a wish; without the group, the
 * group and others get no permission.
 */
static int keep_attributes(const struct edit *e)
{
	const struct timespec times[2] = {e->st.st_atim, e->st.st_mtim};
	mode_t mode = e->st.st_mode & 0777;

	if (fchown(e->out, e->st.st_uid, e->st.st_gid)) {
		if (errno != EPERM)
			return -errno;
		if (fchown(e->out, (uid_t)-1, e->st.st_gid))
			mode &= 0700;
	}
	if (fchmod(e->out, mode) || futimens(e->out, times) || fsync(e->out))
		return -errno;
	return 0;
}

/* Writes the file @temp, and renames it to @path. */
static int fill_new(struct edit *e, const char *temp, const char *path, struct error *err)
{
	int rc = e->df->kind == DATA_PIPE ? write_stream(e) : write_file(e);

	if (!rc)
		rc = keep_attributes(e);
	if (close(e->out) && !rc)
		rc = -errno;
	if (rc)
		return error_sys(err, rc, "%s", path);
	if (e->in_place)
		rc = refuse_writer(e, err);
	if (!rc && rename(temp, path))
		rc = error_sys(err, -errno, "%s", path);
	return rc;
}

/* Blocks the signals that would leave a temporary file, except those that are ignored. */
static void block_signals(sigset_t *old)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction now;
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!sigaction(signals[i], NULL, &now) && now.sa_handler != SIG_IGN)
			sigaddset(&set, signals[i]);
	pthread_sigmask(SIG_BLOCK, &set, old);
}

static int write_new(struct edit *e, const char *path, struct error *err)
{
	char temp[PATH_MAX];
	sigset_t old;
	int rc;

	if (snprintf(temp, sizeof(temp), "%s.XXXXXX", path) >= (int)sizeof(temp))
		return error_sys(err, -ENAMETOOLONG, "%.200s", path);
	block_signals(&old);
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
	int rc = prepare(&e, !table->len, out, &path, err);

	if (!rc)
		rc = write_new(&e, path, err);
	buf_release(&e.tail);
	free(path);
	return rc;
}
