// SPDX-License-Identifier: Apache-2.0
#include "export/firefox/tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/wire/json_out.h"

#define GUID_BYTES 16

/* Flags say which columns of a frame or function have a value. */
enum {
	FRAME_INLINED = 1,
	FRAME_ADDRESS = 2,
	FRAME_CATEGORY = 4,
	FRAME_NATIVE = 8,
	FRAME_LINE = 16,
};
enum { FUNCTION_RESOURCE = 4, FUNCTION_SOURCE = 8 };

/* Keys have no padding. */
struct firefox_stack {
	uint32_t parent; /* number of the caller's; INTERN_NONE: none */
	uint32_t frame;
};

struct firefox_frame {
	uint32_t address; /* in its library */
	uint32_t lib;	  /* INTERN_NONE: none, and no address */
	uint32_t function;
	uint32_t native; /* INTERN_NONE: none */
	uint32_t line;	 /* 0: unknown */
	uint16_t inlined, category;
};

struct firefox_native {
	const struct symbol *sym;
	uint64_t lib;
	uint64_t function; /* with its name */
};

const struct firefox_tables firefox_tables_empty = {
	.functions = EXPORT_FUNCTIONS_INIT,
	.stacks = {.size = sizeof(struct firefox_stack)},
	.frames = {.size = sizeof(struct firefox_frame)},
	.natives = {.size = sizeof(struct firefox_native)},
	.libs = {.size = sizeof(const struct dso *)},
};

/* --- numbers -------------------------------------------------------------------------------------
 */

uint32_t firefox_string(struct firefox_tables *t)
{
	return intern_string(&t->strings, (const char *)t->text.data, t->text.len);
}

/* Returns the number of the function of @frame, and notes its file and library; or INTERN_NONE. */
static uint32_t function_of(struct firefox_tables *t, const struct frame *frame)
{
	uint32_t number = export_function_of(&t->functions, frame);
	struct firefox_function fn = {INTERN_NONE, INTERN_NONE};
	const char *file = export_file_of(frame);

	if (number == INTERN_NONE ||
	    array_grow(&t->known, &t->cap_known, (size_t)number + 1, sizeof(*t->known)))
		return INTERN_NONE;
	if (number < t->nr_known)
		return number;
	if (file && !export_name(file, &t->text))
		fn.source = intern_string(&t->files, (const char *)t->text.data, t->text.len);
	if (frame->dso)
		fn.lib = intern_put(&t->libs, &frame->dso);
	t->known[t->nr_known++] = fn;
	return number;
}

/* Sets @ret to the symbol that has the code of @frame. Returns 0 or -ENOMEM. */
static int native_of(struct firefox_tables *t, const struct frame *frame, uint32_t lib,
		     uint32_t *ret)
{
	struct frame code = *frame;
	struct firefox_native key = {.sym = frame->in ?: frame->sym, .lib = lib};

	*ret = INTERN_NONE;
	if (!key.sym || key.sym->start > UINT32_MAX || key.sym->end < key.sym->start)
		return 0;
	code.sym = key.sym;
	code.lines = NULL;
	key.function = function_of(t, &code);
	*ret = key.function == INTERN_NONE ? INTERN_NONE : intern_put(&t->natives, &key);
	return *ret == INTERN_NONE ? -ENOMEM : 0;
}

static int frame_of(struct firefox_tables *t, const struct frame *frame, uint32_t *ret)
{
	bool kernel = frame->cpumode == PERF_RECORD_MISC_KERNEL ||
		      frame->cpumode == PERF_RECORD_MISC_GUEST_KERNEL;
	struct firefox_frame key = {
		.lib = INTERN_NONE,
		.function = function_of(t, frame),
		.native = INTERN_NONE,
		.line = export_line_of(frame),
		.inlined = frame->in != NULL,
		.category = kernel ? FIREFOX_KERNEL : FIREFOX_USER,
	};
	uint64_t addr = frame->addr - (frame->is_return && frame->addr);
	int rc = key.function == INTERN_NONE ? -ENOMEM : 0;

	/* Addresses have 32 bits: those of files, which are offsets in them. */
	if (!rc && frame->dso && frame->dso->kind == DSO_ELF && addr <= UINT32_MAX) {
		key.lib = t->known[key.function].lib;
		key.address = (uint32_t)addr;
		rc = native_of(t, frame, key.lib, &key.native);
	}
	*ret = rc ? INTERN_NONE : intern_put(&t->frames, &key);
	return *ret == INTERN_NONE ? -ENOMEM : 0;
}

