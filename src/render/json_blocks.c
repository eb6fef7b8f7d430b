// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>

#include "render/table_blocks.h"
#include "render/json.h"

/* Puts the offset and the line of an end of the block under @name and @line_name. */
static void put_end(json_t **o, const struct trace *t, const struct block *k, bool known,
		    uint64_t addr, const char *name, const char *line_name)
{
	const char *line = known ? block_line(t, k, addr) : NULL;
	char offset[24];

	snprintf(offset, sizeof(offset), "0x%" PRIx64, block_offset(k, addr));
	json_put(o, name, known ? json_string(offset) : json_null());
	json_put(o, line_name, line ? json_name(line) : json_null());
}

static json_t *block_json(const struct report *r, const struct blocks *b, uint64_t averages,
			  const struct block *k)
{
	const uint64_t average = block_average(&k->all);
	json_t *o = json_object();

	json_put(&o, "percent", json_real(block_share(k->all.cycles, b->all.cycles)));
	json_put(&o, "cycles", json_count(k->all.cycles));
	json_put(&o, "branches", json_count(k->all.nr));
	json_put(&o, "average_percent", json_real(block_share(average, averages)));
	json_put(&o, "average_cycles", json_count(average));
	put_end(&o, r->trace, k, k->has_start, k->start, "start", "srcline_start");
	put_end(&o, r->trace, k, true, k->end, "end", "srcline_end");
	json_put(&o, "dso", json_name(k->dso->short_name));
	json_put(&o, "sym", k->sym ? json_name(k->sym->name) : json_null());
	return o;
}

int blocks_json(FILE *out, const struct report *r, size_t index, const struct table_opts *opts)
{
	const struct blocks *b = &r->tables.blocks[index];
	const uint64_t averages = blocks_averages(b);
	int rc = 0;

	for (size_t i = 0; !rc && i < b->nr; i++) {
		json_t *o;

		if (block_share(b->block[i].all.cycles, b->all.cycles) < opts->percent_limit)
			break; /* they are ordered by it */
		o = block_json(r, b, averages, &b->block[i]);
		fputs(i ? ",\n    " : "\n    ", out);
		rc = !o								 ? -ENOMEM
		     : json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(6)) ? -EIO
										 : 0;
		json_decref(o);
	}
	return rc;
}
