/* SPDX-License-Identifier: Apache-2.0
 *
 * pprof - the gzip'd protocol buffer that `go tool pprof` reads.
 *
 * Two sample types per event, its observations and its weight, summed per distinct
 * stack.  A location is an address of an image with its inlined calls.  Mappings
 * start at 0, so that addresses are the link-time ones that addr2line takes.  Field
 * numbers are those of github.com/google/pprof/proto/profile.proto.
 */
#include <assert.h>
#include <string.h>

#include "base/intern.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "export/exporter.h"
#include "export/gzip.h"
#include "export/plain_text.h"
#include "export/protobuf.h"

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};
enum { VALUE_TYPE = 1, VALUE_UNIT = 2 };
enum { SAMPLE_LOCATION_IDS = 1, SAMPLE_VALUES = 2 };
enum { MAPPING_ID = 1, MAPPING_LIMIT = 3, MAPPING_FILE = 5, MAPPING_BUILD_ID = 6 };
enum { MAPPING_HAS_FIRST = 7, MAPPING_HAS_LAST = 10 }; /* functions … inline frames */
enum { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_NUMBER = 2, LINE_COLUMN = 3 };
enum {
	FUNCTION_ID = 1,
	FUNCTION_NAME,
	FUNCTION_SYSTEM_NAME,
	FUNCTION_FILE,
	FUNCTION_LINE
};

struct mapping {
	const char *path;
	uint64_t limit; /* above the highest address seen */
	char build_id[2 * MODEL_BUILD_ID_MAX + 1];
};

/* A location on a stack. */
struct place {
	uint64_t id;
	size_t end; /* frames up to and with those that are inlined there */
};

struct pprof {
	const struct profile *p;
	struct gzip *gz;
	size_t first_column, n_columns;
	struct intern *strings;
	struct intern
		*locations; /* the encoded location without id; its id here is its id */
	struct map mapping_of; /* sym image -> index into mappings */
	VEC(struct mapping) mappings;
	struct seen_function {
		bool is_used;
		const char *file; /* where a line of it was seen, or NULL */
	} * functions;
	bool has_no_stack;
	VEC(uint64_t) location_of_frame; /* by the outermost frame's id; 0: not yet */
	VEC(struct place) places;	 /* of the current stack, outermost first */
	VEC(uint64_t) numbers;		 /* scratch: to be packed */
	struct buf message, part, label, text;
};

static void pprof_fini(struct pprof *w)
{
	gzip_free(w->gz);
	intern_free(w->strings);
	intern_free(w->locations);
	map_fini(&w->mapping_of);
	vec_fini(&w->mappings);
	free(w->functions);
	vec_fini(&w->location_of_frame);
	vec_fini(&w->places);
	vec_fini(&w->numbers);
	buf_fini(&w->message);
	buf_fini(&w->part);
	buf_fini(&w->label);
	buf_fini(&w->text);
}

/* One field of the top-level message, straight into the compressor. */
static int emit(struct pprof *w, unsigned field, const struct buf *message, struct err *e)
{
	struct buf *b = &w->part;

	buf_clear(b);
	protobuf_bytes(b, field, message->data, message->size);
	return gzip_write(w->gz, b->data, b->size, e);
}

static int emit_u64(struct pprof *w, unsigned field, uint64_t v, struct err *e)
{
	buf_clear(&w->part);
	protobuf_u64(&w->part, field, v);
	return gzip_write(w->gz, w->part.data, w->part.size, e);
}

/* The number of a text in the string table, which must be UTF-8 and is printed to
 * terminals as it is. */
static uint64_t string_id(struct pprof *w, const char *s)
{
	if (!s)
		return 0;
	buf_clear(&w->text);
	plain_text_add(&w->text, s, 0, NULL);
	return intern_str(w->strings, buf_str(&w->text));
}

static const char *unit_name(const char *unit)
{
	return strcmp(unit, "ns") == 0 ? "nanoseconds" : unit;
}

static void encode_value_type(struct pprof *w, const char *type, const char *unit)
{
	buf_clear(&w->message);
	protobuf_u64(&w->message, VALUE_TYPE, string_id(w, type));
	protobuf_u64(&w->message, VALUE_UNIT, string_id(w, unit));
}

/* "samples" and the event's weight; the first is named after the event as well when
 * there are several. */
