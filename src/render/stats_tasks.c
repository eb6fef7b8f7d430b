// SPDX-License-Identifier: Apache-2.0
#include "render/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "render/json.h"
#include "render/text.h"

#define NONE	   SIZE_MAX
#define MAX_INDENT 64 /* deeper levels are not told apart */
#define MAX_LEVELS 1000

struct task_node {
	struct state_task task;
	size_t parent, first, last, next; /* indexes; NONE */
};

struct task_tree {
	struct task_node *nodes;
	size_t nr;
	size_t first, last; /* roots */
};

static int compare_tids(const void *a, const void *b)
{
	uint32_t x = ((const struct task_node *)a)->task.tid;
	uint32_t y = ((const struct task_node *)b)->task.tid;

	return x < y ? -1 : x > y;
}

static size_t find_tid(const struct task_tree *tree, uint32_t tid)
{
	const struct task_node key = {.task.tid = tid};
	const struct task_node *n =
		bsearch(&key, tree->nodes, tree->nr, sizeof(*tree->nodes), compare_tids);

	return n ? (size_t)(n - tree->nodes) : NONE;
}

static void append(struct task_tree *tree, size_t at, size_t parent)
{
	struct task_node *up = parent == NONE ? NULL : &tree->nodes[parent];
	size_t *first = up ? &up->first : &tree->first, *last = up ? &up->last : &tree->last;

	tree->nodes[at].parent = parent;
	if (*first == NONE)
		*first = at;
	else
		tree->nodes[*last].next = at;
	*last = at;
}

/*
 * Ids that were used again can make a ring of parents: a thread that closes one becomes a root. So
 * does a thread below more levels than a real one has.
 */
static bool may_be_above(const struct task_tree *tree, size_t above, size_t at)
{
	size_t levels = 0;

	while (at != NONE && at != above && levels++ < MAX_LEVELS)
		at = tree->nodes[at].parent;
	return at != NONE;
}

static int tree_init(struct task_tree *tree, const struct state *s)
{
	size_t nr = state_task_count(s);
	bool idle = false;

	*tree = (struct task_tree){.first = NONE, .last = NONE};
	tree->nodes = calloc(nr + 1, sizeof(*tree->nodes));
	if (!tree->nodes)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		tree->nodes[tree->nr].task = state_task_at(s, i);
		idle |= !tree->nodes[tree->nr++].task.tid;
	}
	if (!idle)
		tree->nodes[tree->nr++].task =
			(struct state_task){.ptid = UINT32_MAX, .comm = "swapper"};
	qsort(tree->nodes, tree->nr, sizeof(*tree->nodes), compare_tids);
	for (size_t i = 0; i < tree->nr; i++)
		tree->nodes[i].parent = tree->nodes[i].first = tree->nodes[i].last =
			tree->nodes[i].next = NONE;
	for (size_t i = 0; i < tree->nr; i++) {
		uint32_t ptid = tree->nodes[i].task.ptid;
		size_t parent = ptid == UINT32_MAX ? NONE : find_tid(tree, ptid);

		append(tree, i, parent == NONE || may_be_above(tree, i, parent) ? NONE : parent);
	}
	return 0;
}

struct maps_out {
	FILE *out;
	int indent;
	json_t *list;
};

static void prot_text(const struct map *m, char ret[5])
{
	ret[0] = m->prot & PROT_READ ? 'r' : '-';
	ret[1] = m->prot & PROT_WRITE ? 'w' : '-';
	ret[2] = m->prot & PROT_EXEC ? 'x' : '-';
	ret[3] = m->flags & MAP_SHARED ? 's' : 'p';
	ret[4] = '\0';
}

static int put_map(const struct map *m, void *arg)
{
	const struct maps_out *o = arg;
	char prot[5];

	prot_text(m, prot);
	fprintf(o->out, "%*s  %" PRIx64 "-%" PRIx64 " %s %08" PRIx64 " %" PRIu64 " ", o->indent, "",
		m->start, m->end, prot, m->pgoff, m->dso->ino);
	text_put(o->out, m->dso->name, 0);
	putc('\n', o->out);
	return 0;
}

static void put_task(FILE *out, const struct trace *t, const struct state_task *task, int level,
		     bool maps)
{
	struct maps_out o = {.out = out};

	o.indent = fprintf(out, "  %8d %8d %8d |%*s", (int)task->pid, (int)task->tid,
			   (int)task->ptid, level < MAX_INDENT ? level : MAX_INDENT, "");
	if (task->comm)
		text_put(out, task->comm, 0);
	else
		fprintf(out, ":%d", (int)task->tid);
	putc('\n', out);
	if (maps)
		state_each_map(t->state, task->pid, put_map, &o);
}

