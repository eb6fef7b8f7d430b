// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plural.h"
#include "view/screen/view_priv.h"

#define COPY_FILE "ringtail-stacks.txt"
#define COPY_MAX  (48u << 10) /* bytes; terminals take some 74 KB of base64 */

static int add_base64(struct buf *out, const uint8_t *p, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i += 3) {
		uint32_t bits = (uint32_t)p[i] << 16 | (i + 1 < n ? p[i + 1] << 8 : 0) |
				(i + 2 < n ? p[i + 2] : 0);
		char four[4] = {digits[bits >> 18], digits[bits >> 12 & 63], digits[bits >> 6 & 63],
				digits[bits & 63]};

		if (i + 2 >= n)
			four[3] = '=';
		if (i + 1 >= n)
			four[2] = '=';
		rc = buf_append(out, four, 4);
	}
	return rc;
}

static int write_all(int fd, const struct buf *b)
{
	for (size_t done = 0; done < b->len;) {
		ssize_t n = write(fd, b->data + done, b->len - done);

		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static size_t lines_of(const struct buf *b, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += b->data[i] == '\n';
	return n;
}

/* Returns the bytes of the whole lines that a terminal takes. */
static size_t part_for_terminal(const struct buf *b)
{
	size_t len = b->len < COPY_MAX ? b->len : COPY_MAX;

	while (len && len < b->len && b->data[len - 1] != '\n')
		len--;
	return len;
}

/* OSC 52 of xterm: "c" is the clipboard. */
void copy_to_terminal(struct view_state *v)
{
	size_t len = part_for_terminal(&v->text), lines = lines_of(&v->text, len);
	size_t all = lines_of(&v->text, v->text.len);
	struct buf out = {0};

	if (buf_append(&out, "\033]52;c;", 7) || add_base64(&out, v->text.data, len) ||
	    buf_append(&out, "\a", 1) || write_all(STDOUT_FILENO, &out))
		view_say(v, true, "cannot copy");
	else if (lines < all)
		view_say(v, true,
			 "copied the first %zu of %zu lines, if the terminal allows it (OSC 52)",
			 lines, all);
	else
		view_say(v, false, "copied %zu line%s, if the terminal allows it (OSC 52)", lines,
			 plural_s(lines));
	buf_release(&out);
}

void copy_to_file(struct view_state *v)
{
	int fd = open(COPY_FILE, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	int rc = fd < 0 ? -errno : 0;

	if (!rc)
		rc = write_all(fd, &v->text);
	if (fd >= 0 && close(fd) && !rc)
		rc = -errno;
	if (rc)
		view_say(v, true, "cannot write to %s: %s", COPY_FILE, strerror(-rc));
	else
		view_say(v, false, "appended %zu line%s to %s", lines_of(&v->text, v->text.len),
			 plural_s(lines_of(&v->text, v->text.len)), COPY_FILE);
}
