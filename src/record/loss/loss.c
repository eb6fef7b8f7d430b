// SPDX-License-Identifier: Apache-2.0
#include "record/loss/loss.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"

int loss_add(struct loss *l, enum loss_cause cause, unsigned int event, int cpu, uint64_t count)
{
	if (!count)
		return 0;
	l->total += count;
	for (size_t i = 0; i < l->nr; i++) {
		struct loss_entry *e = &l->entries[i];

		if (e->cause == cause && e->event == event && e->cpu == cpu) {
			e->count += count;
			return 0;
		}
	}
	if (array_grow(&l->entries, &l->capacity, l->nr + 1, sizeof(*l->entries)))
		return -ENOMEM;
	l->entries[l->nr++] = (struct loss_entry){cause, event, cpu, count};
	return 0;
}

int loss_merge(struct loss *to, const struct loss *from)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < from->nr; i++) {
		const struct loss_entry *e = &from->entries[i];

		rc = loss_add(to, e->cause, e->event, e->cpu, e->count);
	}
	return rc;
}

const char *loss_cause_text(enum loss_cause cause)
{
	static const char *const texts[LOSS_CAUSES] = {
		[LOSS_RING] = "no room in the ring",
		[LOSS_PMU] = "dropped by the PMU",
		[LOSS_PAUSED] = "ringtail drained its ring meanwhile (--overwrite)",
		[LOSS_POOL] = "the output was too slow, and the buffer memory full",
		[LOSS_OUTPUT] = "not written",
		[LOSS_DELETED] = "its output was deleted",
		[LOSS_STACK_RING] = "its user stack, because the ring was nearly full",
		[LOSS_STACK] = "its user stack, because the buffer memory was nearly full",
	};

	return texts[cause];
}

void loss_release(struct loss *l)
{
	free(l->entries);
	*l = (struct loss){0};
}
