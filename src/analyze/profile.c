/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/profile.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/block_graph.h"
#include "analyze/blobs.h"
#include "analyze/call_shares.h"
#include "analyze/derived.h"
#include "analyze/frames.h"
#include "analyze/ideal.h"
#include "analyze/image_names.h"
#include "analyze/io_peers.h"
#include "analyze/matching.h"
#include "analyze/profile_data.h"
#include "analyze/stream.h"
#include "analyze/time_column.h"
#include "base/mem.h"

void profile_free(struct profile *p)
{
	if (!p)
		return;
	if (!p->is_live)
		symbolizer_free(p->symbolizer);
	for (size_t i = 0; i < p->n_sources; i++)
		input_fini(&p->sources[i]);
	free(p->sources);
	vec_fini(&p->columns);
	free(p->cpu_column_of);
	vec_fini(&p->functions);
	vec_fini(&p->frames);
	vec_fini(&p->function_of_sym);
	vec_fini(&p->image_names);
	vec_fini(&p->same_hash);
	map_fini(&p->functions_by_name);
	map_fini(&p->shared_by);
	map_fini(&p->image_labels);
	map_fini(&p->blobs_by_key);
	vec_fini(&p->blobs);
	vec_fini(&p->matches);
	arena_fini(&p->strings);
	filter_free(p->filter);
	free(p);
}

void profile_freep(struct profile **p)
{
	profile_free(*p);
}

bool profile_wants_event(const struct profile_options *o, const char *name)
{
	if (!o->events || !o->events[0])
		return true;
	for (size_t i = 0; o->events[i]; i++)
		if (strcmp(o->events[i], name) == 0)
			return true;
	return false;
}

/* What is behind a colon says how it was done. */
bool profile_wants_experiment(const struct profile_options *o, const char *name)
{
	size_t n = o->experiment ? strlen(o->experiment) : 0;

	return !o->experiment ||
	       (strncmp(name, o->experiment, n) == 0 && (!name[n] || name[n] == ':'));
}

/* How many events are called so, by the name's string. */
static void count_names(const struct recording *r, struct map *ret)
{
	for (uint32_t i = 0; i < recording_n_events(r); i++)
		++*map_slot(ret, recording_event(r, i)->name, NULL);
}

/* Two experiments of one recording may count the same event: then the column is
 * called after both. */
static const char *column_name(struct profile *p, const struct input *s,
			       const struct model_event *ev, const struct map *n_of_name)
{
	const struct recording *r = s->recording;
	const char *name = recording_string(r, ev->name);

	if (*map_find(n_of_name, ev->name) < 2)
		return name;

	own(freep) char *both =
		xasprintf("%s:%s", recording_string(r, ev->experiment), name);

	return arena_strdup(&p->strings, both);
}

static void add_columns(struct profile *p, uint32_t source,
			const struct profile_options *o)
{
	struct input *s = &p->sources[source];
	const struct recording *r = s->recording;
	uint32_t n = recording_n_events(r);
	own(map_fini) struct map n_of_name = { 0 };

	count_names(r, &n_of_name);
	s->first_column = (uint32_t)p->columns.n;
	s->column_of_event = xcalloc(n + 1, sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++) {
		const struct model_event *ev = recording_event(r, i);
		const char *name = column_name(p, s, ev, &n_of_name);

		s->column_of_event[i] = MODEL_NONE;
		if (!profile_wants_experiment(o, recording_string(r, ev->experiment)) ||
		    (!profile_wants_event(o, name) &&
		     !profile_wants_event(o, recording_string(r, ev->name)) &&
		     !derived_needs_event(r, ev, o)))
			continue;
		s->column_of_event[i] = s->n_columns++;
		*vec_push(&p->columns) = (struct profile_column){
			.source = source,
			.event = i,
			.source_event = i,
			.whole = MODEL_NONE,
			.name = name,
			.unit = recording_string(r, ev->unit),
			.experiment = recording_string(r, ev->experiment),
			.collected_by = recording_string(r, ev->source),
			.period = ev->period,
		};
	}
	ideal_add_column(p, source, o);
	s->column_of_event[n] = s->ideal_column;
	derived_add_columns(p, source, o);
}

/* Names once each, as far as there is room. */
static void list_name(struct err *list, const char *name)
{
	size_t n = strlen(list->text);

	if (n < 300 && !strstr(list->text, name))
		snprintf(list->text + n, sizeof(list->text) - n, "%s%.60s", n ? ", " : "",
			 name);
}

