// SPDX-License-Identifier: Apache-2.0
#include "record/control/control_socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock_ns.h"
#include "sys/io/file.h"

#define FOLDER	"ringtail"
#define SUFFIX	".sock"
#define BACKLOG 512

/* --- the directory -------------------------------------------------------------------------------
 */

/* Whether no other user can replace files in @base. */
static bool base_is_ours(const char *base)
{
	struct stat st;

	return !stat(base, &st) && S_ISDIR(st.st_mode) && !(st.st_mode & (S_IWGRP | S_IWOTH)) &&
	       (st.st_uid == geteuid() || st.st_uid == 0);
}

const char *control_socket_base(void)
{
	/* In a program with file capabilities the variable is still its user's own. */
	bool own = getuid() == geteuid() && getgid() == getegid();
	const char *base = own ? getenv("XDG_RUNTIME_DIR") : secure_getenv("XDG_RUNTIME_DIR");

	/* su and sudo may leave that of another user in the environment. */
	if (base && *base == '/' && base_is_ours(base) && !access(base, W_OK))
		return base;
	return geteuid() ? NULL : "/run";
}

/*
 * Opens BASE/ringtail if it belongs to this user or, with @foreign, to a user whose sockets are
 * acceptable.
 */
static int open_folder(const char *base, bool foreign)
{
	char path[PATH_MAX];
	struct stat st;
	int fd, rc;

	if (snprintf(path, sizeof(path), "%s/" FOLDER, base) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = fstat(fd, &st) ? -errno : 0;
	if (!rc && st.st_uid != geteuid() && !(foreign && (!geteuid() || !st.st_uid)))
		rc = -EPERM;
	if (!rc && !foreign && (st.st_mode & 0777) != 0700)
		rc = fchmod(fd, 0700) ? -errno : 0;
	if (rc)
		close(fd);
	return rc ? rc : fd;
}

static int make_folder(const char *base)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/" FOLDER, base) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	return open_folder(base, false);
}

/*
 * Makes the address by the directory's descriptor: it is short, and of that directory only. A
 * process with file capabilities may not resolve its own descriptors in /proc; then the address is
 * below @base, where nobody else can replace the directory.
 */
static int address(int dir, const char *base, const char *name, struct sockaddr_un *ret)
{
	char self[40];
	int len;

	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(self, sizeof(self), "/proc/self/fd/%d/.", dir);
	if (access(self, F_OK))
		len = snprintf(ret->sun_path, sizeof(ret->sun_path), "%s/" FOLDER "/%.64s", base,
			       name);
	else
		len = snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/%.64s", dir,
			       name);
	return len < (int)sizeof(ret->sun_path) ? 0 : -ENAMETOOLONG;
}

/* Waits until @until, ms, for room in the listener's queue; 0: does not wait. */
static int try_connect(int fd, const struct sockaddr_un *to, uint64_t until)
{
	uint64_t ms = ms_until(until), left = ms ? ms : 1; /* 0 means no limit */
	const struct timeval limit = {(time_t)(left / 1000), (suseconds_t)(left % 1000 * 1000)};

	if (until)
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	return connect(fd, (const struct sockaddr *)to, sizeof(*to)) ? -errno : 0;
}

/*
 * Returns a connected descriptor, blocking if @until is set, or a negative errno; -EAGAIN: too
 * late.
 */
static int connect_at(int dir, const char *base, const char *name, uint64_t until)
{
	struct sockaddr_un to;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (until ? 0 : SOCK_NONBLOCK), 0), rc;

	if (fd < 0)
		return -errno;
	rc = address(dir, base, name, &to);
	if (!rc)
		rc = try_connect(fd, &to, until);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

/* The pid in "PID.sock"; 0 for other names. */
static pid_t pid_of_name(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	return digits && digits < 10 && !strcmp(name + digits, SUFFIX) ? atoi(name) : 0;
}

/* Opens a stream of the names in @dir; the caller keeps @dir. */
static DIR *list_folder(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);

	if (!stream && fd >= 0)
		close(fd);
	return stream;
}

static void remove_stale(int dir, const char *base)
{
	DIR *stream = list_folder(dir);
	struct dirent *d;

	while (stream && (d = readdir(stream))) {
		int fd = pid_of_name(d->d_name) ? connect_at(dir, base, d->d_name, 0) : -1;

		if (fd == -ECONNREFUSED)
			unlinkat(dir, d->d_name, 0);
		if (fd >= 0)
			close(fd);
	}
	if (stream)
		closedir(stream);
}

/* --- recorder ------------------------------------------------------------------------------------
 */

static int listen_at(int dir, const char *base, const char *name)
{
	char before[40];
	struct sockaddr_un at;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), rc;

	if (fd < 0)
		return -errno;
	snprintf(before, sizeof(before), "%s.new", name);
	unlinkat(dir, before, 0);
	rc = address(dir, base, before, &at);
	if (rc) {
		close(fd);
		return rc;
	}
	if (!bind(fd, (struct sockaddr *)&at, sizeof(at)) && !fchmodat(dir, before, 0600, 0) &&
	    !listen(fd, BACKLOG) && !renameat(dir, before, dir, name))
		return fd;
	rc = -errno;
	unlinkat(dir, before, 0);
	close(fd);
	return rc;
}

int control_socket_open(struct control_socket *ret, const char *base, struct error *err)
{
	char name[sizeof(ret->name)];
	int dir, fd;

	dir = make_folder(base);
	if (dir < 0)
		return error_sys(err, dir, "%.256s/" FOLDER, base);
	remove_stale(dir, base);
	snprintf(name, sizeof(name), "%d" SUFFIX, getpid());
	fd = listen_at(dir, base, name);
	if (fd < 0) {
		close(dir);
		return error_sys(err, fd, "%.256s/" FOLDER "/%s", base, name);
	}
	ret->fd = fd;
	ret->dir = dir;
	memcpy(ret->name, name, sizeof(name));
	return 0;
}

