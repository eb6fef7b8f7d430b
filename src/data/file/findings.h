/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings: what a reader met in a recording that is odd or damaged, each with its offset and a
 * count of how often it was met. They are no errors: the walk goes on with the next readable
 * record.
 */
#ifndef RINGTAIL_DATA_FILE_FINDINGS_H
#define RINGTAIL_DATA_FILE_FINDINGS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct data_file;

enum data_severity {
	DATA_ODD, /* unusual, nothing lost: unknown record type, longer attribute, no tracing data
		   */
	DATA_DAMAGED, /* something could not be read: exit status 1 */
};

struct data_finding {
	enum data_severity severity;
	uint64_t count;	 /* how often the same was met */
	uint64_t offset; /* bytes, of the first one */
	unsigned int segment;
	char text[200]; /* what was expected and what was found */
};

/*
 * All findings so far: at most 64 distinct ones, and their repetitions counted. The array is valid
 * until the next call on @df. Call it when no scan is running.
 */
const struct data_finding *data_findings(struct data_file *df, size_t *ret_count);

/* Adds a finding, also from a layer above (a sample that did not decode). Any thread. */
void data_finding_add(struct data_file *df, enum data_severity severity, unsigned int segment,
		      uint64_t offset, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/*
 * The findings of one of several walks. Merging them in the order of the file makes data_findings()
 * independent of which walk was faster. One thread at a time.
 */
struct findings;

struct findings *findings_new(void);	   /* NULL when out of memory */
void findings_free(struct findings *list); /* accepts NULL */
/* Adds a finding, or counts it again if @list has it. */
void findings_add(struct findings *list, enum data_severity severity, unsigned int segment,
		  uint64_t offset, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Adds all to those of @df; @list is empty afterwards. */
void findings_merge(struct findings *list, struct data_file *df);

/* The findings of a recording, inside struct data_file. Returns 0 or a negative errno. */
int data_findings_init(struct data_file *df);
void data_findings_release(struct data_file *df);

#endif
