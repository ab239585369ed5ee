/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_record.h"

#include <string.h>

#include "base/reader.h"
#include "collect/branch_stack.h"
#include "collect/perf_regs.h"

#define HEADER_SIZE  sizeof(struct perf_event_header)
#define TRAILER_SIZE 32 /* sample_id of PERF_RECORD_BASE: tid, time, cpu, identifier */

static bool read_header(struct reader *r, struct perf_event_header *h)
{
	h->type = reader_u32le(r);
	h->misc = reader_u16le(r);
	h->size = reader_u16le(r);
	return !r->bad && h->size == (size_t)(r->end - r->start);
}

/* The fields at the same place in all our samples. */
struct base {
	uint64_t id, ip, time_ns;
	uint32_t pid, tid;
};

static struct base read_base(struct reader *r)
{
	struct base b = { .id = reader_u64le(r), .ip = reader_u64le(r) };

	b.pid = reader_u32le(r);
	b.tid = reader_u32le(r);
	b.time_ns = reader_u64le(r);
	return b;
}

uint64_t perf_record_time(const void *record, size_t size)
{
	struct reader r = reader_over(record, size);
	struct perf_event_header h;

	if (!read_header(&r, &h))
		return 0;
	if (h.type == PERF_RECORD_SAMPLE)
		return read_base(&r).time_ns;
	if (size < HEADER_SIZE + TRAILER_SIZE)
		return 0;
	reader_seek(&r, size - TRAILER_SIZE + 8);
	return reader_u64le(&r);
}

static void parse_mmap2(struct reader *r, struct perf_record *ret)
{
	ret->mmap.pid = reader_u32le(r);
	ret->mmap.tid = reader_u32le(r);
	ret->mmap.addr = reader_u64le(r);
	ret->mmap.length = reader_u64le(r);
	ret->mmap.file_offset = reader_u64le(r);
	ret->mmap.build_id = NULL;
	ret->mmap.build_id_size = 0;
	ret->mmap.inode = 0;
	if (ret->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		uint8_t size = reader_u8(r);

		reader_skip(r, 3);
		ret->mmap.build_id = reader_bytes(r, 20);
		ret->mmap.build_id_size = size <= 20 ? size : 0;
	} else {
		reader_skip(r, 8); /* device */
		ret->mmap.inode = reader_u64le(r);
		reader_skip(r, 8); /* generation of the inode */
	}
	ret->mmap.prot = reader_u32le(r);
	reader_skip(r, 4); /* flags */
	ret->mmap.path = reader_cstr(r);
}

static void parse_task(struct reader *r, struct perf_record *ret)
{
	ret->task.pid = reader_u32le(r);
	ret->task.ppid = reader_u32le(r);
	ret->task.tid = reader_u32le(r);
	ret->task.ptid = reader_u32le(r);
}

static void parse_comm(struct reader *r, struct perf_record *ret)
{
	ret->comm.pid = reader_u32le(r);
	ret->comm.tid = reader_u32le(r);
	ret->comm.name = reader_cstr(r);
}

static void parse_lost(struct reader *r, struct perf_record *ret)
{
	if (ret->type == PERF_RECORD_LOST)
		reader_skip(r, 8); /* id */
	ret->lost.n = reader_u64le(r);
}

static void parse_body(struct reader *r, struct perf_record *ret)
{
	switch (ret->type) {
	case PERF_RECORD_MMAP2:
		parse_mmap2(r, ret);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		parse_task(r, ret);
		break;
	case PERF_RECORD_COMM:
		parse_comm(r, ret);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		parse_lost(r, ret);
		break;
	default: /* the trailer says it all */
		break;
	}
}

static bool parse_trailer(const void *record, size_t size, struct perf_record *ret)
{
	struct reader r = reader_over(record, size);

	reader_seek(&r, size - TRAILER_SIZE);
	ret->pid = reader_u32le(&r);
	ret->tid = reader_u32le(&r);
	ret->time_ns = reader_u64le(&r);
	ret->cpu = reader_u32le(&r);
	reader_skip(&r, 4);
	ret->id = reader_u64le(&r);
	return !r.bad;
}