int firefox_stack(struct firefox_tables *t, const struct export_sample *s, uint32_t *ret)
{
	struct firefox_stack stack = {.parent = INTERN_NONE};
	int rc = 0;

	for (size_t i = s->nr_frames; !rc && i--;) {
		rc = frame_of(t, &s->frame[i], &stack.frame);
		if (rc)
			return rc;
		stack.parent = intern_put(&t->stacks, &stack);
		rc = stack.parent == INTERN_NONE ? -ENOMEM : 0;
	}
	*ret = stack.parent;
	return rc;
}

/* --- output --------------------------------------------------------------------------------------
 */

typedef int64_t (*column_fn)(const struct firefox_tables *t, uint32_t number);

static void put_column(const struct firefox_tables *t, struct out *out, const char *name,
		       uint32_t nr, column_fn fn)
{
	out_printf(out, "\"%s\":[", name);
	for (uint32_t i = 0; i < nr; i++)
		out_printf(out, i ? ",%" PRId64 : "%" PRId64, fn(t, i));
	out_puts(out, "],");
}

/* Writes a column of one value, as text. */
static void put_constant(struct out *out, const char *name, uint32_t nr, const char *value)
{
	out_printf(out, "\"%s\":[", name);
	for (uint32_t i = 0; i < nr; i++)
		out_printf(out, i ? ",%s" : "%s", value);
	out_puts(out, "],");
}

static void put_length(struct out *out, uint32_t nr)
{
	out_printf(out, "\"length\":%" PRIu32 "}", nr);
}

static const struct firefox_frame *frame_at(const struct firefox_tables *t, uint32_t i)
{
	return intern_at(&t->frames, i);
}

static int64_t stack_frame(const struct firefox_tables *t, uint32_t i)
{
	const struct firefox_stack *s = intern_at(&t->stacks, i);

	return s->frame;
}

/* How far the caller's stack is before this one. */
static int64_t stack_offset(const struct firefox_tables *t, uint32_t i)
{
	const struct firefox_stack *s = intern_at(&t->stacks, i);

	return s->parent == INTERN_NONE ? 0 : i - s->parent;
}

static int64_t frame_flags(const struct firefox_tables *t, uint32_t i)
{
	const struct firefox_frame *f = frame_at(t, i);

	return FRAME_CATEGORY | (f->inlined ? FRAME_INLINED : 0) |
	       (f->lib == INTERN_NONE ? 0 : FRAME_ADDRESS) |
	       (f->native == INTERN_NONE ? 0 : FRAME_NATIVE) | (f->line ? FRAME_LINE : 0);
}

static int64_t or_zero(uint32_t number)
{
	return number == INTERN_NONE ? 0 : number;
}

static int64_t frame_address(const struct firefox_tables *t, uint32_t i)
{
	return frame_at(t, i)->address;
}

static int64_t frame_category(const struct firefox_tables *t, uint32_t i)
{
	return frame_at(t, i)->category;
}

static int64_t frame_function(const struct firefox_tables *t, uint32_t i)
{
	return frame_at(t, i)->function;
}

static int64_t frame_lib(const struct firefox_tables *t, uint32_t i)
{
	return or_zero(frame_at(t, i)->lib);
}

static int64_t frame_native(const struct firefox_tables *t, uint32_t i)
{
	return or_zero(frame_at(t, i)->native);
}

static int64_t frame_line(const struct firefox_tables *t, uint32_t i)
{
	return frame_at(t, i)->line;
}

static int64_t same_number(const struct firefox_tables *t, uint32_t i)
{
	return i;
}

static int64_t function_flags(const struct firefox_tables *t, uint32_t i)
{
	return (t->known[i].lib == INTERN_NONE ? 0 : FUNCTION_RESOURCE) |
	       (t->known[i].source == INTERN_NONE ? 0 : FUNCTION_SOURCE);
}

