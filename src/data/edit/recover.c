// SPDX-License-Identifier: Apache-2.0
/* Finds the whole records of a recording. */
#include "data/edit/recover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/edit/recover_priv.h"
#include "data/file/parts.h"
#include "data/file/tail_cover.h"
#include "data/scan/resume.h"
#include "data/scan/scan.h"
#include "perfdata/sample.h"

/* What was found of records; a container's count when it is closed. */
struct recover_counts {
	uint64_t records, samples;
	struct pd_sample_time times;
	bool timed;
};

static void count(struct recover_counts *c, const struct data_record *rec)
{
	c->records++;
	if (rec->hdr->type != PERF_RECORD_SAMPLE)
		return;
	c->samples++;
	if (!rec->time)
		return;
	if (!c->timed || rec->time < c->times.first)
		c->times.first = rec->time;
	if (rec->time > c->times.last)
		c->times.last = rec->time;
	c->timed = true;
}

/* A walk over one file. */
struct recover_walk {
	struct data_file *df;
	struct recovery *r;
	struct recover_segment *seg;
	unsigned int segment;
	bool behind; /* the last flush */
	/* The last container: it is kept if all of it was readable. */
	struct recover_span container;
	bool is_open;
	uint64_t damage;	      /* findings before it */
	uint64_t inner;		      /* bytes of records in it */
	struct recover_counts counts; /* of them */
	uint64_t end;		      /* of what was read */
};

static uint64_t count_damage(struct data_file *df)
{
	size_t n;
	const struct data_finding *f = data_findings(df, &n);
	uint64_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (f[i].severity == DATA_DAMAGED)
			count += f[i].count;
	return count;
}

static int add_span(struct recover_walk *w, uint64_t from, uint64_t to)
{
	struct recover_segment *s = w->seg;
	int rc;

	w->end = to;
	s->bytes += to - from;
	if (s->nr && s->spans[s->nr - 1].to == from) {
		s->spans[s->nr - 1].to = to;
		return 0;
	}
	rc = array_grow(&s->spans, &s->cap, s->nr + 1, sizeof(*s->spans));
	if (!rc)
		s->spans[s->nr++] = (struct recover_span){from, to};
	return rc;
}

static void add_counts(struct recover_walk *w, const struct recover_counts *c)
{
	struct recovery *r = w->r;

	r->records += c->records;
	r->samples += c->samples;
	w->seg->records += c->records;
	r->behind += w->behind ? c->records : 0;
	if (!c->timed)
		return;
	if (!r->timed || c->times.first < r->times.first)
		r->times.first = c->times.first;
	if (c->times.last > r->times.last)
		r->times.last = c->times.last;
	r->timed = true;
}

/* perf ends where a chunk cannot be decompressed, so such a container is left out. */
static int close_container(struct recover_walk *w)
{
	struct recovery *r = w->r;

	if (!w->is_open)
		return 0;
	w->is_open = false;
	if (count_damage(w->df) != w->damage) {
		/* Nobody reads what stands behind the last flush. */
		r->left_out += w->behind ? 0 : w->counts.samples;
		return 0;
	}
	r->compressed += w->container.to - w->container.from;
	r->raw += w->inner;
	add_counts(w, &w->counts);
	/* A record may begin in one chunk and end in the next. */
	if (w->inner + RECORD_MAX > r->chunk)
		r->chunk = (uint32_t)(w->inner + RECORD_MAX);
	return add_span(w, w->container.from, w->container.to);
}

static int open_container(struct recover_walk *w, const struct data_record *rec)
{
	int rc = close_container(w);

	w->container = (struct recover_span){rec->offset, rec->offset + rec->hdr->size};
	w->is_open = true;
	w->inner = 0;
	w->counts = (struct recover_counts){0};
	w->damage = count_damage(w->df);
	return rc;
}

/* A number of ringtail's for the file of a trace: 0 for the one with the header, N + 1 for data.N.
 */
static uint32_t part_of(const struct recover_walk *w)
{
	const char *dot = w->segment ? strrchr(w->df->segments[w->segment].path, '.') : NULL;

	return dot ? (uint32_t)strtoul(dot + 1, NULL, 10) + 1 : 0;
}

