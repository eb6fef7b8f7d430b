// SPDX-License-Identifier: Apache-2.0
/*
 * The search trees of elfutils, for a static program. libdw and libelf 0.192 call these functions
 * of an internal library that Debian 13 has in the shared ones alone: with its libdw.a and libelf.a
 * nothing would link. Where those need nothing, this is not built (src/meson.build asks).
 *
 * Each is a function of <search.h> behind a struct, of which elfutils (lib/eu-search.h) says: first
 * the root, then a lock. Debian builds elfutils without locks, which makes that an unused int; none
 * is taken here either, and nothing but the root is touched.
 */
#include <search.h>
#include <stddef.h>

/* The beginning of theirs. */
struct search_tree {
	void *root;
};

typedef int compare_fn(const void *a, const void *b);

void *eu_tsearch(const void *key, struct search_tree *tree, compare_fn *compare);
void *eu_tfind(const void *key, struct search_tree *tree, compare_fn *compare);
void *eu_tdelete(const void *key, struct search_tree *tree, compare_fn *compare);
void eu_tdestroy(struct search_tree *tree, void (*free_node)(void *));
void eu_search_tree_init(struct search_tree *tree);
void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *));

void *eu_tsearch(const void *key, struct search_tree *tree, compare_fn *compare)
{
	return tsearch(key, &tree->root, compare);
}

void *eu_tfind(const void *key, struct search_tree *tree, compare_fn *compare)
{
	return tfind(key, &tree->root, compare);
}

void *eu_tdelete(const void *key, struct search_tree *tree, compare_fn *compare)
{
	return tdelete(key, &tree->root, compare);
}

void eu_tdestroy(struct search_tree *tree, void (*free_node)(void *))
{
	tdestroy(tree->root, free_node);
	tree->root = NULL;
}

void eu_search_tree_init(struct search_tree *tree)
{
	tree->root = NULL;
}

void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *))
{
	eu_tdestroy(tree, free_node);
}
