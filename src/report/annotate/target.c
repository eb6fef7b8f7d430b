// SPDX-License-Identifier: Apache-2.0
#include "report/annotate/target.h"

static bool find(struct resolver *r, const struct dso *dso, uint64_t addr,
		 struct annotate_target *ret)
{
	const struct symbol *sym = resolver_find(r, dso, 0, addr);

	if (sym)
		*ret = (struct annotate_target){sym, dso, addr};
	return sym;
}

bool annotate_target_find(const struct code_source *s, struct resolver *r, const struct dso *dso,
			  const struct function_code *c, uint64_t addr, struct annotate_target *ret)
{
	switch (dso->kind) {
	case DSO_ELF:
	case DSO_VDSO:
	case DSO_KERNEL: return find(r, dso, addr - c->to_file, ret);
	case DSO_MODULE:
		/* A module calls the kernel at addresses of the machine. */
		return find(r, dso, addr - c->to_file, ret) ||
		       (s->kernel && find(r, s->kernel, addr, ret));
	default: return false;
	}
}
