// SPDX-License-Identifier: Apache-2.0
#include "report/table/keys_ipc.h"

#include <string.h>

#include "report/table/keys_priv.h"

/* As wide as a value, in perf's words. */
#define NOTHING "-      -"
#define HEADER	"IPC   [IPC Coverage]"

static int null_cell(const struct key_source *src, struct hist_cell *ret)
{
	return key_sym_cell(src->frame, ret);
}

static int null_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	return buf_printf(out, NOTHING);
}

/* What b of a cell of ipc_lbr says a is. */
enum {
	IPC_OF_SYMBOL, /* the symbol of the code, which no block is of; 0: not known */
	IPC_OF_BLOCKS, /* a struct ipc */
};

static int ipc_cell(const struct key_source *src, struct hist_cell *ret)
{
	const struct frame *f = src->frame;

	*ret = (struct hist_cell){.a = (uintptr_t)(f->in ?: f->sym), .b = IPC_OF_SYMBOL};
	return 0;
}

static const struct ipc *ipc_of(struct hist_cell cell)
{
	return cell.b == IPC_OF_BLOCKS ? (const struct ipc *)(uintptr_t)cell.a : NULL;
}

static const struct symbol *symbol_of(struct hist_cell cell)
{
	const struct ipc *ipc = ipc_of(cell);

	return ipc ? ipc->sym : (const struct symbol *)(uintptr_t)cell.a;
}

static int ipc_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	const struct ipc *ipc = ipc_of(cell);
	double coverage;

	if (!cell.a || (ipc && !ipc->all))
		return buf_printf(out, NOTHING);
	coverage = ipc ? 100.0 * (double)ipc->covered / (double)ipc->all : 0;
	if (!ipc || !(ipc->cycles > 0))
		return buf_printf(out, "%-5s [%5.1f%%]", "-", coverage);
	return buf_printf(out, "%-5.2f [%5.1f%%]", ipc->insns / ipc->cycles, coverage);
}

static double ratio(struct hist_cell cell)
{
	const struct ipc *ipc = ipc_of(cell);

	return ipc && ipc->cycles > 0 ? ipc->insns / ipc->cycles : -1;
}

static int ipc_compare(const struct trace *t, struct hist_cell a, struct hist_cell b)
{
	const struct symbol *x = symbol_of(a), *y = symbol_of(b);
	const double m = ratio(a), n = ratio(b);

	if (m < n || m > n)
		return m < n ? -1 : 1;
	if (!x || !y)
		return !!x - !!y;
	return strcmp(x->name, y->name) ?: x->start < y->start ? -1 : x->start > y->start;
}

// clang-format off
const struct sort_key ipc_keys[] = {
	{"ipc_lbr", NULL, HEADER, false, false, PERF_SAMPLE_BRANCH_STACK, false, ipc_cell, ipc_text, ipc_compare, .of_branch = true, .of_blocks = true},
	{"ipc_null", NULL, HEADER, false, true, 0, false, null_cell, null_text, key_sym_compare},
};
// clang-format on

const size_t nr_ipc_keys = sizeof(ipc_keys) / sizeof(ipc_keys[0]);

static void fill(struct hist_cell *cell, const struct ipc_list *list)
{
	const struct ipc *ipc = ipc_list_find(list, symbol_of(*cell));

	if (ipc)
		*cell = (struct hist_cell){.a = (uintptr_t)ipc, .b = IPC_OF_BLOCKS};
}

void keys_ipc_fill(struct hist *h, const struct ipc_list *list)
{
	for (size_t k = 0; k < h->nr_keys; k++)
		if (h->keys[k]->of_blocks)
			for (size_t i = 0; i < h->nr; i++)
				fill(&h->cells[i * h->nr_keys + k], list);
}