int tasks_render(FILE *out, const struct trace *t, bool maps)
{
	struct task_tree tree;
	int rc = tree_init(&tree, t->state), level = 0;

	if (rc < 0)
		return rc;
	fprintf(out, "# %8s %8s %8s  %s\n", "pid", "tid", "ppid", "comm");
	for (size_t at = tree.first; at != NONE;) {
		put_task(out, t, &tree.nodes[at].task, level, maps);
		if (tree.nodes[at].first != NONE) {
			at = tree.nodes[at].first;
			level++;
			continue;
		}
		while (at != NONE && tree.nodes[at].next == NONE) {
			at = tree.nodes[at].parent;
			level--;
		}
		at = at == NONE ? NONE : tree.nodes[at].next;
	}
	free(tree.nodes);
	return 0;
}

static int list_map(const struct map *m, void *arg)
{
	const struct maps_out *o = arg;
	char prot[5];
	json_t *one;

	prot_text(m, prot);
	one = json_pack("{s:o*, s:o*, s:o*, s:s, s:o*, s:o*}", "start", json_count(m->start), "end",
			json_count(m->end), "pgoff", json_count(m->pgoff), "prot", prot, "inode",
			json_count(m->dso->ino), "name", json_name(m->dso->name));
	return json_array_append_new(o->list, one) ? -ENOMEM : 0;
}

/* A process' maps stand once: with its first thread, or with each if that one is not known. */
static bool has_maps(const struct task_tree *tree, const struct state_task *task)
{
	return task->tid == task->pid || find_tid(tree, task->pid) == NONE;
}

static json_t *task_json(const struct trace *t, const struct state_task *task, bool maps)
{
	struct maps_out o = {.list = json_array()};
	json_t *ret = json_pack("{s:i, s:i, s:i, s:o*}", "pid", (int)task->pid, "tid",
				(int)task->tid, "ppid", (int)task->ptid, "comm",
				task->comm ? json_name(task->comm) : NULL);

	if (ret && o.list && maps &&
	    (state_each_map(t->state, task->pid, list_map, &o) ||
	     json_object_set(ret, "maps", o.list))) {
		json_decref(ret);
		ret = NULL;
	}
	json_decref(o.list);
	return ret;
}

json_t *json_tasks(const struct trace *t, bool maps)
{
	json_t *ret = json_object(), *list = json_array();
	struct task_tree tree = {0};
	int rc = ret && list ? tree_init(&tree, t->state) : -ENOMEM;

	for (size_t i = 0; !rc && i < tree.nr; i++)
		rc = json_array_append_new(list,
					   task_json(t, &tree.nodes[i].task,
						     maps && has_maps(&tree, &tree.nodes[i].task)));
	if (!rc)
		rc = json_object_set(ret, "tasks", list);
	if (rc) {
		json_decref(ret);
		ret = NULL;
	}
	json_decref(list);
	free(tree.nodes);
	return ret;
}

/* Rows begin where the thread changes; an event that a thread lacks counts 0. */
void thread_counts_render(FILE *out, const struct trace *t, const struct thread_counts *c)
{
	size_t nr = pd_evlist_count(t->evlist), i = 0;
	bool *counted = calloc(nr + 1, sizeof(*counted));

	if (!counted || !c->nr) {
		free(counted);
		return;
	}
	for (size_t k = 0; k < c->nr; k++)
		counted[c->all[k].event] = true;
	fprintf(out, "#\n# %8s %8s", "PID", "TID");
	for (size_t e = 0; e < nr; e++) {
		if (!counted[e])
			continue;
		fputs("  ", out);
		text_put(out, pd_evlist_at(t->evlist, e)->name, -16);
	}
	putc('\n', out);
	while (i < c->nr) {
		const struct thread_count *first = &c->all[i];

		fprintf(out, "  %8d %8d", (int)first->pid, (int)first->tid);
		for (size_t e = 0; e < nr; e++) {
			bool has = i < c->nr && c->all[i].pid == first->pid &&
				   c->all[i].tid == first->tid && c->all[i].event == e;

			if (counted[e])
				fprintf(out, "  %16" PRIu64, has ? c->all[i].value : 0);
			i += has;
		}
		putc('\n', out);
	}
	free(counted);
}

void thread_counts_render_raw(FILE *out, const struct trace *t, const struct thread_counts *c)
{
	fprintf(out, "#\n# %8s %8s  %-16s  %16s\n", "PID", "TID", "Name", "Count");
	for (size_t i = 0; i < c->nr; i++) {
		const struct thread_count *one = &c->all[i];

		fprintf(out, "  %8d %8d  ", (int)one->pid, (int)one->tid);
		text_put(out, pd_evlist_at(t->evlist, one->event)->name, -16);
		fprintf(out, "  %16" PRIu64 "\n", one->value);
	}
}
