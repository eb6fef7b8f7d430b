// SPDX-License-Identifier: Apache-2.0
/*
 * Prints the events of a hardware trace, for tests/vectors/run.py.
 *
 * usage: aux-events FILE. Lines of FILE:
 *   type N          enum pd_auxtrace_type
 *   priv W …        words of AUXTRACE_INFO, hexadecimal
 *   cpuid TEXT      "VENDOR,FAMILY,MODEL,STEPPING"
 *   raw             the trace has no frames
 *   blocks          print blocks of instructions, not each of them
 *   cpu N           of the ring
 *   trace PATH
 *   code ADDR OFFSET LEN PATH      hexadecimal; where several have an address, the first is read
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/decoders/decoders.h"
#include "perfdata/aux_record.h"

#define RAW	   0x100u /* PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW */
#define WORDS_MAX  256u
#define PIECES_MAX 256u

struct bytes {
	uint8_t *data;
	size_t len;
};

struct piece {
	uint64_t addr;
	struct bytes bytes;
};

struct input {
	uint64_t words[WORDS_MAX];
	char cpuid[64];
	struct aux_setup setup;
	struct aux_stretch stretch;
	struct piece pieces[PIECES_MAX];
	size_t nr;
	bool blocks;
};

static void fail(const char *what)
{
	fprintf(stderr, "aux-events: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Reads @len bytes at @offset, or as many as there are. The memory is kept up to the end. */
static struct bytes read_file(const char *path, uint64_t offset, size_t len)
{
	struct bytes ret = {0};
	FILE *f = fopen(path, "r");

	if (!f || fseek(f, 0, SEEK_END))
		fail(path);
	if ((uint64_t)ftell(f) > offset && len > (uint64_t)ftell(f) - offset)
		len = (size_t)((uint64_t)ftell(f) - offset);
	ret.data = malloc(len + 1);
	if (!ret.data || fseek(f, (long)offset, SEEK_SET))
		fail(path);
	ret.len = fread(ret.data, 1, len, f);
	fclose(f);
	return ret;
}

static void take_words(struct input *in, char *line)
{
	for (char *end; in->setup.nr_priv < WORDS_MAX; line = end) {
		uint64_t word = strtoull(line, &end, 16);

		if (end == line)
			break;
		in->words[in->setup.nr_priv++] = word;
	}
}

static void take_line(struct input *in, char *line)
{
	char *rest = line + strcspn(line, " ");
	uint64_t offset, len;
	struct piece *p = &in->pieces[in->nr];

	line[strcspn(line, "\n")] = 0;
	if (*rest)
		*rest++ = 0;
	if (!strcmp(line, "type")) {
		in->setup.type = (uint32_t)strtoul(rest, NULL, 10);
	} else if (!strcmp(line, "priv")) {
		take_words(in, rest);
	} else if (!strcmp(line, "cpuid")) {
		snprintf(in->cpuid, sizeof(in->cpuid), "%s", rest);
		in->setup.cpuid = in->cpuid;
	} else if (!strcmp(line, "raw")) {
		in->setup.aux_flags |= RAW;
	} else if (!strcmp(line, "blocks")) {
		in->blocks = true;
	} else if (!strcmp(line, "cpu")) {
		in->stretch.cpu = (uint32_t)strtoul(rest, NULL, 10);
	} else if (!strcmp(line, "trace")) {
		struct bytes b = read_file(rest, 0, SIZE_MAX / 2);

		in->stretch.data = b.data;
		in->stretch.len = b.len;
	} else if (!strcmp(line, "code") && in->nr < PIECES_MAX) {
		p->addr = strtoull(rest, &rest, 16);
		offset = strtoull(rest, &rest, 16);
		len = strtoull(rest, &rest, 16);
		p->bytes = read_file(rest + 1, offset, len);
		in->nr++;
	}
}

static int read_code(void *arg, const struct aux_task *task, uint64_t time, uint64_t addr,
		     void *buf, size_t len, const char **ret_missing)
{
	const struct input *in = arg;

	for (size_t i = 0; i < in->nr; i++) {
		const struct piece *p = &in->pieces[i];
		uint64_t at = addr - p->addr;

		if (at >= p->bytes.len)
			continue;
		len = len < p->bytes.len - at ? len : p->bytes.len - at;
		memcpy(buf, p->bytes.data + at, len);
		return (int)len;
	}
	if (ret_missing)
		*ret_missing = NULL;
	return -ENOENT;
}

static bool find_task(void *arg, uint32_t cpu, uint64_t time, struct aux_task *ret)
{
	return false;
}

static void print_event(const struct aux_event *e)
{
	uint32_t cpu = e->cpu_plus_1 ? e->cpu_plus_1 - 1 : 0;

	switch (e->kind) {
	case AUX_EVENT_INSN: printf("insn %" PRIx64 "\n", e->ip); break;
	case AUX_EVENT_BRANCH:
		printf("branch %u %x %" PRIx64 " %" PRIx64 "\n", cpu, e->flags, e->ip, e->to);
		break;
	case AUX_EVENT_BLOCK:
		printf("block %u %" PRIx64 " %" PRIu64 "\n", cpu, e->ip, e->insns);
		break;
	case AUX_EVENT_PTWRITE: printf("ptwrite %" PRIx64 "\n", e->value); break;
	case AUX_EVENT_POWER: printf("power %s\n", e->text); break;
	case AUX_EVENT_LOST: printf("lost %" PRIx64 "\n", e->ip); break;
	case AUX_EVENT_ERROR:
		printf("error %s %s\n", e->cause == AUX_CAUSE_CODE ? "code" : "trace", e->text);
		break;
	default: break;
	}
}

int main(int argc, char **argv)
{
	static struct input in = {.stretch = {.cpu = UINT32_MAX, .tid = UINT32_MAX}};
	const struct aux_code code = {.read = read_code, .task_on = find_task, .arg = &in};
	const struct aux_decoder_ops *ops;
	struct aux_decoder *d = NULL;
	struct aux_event e;
	size_t start;
	char line[4096];
	FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;
	int rc;

	if (!f)
		fail("usage: aux-events FILE");
	while (fgets(line, sizeof(line), f))
		take_line(&in, line);
	fclose(f);
	in.setup.priv = in.words;
	in.setup.user = in.setup.kernel = true;
	ops = aux_decoder_for(&in.setup);
	errno = ENOTSUP;
	if (!ops || !ops->begin)
		fail("no decoder");
	start = ops->sync(&in.setup, in.stretch.data, in.stretch.len, 0);
	in.stretch.data += start;
	in.stretch.len -= start;
	in.stretch.offset = start;
	rc = ops->begin(&in.setup, &in.stretch, &code,
			AUX_WANT_BRANCHES | AUX_WANT_OTHERS |
				(in.blocks ? AUX_WANT_BLOCKS : AUX_WANT_INSNS),
			&d);
	while (!rc && (rc = ops->next(d, &e)) > 0) {
		print_event(&e);
		rc = 0;
	}
	ops->end(d);
	for (size_t i = 0; i < in.nr; i++)
		free(in.pieces[i].bytes.data);
	free((void *)(in.stretch.data - in.stretch.offset));
	errno = -rc;
	if (rc)
		fail("decoding");
	return 0;
}