static int add_trace(struct recover_walk *w, const struct data_record *rec)
{
	struct pd_auxtrace_index *aux = &w->r->aux;
	const uint64_t begin = w->segment ? 0 : w->df->segments[0].begin;
	struct pd_auxtrace_place *grown =
		reallocarray(aux->places, aux->nr + 1, sizeof(*aux->places));

	if (!grown)
		return -ENOMEM;
	aux->places = grown;
	aux->places[aux->nr++] = (struct pd_auxtrace_place){
		.offset = begin + w->seg->bytes, .size = rec->hdr->size, .part = part_of(w)};
	return 0;
}

static bool is_container(const struct data_record *rec)
{
	return rec->hdr->type == PERF_RECORD_COMPRESSED ||
	       rec->hdr->type == PERF_RECORD_COMPRESSED2;
}

/* Whether the contents of a record fit it: damage may begin within a record. */
static bool is_sound(const struct data_record *rec)
{
	struct pd_sample sample;
	struct pd_record r;

	if (rec->hdr->type != PERF_RECORD_SAMPLE)
		return pd_record_decode(rec->hdr, rec->evsel, &r) != -EBADMSG;
	return !rec->evsel || !pd_sample_decode(rec->hdr, rec->evsel, &sample, NULL);
}

/* Whether a trace is shorter than its record says: a size in bytes behind the record's header. */
static bool is_cut(const struct data_record *rec)
{
	uint64_t size;

	if (rec->hdr->type != PERF_RECORD_AUXTRACE ||
	    rec->hdr->size < sizeof(*rec->hdr) + sizeof(size))
		return false;
	memcpy(&size, rec->hdr + 1, sizeof(size));
	return rec->payload_size < size;
}

static int take_plain(struct recover_walk *w, const struct data_record *rec)
{
	struct recover_counts c = {0};
	int rc = close_container(w);

	if (rc || !is_sound(rec) || is_cut(rec))
		return rc;
	count(&c, rec);
	add_counts(w, &c);
	if (rec->hdr->type == PERF_RECORD_AUXTRACE)
		rc = add_trace(w, rec);
	return rc ?: add_span(w, rec->offset, rec->offset + rec->hdr->size + rec->payload_size);
}

static int take(struct recover_walk *w, const struct data_record *rec)
{
	if (is_container(rec))
		return open_container(w, rec);
	if (!rec->inner && (!w->container.to || rec->offset > w->container.from))
		return take_plain(w, rec);
	w->inner += rec->hdr->size;
	count(&w->counts, rec);
	return 0;
}

/* Reads the records from @from (0: all) to the segment's end. */
static int walk(struct recover_walk *w, uint64_t from)
{
	struct data_scan *scan = NULL;
	struct data_record rec;
	int rc = data_scan_new(w->df, w->segment, from, DATA_WHOLE,
			       DATA_SCAN_FINDINGS | DATA_SCAN_CONTAINERS, &scan);

	w->container = (struct recover_span){0};
	while (!rc && (rc = data_scan_next(scan, &rec)) > 0)
		rc = take(w, &rec);
	data_scan_free(scan);
	return rc ?: close_container(w);
}

/* Returns the end of the table of features and of their contents, behind the records. */
static uint64_t features_end(const struct data_file *df)
{
	const struct segment *s = &df->segments[0];
	struct pd_section own = {0};
	uint64_t at = s->end, end, bits;

	for (unsigned int f = 0; f < HEADER_FEAT_BITS; f++) {
		memcpy(&bits, df->head + RECOVER_AT_FEATURES + f / 64 * sizeof(bits), sizeof(bits));
		at += (load_u64(&bits, df->swapped) >> (f % 64) & 1) ? sizeof(struct pd_section)
								     : 0;
	}
	end = at;
	if (own_section_read(df, at, &own))
		end += sizeof(struct pd_own_section);
	if (section_inside(own, s->size) && own.offset + own.size > end)
		end = own.offset + own.size;
	for (uint64_t place = s->end; place < at; place += sizeof(struct pd_section)) {
		struct pd_section section;

		if (file_read(s->fd, &section, sizeof(section), place) != sizeof(section))
			break;
		section.offset = load_u64(&section.offset, df->swapped);
		section.size = load_u64(&section.size, df->swapped);
		if (section_inside(section, s->size) && section.offset + section.size > end)
			end = section.offset + section.size;
	}
	return end < s->size ? end : s->size;
}

/*
 * A recorder writes ahead of its flushes: behind the table of features, or behind the record that
 * covers the tail of a data.N. What it kept for their place is lost, so records begin somewhere.
 */
