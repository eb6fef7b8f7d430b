// SPDX-License-Identifier: Apache-2.0
#include "record/session/budget.h"

#define AIM	   0.9	/* of the budget */
#define ROOM	   0.7	/* of the budget: below it, the share may rise */
#define FALL_MAX   0.25 /* least factor of one step */
#define RISE_MAX   1.5
#define CALM_LOOKS 2

void budget_init(struct budget *b, double most, double least, uint64_t cpu, uint64_t clock)
{
	*b = (struct budget){
		.most = most,
		.least = least < 1 ? least : 1,
		.share = 1,
		.cpu = cpu,
		.clock = clock,
	};
}

static double within(double value, double least, double most)
{
	return value < least ? least : value > most ? most : value;
}

/* Factor for the share. */
static double factor(struct budget *b)
{
	if (b->usage > b->most) {
		b->calm = 0;
		return within(AIM * b->most / b->usage, FALL_MAX, 1);
	}
	if (b->usage > ROOM * b->most)
		b->calm = 0;
	else if (++b->calm >= CALM_LOOKS && b->usage > 0)
		return within(AIM * b->most / b->usage, 1, RISE_MAX);
	return b->calm >= CALM_LOOKS ? RISE_MAX : 1;
}

bool budget_look(struct budget *b, uint64_t cpu, uint64_t clock)
{
	double before = b->share;

	if (clock <= b->clock || cpu < b->cpu)
		return false;
	b->usage = (double)(cpu - b->cpu) / (double)(clock - b->clock);
	b->cpu = cpu;
	b->clock = clock;
	b->share = within(b->share * factor(b), b->least, 1);
	return b->share < before || b->share > before;
}