static int no_such_event(const struct profile *p, const char *name, struct err *e)
{
	struct err list = { 0 };
	const char *whole;

	for (size_t i = 0; i < p->n_sources; i++) {
		const struct recording *r = p->sources[i].recording;

		if (ideal_is_possible(r))
			list_name(&list, IDEAL_NAME);
		for (size_t k = 0; (whole = derived_name(r, k)); k++)
			list_name(&list, whole);
		for (uint32_t k = 0; k < recording_n_events(r); k++)
			list_name(&list,
				  recording_string(r, recording_event(r, k)->name));
	}
	return err_set(e, ERR_USAGE, "no event '%.80s' in the recording: it has %s", name,
		       list.text[0] ? list.text : "none");
}

static int check_events(const struct profile *p, const struct profile_options *o,
			struct err *e)
{
	for (size_t i = 0; o->events && o->events[i]; i++) {
		bool found = false;

		for (size_t c = 0; c < p->columns.n && !found; c++) {
			const char *name = p->columns.at[c].name;
			const char *colon = strchr(name, ':');

			found = strcmp(name, o->events[i]) == 0 ||
				(colon && strcmp(colon + 1, o->events[i]) == 0);
		}
		if (!found)
			return no_such_event(p, o->events[i], e);
	}
	return 0;
}

struct sum {
	struct input *source;
	struct profile_column *columns;
};

/* Slots and values are far apart in memory: ask for them some samples ahead.  Always
 * inline, as a call without effects but prefetching is dropped by the compiler. */
static inline __attribute__((always_inline)) void
prefetch_sums(const struct input *s, const struct sample_block *b, size_t i)
{
	enum { AHEAD = 12 };

	if (i + 2 * AHEAD >= b->n)
		return;
	__builtin_prefetch(&s->slot_of_stack[b->stack[i + 2 * AHEAD]]);
	__builtin_prefetch(input_weights(s, b->stack[i + AHEAD]));
}

/* The inner loop over all samples: no hashing. */
static int sum_block(void *ctx, const struct sample_block *b, const uint8_t *keep,
		     struct err *e unused)
{
	struct sum *sum = ctx;
	struct input *s = sum->source;

	for (size_t i = 0; i < b->n; i++)
		s->n_taken += b->count[i];
	for (size_t i = 0; i < b->n; i++) {
		uint32_t column = s->column_of_event[b->event[i]];

		prefetch_sums(s, b, i);
		if (column == MODEL_NONE || (keep && !keep[i]))
			continue;

		uint32_t slot = s->slot_of_stack[b->stack[i]];
		size_t at = slot ? slot - 1 : input_slot(s, b->stack[i]);

		at = at * 2 * s->n_columns + column;
		s->values[at] += b->weight[i];
		s->values[at + s->n_columns] += b->count[i];
		sum->columns[column].total_weight += b->weight[i];
		sum->columns[column].total_count += b->count[i];
	}
	return 0;
}

static int sum_samples(struct profile *p, struct input *s, struct err *e)
{
	struct sum sum = { s, p->columns.at + s->first_column };
	own(filter_binding_freep) struct filter_binding *filter = NULL;

	if (!s->n_columns)
		return 0;
	if (p->filter)
		filter = filter_bind(p->filter, p, s);

	int rc = stream_samples(
		s, filter, SAMPLE_EVENT | SAMPLE_STACK | SAMPLE_COUNT | SAMPLE_WEIGHT,
		sum_block, &sum, e);

	derived_sum_stacks(p, s);
	return rc;
}

struct summing {
	struct profile *p;
	struct input *s;
	struct err err;
	int rc;
};

static void *sum_in_thread(void *arg)
{
	struct summing *sum = arg;

	sum->rc = sum_samples(sum->p, sum->s, &sum->err);
	return NULL;
}

/* Without a choice of samples every place is on some stack with weight: names are
 * looked up while the samples are being summed. */
static int load_all(struct profile *p, struct input *s, struct err *e)
{
	struct summing sum = { .p = p, .s = s };
	pthread_t thread;
	bool has_thread = pthread_create(&thread, NULL, sum_in_thread, &sum) == 0;

	frames_resolve(p, s, NULL);
	if (has_thread)
		pthread_join(thread, NULL);
	else
		sum_in_thread(&sum);
	if (sum.rc < 0)
		return err_set(e, sum.rc, "%s", sum.err.text);
	return 0;
}

