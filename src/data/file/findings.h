/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings: odd or damaged things in a recording, each with its offset and count.
 *
 * They are no errors: the walk goes on with the next readable record.
 */
#ifndef RINGTAIL_DATA_FILE_FINDINGS_H
#define RINGTAIL_DATA_FILE_FINDINGS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct data_file;

enum data_severity {
	/* Unusual, nothing lost: unknown record type, longer attribute, no tracing data. */
	DATA_ODD,
	DATA_DAMAGED, /* something could not be read: exit status 1 */
};

struct data_finding {
	enum data_severity severity;
	uint64_t count;	 /* how often it was found */
	uint64_t offset; /* of the first, bytes */
	unsigned int segment;
	char text[200]; /* the expected and the found */
};

/*
 * Returns all findings so far: at most 64 distinct ones, with counts. The array is valid until the
 * next call on @df. Call it when no scan runs.
 */
const struct data_finding *data_findings(struct data_file *df, size_t *ret_count);

/* Adds a finding. Higher layers add theirs, too (a sample that did not decode). Any thread. */
void data_finding_add(struct data_file *df, enum data_severity severity, unsigned int segment,
		      uint64_t offset, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/*
 * The findings of one walk of several. Merging them in the order of the file makes data_findings()
 * independent of the walks' speed. One thread at a time.
 */
struct findings;

/* Returns an empty list, or NULL when memory is short. */
struct findings *findings_new(void);
/* Frees @list; accepts NULL. */
void findings_free(struct findings *list);
/* Adds a finding. */
void findings_add(struct findings *list, enum data_severity severity, unsigned int segment,
		  uint64_t offset, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Returns how many distinct findings @list has. */
size_t findings_count(const struct findings *list);
/* Moves all findings of @list to those of @df; @list is empty afterwards. */
void findings_merge(struct findings *list, struct data_file *df);

/* Prepares the findings inside @df. Returns 0 or a negative errno. */
int data_findings_init(struct data_file *df);
/* Frees them. */
void data_findings_release(struct data_file *df);

#endif
