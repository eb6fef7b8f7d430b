/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dictionary of OTLP profiles: the tables that all profiles of a file share.
 *
 * Entry 0 of each table is empty and stands for none. Indices are final when they are given, and
 * entries are encoded at once; the tables of strings, functions and mappings at the end. Memory
 * grows by distinct entries. One thread.
 */
#ifndef RINGTAIL_EXPORT_OTLP_DICTIONARY_H
#define RINGTAIL_EXPORT_OTLP_DICTIONARY_H

#include "export/stream/export.h"
#include "export/stream/functions.h"
#include "export/stream/stacks.h"
#include "export/wire/proto.h"

/* Addresses of a dso in samples. */
struct otlp_range {
	uint64_t first, last;
};

/* The key of an attribute; without padding. */
struct otlp_attribute {
	uint32_t key; /* index of a string */
	uint32_t is_text;
	uint64_t value; /* a number, or that of a text in @texts */
};

/* OTLP_DICTIONARY_INIT: empty. */
struct otlp_dictionary {
	struct export_functions functions;
	struct export_stacks stacks;
	struct intern_strings strings, texts; /* texts: values of attributes */
	struct intern dsos, attributes;
	struct intern used;	   /* stacks of samples, by number in @stacks */
	uint32_t nr_functions;	   /* encoded */
	struct otlp_range *ranges; /* by dso */
	size_t nr_ranges, cap_ranges;
	struct proto encoded; /* ProfilesDictionary */
	struct buf text;
};

#define OTLP_DICTIONARY_INIT                                                      \
	{                                                                         \
		.functions = EXPORT_FUNCTIONS_INIT, .stacks = EXPORT_STACKS_INIT, \
		.dsos = {.size = sizeof(const struct dso *)},                     \
		.attributes = {.size = sizeof(struct otlp_attribute)},            \
		.used = {.size = sizeof(uint32_t)},                               \
	}

/* Makes the entries 0. Returns 0 or -ENOMEM. */
int otlp_dictionary_begin(struct otlp_dictionary *d);
/* Sets *@ret to the index of a string, escaped. Returns 0 or -ENOMEM. */
int otlp_string(struct otlp_dictionary *d, const char *s, uint32_t *ret);
/* Sets *@ret to the index of an attribute with the text in @d->text. Returns 0 or -ENOMEM. */
int otlp_attribute_text(struct otlp_dictionary *d, const char *key, uint32_t *ret);
/* Likewise with a number. */
int otlp_attribute_number(struct otlp_dictionary *d, const char *key, uint64_t n, uint32_t *ret);
/* Sets *@ret to the index of the stack of @s. Returns 0 or -ENOMEM. */
int otlp_stack(struct otlp_dictionary *d, const struct export_sample *s, uint32_t *ret);
/* Completes @d->encoded. Returns 0 or -ENOMEM. */
int otlp_dictionary_end(struct otlp_dictionary *d);

/* Frees the tables. */
void otlp_dictionary_release(struct otlp_dictionary *d);

#endif