/* Only places that samples which pass can be in; all of them when the filter itself
 * asks for names. */
static int load_chosen(struct profile *p, struct input *s, struct err *e)
{
	bool early = p->filter && filter_needs_frames(p->filter);

	if (early)
		frames_resolve(p, s, NULL);

	int rc = sum_samples(p, s, e);

	if (rc < 0 || early)
		return rc;
	input_order(s);

	own(freep) bool *is_used = xcalloc(s->n_locations + 1, sizeof(bool));

	input_mark_locations(s, is_used);
	frames_resolve(p, s, is_used);
	return 0;
}

/* Functions that were chosen when recording are in stacks, and calls tell of all. */
static void hide_under(struct input *s)
{
	for (uint32_t i = 0; i < s->n_locations; i++)
		if (s->locations[i].flags & LOCATION_UNDER)
			s->n_frames[i] = 0;
}

/* Calls are those of all processes and times, and of callers that a choice of samples may
 * leave out: it has none. */
static int share_by_calls(struct profile *p, struct input *s,
			  const struct profile_options *o, struct err *e)
{
	own(block_graph_fini) struct block_graph g = { 0 };
	int rc;

	if (!o->is_worked_out || !ideal_is_possible(s->recording))
		return 0;
	if (p->filter) {
		p->leaves_calls_out = true;
		return 0;
	}
	rc = block_graph_make_by_program(&g, s->recording, e);
	if (rc < 0)
		return rc;
	s->call_shares = call_shares_new(p, s, &g);
	hide_under(s);
	return 0;
}

/* What is computed from places must know them all before. */
static int load_ideal(struct profile *p, struct input *s, const struct profile_options *o,
		      struct err *e)
{
	int rc;

	frames_resolve(p, s, NULL);
	rc = ideal_measure(p, (uint32_t)(s - p->sources), o, e);
	return rc < 0 ? rc : sum_samples(p, s, e);
}

static int load(struct profile *p, struct input *s, const struct profile_options *o,
		struct err *e)
{
	if (ideal_is_shown(s))
		return load_ideal(p, s, o, e);
	return p->filter || o->events || o->experiment ? load_chosen(p, s, e)
						       : load_all(p, s, e);
}

static void start_symbolizer(struct profile *p, const struct profile_options *o)
{
	struct sym_options sym = o->sym ? *o->sym : (struct sym_options){ 0 };

	sym.no_inline = sym.no_inline || o->no_inline;
	if (!sym.blob) {
		sym.blob = blobs_find;
		sym.blob_ctx = p;
	}
	p->symbolizer = symbolizer_new(&sym);
}

static int open_sources(struct profile *p, const char *const *paths, size_t n,
			const struct profile_options *o, struct err *e)
{
	int rc;

	for (; p->n_sources < n; p->n_sources++) {
		struct input *s = &p->sources[p->n_sources];

		rc = input_open(s, paths[p->n_sources], e);
		if (rc < 0)
			return rc;
		if (o->names)
			recording_set_name(s->recording, o->names[p->n_sources]);
		add_columns(p, (uint32_t)p->n_sources, o);
	}
	rc = check_events(p, o, e);
	return rc < 0 ? rc : ideal_check_options(p, o, e);
}

/* The files behind the names and the order take most memory: one at a time. */
static void order_all(struct profile *p)
{
	if (p->is_live)
		symbolizer_close_unused(p->symbolizer);
	else
		symbolizer_close_images(p->symbolizer);
	for (size_t i = 0; i < p->n_sources; i++)
		if (!p->sources[i].order)
			input_order(&p->sources[i]);
}

int profile_load(const char *const *paths, size_t n, const struct profile_options *o,
		 struct profile **ret, struct err *e)
{
	own(profile_freep) struct profile *p = xcalloc(1, sizeof(*p));
	struct profile_options none = { 0 };
	int rc = 0;