void control_socket_close(struct control_socket *s)
{
	if (s->fd >= 0) {
		unlinkat(s->dir, s->name, 0);
		close(s->fd);
		close(s->dir);
	}
	s->fd = s->dir = -1;
}

bool control_socket_trusts(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

/* --- client --------------------------------------------------------------------------------------
 */

struct socket_search {
	pid_t pid;	/* 0: any */
	uint64_t until; /* ms */
	int fd, code;	/* @fd: the first found; @code: the error of the last tried */
	size_t found;
	struct buf pids; /* text, of all found */
};

/* A recorder that does not answer is the most useful error. */
static void search_failed(struct socket_search *s, int rc)
{
	if (s->code != -EAGAIN)
		s->code = rc;
}

static void search_take(struct socket_search *s, int dir, const char *base, const char *name)
{
	int fd = connect_at(dir, base, name, s->until);

	if (fd < 0) {
		search_failed(s, fd);
		return;
	}
	buf_printf(&s->pids, "%s%d", s->found ? ", " : "", pid_of_name(name));
	if (s->found++)
		close(fd);
	else
		s->fd = fd;
}

static void search_base(struct socket_search *s, const char *base)
{
	char name[32];
	DIR *stream;
	struct dirent *d;
	int dir;

	if (s->pid && s->found)
		return;
	dir = open_folder(base, true);
	if (dir < 0) {
		if (dir != -ENOENT)
			search_failed(s, dir);
		return;
	}
	if (s->pid) {
		snprintf(name, sizeof(name), "%d" SUFFIX, s->pid);
		search_take(s, dir, base, name);
	} else {
		stream = list_folder(dir);
		while (stream && (d = readdir(stream)))
			if (pid_of_name(d->d_name))
				search_take(s, dir, base, d->d_name);
		if (stream)
			closedir(stream);
	}
	close(dir);
}

/*
 * Reads the user from a file in /proc: of a process with capabilities, the files themselves are
 * root's.
 */
static bool user_of(pid_t pid, uid_t *ret)
{
	const char *uid;
	struct buf b = {0};
	char path[64];
	bool found;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (file_read_at(AT_FDCWD, path, &b)) {
		buf_release(&b);
		return false;
	}
	uid = strstr((const char *)b.data, "\nUid:");
	found = uid && sscanf(uid, "\nUid: %*u %u", ret) == 1;
	buf_release(&b);
	return found;
}

/* Searches the runtime directory of the user of process @pid, as login managers name it. */
static void search_owner(struct socket_search *s)
{
	char path[64];
	uid_t user;

	if (!user_of(s->pid, &user))
		return;
	snprintf(path, sizeof(path), "/run/user/%u", user);
	search_base(s, path);
}

/* Searches those of all users. */
static void search_users(struct socket_search *s)
{
	DIR *stream = opendir("/run/user");
	char path[300];
	struct dirent *d;

	while (stream && (d = readdir(stream))) {
		if (d->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/run/user/%s", d->d_name);
		search_base(s, path);
	}
	if (stream)
		closedir(stream);
}

/* Whether @pid is this user's: then "belongs to another user" would be wrong. */
static bool is_mine(pid_t pid)
{
	uid_t user;

	return pid && user_of(pid, &user) && user == geteuid();
}

static int explain(const struct socket_search *s, unsigned int timeout_s, struct error *err)
{
	if (!s->found && s->code == -EAGAIN)
		return error_set(err, s->code, "the recording did not answer within %u s",
				 timeout_s);
	if (s->found > 1)
		return error_set(err, -EBUSY, "several recordings run: choose one with --pid: %.*s",
				 (int)s->pids.len, (const char *)s->pids.data);
	if (!s->pid && (!s->code || s->code == -ECONNREFUSED))
		return error_set(err, -ESRCH, "there is no running recording that takes commands");
	if (!s->code || s->code == -ENOENT || s->code == -ECONNREFUSED || is_mine(s->pid))
		return error_set(err, -ESRCH, "no recording with pid %d takes commands%s", s->pid,
				 is_mine(s->pid) && !control_socket_base()
					 ? ": yours need XDG_RUNTIME_DIR for that"
					 : "");
	if (!s->pid && (s->code == -EACCES || s->code == -EPERM))
		return error_set(
			err, s->code,
			"you have no running recording that takes commands: root's recordings take "
			"commands from root only, and yours need XDG_RUNTIME_DIR");
	if (s->code == -EACCES || s->code == -EPERM)
		return error_set(err, s->code, "the recording belongs to another user");
	return error_sys(err, s->code, "cannot connect to the recording");
}

int control_socket_connect(pid_t pid, unsigned int timeout_s, int *ret, struct error *err)
{
	const char *own = control_socket_base();
	struct socket_search s = {
		.pid = pid,
		.until = now_ms() + (uint64_t)timeout_s * 1000,
		.fd = -1,
	};
	int rc = 0;

	if (own)
		search_base(&s, own);
	if (!own || strcmp(own, "/run"))
		search_base(&s, "/run");
	if (pid)
		search_owner(&s);
	else if (!s.found && !geteuid())
		search_users(&s);
	if (s.found != 1) {
		rc = explain(&s, timeout_s, err);
		if (s.fd >= 0)
			close(s.fd);
	} else {
		*ret = s.fd;
	}
	buf_release(&s.pids);
	return rc;
}
