/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/reader.h"
#include "table_profile.h"

#define MAX_ITEMS 64
#define MAX_BYTES 65536

/* A field of a message: a number, or bytes. */
struct field {
	unsigned number;
	uint64_t value;
	struct reader bytes;
};

static bool next_field(struct reader *r, struct field *ret)
{
	uint64_t key;

	if (reader_left(r) == 0)
		return false;
	key = reader_uleb(r);
	ret->number = (unsigned)(key >> 3);
	if ((key & 7) == 0) {
		ret->value = reader_uleb(r);
	} else {
		assert_int_equal(key & 7, 2);

		size_t n = reader_count(r, 1);

		ret->bytes = reader_over(reader_bytes(r, n), n);
	}
	assert_false(r->bad);
	return true;
}

static uint64_t number_in(struct reader message, unsigned number)
{
	struct field f;

	while (next_field(&message, &f))
		if (f.number == number)
			return f.value;
	return 0;
}

/* What a profile says, as profile.proto numbers it. */
struct decoded {
	uint8_t *memory;
	struct reader samples[MAX_ITEMS], locations[MAX_ITEMS], functions[MAX_ITEMS],
		mappings[MAX_ITEMS], types[MAX_ITEMS], strings[MAX_ITEMS];
	size_t n_samples, n_locations, n_functions, n_mappings, n_types, n_strings;
	uint64_t period, default_type;
};

static void add(struct reader *to, size_t *n, const struct reader *message)
{
	assert_true(*n < MAX_ITEMS);
	to[(*n)++] = *message;
}

static void take(struct decoded *d, const struct field *f)
{
	if (f->number == 1)
		add(d->types, &d->n_types, &f->bytes);
	else if (f->number == 2)
		add(d->samples, &d->n_samples, &f->bytes);
	else if (f->number == 3)
		add(d->mappings, &d->n_mappings, &f->bytes);
	else if (f->number == 4)
		add(d->locations, &d->n_locations, &f->bytes);
	else if (f->number == 5)
		add(d->functions, &d->n_functions, &f->bytes);
	else if (f->number == 6)
		add(d->strings, &d->n_strings, &f->bytes);
	else if (f->number == 12)
		d->period = f->value;
	else if (f->number == 14)
		d->default_type = f->value;
}

static void decode(struct decoded *d, const struct export_options *o)
{
	size_t size;
	own(freep) char *packed =
		table_profile_export(&table_profile_example, "pprof", o, &size);
	struct field f = { 0 };
	z_stream z = { .next_in = (Bytef *)packed, .avail_in = (uInt)size };

	*d = (struct decoded){ .memory = xcalloc(1, MAX_BYTES) };
	z.next_out = d->memory;
	z.avail_out = MAX_BYTES;
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);

	struct reader r = reader_over(d->memory, z.total_out);

	inflateEnd(&z);
	while (next_field(&r, &f))
		take(d, &f);
}

static void decoded_fini(struct decoded *d)
{
	free(d->memory);
}

static void assert_text(const struct decoded *d, uint64_t id, const char *want)
{
	assert_true(id < d->n_strings);
	assert_int_equal(reader_left(&d->strings[id]), strlen(want));
	assert_memory_equal(d->strings[id].at, want, strlen(want));
}

/* The i-th value of a sample. */
static uint64_t value_at(struct reader sample, size_t i)
{
	struct field f = { 0 };

	while (next_field(&sample, &f) && f.number != 2)
		;
	assert_int_equal(f.number, 2);
	while (i--)
		reader_uleb(&f.bytes);
	return reader_uleb(&f.bytes);
}

static void sample_types_are_counts_and_weights_of_each_event(unused void **state)
{
	static const struct {
		const char *name, *unit;
	} want[] = {
		{ "cpu-time samples", "count" },
		{ "cpu-time", "nanoseconds" },
		{ "faults samples", "count" },
		{ "faults", "count" },
	};
	static const struct export_options all;
	own(decoded_fini) struct decoded d;

	decode(&d, &all);
	assert_int_equal(d.n_types, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_text(&d, number_in(d.types[i], 1), want[i].name);
		assert_text(&d, number_in(d.types[i], 2), want[i].unit);
	}
	assert_text(&d, d.default_type, "cpu-time");
	assert_int_equal(d.period, 1000000);
}

static void values_sum_to_the_events_totals(unused void **state)
{
	static const struct export_options all;
	static const uint64_t want[] = { 37, 37000001, 7, 7 };
	own(decoded_fini) struct decoded d;

	decode(&d, &all);
	assert_int_equal(d.n_samples, table_profile_example.n_stacks);
	for (size_t i = 0; i < 4; i++) {
		uint64_t sum = 0;

		for (size_t s = 0; s < d.n_samples; s++)
			sum += value_at(d.samples[s], i);
		assert_int_equal(sum, want[i]);
	}
}

static void one_event_has_plain_samples(unused void **state)
{
	static const struct export_options one = { .column = 1, .has_column = true };
	own(decoded_fini) struct decoded d;

	decode(&d, &one);
	assert_int_equal(d.n_types, 2);
	assert_text(&d, number_in(d.types[0], 1), "samples");
	assert_text(&d, number_in(d.types[1], 1), "faults");
	assert_int_equal(d.n_samples, 1);
}

static size_t count_fields(struct reader message, unsigned number)
{
	struct field f = { 0 };
	size_t n = 0;

	while (next_field(&message, &f))
		n += f.number == number;
	return n;
}

static void every_reference_leads_somewhere(unused void **state)
{
	static const struct export_options all;
	own(decoded_fini) struct decoded d;
	struct field f = { 0 };

	decode(&d, &all);
	assert_text(&d, 0, "");
	for (size_t i = 0; i < d.n_locations; i++) {
		struct reader r = d.locations[i];

		assert_int_equal(number_in(r, 1), i + 1);
		assert_true(number_in(r, 2) <= d.n_mappings);
		while (next_field(&r, &f))
			if (f.number == 4)
				assert_in_range(number_in(f.bytes, 1), 1, d.n_functions);
	}
	for (size_t i = 0; i < d.n_samples; i++) {
		struct reader r = d.samples[i];

		assert_true(next_field(&r, &f));
		assert_int_equal(f.number, 1);
		while (reader_left(&f.bytes))
			assert_in_range(reader_uleb(&f.bytes), 1, d.n_locations);
	}
}

static void an_inlined_call_is_a_second_line_of_its_location(unused void **state)
{
	static const struct export_options all;
	own(decoded_fini) struct decoded d;
	size_t n_inlined = 0;

	decode(&d, &all);
	for (size_t i = 0; i < d.n_locations; i++)
		n_inlined += count_fields(d.locations[i], 4) == 2;
	assert_int_equal(n_inlined, 1);
}

static void names_are_fit_for_a_terminal(unused void **state)
{
	static const struct export_options all;
	own(decoded_fini) struct decoded d;

	decode(&d, &all);
	for (size_t i = 0; i < d.n_strings; i++)
		for (const uint8_t *p = d.strings[i].at; p < d.strings[i].end; p++)
			assert_true(*p >= 0x20 && *p != 0x7f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(sample_types_are_counts_and_weights_of_each_event),
		cmocka_unit_test(values_sum_to_the_events_totals),
		cmocka_unit_test(one_event_has_plain_samples),
		cmocka_unit_test(every_reference_leads_somewhere),
		cmocka_unit_test(an_inlined_call_is_a_second_line_of_its_location),
		cmocka_unit_test(names_are_fit_for_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
