/* SPDX-License-Identifier: Apache-2.0 */
#include "table_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/profile_data.h"
#include "analyze/time_column.h"
#include "base/mem.h"
#include "store/writer.h"

/* What is being made: a recording with the stacks, and the profile that reads it. */
struct build {
	const struct table_profile *t;
	struct profile *p;
	struct writer *w;
	uint32_t image, thread;
	uint32_t *events, *stacks; /* ids in the recording, by place in the table */
	/* By location: its first frame and their number, in the profile. */
	VEC(uint32_t) first_frame;
	VEC(uint32_t) n_frames;
};

static void build_fini(struct build *b)
{
	free(b->events);
	free(b->stacks);
	vec_fini(&b->first_frame);
	vec_fini(&b->n_frames);
}

static void write_thread(struct build *b)
{
	struct model_process process = { .pid = 100,
					 .parent = MODEL_NONE,
					 .exec_of = MODEL_NONE };
	struct model_image image = { .path = writer_string(b->w, "/opt/example") };
	struct model_thread thread = { .tid = 101,
				       .name = writer_string(b->w, "worker") };

	b->image = writer_image(b->w, &image);
	thread.process = writer_process(b->w, &process);
	b->thread = writer_thread(b->w, &thread);
}

static void write_events(struct build *b)
{
	b->events = xcalloc(b->t->n_columns + 1, sizeof(*b->events));
	for (size_t i = 0; i < b->t->n_columns; i++) {
		const struct profile_column *c = &b->t->columns[i];

		b->events[i] =
			writer_event(b->w, &(struct model_event){
						   .name = writer_string(b->w, c->name),
						   .unit = writer_string(b->w, c->unit),
						   .period = c->period,
					   });
	}
}

static void add_frames(struct build *b, const struct table_stack *s, size_t from,
		       size_t to, uint64_t address)
{
	for (size_t i = from; i < to; i++) {
		uint32_t id = (uint32_t)b->p->frames.n;

		*vec_push(&b->p->frames) = (struct profile_frame){
			.file = "/src/example.c",
			.address = address,
			.id = id,
			.function = s->functions[i],
			.line = (uint32_t)(10 + i),
			.is_inlined = i > from,
			.is_return = to < s->n,
		};
	}
}

/* The place of frames [from, to) of a stack, the later ones inlined into the first. */
static uint32_t add_location(struct build *b, const struct table_stack *s, size_t from,
			     size_t to)
{
	uint64_t address = 0x1000 * (uint64_t)(s->functions[from] + 1) + from;
	/* What is inlined there makes it another place. */
	uint64_t offset = address | (uint64_t)(to - from) << 32;
	uint32_t id =
		writer_location(b->w, b->image, offset, to < s->n ? LOCATION_RETURN : 0);

	if (id < b->first_frame.n)
		return id;
	assert_int_equal(id, b->first_frame.n);
	*vec_push(&b->first_frame) = (uint32_t)b->p->frames.n;
	*vec_push(&b->n_frames) = (uint32_t)(to - from);
	add_frames(b, s, from, to, address);
	return id;
}

static uint32_t add_stack(struct build *b, const struct table_stack *s)
{
	uint32_t stack = 0;

	for (size_t from = 0, to; from < s->n; from = to) {
		for (to = from + 1; to < s->n && s->is_inlined[to];)
			to++;
		stack = writer_stack(b->w, stack, add_location(b, s, from, to));
	}
	return stack;
}

static void write_samples(struct build *b, size_t i)
{
	const struct table_stack *s = &b->t->stacks[i];

	b->stacks[i] = add_stack(b, s);
	for (size_t c = 0; c < b->t->n_columns; c++)
		if (s->counts[c])
			writer_sample(b->w, &(struct model_sample){
						    .time_ns = 5000000000 + i * 1000000,
						    .weight = s->weights[c],
						    .event = b->events[c],
						    .thread = b->thread,
						    .cpu = 1,
						    .stack = b->stacks[i],
						    .count = (uint32_t)s->counts[c],
					    });
}

