// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/itrace/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_PERIOD 100000 /* ns */
#define DEFAULT_LAST   64
#define DEFAULT_CHAIN  16
#define ENTRIES_MAX    1024u

void itrace_opts_all(struct itrace_opts *ret)
{
	*ret = (struct itrace_opts){
		.instructions = true,
		.branches = true,
		.transactions = true,
		.ptwrite = true,
		.power = true,
		.errors = true,
		.l1 = true,
		.llc = true,
		.tlb = true,
		.remote = true,
		.memory = true,
		.period = DEFAULT_PERIOD,
	};
}

bool itrace_opts_need_past(const struct itrace_opts *o)
{
	return o->chains || o->chains_recorded || o->last || o->last_recorded;
}

void itrace_opts_calls(struct itrace_opts *ret)
{
	itrace_opts_all(ret);
	ret->instructions = ret->branches = false;
	ret->calls = true;
}

/* Reads a number, if there is one at *@p. Returns 0 or -EINVAL. */
static int take_number(const char **p, uint64_t *ret)
{
	char *end;

	if (**p < '0' || **p > '9')
		return 0;
	errno = 0;
	*ret = strtoull(*p, &end, 10);
	*p = end;
	return errno ? -EINVAL : 0;
}

static bool take_unit(const char **p, const char *unit)
{
	if (strncmp(*p, unit, strlen(unit)) != 0)
		return false;
	*p += strlen(unit);
	return true;
}

/* Reads what may follow an i. */
static int take_period(const char **p, struct itrace_opts *o, struct error *err)
{
	const char *begin = *p;
	uint64_t factor = 1;

	o->unit = ITRACE_NS;
	o->period = DEFAULT_PERIOD;
	if (take_number(p, &o->period))
		return error_set(err, -EINVAL, "the period of '%s' is too large", begin - 1);
	if (*p == begin)
		return 0;
	if (take_unit(p, "ms"))
		factor = 1000000;
	else if (take_unit(p, "us"))
		factor = 1000;
	else if (take_unit(p, "ns"))
		factor = 1;
	else if (**p == 't')
		return error_set(err, -EINVAL,
				 "periods in ticks are not supported: use ns, us, ms or i");
	else if (take_unit(p, "i"))
		o->unit = ITRACE_INSNS;
	if (__builtin_mul_overflow(o->period, factor, &o->period))
		return error_set(err, -EINVAL, "the period of '%s' is too large", begin - 1);
	if (!o->period && o->unit == ITRACE_INSNS)
		o->period = 1;
	return 0;
}

/* Reads the number of entries that may follow @letter. */
static int take_entries(const char **p, char letter, uint32_t usual, uint32_t *ret,
			struct error *err)
{
	uint64_t nr = usual;

	if (take_number(p, &nr) || !nr || nr > ENTRIES_MAX)
		return error_set(err, -EINVAL, "the number of %c is not from 1 to %u", letter,
				 ENTRIES_MAX);
	*ret = (uint32_t)nr;
	return 0;
}

/* The members that a letter sets. */
static bool *member(struct itrace_opts *o, char letter)
{
	switch (letter) {
	case 'b': return &o->branches;
	case 'c': return &o->calls;
	case 'r': return &o->returns;
	case 'x': return &o->transactions;
	case 'w': return &o->ptwrite;
	case 'p': return &o->power;
	case 'e': return &o->errors;
	case 'f': return &o->l1;
	case 'm': return &o->llc;
	case 't': return &o->tlb;
	case 'a': return &o->remote;
	case 'M': return &o->memory;
	case 'g': return &o->chains;
	case 'G': return &o->chains_recorded;
	case 'l': return &o->last;
	case 'L': return &o->last_recorded;
	default: return NULL;
	}
}

/* What may follow an e: flags with a sign. */
static int take_error_flags(const char **p, struct itrace_opts *o, struct error *err)
{
	while (**p == '+' || **p == '-') {
		char sign = *(*p)++, flag = *(*p)++;

		if (flag != 'o' && flag != 'l')
			return error_set(err, -EINVAL,
					 "behind e, '%c' is followed by o (overflows) or l (lost)",
					 sign);
		if (flag == 'o')
			o->no_overflows = sign == '-';
	}
	return 0;
}

/* Letters of perf's. */
static const struct {
	char letter;
	const char *why;
} refused[] = {
	{'y', "samples of cycles are not made; i counts instructions"},
	{'o', "samples of aux-output are not read from the trace"},
	{'I', "packets of Event Trace are not decoded"},
	{'d', "there is no debug log; 'ringtail aux show' shows the packets"},
	{'A', "the field ipc is always of whole packets, and never a guess"},
	{'Z', "the times of the trace tell which code ran"},
	{'T', "times of the trace are converted as the recording says"},
	{'v', "times of guests are not converted"},
};

static int refuse(char letter, struct error *err)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (refused[i].letter == letter)
			return error_set(err, -EINVAL, "'%c': %s", letter, refused[i].why);
	return error_set(err, -EINVAL,
			 "'%c' is none of the letters i, b, c, r, x, w, p, e, s, g, G, l, L, q, f, "
			 "m, t, a and M",
			 letter);
}

static int take_letter(const char **p, struct itrace_opts *o, struct error *err)
{
	char letter = *(*p)++;
	bool *flag = member(o, letter);

	if (flag)
		*flag = true;
	switch (letter) {
	case ',':
	case ' ':
	case 'q': return 0; /* quicker decoding; the trace is always decoded in full */
	case 'i': o->instructions = true; return take_period(p, o, err);
	case 'e': return take_error_flags(p, o, err);
	case 'g':
	case 'G': return take_entries(p, letter, DEFAULT_CHAIN, &o->chain_max, err);
	case 'l':
	case 'L': return take_entries(p, letter, DEFAULT_LAST, &o->last_max, err);
	case 's':
		if (take_number(p, &o->skip) < 0)
			return error_set(err, -EINVAL, "the number of s is too large");
		return 0;
	default: return flag ? 0 : refuse(letter, err);
	}
}

int itrace_opts_parse(const char *text, struct itrace_opts *ret, struct error *err)
{
	int rc = 0;

	if (!*text)
		return 0;
	*ret = (struct itrace_opts){0};
	while (!rc && *text)
		rc = take_letter(&text, ret, err);
	return rc;
}
