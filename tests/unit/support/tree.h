/* SPDX-License-Identifier: Apache-2.0 */
/* A directory tree for a test: made below a temporary directory, and removed as a whole. */
#ifndef RINGTAIL_TESTS_TREE_H
#define RINGTAIL_TESTS_TREE_H

#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tree {
	char root[64];
};

static inline void tree_make(struct tree *t)
{
	strcpy(t->root, "/tmp/ringtail-tree-XXXXXX");
	if (!mkdtemp(t->root))
		abort();
}

/* Writes the full path of @path to @ret and makes the directories above it. */
static inline void tree_path(const struct tree *t, const char *path, char ret[PATH_MAX])
{
	snprintf(ret, PATH_MAX, "%s/%s", t->root, path);
	for (char *p = ret + strlen(t->root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(ret, 0700);
		*p = '/';
	}
}

static inline void tree_file(const struct tree *t, const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *f;

	tree_path(t, path, full);
	f = fopen(full, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

static inline void tree_remove(struct tree *t)
{
	char *roots[] = {t->root, NULL};
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *ent;

	while (fts && (ent = fts_read(fts))) {
		if (ent->fts_info == FTS_DP)
			rmdir(ent->fts_accpath);
		else if (ent->fts_info != FTS_D)
			unlink(ent->fts_accpath);
	}
	if (fts)
		fts_close(fts);
}

#endif
