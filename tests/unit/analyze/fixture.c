/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/time_column.h"
#include "base/mem.h"

struct build {
	struct profile *p;
	VEC(struct model_stack) stacks;
	VEC(struct model_location) locations;
	VEC(char *) texts; /* of the locations: "A" or "A+B" */
	VEC(uint32_t) first_frame;
	VEC(uint32_t) n_frames;
};

static uint32_t add_function(struct profile *p, const char *name, size_t n)
{
	for (uint32_t i = 0; i < p->functions.n; i++)
		if (strlen(p->functions.at[i].name) == n &&
		    memcmp(p->functions.at[i].name, name, n) == 0)
			return i;

	char *own_name = arena_strndup(&p->strings, name, n);

	*vec_push(&p->functions) = (struct profile_function){
		.name = own_name,
		.label = own_name,
		.image = "prog",
		.own_image = "prog",
		.image_path = "/bin/prog",
		.is_resolved = true,
	};
	p->functions.at[p->functions.n - 1].same_as = (uint32_t)p->functions.n - 1;
	return (uint32_t)p->functions.n - 1;
}

static uint32_t add_location(struct build *b, const char *text, size_t n)
{
	for (uint32_t i = 0; i < b->texts.n; i++)
		if (strlen(b->texts.at[i]) == n && memcmp(b->texts.at[i], text, n) == 0)
			return i;

	struct profile *p = b->p;
	uint32_t first = (uint32_t)p->frames.n;

	for (const char *s = text; s < text + n;) {
		const char *end = memchr(s, '+', (size_t)(text + n - s));

		end = end ? end : text + n;

		uint32_t function = add_function(p, s, (size_t)(end - s));

		*vec_push(&p->frames) = (struct profile_frame){
			.function = function,
			.own_function = function,
			.is_inlined = s != text,
		};
		s = end + (end < text + n);
	}
	*vec_push(&b->locations) = (struct model_location){ 0 };
	*vec_push(&b->texts) = arena_strndup(&p->strings, text, n);
	*vec_push(&b->first_frame) = first;
	*vec_push(&b->n_frames) = (uint32_t)p->frames.n - first;
	return (uint32_t)b->locations.n - 1;
}

static uint32_t add_stack(struct build *b, uint32_t parent, uint32_t location)
{
	for (uint32_t i = 1; i < b->stacks.n; i++)
		if (b->stacks.at[i].parent == parent &&
		    b->stacks.at[i].location == location)
			return i;
	*vec_push(&b->stacks) = (struct model_stack){ parent, location };
	return (uint32_t)b->stacks.n - 1;
}

static uint32_t add_path(struct build *b, const char *path)
{
	uint32_t stack = 0;

	for (const char *s = path; *s;) {
		size_t n = strcspn(s, ";");

		stack = add_stack(b, stack, add_location(b, s, n));
		s += n + (s[n] == ';');
	}
	return stack;
}

static void finish(struct build *b, const struct fixture_stack *stacks,
		   const uint32_t *ids, size_t n)
{
	struct input *s = b->p->sources;

	*s = (struct input){
		.stacks = b->stacks.at,
		.locations = b->locations.at,
		.n_stacks = (uint32_t)b->stacks.n,
		.n_locations = (uint32_t)b->locations.n,
		.n_columns = 1,
		.slot_of_stack = xcalloc(b->stacks.n, sizeof(uint32_t)),
		.first_frame = b->first_frame.at,
		.n_frames = b->n_frames.at,
	};
	for (size_t i = 0; i < n; i++) {
		uint32_t slot = input_slot(s, ids[i]);

		s->values[2 * slot] += stacks[i].weight;
		s->values[2 * slot + 1]++;
		b->p->columns.at[0].total_weight += stacks[i].weight;
		b->p->columns.at[0].total_count++;
	}
	input_order(s);
	time_column_choose(b->p);
	vec_fini(&b->texts);
}

struct profile *fixture_profile(const struct fixture_stack *stacks, size_t n)
{
	struct build b = { .p = xcalloc(1, sizeof(struct profile)) };
	own(freep) uint32_t *ids = xcalloc(n + 1, sizeof(uint32_t));

	b.p->sources = xcalloc(1, sizeof(struct input));
	b.p->n_sources = 1;
	*vec_push(&b.p->columns) = (struct profile_column){ .name = "cpu-time",
							    .unit = "ns",
							    .whole = MODEL_NONE };
	vec_push(&b.stacks);
	for (size_t i = 0; i < n; i++)
		ids[i] = add_path(&b, stacks[i].path);
	finish(&b, stacks, ids, n);
	return b.p;
}

void fixture_free(struct profile *p)
{
	struct input *s = p->sources;

	free((void *)(uintptr_t)s->stacks);
	free((void *)(uintptr_t)s->locations);
	free(s->slot_of_stack);
	free(s->values);
	free(s->first_frame);
	free(s->n_frames);
	free(s->order);
	free(s);
	vec_fini(&p->columns);
	free(p->cpu_column_of);
	vec_fini(&p->functions);
	vec_fini(&p->frames);
	arena_fini(&p->strings);
	free(p);
}

void fixture_freep(struct profile **p)
{
	if (*p)
		fixture_free(*p);
}

uint32_t fixture_function(const struct profile *p, const char *name)
{
	for (uint32_t i = 0; i < p->functions.n; i++)
		if (strcmp(p->functions.at[i].name, name) == 0)
			return i;
	fail_msg("no function '%s'", name);
	return 0;
}
