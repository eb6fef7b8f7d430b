// SPDX-License-Identifier: Apache-2.0
// Inlined C, to be compiled in many ways.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
	struct node *left, *right;
	unsigned int key, count;
};

static inline unsigned int mix(unsigned int x)
{
	x ^= x >> 16;
	x *= 0x7feb352dU;
	return x ^ x >> 15;
}

static inline int compare(unsigned int a, unsigned int b)
{
	return mix(a) < mix(b) ? -1 : mix(a) > mix(b);
}

static inline struct node **find(struct node **at, unsigned int key)
{
	while (*at) {
		int c = compare(key, (*at)->key);

		if (!c)
			break;
		at = c < 0 ? &(*at)->left : &(*at)->right;
	}
	return at;
}

static int add(struct node **root, unsigned int key)
{
	struct node **at = find(root, key);

	if (!*at) {
		*at = calloc(1, sizeof(**at));
		if (!*at)
			return -1;
		(*at)->key = key;
	}
	(*at)->count++;
	return 0;
}

static int by_text(const void *pa, const void *pb)
{
	char a[16], b[16];

	snprintf(a, sizeof(a), "%u", *(const unsigned int *)pa);
	snprintf(b, sizeof(b), "%u", *(const unsigned int *)pb);
	return strcmp(a, b);
}

static unsigned long sum(const struct node *n)
{
	return n ? mix(n->key) * n->count + sum(n->left) + sum(n->right) : 0;
}

int main(int argc, char **argv)
{
	static unsigned int keys[10000];
	struct node *root = NULL;

	for (unsigned int i = 0; i < 10000; i++)
		keys[i] = mix(i) % 4096;
	for (unsigned int i = 0; i < 10000; i++)
		if (add(&root, keys[i]) < 0)
			return 1;
	qsort(keys, 10000, sizeof(keys[0]), by_text);
	printf("%lu %u\n", sum(root), keys[argc]);
	return 0;
}