static void write_recording(struct build *b, const char *path)
{
	assert_int_equal(writer_create(path, NULL, &b->w, NULL), 0);
	write_thread(b);
	write_events(b);
	b->stacks = xcalloc(b->t->n_stacks + 1, sizeof(*b->stacks));
	for (size_t i = 0; i < b->t->n_stacks; i++)
		write_samples(b, i);
	assert_int_equal(writer_close(b->w, NULL), 0);
}

static void take_columns(struct build *b, struct input *s)
{
	s->n_columns = (uint32_t)b->t->n_columns;
	s->column_of_event = xcalloc(s->n_columns + 1, sizeof(uint32_t));
	for (uint32_t i = 0; i < s->n_columns; i++) {
		s->column_of_event[i] = i;
		*vec_push(&b->p->columns) = b->t->columns[i];
		b->p->columns.at[i].whole = MODEL_NONE;
	}
}

/* As if the symbolizer had named the places. */
static void take_names(struct build *b, struct input *s)
{
	assert_int_equal(s->n_locations, b->first_frame.n);
	for (uint32_t i = 0; i < s->n_locations; i++) {
		s->first_frame[i] = b->first_frame.at[i];
		s->n_frames[i] = b->n_frames.at[i];
	}
	for (uint32_t i = 0; i < b->t->n_functions; i++)
		*vec_push(&b->p->functions) = b->t->functions[i];
}

static void take_sums(struct build *b, struct input *s)
{
	for (size_t i = 0; i < b->t->n_stacks; i++) {
		size_t slot = input_slot(s, b->stacks[i]);
		uint64_t *values = s->values + slot * 2 * s->n_columns;

		for (size_t c = 0; c < s->n_columns; c++) {
			values[c] += b->t->stacks[i].weights[c];
			values[s->n_columns + c] += b->t->stacks[i].counts[c];
		}
	}
	input_order(s);
}

struct profile *table_profile_load(const struct table_profile *t)
{
	own(build_fini) struct build b = { .t = t, .p = xcalloc(1, sizeof(*b.p)) };
	char path[] = "/tmp/table_profile.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	b.p->sources = xcalloc(1, sizeof(*b.p->sources));
	b.p->n_sources = 1;
	write_recording(&b, path);
	assert_int_equal(input_open(b.p->sources, path, NULL), 0);
	unlink(path);
	take_columns(&b, b.p->sources);
	take_names(&b, b.p->sources);
	take_sums(&b, b.p->sources);
	time_column_choose(b.p);
	return b.p;
}

/* The symbols that the example's functions stand for. */
enum { MAIN, WORK, STEP, READ, KERNEL, HOSTILE, UNKNOWN };

#define PROGRAM .image = "example", .image_path = "/opt/example", .sym_image = 0

static const struct profile_function functions[] = {
	[MAIN] = { .name = "main",
		   PROGRAM,
		   .decl_file = "/src/example.c",
		   .decl_line = 9,
		   .start = 0x1000,
		   .size = 64,
		   .is_resolved = true },
	[WORK] = { .name = "work(std::vector<int, std::allocator<int> > const&)",
		   PROGRAM,
		   .linkage = "_Z4workRKSt6vectorIiSaIiEE",
		   .start = 0x2000,
		   .is_resolved = true },
	[STEP] = { .name = "step", PROGRAM, .is_resolved = true },
	[READ] = { .name = "read",
		   .image = "libc.so.6",
		   .image_path = "/lib/libc.so.6",
		   .sym_image = 1,
		   .start = 0x4000,
		   .is_resolved = true },
	[KERNEL] = { .name = "vfs_read",
		     .image = "[kernel]",
		     .image_path = "[kernel]",
		     .sym_image = 2,
		     .kind = IMAGE_KERNEL,
		     .is_resolved = true },
	[HOSTILE] = { .name = "</script><img src=x onerror=alert(1)>;a\nb\"c\x1b[2J",
		      .image = "[jit] & <b>",
		      .sym_image = 3,
		      .kind = IMAGE_JIT,
		      .is_resolved = true },
	[UNKNOWN] = { .name = "[unresolved]",
		      .image = "[anon]",
		      .sym_image = 4,
		      .kind = IMAGE_ANON },
};

