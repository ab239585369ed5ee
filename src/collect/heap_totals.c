/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_totals.h"

#include <string.h>

static void write_facts(struct writer *w, uint32_t process, const struct heap_ledger *l,
			const struct heap_ledger *maps, const struct heap_ending *ending)
{
	const struct heap_amount *lost = ending->whole.of;
	const struct {
		const char *name, *unit;
		uint64_t value;
	} facts[] = {
		{ "heap-allocations", "count", heap_ledger_count_of(l, l->taken.blocks) },
		{ "heap-allocated", "bytes", l->taken.bytes },
		{ "heap-frees", "count", heap_ledger_count_of(l, l->given.blocks) },
		{ "heap-peak", "bytes", l->peak.bytes },
		{ "heap-peak-blocks", "count", heap_ledger_count_of(l, l->peak.blocks) },
		{ "heap-peak-time", "ns", l->peak_ns },
		{ "heap-left", "bytes", l->live.bytes },
		{ "heap-left-blocks", "count", heap_ledger_count_of(l, l->live.blocks) },
		{ "heap-sample", "bytes", l->sample_bytes },
		{ "heap-mappings", "count",
		  heap_ledger_count_of(maps, maps->taken.blocks) },
		{ "heap-mapped", "bytes", maps->taken.bytes },
		{ "heap-mapped-peak", "bytes", maps->peak.bytes },
		{ "heap-mapped-left", "bytes", maps->live.bytes },
		{ "heap-looked", "count", ending->how },
		{ "heap-lost", "bytes", lost[HEAP_REACH_LOST].bytes },
		{ "heap-lost-blocks", "count", lost[HEAP_REACH_LOST].blocks },
		{ "heap-indirectly-lost", "bytes", lost[HEAP_REACH_INDIRECTLY].bytes },
		{ "heap-indirectly-lost-blocks", "count",
		  lost[HEAP_REACH_INDIRECTLY].blocks },
		{ "heap-possibly-lost", "bytes", lost[HEAP_REACH_POSSIBLY].bytes },
		{ "heap-possibly-lost-blocks", "count",
		  lost[HEAP_REACH_POSSIBLY].blocks },
	};

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		writer_fact(w,
			    &(struct model_fact){ .kind = FACT_TARGET,
						  .name = writer_string(w, facts[i].name),
						  .unit = writer_string(w, facts[i].unit),
						  .event = MODEL_NONE,
						  .process = process,
						  .value = facts[i].value });
}

/* Rows of five shapes; the name of the first column tells which. */
struct shape {
	unsigned n_columns;
	struct {
		const char *name;
		enum column_type type;
	} columns[6];
};

enum shape_kind { BY_SIZE, BY_LIFETIME, OVER_TIME, AT_CUTS, GIVEN_BACK };

static const struct shape shapes[] = {
	[BY_SIZE] = { 5,
		      { { "less-than", COLUMN_BYTES },
			{ "allocations", COLUMN_U64 },
			{ "allocated", COLUMN_BYTES },
			{ "left-blocks", COLUMN_U64 },
			{ "left", COLUMN_BYTES } } },
	[BY_LIFETIME] = { 3,
			  { { "lived-less-than", COLUMN_DURATION },
			    { "blocks", COLUMN_U64 },
			    { "bytes", COLUMN_BYTES } } },
	[OVER_TIME] = { 5,
			{ { "held-at-most", COLUMN_BYTES },
			  { "held", COLUMN_BYTES },
			  { "held-blocks", COLUMN_U64 },
			  { "allocated", COLUMN_BYTES },
			  { "allocations", COLUMN_U64 } } },
	[AT_CUTS] = { 3,
		      { { "held-then", COLUMN_BYTES },
			{ "held-blocks-then", COLUMN_U64 },
			{ "uncut", COLUMN_U64 } } },
	[GIVEN_BACK] = { 3,
			 { { "taken-from", COLUMN_U64 },
			   { "given-blocks", COLUMN_U64 },
			   { "given", COLUMN_BYTES } } },
};

/* Where rows go. */
struct rows {
	struct writer *writer;
	struct model_trace row;
};

/* A type is made with the first process that needs it. */
static void begin_rows(struct rows *r, struct timer_totals *totals,
		       const struct plan *plan, enum shape_kind kind)
{
	const struct shape *shape = &shapes[kind];
	struct model_trace_type type = { .event =
						 plan->events[EXPERIMENT_HEAP_LEFT_BYTES],
					 .n_columns = shape->n_columns };

	for (unsigned i = 0; i < shape->n_columns; i++) {
		type.columns[i].name = writer_string(r->writer, shape->columns[i].name);
		type.columns[i].type = shape->columns[i].type;
	}
	if (!totals->row_types[kind])
		totals->row_types[kind] = writer_trace_type(r->writer, &type) + 1;
	r->row.trace_type = totals->row_types[kind] - 1;
}