bool perf_record_parse(const void *record, size_t size, struct perf_record *ret)
{
	struct reader r = reader_over(record, size);
	struct perf_event_header h;

	if (!read_header(&r, &h))
		return false;
	ret->type = h.type;
	ret->misc = h.misc;
	if (h.type == PERF_RECORD_SAMPLE) {
		struct base b = read_base(&r);

		ret->id = b.id;
		ret->pid = b.pid;
		ret->tid = b.tid;
		ret->time_ns = b.time_ns;
		return !r.bad;
	}
	if (size < HEADER_SIZE + TRAILER_SIZE || !parse_trailer(record, size, ret))
		return false;

	/* The body may not reach into the trailer. */
	struct reader body = reader_over(record, size - TRAILER_SIZE);

	reader_skip(&body, HEADER_SIZE);
	parse_body(&body, ret);
	return !body.bad;
}

static void parse_chain(struct reader *r, struct perf_record_sample *ret)
{
	uint64_t n = reader_u64le(r);
	bool is_kernel = false;

	if (n > reader_left(r) / 8) {
		r->bad = true;
		return;
	}
	for (uint64_t i = 0; i < n; i++) {
		uint64_t pc = reader_u64le(r);

		if (pc >= (uint64_t)PERF_CONTEXT_MAX)
			is_kernel = pc == (uint64_t)PERF_CONTEXT_KERNEL;
		else if (is_kernel && ret->n_kernel < PERF_RECORD_CHAIN_MAX)
			ret->kernel_pcs[ret->n_kernel++] = pc;
	}
}

static void parse_regs(struct reader *r, struct perf_record_sample *ret)
{
	uint64_t abi = reader_u64le(r);

	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return;

	const uint8_t *values = reader_bytes(r, 8 * (size_t)perf_regs_count());

	if (!values)
		return;
	ret->has_regs = true;
	ret->is_32bit = abi == PERF_SAMPLE_REGS_ABI_32;
	perf_regs_decode(values, &ret->regs, &ret->cpu_flags);
}

static void parse_stack(struct reader *r, struct perf_record_sample *ret)
{
	uint64_t size = reader_u64le(r);

	if (!size)
		return;

	const uint8_t *bytes =
		reader_bytes(r, size <= reader_left(r) ? (size_t)size : SIZE_MAX);
	uint64_t copied = reader_u64le(r);

	if (r->bad)
		return;
	ret->stack = bytes;
	ret->stack_size = (size_t)(copied < size ? copied : size);
}

static void parse_raw(struct reader *r, struct perf_record_sample *ret)
{
	uint32_t size = reader_u32le(r);

	ret->raw = reader_bytes(r, size);
	ret->raw_size = ret->raw ? size : 0;
}

static void parse_branches(struct reader *r, struct perf_record_sample *ret)
{
	uint64_t n = reader_u64le(r);

	if (n > reader_left(r) / BRANCH_STACK_ENTRY_BYTES) {
		r->bad = true;
		return;
	}
	if (!n)
		return;
	ret->branches = reader_bytes(r, (size_t)n * BRANCH_STACK_ENTRY_BYTES);
	ret->n_branches = (size_t)n;
}

bool perf_record_parse_sample(const void *record, size_t size, uint64_t sample_type,
			      struct perf_record_sample *ret)
{
	struct reader r = reader_over(record, size);
	struct perf_event_header h;

	ret->addr = ret->period = ret->counted = 0;
	ret->n_kernel = 0;
	ret->has_regs = ret->is_32bit = false;
	ret->stack = ret->raw = ret->branches = NULL;
	ret->stack_size = ret->raw_size = ret->n_branches = 0;
	if (!read_header(&r, &h))
		return false;
	ret->ip = read_base(&r).ip;
	if (sample_type & PERF_SAMPLE_ADDR)
		ret->addr = reader_u64le(&r);
	ret->cpu = reader_u32le(&r);
	reader_skip(&r, 4);
	if (sample_type & PERF_SAMPLE_PERIOD)
		ret->period = reader_u64le(&r);
	if (sample_type & PERF_SAMPLE_READ)
		ret->counted = reader_u64le(&r);
	if (sample_type & PERF_SAMPLE_CALLCHAIN)
		parse_chain(&r, ret);
	if (sample_type & PERF_SAMPLE_RAW)
		parse_raw(&r, ret);
	if (sample_type & PERF_SAMPLE_BRANCH_STACK)
		parse_branches(&r, ret);
	if (sample_type & PERF_SAMPLE_REGS_USER)
		parse_regs(&r, ret);
	if (sample_type & PERF_SAMPLE_STACK_USER)
		parse_stack(&r, ret);
	return !r.bad;
}