static int walk_behind(struct recover_walk *w)
{
	struct segment *s = &w->df->segments[w->segment];
	const uint64_t end = s->end;
	struct resume *resume = NULL;
	uint64_t from, found;
	int fd = s->fd, rc;

	if (w->segment)
		from = (w->end ?: s->begin) + sizeof(struct tail_cover);
	else
		from = features_end(w->df);
	if (from >= s->size)
		return 0;
	if (fd < 0)
		fd = recover_open(s);
	if (fd < 0)
		return fd;
	s->end = s->size;
	rc = resume_find(&resume, w->df, s, fd, from, &found);
	resume_free(resume);
	if (fd != s->fd)
		close(fd);
	w->behind = true;
	rc = rc > 0 ? walk(w, found) : rc;
	s->end = end;
	return rc;
}

/* --- whether it is whole -------------------------------------------------------------------------
 */

static bool is_unfinished_directory(const struct data_file *df)
{
	const struct buf *b = &df->features[HEADER_DIR_FORMAT];
	struct parts parts = {0};
	bool complete = true;

	if (df->kind != DATA_DIRECTORY)
		return false;
	if (!feature_has(df, HEADER_DIR_FORMAT))
		return true;
	if (!parts_decode(b->data, b->len, df->swapped, &parts)) {
		complete = parts.complete;
		parts_release(&parts);
	}
	return !complete;
}

/* Our recorder writes the times of the samples at its end, and its name at its beginning. */
static bool is_unfinished_file(const struct data_file *df, const struct recovery *r)
{
	bool single = df->kind == DATA_FILE || (df->kind == DATA_DIRECTORY && df->nr_segments == 1);
	const struct buf *b = &df->features[HEADER_VERSION];
	char *version = NULL;
	bool ours = feature_has(df, HEADER_VERSION) &&
		    !pd_feature_string_decode(b->data, b->len, df->swapped, &version) &&
		    !strncmp(version, "ringtail", 8);

	free(version);
	return single && ours && !feature_has(df, HEADER_SAMPLE_TIME) &&
	       (r->timed || df->segments[0].size > features_end(df));
}

static const char *find_fault(struct data_file *df, const struct recovery *r)
{
	if (df->kind != DATA_PIPE && !df->header.data.size)
		return "its recorder was killed before it wrote the size of the data";
	if (df->mid_flush || is_unfinished_directory(df) || is_unfinished_file(df, r))
		return "its recorder was killed";
	if (count_damage(df))
		return "parts of it are damaged";
	return NULL;
}

/* What a data.N has behind its last record is what its recorder kept hidden, or nothing. */
static void count_dropped(const struct data_file *df, unsigned int segment, struct recovery *r)
{
	const struct recover_segment *seg = &r->segments[segment];
	uint64_t at = df->segments[segment].begin, end = df->segments[segment].end;

	for (size_t i = 0; i < seg->nr; i++) {
		if (seg->spans[i].from > end)
			return; /* found behind the table of features */
		r->dropped += seg->spans[i].from - at;
		at = seg->spans[i].to;
	}
	if (!segment && end > at)
		r->dropped += end - at;
}

int recover_examine(struct data_file *df, struct recovery *r)
{
	struct recover_walk w = {.df = df, .r = r};
	int rc = 0;

	*r = (struct recovery){.nr_segments = df->nr_segments};
	r->segments = calloc(df->nr_segments + 1, sizeof(*r->segments));
	if (!r->segments)
		return -ENOMEM;
	for (size_t i = 0; !rc && i < df->nr_segments; i++) {
		w = (struct recover_walk){df, r, &r->segments[i], (unsigned int)i};
		rc = walk(&w, 0);
	}
	if (rc)
		return rc;
	r->why = find_fault(df, r);
	for (size_t i = 0; r->why && !rc && df->kind != DATA_PIPE && i < df->nr_segments; i++) {
		w = (struct recover_walk){df, r, &r->segments[i], (unsigned int)i};
		if (r->segments[i].nr)
			w.end = r->segments[i].spans[r->segments[i].nr - 1].to;
		rc = walk_behind(&w);
	}
	for (size_t i = 0; i < df->nr_segments; i++)
		count_dropped(df, (unsigned int)i, r);
	return rc;
}

void recover_release(struct recovery *r)
{
	for (size_t i = 0; i < r->nr_segments && r->segments; i++)
		free(r->segments[i].spans);
	free(r->segments);
	pd_auxtrace_index_release(&r->aux);
	*r = (struct recovery){0};
}