static void put_row(struct rows *r, uint64_t time_ns, const uint64_t *values, size_t n)
{
	r->row.time_ns = time_ns;
	memcpy(r->row.values, values, n * sizeof(*values));
	writer_trace(r->writer, &r->row);
}

static void write_sizes(struct rows *r, uint64_t now_ns, const struct heap_ledger *l)
{
	for (unsigned i = 0; i < HEAP_LEDGER_SIZES; i++) {
		const struct heap_amount *taken = &l->taken_by_size[i];
		const struct heap_amount *left = &l->live_by_size[i];
		uint64_t values[] = { i < 64 ? UINT64_C(1) << i : UINT64_MAX,
				      heap_ledger_count_of(l, taken->blocks),
				      taken->bytes, heap_ledger_count_of(l, left->blocks),
				      left->bytes };

		if (taken->blocks)
			put_row(r, now_ns, values, 5);
	}
}

static void write_lifetimes(struct rows *r, uint64_t now_ns, const struct heap_ledger *l)
{
	for (unsigned i = 0; i < HEAP_LEDGER_LIFETIMES; i++) {
		const struct heap_amount *given = &l->given_by_lifetime[i];
		uint64_t values[] = { i < 32 ? UINT64_C(1) << 2 * i : UINT64_MAX,
				      heap_ledger_count_of(l, given->blocks),
				      given->bytes };

		if (given->blocks)
			put_row(r, now_ns, values, 3);
	}
}

static void write_course(struct rows *r, const struct heap_course *until_now)
{
	struct heap_course c = *until_now;

	heap_course_end(&c);
	for (size_t i = 0; i < c.n; i++) {
		const struct heap_point *p = &c.at[i];
		uint64_t values[] = { p->most_bytes, p->bytes, p->blocks,
				      p->allocated_bytes, p->allocations };

		put_row(r, p->end_ns, values, 5);
	}
}

static void write_cuts(struct rows *r, const struct heap_ledger *l)
{
	vec_each(x, &l->sections.all) {
		uint64_t values[] = { x->held.bytes,
				      heap_ledger_count_of(l, x->held.blocks),
				      x->n_uncut };

		put_row(r, x->from_ns, values, 3);
	}
}

/* Estimates of blocks are made of sums, as those are of what was taken. */
static void put_given(struct rows *r, const struct heap_ledger *l,
		      const struct heap_given *x)
{
	const struct heap_site *site = &l->sites.at[x->site];
	uint64_t values[] = { heap_sections_born_ns(&l->sections, x->site),
			      heap_ledger_count_of(l, x->amount.blocks),
			      x->amount.bytes };

	r->row.thread = site->thread;
	r->row.stack = site->stack;
	put_row(r, l->sections.all.at[x->section].from_ns, values, 3);
}

static void write_given(struct rows *r, const struct heap_ledger *l)
{
	vec_each(x, &l->sections.given)
		put_given(r, l, x);
	for (uint32_t i = 0; i < l->sections.sites.n; i++) {
		struct heap_given x = heap_sections_giving(&l->sections, i);

		if (x.amount.blocks || x.amount.bytes)
			put_given(r, l, &x);
	}
}

void heap_totals_write(const struct timer_image *m, const struct plan *plan,
		       uint64_t now_ns, uint32_t thread, const struct heap_ledger *l,
		       const struct heap_ledger *maps, const struct heap_ending *ending)
{
	struct rows r = {
		.writer = m->totals->writer,
		.row = { .thread = thread, .cpu = UINT32_MAX },
	};

	write_facts(r.writer, writer_thread_get(r.writer, thread)->process, l, maps,
		    ending);
	begin_rows(&r, m->totals, plan, BY_SIZE);
	write_sizes(&r, now_ns, l);
	begin_rows(&r, m->totals, plan, BY_LIFETIME);
	write_lifetimes(&r, now_ns, l);
	begin_rows(&r, m->totals, plan, OVER_TIME);
	write_course(&r, &l->course);
	begin_rows(&r, m->totals, plan, AT_CUTS);
	write_cuts(&r, l);
	begin_rows(&r, m->totals, plan, GIVEN_BACK);
	write_given(&r, l);
}
