/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_feed.h"

#include <assert.h>

#include "collect/perf_regs.h"

/* No stack pointer. */
#define NOT_WALKED UINT64_MAX

static perf_tails_fn take_tail;

void perf_feed_follow_clocks(struct perf_feed *f)
{
	f->tails = perf_tails_new(take_tail, f);
}

void perf_feed_fini(struct perf_feed *f)
{
	perf_tails_free(f->tails);
	perf_counted_fini(&f->counted);
	map_fini(&f->trace_types);
}

void perf_feed_turn(struct perf_feed *f, struct tracker *tracker, struct writer *writer)
{
	assert(!f->waits && !f->tails); /* these are of one recording */
	f->tracker = tracker;
	f->writer = writer;
	f->n_unsampled = 0;
	f->stats = (struct source_stats){ 0 };
	map_clear(&f->trace_types);
}

static void take_switch(struct perf_feed *f, const struct perf_record *r)
{
	if (!f->waits)
		return;
	if (r->misc & PERF_RECORD_MISC_SWITCH_OUT)
		perf_waits_out(f->waits, r->time_ns, r->pid, r->tid, r->cpu,
			       r->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	else
		perf_waits_in(f->waits, r->time_ns, r->tid);
}

static void take_fork(struct perf_feed *f, const struct perf_record *r)
{
	tracker_fork(f->tracker, r->time_ns, r->task.pid, r->task.tid, r->task.ppid,
		     r->task.ptid);
	if (f->tails)
		perf_tails_fork(f->tails, r->task.tid);
	if (f->waits)
		perf_waits_fork(f->waits, r->time_ns, r->task.pid, r->task.tid);
	if (f->forked)
		map_slot(f->forked, r->task.tid, NULL);
}

static void end_thread(struct perf_feed *f, const struct perf_record *r)
{
	if (f->tails && !perf_tails_exit(f->tails, r->task.tid))
		f->n_unsampled += tracker_is_followed(f->tracker, r->time_ns, r->task.pid,
						      r->task.tid);
}

static void take_exit(struct perf_feed *f, const struct perf_record *r)
{
	f->n_ended++;
	if (f->waits)
		perf_waits_exit(f->waits, r->time_ns, r->task.tid);
	end_thread(f, r);
	perf_counted_exit(&f->counted, &f->files->ids, r->task.tid);
	tracker_exit(f->tracker, r->time_ns, r->task.pid, r->task.tid);
}

static void take_mmap(struct perf_feed *f, const struct perf_record *r)
{
	if (r->mmap.pid == UINT32_MAX) /* the kernel's own text */
		return;
	tracker_mmap(f->tracker, r->time_ns, r->mmap.pid,
		     &(struct tracker_mmap){ .start = r->mmap.addr,
					     .end = r->mmap.addr + r->mmap.length,
					     .file_offset = r->mmap.file_offset,
					     .path = r->mmap.path,
					     .build_id = r->mmap.build_id,
					     .build_id_size = r->mmap.build_id_size,
					     .inode = r->mmap.inode,
					     .is_exec = true });
}

static void take_exec(struct perf_feed *f, const struct perf_record *r)
{
	tracker_exec(f->tracker, r->time_ns, r->comm.pid, r->comm.tid, r->comm.name);
	if (f->tails)
		perf_tails_exec(f->tails, r->comm.tid);
}

static void take_comm(struct perf_feed *f, const struct perf_record *r)
{
	if (r->misc & PERF_RECORD_MISC_COMM_EXEC)
		take_exec(f, r);
	else
		tracker_comm(f->tracker, r->time_ns, r->comm.pid, r->comm.tid,
			     r->comm.name);
}

static bool is_kernel_mode(const struct perf_record *r)
{
	return (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
}

/* What of the body the tracker can use. */
static void fill_stack(const struct perf_feed *f, const struct perf_record *r,
		       const struct perf_stream *stream, struct tracker_sample *ret)
{
	const struct perf_record_sample *b = &f->sample;
	bool has_stack = stream->attr.sample_type & PERF_SAMPLE_STACK_USER;

	ret->is_pc_only = !has_stack;
	ret->kernel_pcs = b->kernel_pcs;
	ret->n_kernel = b->n_kernel;
	ret->branches =
		(struct branch_stack){ b->branches, (unsigned)b->n_branches, b->ip };
	if (!has_stack && is_kernel_mode(r)) {
		ret->kernel_pcs = &b->ip;
		ret->n_kernel = 1;
	} else if (!has_stack || b->is_32bit) {
		ret->user_pcs = is_kernel_mode(r) ? NULL : &b->ip;
		ret->n_user = !is_kernel_mode(r);
		ret->stop = has_stack ? UNWIND_32BIT : UNWIND_END;
	}
	if (b->has_regs && !b->is_32bit) {
		ret->regs = &b->regs;
		ret->cpu_flags = b->cpu_flags;
		ret->memory = (struct unwind_memory){
			.stack = b->stack,
			.stack_addr = perf_regs_sp(&b->regs),
			.stack_size = b->stack_size,
		};
	}
}

static bool is_cpu_clock(const struct perf_stream *stream)
{
	return stream->spec->config == PERF_COUNT_SW_CPU_CLOCK;
}

static void count_sample(struct perf_feed *f, struct perf_stream *stream,
			 const struct model_sample *s, bool is_kernel)
{
	stream->samples += s->count;
	f->stats.samples += s->count;
	/* Several experiments may sample CPU time: one of them stands for it. */
	if (!is_cpu_clock(stream) || stream->plan != f->cpu_plan)
		return;
	f->stats.cpu_ns += s->weight;
	if (is_kernel)
		f->stats.system_ns += s->weight;
	else
		f->stats.user_ns += s->weight;
}

/* The address of each fault, when every event is wanted. */
static void trace_fault(struct perf_feed *f, const struct tracker_sample *sample,
			uint32_t stack)
{
	bool is_new;
	uint64_t *type = map_slot(&f->trace_types, sample->event, &is_new);

	if (is_new) {
		struct model_trace_type t = { .event = sample->event, .n_columns = 1 };

		t.columns[0].name = writer_string(f->writer, "address");
		t.columns[0].type = COLUMN_ADDRESS;
		*type = writer_trace_type(f->writer, &t);
	}
	writer_trace(f->writer,
		     &(struct model_trace){
			     .time_ns = sample->time_ns,
			     .trace_type = (uint32_t)*type,
			     .thread = tracker_thread(f->tracker, sample->time_ns,
						      sample->pid, sample->tid),
			     .cpu = sample->cpu,
			     .stack = stack,
			     .values = { f->sample.addr } });
}

static bool read_near(void *ctx, uint64_t addr, uint64_t *ret)
{
	return perf_pieces_read_near(perf_deep_pieces(ctx), addr, ret);
}

static void miss_near(void *ctx, uint32_t pid, uint64_t addr)
{
	perf_deep_want(ctx, pid, addr);
}

/* Let the walk read what was copied in front of the sample, and ask where the stack
 * ends. */
static void begin_deep(struct perf_feed *f, struct tracker_sample *sample)
{
	struct unwind_memory *m = &sample->memory;

	if (!f->files->deep || !sample->regs)
		return;

	struct perf_pieces *pieces = perf_deep_pieces(f->files->deep);
	const uint8_t *stack;
	size_t size;

	sample->read_near = read_near;
	sample->miss_near = miss_near;
	sample->near_ctx = f->files->deep;
	m->end = &f->stack_end;
	m->read = perf_pieces_read;
	m->ctx = pieces;
	perf_pieces_begin(pieces, sample->cpu, m->stack_addr);
	stack = perf_pieces_stack(pieces, &size);
	if (stack) {
		m->stack = stack;
		m->stack_size = size;
	}
}

static void end_deep(struct perf_feed *f, uint32_t tid)
{
	if (!f->files->deep)
		return;
	if (perf_pieces_end(perf_deep_pieces(f->files->deep), f->sample.cpu))
		perf_deep_want_red_zone(f->files->deep);
	if (f->stack_end != NOT_WALKED)
		perf_deep_learn(f->files->deep, tid, f->stack_end);
}

static uint64_t weight_of(struct perf_feed *f, const struct perf_record *r,
			  const struct perf_stream *stream)
{
	const struct perf_event_attr *a = &stream->attr;

	if (!stream->hz)
		return a->sample_period;
	if (!(a->sample_type & PERF_SAMPLE_READ))
		return f->sample.period;
	return perf_counted_since(&f->counted, r->id, a->inherit ? r->tid : 0,
				  f->sample.counted);
}

static struct tracker_sample sample_of(struct perf_feed *f, const struct perf_record *r,
				       const struct perf_stream *stream)
{
	struct tracker_sample sample = {
		.time_ns = r->time_ns,
		.weight = weight_of(f, r, stream),
		.event = stream->plan->events[stream->spec->column],
		.pid = r->pid,
		.tid = r->tid,
		.cpu = f->sample.cpu,
		.count = 1,
	};

	fill_stack(f, r, stream, &sample);
	if (stream->has_deep)
		begin_deep(f, &sample);
	return sample;
}

static void take_own(struct perf_feed *f, const struct perf_record *r,
		     struct perf_stream *stream)
{
	struct tracker_sample s = sample_of(f, r, stream);
	struct model_sample model = { .weight = s.weight, .count = 1 };

	count_sample(f, stream, &model, is_kernel_mode(r));
	if (f->tails && is_cpu_clock(stream))
		perf_tails_own(f->tails, r->tid, s.event, s.cpu);

	uint32_t stack = tracker_sample(f->tracker, &s);

	if (stream->attr.sample_type & PERF_SAMPLE_ADDR)
		trace_fault(f, &s, stack);
}

static void take_switch_stack(struct perf_feed *f, const struct perf_record *r,
			      struct perf_stream *stream)
{
	struct tracker_sample s = sample_of(f, r, stream);

	stream->samples++;
	perf_waits_stack(f->waits, r->pid, r->tid, tracker_stack(f->tracker, &s));
}

/* Whoever ran on the CPU, so most of it is not for us. */
static void take_grid(struct perf_feed *f, const struct perf_record *r,
		      struct perf_stream *stream)
{
	uint64_t interval = stream->plan->choice.interval;
	uint64_t weight = perf_stream_grid_weight(interval);
	struct perf_tail tail = { .is_kernel = is_kernel_mode(r),
				  .is_coarse = weight > interval };
	struct tracker_sample s = sample_of(f, r, stream);

	if (hash_u64(r->time_ns) % weight >= stream->attr.sample_period)
		return; /* one too many: the grid is faster than that */
	s.weight = weight;
	s.count = (uint32_t)(weight / interval);
	if (!tracker_is_followed(f->tracker, r->time_ns, r->pid, r->tid) ||
	    (tail.is_coarse && !perf_tails_is_unsampled(f->tails, r->tid, s.event)))
		return;
	tracker_draft(f->tracker, &s, &tail.draft);
	perf_tails_add(f->tails, r->tid, &tail);
}

/* The stream of a thread's own clock, when the tail's is the grid's. */
static struct perf_stream *own_stream(struct perf_feed *f, uint32_t event)
{
	vec_each(s, &f->files->streams)
		if (s->spec->role == PERF_STREAM_SAMPLE &&
		    s->plan->events[s->spec->column] == event)
			return s;
	return NULL;
}

static void take_tail(void *ctx, const struct perf_tail *tail)
{
	struct perf_feed *f = ctx;
	const struct model_sample *s = &tail->draft.sample;
	struct perf_stream *own = own_stream(f, s->event);

	if (own)
		count_sample(f, own, s, tail->is_kernel);
	tracker_write(f->tracker, &tail->draft);
}

static void take_by_role(struct perf_feed *f, const struct perf_record *r,
			 struct perf_stream *stream)
{
	switch (stream->spec->role) {
	case PERF_STREAM_SAMPLE:
		take_own(f, r, stream);
		break;
	case PERF_STREAM_SWITCH:
		take_switch_stack(f, r, stream);
		break;
	case PERF_STREAM_GRID:
		take_grid(f, r, stream);
		break;
	case PERF_STREAM_SIDEBAND:
	case PERF_STREAM_DEEP:
		break;
	}
}

static void take_stream_sample(struct perf_feed *f, const struct perf_record *r,
			       struct perf_stream *stream)
{
	f->stack_end = NOT_WALKED;
	if (stream->plan)
		take_by_role(f, r, stream);
	if (stream->has_deep)
		end_deep(f, r->tid);
}

/* A record of perf_deep's program: the last of a sample is the sample. */
static void take_piece(struct perf_feed *f, const struct perf_record *r)
{
	struct perf_record_sample *b = &f->sample;
	struct perf_pieces_sample s;

	if (!f->files->deep || !perf_pieces_take(perf_deep_pieces(f->files->deep), b->cpu,
						 b->raw, b->raw_size, &s))
		return;
	if (s.stream >= f->files->streams.n) {
		perf_pieces_end(perf_deep_pieces(f->files->deep), b->cpu);
		return;
	}
	b->addr = s.data_addr;
	b->has_regs =
		perf_regs_decode_kernel(s.regs, &b->regs, &b->cpu_flags, &b->is_32bit);
	take_stream_sample(f, r, &f->files->streams.at[s.stream]);
}

static void take_sample(struct perf_feed *f, const struct perf_record *r,
			const void *record, size_t size)
{
	struct perf_stream *stream = perf_files_stream(f->files, r->id);

	if (!stream ||
	    !perf_record_parse_sample(record, size, stream->attr.sample_type, &f->sample))
		return;
	if (stream->spec->role == PERF_STREAM_DEEP)
		take_piece(f, r);
	else
		take_stream_sample(f, r, stream);
}

void perf_feed_take(void *ctx, const void *record, size_t size)
{
	struct perf_feed *f = ctx;
	struct perf_record r;

	if (!perf_record_parse(record, size, &r))
		return;
	switch (r.type) {
	case PERF_RECORD_SAMPLE:
		take_sample(f, &r, record, size);
		break;
	case PERF_RECORD_MMAP2:
		take_mmap(f, &r);
		break;
	case PERF_RECORD_COMM:
		take_comm(f, &r);
		break;
	case PERF_RECORD_FORK:
		take_fork(f, &r);
		break;
	case PERF_RECORD_EXIT:
		take_exit(f, &r);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		take_switch(f, &r);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		f->stats.lost += r.lost.n;
		if (f->files->deep)
			perf_pieces_forget(perf_deep_pieces(f->files->deep));
		break;
	case PERF_RECORD_THROTTLE:
		f->stats.throttled++;
		break;
	default:
		break;
	}
}

void perf_feed_drain(struct perf_feed *f, uint64_t horizon_ns)
{
	perf_merge_drain(&f->files->merge, horizon_ns, perf_feed_take, f);
}
