/* SPDX-License-Identifier: Apache-2.0 */
#include "store/tally_code.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "store/tally_data.h"
#include "store/writer.h"

void tally_code_fini(struct tally_code *c)
{
	intern_free(c->direction_keys);
	vec_fini(&c->directions);
	map_fini(&c->access_of);
	vec_fini(&c->accesses);
	*c = (struct tally_code){ 0 };
}

size_t tally_code_bytes(const struct tally_code *c)
{
	size_t bytes = c->directions.cap * sizeof(*c->directions.at) +
		       c->accesses.cap * sizeof(*c->accesses.at) +
		       c->access_of.cap * sizeof(*c->access_of.at);

	return bytes + (c->direction_keys ? intern_bytes(c->direction_keys) : 0);
}

/* Taking in. */

static struct model_direction *direction_of(struct tally_code *c,
					    const struct model_direction *d)
{
	const uint32_t key[] = { d->process, d->location, d->to };
	uint32_t id;

	if (!c->direction_keys)
		c->direction_keys = intern_new();
	id = intern_add(c->direction_keys, (const char *)key, sizeof(key)) - 1;
	if (id == c->directions.n)
		*vec_push(&c->directions) = (struct model_direction){
			.process = d->process, .location = d->location, .to = d->to
		};
	return &c->directions.at[id];
}

void tally_direction(struct tally *t, const struct model_direction *d)
{
	struct model_direction *sum = direction_of(&t->code, d);

	assert(d->process < t->lists[FORMAT_PROCESSES].n);
	assert(d->location < t->locations.all.n);
	assert(d->to == MODEL_NONE || d->to < t->locations.all.n);
	sum->times += d->times;
	sum->samples += d->samples;
	sum->missed += d->missed;
	sum->foreseen += d->foreseen;
}

static struct access_place *place_of(struct tally_code *c, const struct model_access *a)
{
	uint64_t key = (uint64_t)a->process << 32 | a->location;
	bool is_new;
	uint64_t *row = map_slot(&c->access_of, key, &is_new);

	if (is_new) {
		struct tally_access *access = vec_push(&c->accesses);

		*row = c->accesses.n - 1;
		access->process = a->process;
		access->location = a->location;
		access_place_init(&access->place);
	}
	return &c->accesses.at[*row].place;
}

void tally_access(struct tally *t, const struct model_access *a)
{
	assert(a->process < t->lists[FORMAT_PROCESSES].n);
	assert(a->location < t->locations.all.n);
	access_place_add(place_of(&t->code, a), a);
}

/* Writing. */

void tally_code_mark(const struct tally_code *c, struct tally_order *o)
{
	vec_each(d, &c->directions) {
		o->process[d->process] = 0;
		o->location[d->location] = 0;
		if (d->to != MODEL_NONE)
			o->location[d->to] = 0;
	}
	vec_each(a, &c->accesses) {
		o->process[a->process] = 0;
		o->location[a->location] = 0;
	}
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static uint64_t place_key(uint32_t process, uint32_t location)
{
	return (uint64_t)process << 32 | location;
}

static int compare_directions(const void *a, const void *b)
{
	const struct model_direction *x = a, *y = b;
	int order = compare(place_key(x->process, x->location),
			    place_key(y->process, y->location));

	return order ? order : compare(x->to, y->to);
}

static void write_directions(const struct tally_output *out)
{
	const struct tally_code *c = &out->t->code;
	const struct tally_order *o = &out->o;
	own(freep) struct model_direction *all =
		xcalloc(c->directions.n + 1, sizeof(*all));

	for (size_t i = 0; i < c->directions.n; i++) {
		all[i] = c->directions.at[i];
		all[i].process = o->process[all[i].process];
		all[i].location = o->location[all[i].location];
		if (all[i].to != MODEL_NONE)
			all[i].to = o->location[all[i].to];
	}
	qsort(all, c->directions.n, sizeof(*all), compare_directions);
	for (size_t i = 0; i < c->directions.n; i++)
		writer_direction(out->w, &all[i]);
}

/* Places are large: who is sorted is small. */
struct sort_access {
	uint32_t process, location;
	const struct access_place *place;
};

static int compare_accesses(const void *a, const void *b)
{
	const struct sort_access *x = a, *y = b;

	return compare(place_key(x->process, x->location),
		       place_key(y->process, y->location));
}

static void write_accesses(const struct tally_output *out)
{
	const struct tally_code *c = &out->t->code;
	own(freep) struct sort_access *all = xcalloc(c->accesses.n + 1, sizeof(*all));

	for (size_t i = 0; i < c->accesses.n; i++) {
		const struct tally_access *a = &c->accesses.at[i];

		all[i] = (struct sort_access){ out->o.process[a->process],
					       out->o.location[a->location], &a->place };
	}
	qsort(all, c->accesses.n, sizeof(*all), compare_accesses);
	for (size_t i = 0; i < c->accesses.n; i++)
		access_place_write(all[i].place, all[i].process, all[i].location, out->w);
}

void tally_code_write(const struct tally_output *out)
{
	write_directions(out);
	write_accesses(out);
}
