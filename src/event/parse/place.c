// SPDX-License-Identifier: Apache-2.0
#include "event/parse/place.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/parse.h"

#define SPACE "\t\r\n "

void place_text_release(struct place_text *text)
{
	free(text->file);
	free(text->name);
	*text = (struct place_text){0};
}

static int no_memory(struct parser *parser)
{
	return error_sys(parser->err, -ENOMEM, "event list");
}

static int bad_place(struct parser *parser, const char *at, const char *what)
{
	parser->fault = at;
	return error_set(parser->err, -EINVAL, "%s", what);
}

/* --- the text ------------------------------------------------------------------------------------
 */

/* Returns the end of a part without quotes: one of @stops, or a colon that stands alone. */
static const char *plain_end(const char *s, const char *stops)
{
	while (*s && !strchr(stops, *s)) {
		if (*s != ':')
			s++;
		else if (s[1] == ':')
			s += 2;
		else
			break;
	}
	return s;
}

/*
 * Returns the end of a part; *@ret_start and *@ret_len are its text without quotes. NULL if a quote
 * is not closed.
 */
static const char *part_end(const char *s, const char *stops, const char **ret_start,
			    size_t *ret_len)
{
	const char *end;

	if (*s == '\'') {
		end = strchr(s + 1, '\'');
		*ret_start = s + 1;
		*ret_len = end ? (size_t)(end - s - 1) : 0;
		return end ? end + 1 : NULL;
	}
	end = plain_end(s, stops);
	*ret_start = s;
	*ret_len = (size_t)(end - s);
	return end;
}

/* Takes "+0x10" off the end of the name and stores it in @ret->plus. */
static int take_offset(struct parser *parser, struct place_text *ret, const char *at)
{
	char *plus = strrchr(ret->name, '+');

	/* "operator+" is a name. */
	if (!plus || plus == ret->name || !plus[1] || parse_u64(plus + 1, &ret->plus))
		return 0;
	*plus = '\0';
	return ret->plus > INT64_MAX ? bad_place(parser, at, "the offset is too large") : 0;
}

/* Takes the name and its offset from @s. */
static int take_name(struct parser *parser, const char *s, struct place_text *ret)
{
	const char *start, *end;
	size_t len;
	int rc;

	end = part_end(s, SPACE ",/{}", &start, &len);
	if (!end)
		return bad_place(parser, s, "the closing quote is missing");
	parser->lexer.at = end;
	ret->name = strndup(start, len);
	if (!ret->name)
		return no_memory(parser);
	if (*s != '\'') {
		rc = take_offset(parser, ret, s);
	} else {
		/* Only an offset may follow the quotes. */
		char rest[32];

		len = strcspn(end, SPACE ",/{}:");
		snprintf(rest, sizeof(rest), "%.*s", len < 31 ? (int)len : 31, end);
		rc = *rest && (*rest != '+' || parse_u64(rest + 1, &ret->plus) ||
			       ret->plus > INT64_MAX)
			     ? bad_place(parser, end, "only +OFFSET may follow the closing quote")
			     : 0;
		parser->lexer.at += len;
	}
	return rc;
}

/* Takes the file and the colon behind it; *@ret_rest is the text that follows. */
static int take_file(struct parser *parser, const char *s, struct place_text *ret,
		     const char **ret_rest)
{
	const char *start, *end;
	size_t len;

	end = part_end(s, SPACE ",{}", &start, &len);
	if (!end)
		return bad_place(parser, s, "the closing quote is missing");
	if (!len || *end != ':')
		return bad_place(
			parser, s,
			"FILE:FUNCTION expected: a program or library, and a function in it");
	ret->file = strndup(start, len);
	*ret_rest = end + 1;
	return ret->file ? 0 : no_memory(parser);
}

static int check_name(struct parser *parser, const char *at, const struct place_text *text)
{
	return *text->name ? 0 : bad_place(parser, at, "the name of a function is missing");
}

int place_scan_function(struct parser *parser, bool with_file, struct place_text *ret)
{
	const char *s = parser->lexer.at;
	int rc = with_file ? take_file(parser, s, ret, &s) : 0;

	if (!rc)
		rc = take_name(parser, s, ret);
	return rc ? rc : check_name(parser, s, ret);
}

static bool is_digits(const char *s, size_t len)
{
	return len && strspn(s, "0123456789") == len;
}

/* Whether @s may follow an address: "rw", "u". */
static bool access_or_modifiers(const char *s)
{
	char word[16];
	size_t len = (size_t)(plain_end(s, SPACE ",/{}") - s);

	if (len >= sizeof(word))
		return false;
	memcpy(word, s, len);
	word[len] = '\0';
	return !word[strspn(word, "rwx")] || modifier_like(word);
}

