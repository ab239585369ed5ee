/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/reader.h"
#include "collect/perf_regs.h"

void perf_pieces_init(struct perf_pieces *p, uint32_t n_cpus)
{
	*p = (struct perf_pieces){ .n_cpus = n_cpus };
	p->cpus = xcalloc(n_cpus, sizeof(*p->cpus));
}

static void clear(struct perf_pieces_cpu *c)
{
	buf_clear(&c->bytes);
	c->n_runs = 0;
}

void perf_pieces_fini(struct perf_pieces *p)
{
	for (uint32_t i = 0; i < p->n_cpus; i++)
		buf_fini(&p->cpus[i].bytes);
	free(p->cpus);
	*p = (struct perf_pieces){ 0 };
}

/* The newest run, if this address continues it, else a new one; NULL: there are too many.
 */
static struct perf_pieces_run *run_for(struct perf_pieces_cpu *c, uint64_t addr,
				       bool is_near)
{
	struct perf_pieces_run *newest = c->n_runs ? &c->runs[c->n_runs - 1] : NULL;

	if (newest && newest->addr + newest->size == addr && newest->is_near == is_near)
		return newest;
	if (c->n_runs == PERF_PIECES_RUNS_MAX)
		return NULL;
	newest = &c->runs[c->n_runs++];
	*newest = (struct perf_pieces_run){ .addr = addr,
					    .off = c->bytes.size,
					    .is_near = is_near };
	return newest;
}

static void begin(struct perf_pieces_cpu *c, uint64_t sp)
{
	if (c->sp != sp) /* those before it are of a sample that never came */
		clear(c);
	c->sp = sp;
}

/* is_last: nothing will continue it.  Mostly it is all that there is, and is read where
 * it is. */
static void add(struct perf_pieces_cpu *c, uint64_t addr, const uint8_t *bytes,
		size_t size, bool is_last)
{
	struct perf_pieces_run *run = run_for(c, addr, false);

	if (!run)
		return;
	if (is_last && !run->size)
		run->in_place = bytes;
	else
		buf_add(&c->bytes, bytes, size);
	run->size += size;
}

static const uint8_t *bytes_of(const struct perf_pieces_cpu *c,
			       const struct perf_pieces_run *run)
{
	return run->in_place ? run->in_place : c->bytes.data + run->off;
}

/* Each with its address in front. */
static void add_places(struct perf_pieces_cpu *c, const uint8_t *bytes, size_t size)
{
	struct reader r = reader_over(bytes, size);

	while (reader_left(&r)) {
		uint64_t addr = reader_u64le(&r);
		const uint8_t *place = reader_bytes(&r, PERF_PIECES_PLACE_BYTES);

		struct perf_pieces_run *run = r.bad ? NULL : run_for(c, addr, true);

		if (!run)
			return;
		buf_add(&c->bytes, place, PERF_PIECES_PLACE_BYTES);
		run->size += PERF_PIECES_PLACE_BYTES;
	}
}

bool perf_pieces_take(struct perf_pieces *p, uint32_t cpu, const void *piece, size_t size,
		      struct perf_pieces_sample *ret)
{
	struct reader r = reader_over(piece, size);
	uint64_t sp = reader_u64le(&r), addr = reader_u64le(&r), n = reader_u64le(&r);
	uint64_t stream;

	reader_skip(&r, sizeof(uint64_t)); /* the program's own */
	stream = reader_u64le(&r);
	reader_skip(&r, sizeof(uint64_t)); /* the program's own */

	uint64_t data_addr = reader_u64le(&r);
	const uint8_t *regs = reader_bytes(&r, PERF_REGS_KERNEL_BYTES);
	const uint8_t *bytes = reader_bytes(&r, n <= size ? (size_t)n : SIZE_MAX);

	if (r.bad)
		return false;
	if (n && cpu < p->n_cpus) {
		begin(&p->cpus[cpu], sp);
		if (addr)
			add(&p->cpus[cpu], addr, bytes, (size_t)n, stream != 0);
		else
			add_places(&p->cpus[cpu], bytes, (size_t)n);
	}
	if (stream)
		*ret = (struct perf_pieces_sample){ stream - 1, data_addr, regs };
	return stream != 0;
}

void perf_pieces_forget(struct perf_pieces *p)
{
	for (uint32_t i = 0; i < p->n_cpus; i++)
		clear(&p->cpus[i]);
}

bool perf_pieces_begin(struct perf_pieces *p, uint32_t cpu, uint64_t sp)
{
	p->current = NULL;
	p->sp = sp;
	if (cpu < p->n_cpus && p->cpus[cpu].n_runs && p->cpus[cpu].sp == sp)
		p->current = &p->cpus[cpu];
	return p->current;
}

/* The newest run that holds the byte at addr, or NULL. */
static const struct perf_pieces_run *run_with(const struct perf_pieces *p, uint64_t addr)
{
	for (unsigned i = p->current ? p->current->n_runs : 0; i-- > 0;)
		if (addr - p->current->runs[i].addr < p->current->runs[i].size &&
		    !p->current->runs[i].is_near)
			return &p->current->runs[i];
	return NULL;
}

const uint8_t *perf_pieces_stack(const struct perf_pieces *p, size_t *ret_size)
{
	const struct perf_pieces_run *run = run_with(p, p->sp);
	size_t off;

	if (!run)
		return NULL;
	off = (size_t)(p->sp - run->addr);
	*ret_size = run->size - off;
	return bytes_of(p->current, run) + off;
}

static bool read_word(const struct perf_pieces *p, uint64_t addr, bool is_near,
		      uint64_t *ret)
{
	/* should a sample with this stack pointer be missing, the newest are this one's
	 */
	for (unsigned i = p->current ? p->current->n_runs : 0; i-- > 0;) {
		const struct perf_pieces_run *run = &p->current->runs[i];
		uint64_t off = addr - run->addr;

		if (run->is_near != is_near || off >= run->size ||
		    run->size - off < sizeof(*ret))
			continue;
		memcpy(ret, bytes_of(p->current, run) + off, sizeof(*ret));
		return true;
	}
	return false;
}

bool perf_pieces_read_near(const struct perf_pieces *p, uint64_t addr, uint64_t *ret)
{
	return read_word(p, addr, true, ret);
}

bool perf_pieces_read(void *ctx, uint64_t addr, uint64_t *ret)
{
	struct perf_pieces *p = ctx;

	if (read_word(p, addr, false, ret))
		return true;
	p->is_red_missed |= addr < p->sp && p->sp - addr <= PERF_PIECES_RED_BYTES;
	return false;
}

bool perf_pieces_end(struct perf_pieces *p, uint32_t cpu)
{
	bool is_red_missed = p->is_red_missed;

	p->current = NULL;
	p->sp = 0;
	p->is_red_missed = false;
	if (cpu < p->n_cpus)
		clear(&p->cpus[cpu]);
	return is_red_missed;
}