/* A resource for each library. */
static int64_t function_resource(const struct firefox_tables *t, uint32_t i)
{
	return or_zero(t->known[i].lib);
}

static int64_t function_source(const struct firefox_tables *t, uint32_t i)
{
	return or_zero(t->known[i].source);
}

static const struct firefox_native *native_at(const struct firefox_tables *t, uint32_t i)
{
	return intern_at(&t->natives, i);
}

static int64_t native_lib(const struct firefox_tables *t, uint32_t i)
{
	return (int64_t)native_at(t, i)->lib;
}

static int64_t native_address(const struct firefox_tables *t, uint32_t i)
{
	return (int64_t)native_at(t, i)->sym->start;
}

static int64_t native_name(const struct firefox_tables *t, uint32_t i)
{
	return (int64_t)native_at(t, i)->function;
}

static int64_t native_size(const struct firefox_tables *t, uint32_t i)
{
	uint64_t size = native_at(t, i)->sym->end - native_at(t, i)->sym->start;

	return size <= INT32_MAX ? (int64_t)size : -1;
}

/* Strings: the functions' names, those of events and threads, source files, libraries. */
static int64_t file_name(const struct firefox_tables *t, uint32_t i)
{
	return (int64_t)firefox_first_string(t) + t->strings.table.nr + i;
}

static int64_t lib_name(const struct firefox_tables *t, uint32_t i)
{
	return file_name(t, t->files.table.nr + i);
}

static void put_frames(const struct firefox_tables *t, struct out *out)
{
	uint32_t nr = intern_count(&t->frames);

	out_puts(out, "\"stackTable\":{");
	put_column(t, out, "frame", intern_count(&t->stacks), stack_frame);
	put_column(t, out, "prefixOffset", intern_count(&t->stacks), stack_offset);
	put_length(out, intern_count(&t->stacks));
	out_puts(out, ",\n\"frameTable\":{");
	put_column(t, out, "flags", nr, frame_flags);
	put_column(t, out, "address", nr, frame_address);
	put_column(t, out, "category", nr, frame_category);
	put_constant(out, "subcategory", nr, "0");
	put_column(t, out, "func", nr, frame_function);
	put_column(t, out, "lib", nr, frame_lib);
	put_column(t, out, "nativeSymbol", nr, frame_native);
	put_constant(out, "innerWindowID", nr, "0");
	put_column(t, out, "line", nr, frame_line);
	put_constant(out, "column", nr, "0");
	put_constant(out, "originalLocation", nr, "0");
	put_length(out, nr);
}

static void put_functions(const struct firefox_tables *t, struct out *out)
{
	uint32_t nr = intern_count(&t->functions.keys), libs = intern_count(&t->libs);

	out_puts(out, ",\n\"funcTable\":{");
	put_column(t, out, "flags", nr, function_flags);
	put_column(t, out, "name", nr, same_number);
	put_column(t, out, "resource", nr, function_resource);
	put_column(t, out, "source", nr, function_source);
	put_constant(out, "lineNumber", nr, "0");
	put_constant(out, "columnNumber", nr, "0");
	put_constant(out, "originalLocation", nr, "0");
	put_length(out, nr);
	out_puts(out, ",\n\"resourceTable\":{");
	put_column(t, out, "name", libs, lib_name);
	put_constant(out, "host", libs, "null");
	put_constant(out, "type", libs, "1");
	put_length(out, libs);
	nr = intern_count(&t->natives);
	out_puts(out, ",\n\"nativeSymbols\":{");
	put_column(t, out, "libIndex", nr, native_lib);
	put_column(t, out, "address", nr, native_address);
	put_column(t, out, "name", nr, native_name);
	put_column(t, out, "functionSize", nr, native_size);
	put_length(out, nr);
}

