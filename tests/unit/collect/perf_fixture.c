/* SPDX-License-Identifier: Apache-2.0 */
#include "perf_fixture.h"

#include <alloca.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/perf_record.h"
#include "collect/perf_regs.h"
#include "host/clock.h"
#include "host/procfs.h"

#define RING_BYTES ((size_t)4 << 20)

static void skip_because(const struct err *e)
{
	print_message("# %s\n", e->text);
	skip();
}

void perf_fixture_init(struct perf_fixture *f, enum scope_kind kind)
{
	struct err e = { 0 };

	*f = (struct perf_fixture){ .scope.kind = kind };
	assert_int_equal(experiment_find("usertime", &f->plan.choice, NULL), 0);
	f->plan.choice.interval = 1000000;
	if (source_find("perf")->probe(f->plan.choice.experiment, &f->scope, &e) < 0)
		skip_because(&e);
	assert_int_equal(cpus_online(&f->cpus, NULL), 0);
	assert_true(f->cpus.ids.at[f->cpus.ids.n - 1] < PERF_FIXTURE_CPUS);
	f->settings = (struct perf_stream_settings){
		.scope = &f->scope,
		.no_kernel = geteuid() != 0,
		.ring_bytes = RING_BYTES,
	};
	perf_files_init(&f->files, &f->cpus, RING_BYTES);
	assert_int_equal(procfs_stolen_ns(&f->stolen_ns, NULL), 0);
}

void perf_fixture_fini(struct perf_fixture *f)
{
	perf_files_fini(&f->files);
	cpus_fini(&f->cpus);
}

static void add(struct perf_fixture *f, const struct perf_stream_spec *spec,
		const struct plan *plan)
{
	bool is_first = f->files.streams.n == 0;

	perf_stream_init(vec_push(&f->files.streams), spec, plan, is_first, &f->settings);
}

void perf_fixture_add_samples(struct perf_fixture *f)
{
	const struct perf_stream_spec *specs[4];
	size_t n = perf_stream_specs(f->plan.choice.experiment, specs, 4);

	for (size_t i = 0; i < n; i++)
		add(f, specs[i], &f->plan);
}

void perf_fixture_add_deep(struct perf_fixture *f, uint32_t n_cpus)
{
	struct err e = { 0 };

	if (perf_deep_new(n_cpus, 1 << 20, false, &f->files.deep, &e) < 0)
		skip_because(&e);
	f->settings.has_deep = true;
	perf_fixture_add_samples(f);
	add(f, &perf_stream_deep, NULL);
}

void perf_fixture_break(struct perf_fixture *f, uint32_t stream)
{
	f->files.streams.at[stream].attr.type = 0x7fffffff;
}

void perf_fixture_mend(struct perf_fixture *f, uint32_t stream)
{
	f->files.streams.at[stream].attr.type = PERF_TYPE_SOFTWARE;
}

void perf_fixture_pin(uint32_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

void perf_fixture_work(uint64_t ns, size_t stack_bytes)
{
	volatile char *below = alloca(stack_bytes + 1);
	uint64_t end_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	/* What was never written to cannot be copied. */
	for (size_t i = 0; i <= stack_bytes; i++)
		below[i] = 1;
	while (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		below[0]++;
}

uint64_t perf_fixture_stolen_ns(const struct perf_fixture *f)
{
	uint64_t now_ns;

	assert_int_equal(procfs_stolen_ns(&now_ns, NULL), 0);
	return now_ns - f->stolen_ns;
}

struct drain {
	struct perf_files *files;
	struct perf_fixture_seen *seen;
};

static void note(struct perf_fixture_seen *seen, uint32_t cpu, size_t stack_bytes)
{
	seen->n++;
	seen->on[cpu]++;
	if (stack_bytes > seen->deepest[cpu])
		seen->deepest[cpu] = stack_bytes;
}

/* A sample that perf_deep wrote, or a part of it. */
static void take_piece(struct drain *d, const struct perf_record_sample *s)
{
	struct perf_pieces *pieces = perf_deep_pieces(d->files->deep);
	struct perf_pieces_sample sample;
	struct unwind_regs regs;
	uint64_t flags;
	bool is_32bit;
	size_t size = 0;

	if (!perf_pieces_take(pieces, s->cpu, s->raw, s->raw_size, &sample))
		return;
	assert_true(sample.stream < d->files->streams.n);
	assert_true(perf_regs_decode_kernel(sample.regs, &regs, &flags, &is_32bit));
	assert_false(is_32bit);
	if (perf_pieces_begin(pieces, s->cpu, perf_regs_sp(&regs)))
		perf_pieces_stack(pieces, &size);
	perf_pieces_end(pieces, s->cpu);
	note(d->seen, s->cpu, size);
	d->seen->written[s->cpu]++;
}

static void take(void *ctx, const void *record, size_t size)
{
	static struct perf_record_sample s;
	struct drain *d = ctx;
	struct perf_fixture_seen *seen = d->seen;
	struct perf_record r;

	assert_true(perf_record_parse(record, size, &r));
	seen->is_out_of_order |= r.time_ns < seen->last_time_ns;
	seen->last_time_ns = r.time_ns;
	if (r.type != PERF_RECORD_SAMPLE)
		return;

	const struct perf_stream *stream = perf_files_stream(d->files, r.id);

	if (!stream) {
		seen->n_unknown++;
		return;
	}
	assert_true(perf_record_parse_sample(record, size, stream->attr.sample_type, &s));
	assert_true(s.cpu < PERF_FIXTURE_CPUS);
	if (stream->spec->role == PERF_STREAM_DEEP)
		take_piece(d, &s);
	else
		note(seen, s.cpu, s.stack_size);
}

void perf_fixture_drain(struct perf_fixture *f, struct perf_fixture_seen *seen)
{
	struct drain d = { &f->files, seen };

	perf_merge_drain(&f->files.merge, UINT64_MAX, take, &d);
}
