/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of a perf ring: the first byte chooses what the sample holds, the rest is one
 * record.  What is parsed stays inside the record.
 */
#include "collect/perf_record.h"

#include <stdlib.h>
#include <string.h>

#include "collect/branch_stack.h"
#include "collect/perf_pieces.h"
#include "collect/perf_regs.h"

static void check_inside(const void *p, size_t n, const uint8_t *data, size_t size)
{
	const uint8_t *b = p;

	if (p && (b < data || n > size || b + n > data + size))
		abort();
}

/* What of a piece can be read was in it. */
static void take_pieces(const struct perf_record_sample *s)
{
	struct perf_pieces p;
	struct perf_pieces_sample sample;
	uint64_t sp = 0, addr = 0, word;

	perf_pieces_init(&p, 2);
	if (perf_pieces_take(&p, s->cpu, s->raw, s->raw_size, &sample))
		check_inside(sample.regs, PERF_REGS_KERNEL_BYTES, s->raw, s->raw_size);
	if (s->raw_size >= 16) {
		memcpy(&sp, s->raw, 8);
		memcpy(&addr, s->raw + 8, 8);
	}
	if (perf_pieces_begin(&p, s->cpu, sp) && addr &&
	    perf_pieces_read(&p, addr + s->raw_size, &word))
		abort();
	if (perf_pieces_read_near(&p, addr, &word) && (addr || s->raw_size < 8 + 256))
		abort();
	perf_pieces_end(&p, s->cpu);
	perf_pieces_fini(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct perf_record_sample sample;
	struct perf_record r;
	uint64_t type = PERF_RECORD_BASE;

	if (!size)
		return 0;
	if (data[0] & 1)
		type |= PERF_RECORD_STACK;
	if (data[0] & 2)
		type |= PERF_RECORD_ADDR;
	if (data[0] & 4)
		type |= PERF_SAMPLE_RAW;
	if (data[0] & 8)
		type |= PERF_RECORD_RATE;
	if (data[0] & 16)
		type |= PERF_RECORD_BRANCHES;
	data++;
	size--;
	perf_record_time(data, size);
	if (perf_record_parse(data, size, &r) && r.type == PERF_RECORD_MMAP2) {
		if (!r.mmap.path || r.mmap.build_id_size > 20)
			abort();
		check_inside(r.mmap.path, 1, data, size);
		check_inside(r.mmap.build_id, r.mmap.build_id_size, data, size);
	}
	if (perf_record_parse_sample(data, size, type, &sample)) {
		if (sample.n_kernel > PERF_RECORD_CHAIN_MAX)
			abort();
		check_inside(sample.stack, sample.stack_size, data, size);
		check_inside(sample.raw, sample.raw_size, data, size);
		check_inside(sample.branches,
			     sample.n_branches * BRANCH_STACK_ENTRY_BYTES, data, size);
		take_pieces(&sample);
	}
	return 0;
}
