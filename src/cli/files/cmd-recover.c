// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/human.h"
#include "base/plural.h"
#include "cli/files/commands.h"
#include "cli/input/input.h"
#include "data/edit/recover.h"
#include "data/open/open.h"
#include "record/initial/buildid.h"
#include "report/trace/dso_hits.h"
#include "symbol/resolve/resolver.h"

struct recover_args {
	struct input input;
	const char *output; /* NULL: replace the recording */
	bool dry_run;
};

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "Write the recovered recording there, and leave the original",
	 0},
	{"dry-run", 'n', NULL, 0, "Only say what is wrong and what can be recovered", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct recover_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &a->input; break;
	case 'o': a->output = arg; break;
	case 'n': a->dry_run = true; break;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			usage_error(state, "too many arguments: ringtail recovers one recording");
		a->input.trace.path = arg;
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* --- features ----------------------------------------------------------------------------------
 */

/*
 * Finds the build-id of a file in which samples fell: as recorded, or of the same file here if it
 * has not changed since. The kernel is the running one if its names are those of the recording.
 */
static bool find_build_id(const struct trace *t, const struct dso *dso,
			  const struct stat *recording, struct pd_build_id *ret)
{
	const struct build_id_key key = {dso->maj, dso->min, dso->ino, dso->ino_generation};
	struct build_id id = {0};
	struct stat st;

	*ret = (struct pd_build_id){.pid = -1, .filename = dso->name};
	if (dso->build_id_size) {
		ret->size = dso->build_id_size;
		memcpy(ret->build_id, dso->build_id, dso->build_id_size);
		return true;
	}
	if (dso->kind == DSO_KERNEL && data_features_cut(t->df) &&
	    resolver_find(t->resolver, dso, 0, dso->ref_addr))
		build_id_of_kernel(&id);
	else if (dso->kind != DSO_ELF || !dso->ino || stat(dso->name, &st) ||
		 st.st_mtime > recording->st_mtime || build_id_of_file(dso->name, &key, &id))
		return false;
	if (!id.size)
		return false;
	ret->size = id.size;
	memcpy(ret->build_id, id.id, id.size);
	return true;
}

static int put_build_ids(const struct trace *t, const bool *hit, struct buf *ret)
{
	struct pd_build_id id;
	struct stat st;
	int rc = 0;

	if (stat(t->opts.path, &st))
		return 0;
	for (size_t i = 0; !rc && i < state_dso_count(t->state); i++) {
		const struct dso *dso = state_dso_at(t->state, i);

		if (hit[i] && find_build_id(t, dso, &st, &id))
			rc = pd_feature_build_id_encode(ret, &id,
							dso->kind == DSO_KERNEL ||
									dso->kind == DSO_MODULE
								? PERF_RECORD_MISC_KERNEL
								: PERF_RECORD_MISC_USER);
	}
	return rc;
}

/* What is added to the header of the new recording. */
enum { ADDED_BUILD_IDS, ADDED_HOSTNAME, ADDED_OSRELEASE, ADDED_ARCH, ADDED };

static void release_features(struct recover_feature *features)
{
	for (size_t i = 0; i < ADDED; i++)
		buf_release(&features[i].data);
}

/* Names this machine, if the maps of a recording that is cut show that it is of this one. */
static int put_machine(const struct trace *t, struct recover_feature *ret)
{
	struct utsname uts;

	if (t->origin.kind != ORIGIN_HERE || uname(&uts))
		return 0;
	return pd_feature_string_encode(&ret[ADDED_HOSTNAME].data, uts.nodename)
		       ?: pd_feature_string_encode(&ret[ADDED_OSRELEASE].data, uts.release)
		       ?: pd_feature_string_encode(&ret[ADDED_ARCH].data, uts.machine);
}

/* Without them the recording is recovered all the same. */
static void make_features(const struct recover_args *a, struct recover_feature *ret)
{
	const struct trace_opts opts = {.path = a->input.trace.path, .force = a->input.trace.force};
	struct error err = ERROR_INIT;
	struct trace *t = NULL;
	bool *hit = NULL;
	int rc = trace_open(&opts, &t, &err);

	if (!rc)
		rc = trace_prepare(t, &err);
	if (!rc)
		rc = dso_hits(t, false, &hit, &err);
	if (!rc)
		rc = put_build_ids(t, hit, &ret[ADDED_BUILD_IDS].data) ?: put_machine(t, ret);
	if (rc) {
		release_features(ret);
		complain("no build-ids are added: %s", *err.text ? err.text : strerror(-rc));
	}
	free(hit);
	trace_close(t);
}

/* --- what is said --------------------------------------------------------------------------------
 */

static void say_found(const struct recover_args *a, const struct recovery *r)
{
	char n[HUMAN_COUNT_SIZE], samples[HUMAN_COUNT_SIZE];

	if (a->input.quiet)
		return;
	complain("found %s sample%s in %s record%s", human_count(r->samples, samples),
		 plural_s(r->samples), human_count(r->records, n), plural_s(r->records));
	if (r->behind)
		complain("%s of these record%s stood behind the recorder's last flush",
			 human_count(r->behind, n), plural_s(r->records));
}

static void say_lost(struct data_file *df, const struct recovery *r)
{
	static const unsigned int wanted[] = {HEADER_HOSTNAME, HEADER_OSRELEASE, HEADER_ARCH,
					      HEADER_NRCPUS, HEADER_CMDLINE};
	char size[HUMAN_SIZE_SIZE], samples[HUMAN_COUNT_SIZE];
	bool tracepoints = false, described = true;
	const uint8_t *p;
	size_t len;

	if (r->left_out)
		complain("lost: %s sample%s in damaged compressed chunks",
			 human_count(r->left_out, samples), plural_s(r->left_out));
	if (r->dropped)
		complain("lost: %s without a readable record", human_size(r->dropped, size));
	for (size_t i = 0; i < pd_evlist_count(data_evlist(df)); i++)
		tracepoints |= pd_evlist_at(data_evlist(df), i)->attr.type == PERF_TYPE_TRACEPOINT;
	if (tracepoints && data_feature(df, HEADER_TRACING_DATA, &p, &len))
		complain("lost: names and formats of the tracepoints; their samples have no "
			 "fields");
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		described &= !data_feature(df, wanted[i], &p, &len);
	if (!described && data_kind(df) != DATA_PIPE)
		complain("lost: the description of the machine, which the recorder had not "
			 "written yet");
}

static int recover(const struct recover_args *a, struct data_file *df, struct error *err)
{
	const char *path = a->input.trace.path;
	struct recover_feature added[ADDED] = {
		[ADDED_BUILD_IDS].feature = HEADER_BUILD_ID,
		[ADDED_HOSTNAME].feature = HEADER_HOSTNAME,
		[ADDED_OSRELEASE].feature = HEADER_OSRELEASE,
		[ADDED_ARCH].feature = HEADER_ARCH,
	};
	struct recovery r;
	int rc = recover_examine(df, &r);

	if (rc) {
		error_sys(err, rc, "%s", path);
	} else if (!r.why) {
		if (!a->input.quiet)
			complain("%s is whole: nothing is to be done", path);
	} else {
		if (!data_swapped(df) && data_kind(df) != DATA_PIPE)
			make_features(a, added);
		if (!a->dry_run)
			rc = recover_write(df, &r, added, ADDED, a->output, err);
		/* A recorder that still writes was not killed. */
		if (rc != -EBUSY) {
			complain("%s: %s", path, r.why);
			say_found(a, &r);
		}
		if (!rc)
			say_lost(df, &r);
		if (!rc && !a->dry_run && !a->input.quiet)
			complain("%s is complete now", a->output ? a->output : path);
	}
	release_features(added);
	recover_release(&r);
	return rc;
}

/* The recording is read more than once. */
static int refuse_stream(const char *path, struct error *err)
{
	struct stat st;

	if (!path || strcmp(path, "-") != 0 || fstat(STDIN_FILENO, &st) || S_ISREG(st.st_mode))
		return 0;
	return error_set(err, -ESPIPE, "standard input is no file: write it into one first");
}

int cmd_recover(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&input_argp, 0, NULL, 0}, {&help_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE|DIR]",
		.doc = "Complete a recording whose recorder was killed, so that perf reads it.",
		.children = children,
	};
	struct recover_args a = {0};
	struct error err = ERROR_INIT;
	struct data_file *df = NULL;
	int rc;

	input_init(&a.input);
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		exit(EXIT_USAGE);
	rc = refuse_stream(a.input.trace.path, &err);
	if (!rc)
		rc = data_open(a.input.trace.path, a.input.trace.force, &df, &err);
	if (!rc)
		rc = recover(&a, df, &err);
	if (rc)
		complain("%s", err.text);
	data_close(df);
	input_release(&a.input);
	return input_end(NULL, NULL, rc);
}