	o = o ? o : &none;
	if (o->filter && (rc = filter_parse(o->filter, &p->filter, e)) < 0)
		return rc;
	p->sources = xcalloc(n ? n : 1, sizeof(*p->sources));
	rc = open_sources(p, paths, n, o, e);
	if (rc < 0)
		return rc;
	blobs_index(p);
	start_symbolizer(p, o);
	image_names_choose(p);
	for (size_t i = 0; i < p->n_sources && rc == 0; i++)
		rc = load(p, &p->sources[i], o, e);
	if (rc < 0)
		return rc;
	order_all(p);
	time_column_choose(p);
	io_peers_join(p);
	if (o->is_compared && p->n_sources > 1) {
		matching_apply(p, !o->no_guess);
		symbolizer_close_images(p->symbolizer);
	}
	for (size_t i = 0; i < p->n_sources && rc == 0; i++)
		rc = share_by_calls(p, &p->sources[i], o, e);
	if (rc < 0)
		return rc;
	*ret = steal(&p);
	return 0;
}

int profile_load_live(const struct profile_live *live, const struct profile_options *o,
		      struct profile **ret, struct err *e)
{
	own(profile_freep) struct profile *p = xcalloc(1, sizeof(*p));
	struct profile_options none = { 0 };
	int rc = 0;

	o = o ? o : &none;
	if (o->filter && (rc = filter_parse(o->filter, &p->filter, e)) < 0)
		return rc;
	p->symbolizer = live->symbolizer;
	p->is_live = true;
	p->sources = xcalloc(1, sizeof(*p->sources));
	p->n_sources = 1;
	input_borrow(&p->sources[0], live->recording, live->first_block);
	add_columns(p, 0, o);
	rc = check_events(p, o, e);
	if (rc < 0)
		return rc;
	image_names_choose(p);
	rc = load_chosen(p, &p->sources[0], e);
	if (rc < 0)
		return rc;
	order_all(p);
	time_column_choose(p);
	io_peers_join(p);
	*ret = steal(&p);
	return 0;
}

bool profile_has_calls(const struct profile *p)
{
	for (size_t i = 0; i < p->n_sources; i++)
		if (p->sources[i].call_shares)
			return true;
	return false;
}

bool profile_leaves_calls_out(const struct profile *p)
{
	return p->leaves_calls_out;
}

bool profile_has_late_sums(const struct profile *p)
{
	bool has = false;

	for (size_t i = 0; i < p->columns.n; i++) {
		const struct profile_column *c = &p->columns.at[i];
		const struct model_event *ev =
			recording_event(p->sources[c->source].recording, c->source_event);

		has |= ev && ev->flags & EVENT_SUMMED;
	}
	return has && p->filter && filter_asks_for(p->filter, "time");
}

size_t profile_n_sources(const struct profile *p)
{
	return p->n_sources;
}

const struct recording *profile_source(const struct profile *p, size_t i)
{
	return p->sources[i].recording;
}

uint64_t profile_start_ns(const struct profile *p, size_t source)
{
	return p->sources[source].start_ns;
}

size_t profile_n_columns(const struct profile *p)
{
	return p->columns.n;
}

const struct profile_column *profile_column(const struct profile *p, size_t i)
{
	return &p->columns.at[i];
}

uint32_t profile_n_functions(const struct profile *p)
{
	return (uint32_t)p->functions.n;
}

const struct profile_function *profile_function(const struct profile *p, uint32_t id)
{
	return &p->functions.at[id];
}

size_t profile_n_matches(const struct profile *p)
{
	return p->matches.n;
}

const struct profile_match *profile_match(const struct profile *p, size_t i)
{
	return &p->matches.at[i];
}

bool profile_is_filtered(const struct profile *p)
{
	return p->filter;
}

struct symbolizer *profile_symbolizer(const struct profile *p)
{
	return p->symbolizer;
}

struct sym_image_ref profile_image_ref(const struct profile *p, size_t source,
				       uint32_t image)
{
	const struct recording *r = p->sources[source].recording;
	const struct model_image *m = recording_image(r, image);

	return (struct sym_image_ref){
		.kind = (enum sym_image_kind)m->kind,
		.path = recording_string(r, m->path),
		.host_path = recording_string(r, m->host_path),
		.build_id = m->build_id_size ? m->build_id : NULL,
		.build_id_size = m->build_id_size,
		.pid = m->pid,
		.recording = (uint32_t)source,
		.base = m->base,
		.size_bytes = m->size_bytes,
		.mtime_s = m->mtime_s,
	};
}

uint32_t profile_sym_image(const struct profile *p, size_t source, uint32_t image)
{
	struct sym_image_ref ref = profile_image_ref(p, source, image);

	return symbolizer_image(p->symbolizer, &ref);
}