static void put_sources(const struct firefox_tables *t, struct out *out)
{
	uint32_t nr = t->files.table.nr;

	out_puts(out, ",\n\"sources\":{");
	put_constant(out, "id", nr, "null");
	put_column(t, out, "filename", nr, file_name);
	put_constant(out, "startLine", nr, "1");
	put_constant(out, "startColumn", nr, "1");
	put_constant(out, "sourceMapURL", nr, "null");
	put_constant(out, "content", nr, "null");
	put_length(out, nr);
	out_puts(out, ",\n\"sourceLocationTable\":{\"source\":[],\"line\":[],\"column\":[],"
		      "\"length\":0}");
}

static void put_text(const struct firefox_tables *t, struct out *out)
{
	json_out_string(out, (const char *)t->text.data, t->text.len);
}

static void put_interned(const struct intern_strings *strings, struct out *out)
{
	for (uint32_t i = 0; i < strings->table.nr; i++) {
		size_t len;
		const char *s = intern_string_at(strings, i, &len);

		out_puts(out, ",\n");
		json_out_string(out, s, len);
	}
}

static int put_strings(struct firefox_tables *t, struct out *out)
{
	int rc = 0;

	out_puts(out, ",\n\"stringArray\":[");
	for (uint32_t i = 0; !rc && i < firefox_first_string(t); i++) {
		rc = export_function_name(export_function_at(&t->functions, i), &t->text);
		out_puts(out, i ? ",\n" : "");
		put_text(t, out);
	}
	put_interned(&t->strings, out);
	put_interned(&t->files, out);
	for (uint32_t i = 0; !rc && i < intern_count(&t->libs); i++) {
		const struct dso *const *dso = intern_at(&t->libs, i);

		rc = export_name((*dso)->short_name, &t->text);
		out_puts(out, ",\n");
		put_text(t, out);
	}
	out_puts(out, "]");
	return rc;
}

/* As Breakpad makes it of a build-id: three little-endian numbers, eight bytes, and an age. */
static void put_breakpad_id(const struct dso *dso, struct out *out)
{
	static const uint8_t order[GUID_BYTES] = {3, 2, 1,  0,	5,  4,	7,  6,
						  8, 9, 10, 11, 12, 13, 14, 15};

	out_puts(out, ",\"breakpadId\":\"");
	for (size_t i = 0; i < GUID_BYTES; i++)
		out_printf(out, "%02X",
			   order[i] < dso->build_id_size ? dso->build_id[order[i]] : 0);
	out_puts(out, "0\"");
}

static int put_lib(struct firefox_tables *t, struct out *out, const struct dso *dso)
{
	static const char *const fields[] = {"name", "debugName", "path", "debugPath"};
	int rc = 0;

	out_puts(out, "{\"arch\":\"\"");
	for (size_t i = 0; !rc && i < sizeof(fields) / sizeof(fields[0]); i++) {
		rc = export_name(i < 2 ? dso->short_name : dso->line_name, &t->text);
		out_printf(out, ",\"%s\":", fields[i]);
		put_text(t, out);
	}
	put_breakpad_id(dso, out);
	rc = rc ?: export_build_id(dso, &t->text);
	out_puts(out, ",\"codeId\":");
	if (dso->build_id_size)
		put_text(t, out);
	else
		out_puts(out, "null");
	out_puts(out, "}");
	return rc;
}

int firefox_write_tables(struct firefox_tables *t, struct out *out)
{
	int rc = 0;

	out_puts(out, "\"libs\":[");
	for (uint32_t i = 0; !rc && i < intern_count(&t->libs); i++) {
		const struct dso *const *dso = intern_at(&t->libs, i);

		out_puts(out, i ? ",\n" : "");
		rc = put_lib(t, out, *dso);
	}
	out_puts(out, "],\n\"shared\":{");
	put_frames(t, out);
	put_functions(t, out);
	put_sources(t, out);
	rc = rc ?: put_strings(t, out);
	out_puts(out, "}");
	return rc ?: out->rc;
}

void firefox_tables_release(struct firefox_tables *t)
{
	export_functions_release(&t->functions);
	intern_release(&t->stacks);
	intern_release(&t->frames);
	intern_release(&t->natives);
	intern_release(&t->libs);
	intern_strings_release(&t->files);
	intern_strings_release(&t->strings);
	buf_release(&t->text);
	free(t->known);
}
