/* SPDX-License-Identifier: Apache-2.0 */
#include "table_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "store/writer.h"

/* A recording without samples, for the names in it. */
static struct recording *source;
static uint32_t worker_name;

static void write_source(const char *path)
{
	struct writer *w = NULL;

	assert_int_equal(writer_create(path, NULL, &w, NULL), 0);
	worker_name = writer_string(w, "worker");
	assert_int_equal(writer_close(w, NULL), 0);
}

static void open_source(void)
{
	char path[] = "/tmp/table_profile.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	write_source(path);
	assert_int_equal(recording_open(path, &source, NULL), 0);
	unlink(path);
}

__attribute__((destructor)) static void close_source(void)
{
	recording_free(source);
}

size_t profile_n_sources(unused const struct profile *p)
{
	return 1;
}

const struct recording *profile_source(unused const struct profile *p, unused size_t i)
{
	if (!source)
		open_source();
	return source;
}

size_t profile_n_columns(const struct profile *p)
{
	return p->n_columns;
}

const struct profile_column *profile_column(const struct profile *p, size_t i)
{
	return &p->columns[i];
}

uint32_t profile_n_functions(const struct profile *p)
{
	return p->n_functions;
}

const struct profile_function *profile_function(const struct profile *p, uint32_t id)
{
	return &p->functions[id];
}

void table_profile_frames(const struct table_stack *s, struct profile_frame *ret)
{
	for (uint32_t i = 0; i < s->n; i++) {
		/* What is inlined is at the address of what it is inlined into. */
		uint64_t address = s->is_inlined[i] ? ret[i - 1].address
						    : 0x1000 * (s->functions[i] + 1) + i;

		ret[i] = (struct profile_frame){
			.function = s->functions[i],
			.line = 10 + i,
			.file = "/src/example.c",
			.address = address,
			.is_inlined = s->is_inlined[i],
			.is_return = i + 1 < s->n,
		};
	}
}

int profile_each_stack(const struct profile *p, profile_stack_fn *fn, void *ctx,
		       struct err *e)
{
	for (size_t i = 0; i < p->n_stacks; i++) {
		struct profile_frame frames[TABLE_FRAMES_MAX];
		const struct table_stack *s = &p->stacks[i];

		table_profile_frames(s, frames);

		int rc = fn(ctx, frames, s->n, s->weights, s->counts, e);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int give_sample(const struct profile *p, size_t stack, uint32_t column,
		       profile_sample_fn *fn, void *ctx, struct err *e)
{
	static const struct model_process process = { .pid = 100 };
	static struct model_thread thread = { .tid = 101 };
	struct profile_frame frames[TABLE_FRAMES_MAX];
	const struct table_stack *s = &p->stacks[stack];
	struct profile_sample x = {
		.column = column,
		.cpu = 1,
		.count = (uint32_t)s->counts[column],
		.time_ns = 5000000000 + stack * 1000000,
		.weight = s->weights[column],
		.thread = &thread,
		.process = &process,
		.frames = frames,
		.n_frames = s->n,
	};

	profile_source(p, 0);
	thread.name = worker_name;
	table_profile_frames(s, frames);
	return s->counts[column] ? fn(ctx, &x, e) : 0;
}

int profile_each_sample(const struct profile *p, profile_sample_fn *fn, void *ctx,
			struct err *e)
{
	for (size_t i = 0; i < p->n_stacks; i++) {
		for (uint32_t c = 0; c < p->n_columns; c++) {
			int rc = give_sample(p, i, c, fn, ctx, e);

			if (rc < 0)
				return rc;
		}
	}
	return 0;
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

const struct profile table_profile_example = {
	.columns = columns,
	.n_columns = 2,
	.functions = functions,
	.n_functions = sizeof(functions) / sizeof(functions[0]),
	.stacks = stacks,
	.n_stacks = sizeof(stacks) / sizeof(stacks[0]),
};

char *table_profile_export(const struct profile *p, const char *name,
			   const struct export_options *o, size_t *ret_size)
{
	const struct exporter *x = exporter_find(name);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct err e = { 0 };

	assert_non_null(x);
	assert_non_null(out);
	if (x->write(p, o, out, &e) < 0)
		fail_msg("%s: %s", name, e.text);
	fclose(out);
	if (ret_size)
		*ret_size = size;
	return text;
}