static bool begins_with_file(const char *s)
{
	const char *start, *end, *slash;
	size_t len;

	if (*s == '\'')
		return true;
	if (*s >= '0' && *s <= '9')
		return false;
	end = part_end(s, SPACE ",{}", &start, &len);
	slash = memchr(start, '/', len);
	if (slash && !is_digits(slash + 1, (size_t)(end - slash - 1)))
		return true;
	return !slash && *end == ':' && !access_or_modifiers(end + 1);
}

int place_scan_address(struct parser *parser, struct place_text *ret)
{
	const char *s = parser->lexer.at;
	int rc = begins_with_file(s) ? take_file(parser, s, ret, &s) : 0;

	if (!rc)
		rc = take_name(parser, s, ret);
	return rc || !ret->file ? rc : check_name(parser, s, ret);
}

size_t place_length(const char *text, enum place_kind kind)
{
	bool breakpoint = kind == PLACE_BREAKPOINT;
	const char *s = text, *start, *end;
	size_t len;

	if (breakpoint ? begins_with_file(s) : kind == PLACE_USER_PROBE) {
		end = part_end(s, SPACE ",{}", &start, &len);
		if (!end || *end != ':')
			return 0;
		s = end + 1;
	}
	end = part_end(s, SPACE ",/{}", &start, &len);
	if (!end)
		return (size_t)(s - text);
	/* The slash before a breakpoint's length also ends the name. */
	return (size_t)(end - text) + (breakpoint ? strcspn(end, SPACE ",{}") : 0);
}

/* --- the file ------------------------------------------------------------------------------------
 */

static char *absolute(const char *path)
{
	char *here, *full = NULL;

	if (*path == '/')
		return strdup(path);
	here = getcwd(NULL, 0);
	if (here && asprintf(&full, "%s/%s", here, strncmp(path, "./", 2) ? path : path + 2) < 0)
		full = NULL;
	free(here);
	return full;
}

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* Looks for @name in @dirs, a list of directories separated by colons. */
static bool find_in(const char *dirs, const char *name, char ret[PATH_MAX])
{
	while (dirs && *dirs) {
		size_t len = strcspn(dirs, ":");
		int n = snprintf(ret, PATH_MAX, "%.*s/%s", (int)len, dirs, name);

		if (len && n > 0 && n < PATH_MAX && is_file(ret))
			return true;
		dirs += len + (dirs[len] == ':');
	}
	return false;
}

static bool find_by_name(const char *name, char ret[PATH_MAX])
{
	struct utsname uts = {0};
	char libraries[512];

	uname(&uts);
	snprintf(libraries, sizeof(libraries),
		 "/lib/%.64s-linux-gnu:/usr/lib/%.64s-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib:"
		 "/usr/local/lib",
		 uts.machine, uts.machine);
	return find_in(getenv("PATH"), name, ret) ||
	       find_in(getenv("LD_LIBRARY_PATH"), name, ret) || find_in(libraries, name, ret) ||
	       find_in(".", name, ret);
}

char *place_find_file(const char *name, struct error *err)
{
	char found[PATH_MAX], *path;

	if (!strchr(name, '/')) {
		if (!find_by_name(name, found)) {
			error_set(err, -ENOENT,
				  "no program or library '%.128s' in PATH, in the folders of "
				  "libraries or here: give its path",
				  name);
			return NULL;
		}
		name = found;
	}
	path = absolute(name);
	if (!path)
		error_sys(err, -ENOMEM, "event list");
	else if (strlen(path) >= PATH_MAX)
		error_set(err, -EINVAL, "the path of a program is too long");
	else
		return path;
	free(path);
	return NULL;
}

/* --- the symbol ----------------------------------------------------------------------------------
 */

int place_find(struct parser *parser, const struct place_text *text, char **ret_file,
	       struct event_symbol *ret)
{
	const struct event_symbols *symbols = parser->env->symbols;
	struct event_symbol symbol;
	struct error err = ERROR_INIT;
	char *file = NULL;
	int rc = 0;

	if (!symbols)
		return error_set(parser->err, -EINVAL,
				 "cannot find the address of '%.64s' here: give a number",
				 text->name);
	if (text->file) {
		file = place_find_file(text->file, &err);
		rc = file ? 0 : err.code;
	}
	if (!rc)
		rc = symbols->find(file, text->name, &symbol, &err);
	/* The kernel's sizes end at the next symbol, which may be a label inside of the function.
	 */
	if (!rc && file && symbol.size && text->plus >= symbol.size)
		rc = error_set(&err, -EINVAL,
			       "'%.128s' has only %llu bytes: offset %llu is beyond its end",
			       text->name, (unsigned long long)symbol.size,
			       (unsigned long long)text->plus);
	if (rc) {
		free(file);
		return error_set(parser->err, rc, "%s", err.text);
	}
	*ret = symbol;
	*ret_file = file;
	return 0;
}