static int write_sample_types(struct pprof *w, struct err *e)
{
	for (size_t i = 0; i < w->n_columns; i++) {
		size_t column = w->first_column + i;
		const struct profile_column *c = profile_column(w->p, column);
		const char *name = exporter_column_label(w->p, column, &w->label);
		own(freep) char *samples = w->n_columns == 1
						   ? xstrdup("samples")
						   : xasprintf("%s samples", name);

		encode_value_type(w, samples, "count");

		int rc = emit(w, PROFILE_SAMPLE_TYPE, &w->message, e);

		if (rc < 0)
			return rc;
		encode_value_type(w, name, unit_name(c->unit));
		rc = emit(w, PROFILE_SAMPLE_TYPE, &w->message, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static const struct model_image *find_image(const struct profile *p, const char *path)
{
	for (size_t s = 0; s < profile_n_sources(p); s++) {
		const struct recording *r = profile_source(p, s);

		for (uint32_t i = 0; i < recording_n_images(r); i++) {
			const struct model_image *m = recording_image(r, i);

			if (m->build_id_size &&
			    strcmp(recording_string(r, m->path), path) == 0)
				return m;
		}
	}
	return NULL;
}

static void init_mapping(const struct profile *p, struct mapping *m, const char *path)
{
	const struct model_image *image = find_image(p, path);

	m->path = path;
	if (!image)
		return;
	for (size_t i = 0; i < image->build_id_size && i < MODEL_BUILD_ID_MAX; i++)
		snprintf(m->build_id + 2 * i, 3, "%02x", image->build_id[i]);
	m->limit = image->size_bytes;
}

/* The id (index + 1) of the image's mapping. */
static uint64_t mapping_id(struct pprof *w, const struct profile_function *f)
{
	bool is_new;
	uint64_t *slot = map_slot(&w->mapping_of, f->sym_image, &is_new);

	if (is_new) {
		*slot = w->mappings.n;
		init_mapping(w->p, vec_push(&w->mappings),
			     f->kind == IMAGE_ELF && f->image_path ? f->image_path
								   : f->image);
	}
	return *slot + 1;
}

/* Consumers take the first mapping for the main program. */
static void map_main_program(struct pprof *w)
{
	const struct recording *r;
	const struct model_process *main_process;

	if (profile_n_sources(w->p) == 0)
		return;
	r = profile_source(w->p, 0);
	main_process = recording_process(r, 0);
	if (!main_process)
		return;
	for (uint32_t i = 0; i < profile_n_functions(w->p); i++) {
		const struct profile_function *f = profile_function(w->p, i);

		if (f->image_path &&
		    strcmp(f->image_path, recording_string(r, main_process->exe)) == 0) {
			mapping_id(w, f);
			return;
		}
	}
}

static void encode_line(struct pprof *w, const struct profile_frame *f)
{
	struct buf *b = &w->part;

	buf_clear(b);
	protobuf_u64(b, LINE_FUNCTION, (uint64_t)f->function + 1);
	protobuf_u64(b, LINE_NUMBER, f->line);
	protobuf_u64(b, LINE_COLUMN, f->column);
	protobuf_bytes(&w->message, LOCATION_LINE, b->data, b->size);
	w->functions[f->function].is_used = true;
	if (f->file)
		w->functions[f->function].file = f->file;
}

/* frames: one place with what is inlined there, outermost first. */
static uint64_t add_location(struct pprof *w, const struct profile_frame *frames,
			     size_t n)
{
	const struct profile_frame *outer = &frames[0];
	const struct profile_function *f = profile_function(w->p, outer->function);
	uint64_t mapping = mapping_id(w, f);
	/* The convention for a caller: an address inside its call. */
	uint64_t address = outer->address - (outer->is_return && outer->address);
	struct mapping *m = &w->mappings.at[mapping - 1];

	if (m->limit <= address)
		m->limit = address + 1;
	buf_clear(&w->message);
	protobuf_u64(&w->message, LOCATION_MAPPING, mapping);
	protobuf_u64(&w->message, LOCATION_ADDRESS, address);
	for (size_t i = n; i-- > 0;)
		encode_line(w, &frames[i]);
	return intern_add(w->locations, (const char *)w->message.data, w->message.size);
}

static uint64_t location_id(struct pprof *w, const struct profile_frame *frames, size_t n)
{
	uint32_t id = frames[0].id;

	while (w->location_of_frame.n <= id)
		vec_push(&w->location_of_frame);
	if (!w->location_of_frame.at[id])
		w->location_of_frame.at[id] = add_location(w, frames, n);
	return w->location_of_frame.at[id];
}

/* Consumers drop a sample without a location: a place that says so. */
static uint64_t no_stack_id(struct pprof *w)
{
	buf_clear(&w->part);
	protobuf_u64(&w->part, LINE_FUNCTION, (uint64_t)profile_n_functions(w->p) + 1);
	buf_clear(&w->message);
	protobuf_bytes(&w->message, LOCATION_LINE, w->part.data, w->part.size);
	w->has_no_stack = true;
	return intern_add(w->locations, (const char *)w->message.data, w->message.size);
}

/* What the stack shares with the one before has its places already. */
static void set_places(struct pprof *w, const struct profile_stack *s)
{
	size_t first, end;

	while (w->places.n && w->places.at[w->places.n - 1].end > s->n_same)
		w->places.n--;
	first = w->places.n ? w->places.at[w->places.n - 1].end : 0;
	for (; first < s->n; first = end) {
		for (end = first + 1; end < s->n && s->frames[end].is_inlined;)
			end++;
		*vec_push(&w->places) =
			(struct place){ location_id(w, s->frames + first, end - first),
					end };
	}
}

/* Leaf first. */
static void encode_places(struct pprof *w)
{
	vec_clear(&w->numbers);
	for (size_t i = w->places.n; i-- > 0;)
		*vec_push(&w->numbers) = w->places.at[i].id;
	if (w->places.n == 0)
		*vec_push(&w->numbers) = no_stack_id(w);
	buf_clear(&w->message);
	protobuf_packed(&w->message, SAMPLE_LOCATION_IDS, w->numbers.at, w->numbers.n);
}

static int write_sample(void *ctx, const struct profile_stack *s, struct err *e)
{
	struct pprof *w = ctx;
	uint64_t any = 0;

	set_places(w, s);
	for (size_t i = w->first_column; i < w->first_column + w->n_columns; i++)
		any |= s->weights[i] | s->counts[i];
	if (!any)
		return 0;
	encode_places(w);
	vec_clear(&w->numbers);
	for (size_t i = w->first_column; i < w->first_column + w->n_columns; i++) {
		*vec_push(&w->numbers) = s->counts[i];
		*vec_push(&w->numbers) = s->weights[i];
	}
	protobuf_packed(&w->message, SAMPLE_VALUES, w->numbers.at, w->numbers.n);
	return emit(w, PROFILE_SAMPLE, &w->message, e);
}

static int write_locations(struct pprof *w, struct err *e)
{
	for (uint32_t id = 1; id < intern_count(w->locations); id++) {
		buf_clear(&w->message);
		protobuf_u64(&w->message, LOCATION_ID, id);
		buf_add(&w->message, intern_get(w->locations, id),
			intern_len(w->locations, id));

		int rc = emit(w, PROFILE_LOCATION, &w->message, e);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int write_mappings(struct pprof *w, struct err *e)
{
	struct buf *b = &w->message;

	for (size_t i = 0; i < w->mappings.n; i++) {
		const struct mapping *m = &w->mappings.at[i];

		buf_clear(b);
		protobuf_u64(b, MAPPING_ID, i + 1);
		protobuf_u64(b, MAPPING_LIMIT, m->limit);
		protobuf_u64(b, MAPPING_FILE, string_id(w, m->path));
		protobuf_u64(b, MAPPING_BUILD_ID, string_id(w, m->build_id));
		for (unsigned has = MAPPING_HAS_FIRST; has <= MAPPING_HAS_LAST; has++)
			protobuf_u64(b, has, 1);

		int rc = emit(w, PROFILE_MAPPING, b, e);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int write_function(struct pprof *w, uint64_t id, const struct profile_function *f,
			  const char *file, struct err *e)
{
	struct buf *b = &w->message;

	buf_clear(b);
	protobuf_u64(b, FUNCTION_ID, id);
	protobuf_u64(b, FUNCTION_NAME, string_id(w, f->name));
	protobuf_u64(b, FUNCTION_SYSTEM_NAME,
		     string_id(w, f->linkage ? f->linkage : f->name));
	protobuf_u64(b, FUNCTION_FILE, string_id(w, file));
	protobuf_u64(b, FUNCTION_LINE, f->decl_line);
	return emit(w, PROFILE_FUNCTION, b, e);
}

static int write_functions(struct pprof *w, struct err *e)
{
	static const struct profile_function no_stack = { .name = "[no stack]" };
	uint32_t n = profile_n_functions(w->p);

	for (uint32_t i = 0; i < n; i++) {
		const struct profile_function *f = profile_function(w->p, i);
		const char *file = f->decl_file ? f->decl_file : w->functions[i].file;
		int rc = w->functions[i].is_used
				 ? write_function(w, (uint64_t)i + 1, f, file, e)
				 : 0;

		if (rc < 0)
			return rc;
	}
	return w->has_no_stack ? write_function(w, (uint64_t)n + 1, &no_stack, NULL, e)
			       : 0;
}

static int write_comment(struct pprof *w, const char *text, struct err *e)
{
	uint64_t id = string_id(w, text);

	return id ? emit_u64(w, PROFILE_COMMENT, id, e) : 0;
}

static int write_period(struct pprof *w, struct err *e)
{
	const struct profile_column *c = profile_column(w->p, w->first_column);
	const char *name = exporter_column_label(w->p, w->first_column, &w->label);

	encode_value_type(w, name, unit_name(c->unit));

	int rc = emit(w, PROFILE_PERIOD_TYPE, &w->message, e);

	if (rc < 0)
		return rc;
	rc = emit_u64(w, PROFILE_PERIOD, c->period, e);
	if (rc < 0)
		return rc;
	return emit_u64(w, PROFILE_DEFAULT_SAMPLE_TYPE, string_id(w, name), e);
}

/* About the recording as a whole. */
static int write_facts(struct pprof *w, const struct export_options *o, struct err *e)
{
	const struct recording *r;
	const char *start;
	uint64_t wall_ns = 0, start_ns;
	int rc = write_comment(w, exporter_title(w->p, o), e);

	if (rc < 0 || profile_n_sources(w->p) == 0)
		return rc;
	r = profile_source(w->p, 0);
	start = recording_info(r, "start-realtime-ns");
	if (start && text_parse_u64(start, &start_ns, NULL) == 0 &&
	    (rc = emit_u64(w, PROFILE_TIME_NANOS, start_ns, e)) < 0)
		return rc;
	recording_find_fact(r, FACT_TARGET, "wall-time", MODEL_NONE, MODEL_NONE,
			    &wall_ns);
	return emit_u64(w, PROFILE_DURATION_NANOS, wall_ns, e);
}

static int write_strings(struct pprof *w, struct err *e)
{
	for (uint32_t i = 0; i < intern_count(w->strings); i++) {
		buf_clear(&w->part);
		protobuf_bytes(&w->part, PROFILE_STRING, intern_get(w->strings, i),
			       intern_len(w->strings, i));

		int rc = gzip_write(w->gz, w->part.data, w->part.size, e);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int write_columns(struct pprof *w, struct err *e)
{
	int rc;

	if ((rc = write_sample_types(w, e)) < 0 || (rc = write_period(w, e)) < 0 ||
	    (rc = profile_each_stack(w->p, write_sample, w, e)) < 0 ||
	    (rc = write_mappings(w, e)) < 0 || (rc = write_locations(w, e)) < 0)
		return rc;
	return write_functions(w, e);
}

static int pprof_write(const struct profile *p, const struct export_options *o, FILE *out,
		       struct err *e)
{
	own(pprof_fini) struct pprof w = { .p = p };
	int rc;

	w.gz = gzip_new(out);
	w.strings = intern_new();
	w.locations = intern_new();
	w.functions = xcalloc((size_t)profile_n_functions(p) + 1, sizeof(*w.functions));
	w.n_columns = exporter_columns(p, o, &w.first_column);
	map_main_program(&w);
	if (w.n_columns > 0 && (rc = write_columns(&w, e)) < 0)
		return rc;
	/* Last, because everything above adds strings. */
	if ((rc = write_facts(&w, o, e)) < 0 || (rc = write_strings(&w, e)) < 0 ||
	    (rc = gzip_finish(w.gz, e)) < 0)
		return rc;
	return exporter_finish(out, e);
}

const struct exporter export_pprof = {
	.name = "pprof",
	.suffix = "pb.gz",
	.mime = "application/gzip",
	.summary = "for `go tool pprof`, Pyroscope, Parca",
	.is_binary = true,
	.write = pprof_write,
};