static const struct table_stack stacks[] = {
	{ 1, { MAIN }, { 0 }, { 2000000 }, { 2 } },
	{ 2, { MAIN, WORK }, { 0 }, { 3000000 }, { 3 } },
	{ 3, { MAIN, WORK, STEP }, { 0, 0, 1 }, { 20000001 }, { 20 } },
	{ 3, { MAIN, WORK, WORK }, { 0 }, { 4000000 }, { 4 } },
	{ 3, { MAIN, READ, KERNEL }, { 0 }, { 1000000, 7 }, { 1, 7 } },
	{ 2, { MAIN, HOSTILE }, { 0 }, { 5000000 }, { 5 } },
	{ 2, { MAIN, UNKNOWN }, { 0 }, { 1000000 }, { 1 } },
	{ 0, { 0 }, { 0 }, { 1000000 }, { 1 } },
};

static const struct profile_column columns[] = {
	{ .name = "cpu-time",
	  .unit = "ns",
	  .experiment = "usertime",
	  .collected_by = "test",
	  .period = 1000000,
	  .total_weight = 37000001,
	  .total_count = 37 },
	{ .event = 1,
	  .name = "faults",
	  .unit = "count",
	  .experiment = "faults",
	  .collected_by = "test",
	  .period = 1,
	  .total_weight = 7,
	  .total_count = 7 },
};

const struct table_profile table_profile_example = {
	.columns = columns,
	.n_columns = 2,
	.functions = functions,
	.n_functions = sizeof(functions) / sizeof(functions[0]),
	.stacks = stacks,
	.n_stacks = sizeof(stacks) / sizeof(stacks[0]),
};

struct table_profile table_profile_wide(uint32_t n)
{
	struct profile_function *f = xcalloc(n + 1, sizeof(*f));
	struct table_stack *s = xcalloc(n, sizeof(*s));
	struct profile_column *c = xcalloc(1, sizeof(*c));

	for (uint32_t i = 0; i <= n; i++)
		f[i] = (struct profile_function){
			.name = xasprintf("a_function_with_a_long_name_%u", i),
			.image = "wide",
			.is_resolved = true,
		};
	for (uint32_t i = 0; i < n; i++)
		s[i] = (struct table_stack){ 2, { n, i }, { 0 }, { 1 + i }, { 1 } };
	*c = (struct profile_column){ .name = "cpu-time",
				      .unit = "ns",
				      .experiment = "usertime",
				      .total_weight = (uint64_t)n * (n + 1) / 2,
				      .total_count = n };
	return (struct table_profile){ c, 1, f, n + 1, s, n };
}

void table_profile_wide_fini(struct table_profile *p)
{
	for (uint32_t i = 0; i < p->n_functions; i++)
		free((void *)(uintptr_t)p->functions[i].name);
	free((void *)(uintptr_t)p->functions);
	free((void *)(uintptr_t)p->stacks);
	free((void *)(uintptr_t)p->columns);
}

char *table_profile_export(const struct table_profile *t, const char *name,
			   const struct export_options *o, size_t *ret_size)
{
	own(profile_freep) struct profile *p = table_profile_load(t);
	const struct exporter *x = exporter_find(name);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct err e = { 0 };

	assert_non_null(x);
	assert_non_null(out);
	assert_non_null(x->write);
	if (x->write(p, o, out, &e) < 0)
		fail_msg("%s: %s", name, e.text);
	fclose(out);
	if (ret_size)
		*ret_size = size;
	return text;
}
