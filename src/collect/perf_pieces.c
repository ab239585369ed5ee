/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/reader.h"

void perf_pieces_init(struct perf_pieces *p, uint32_t n_cpus)
{
	*p = (struct perf_pieces){ .n_cpus = n_cpus };
	p->cpus = xcalloc(n_cpus, sizeof(*p->cpus));
}

static void clear(struct perf_pieces_cpu *c)
{
	buf_clear(&c->runs[0].bytes);
	buf_clear(&c->runs[1].bytes);
}

void perf_pieces_fini(struct perf_pieces *p)
{
	for (uint32_t i = 0; i < p->n_cpus; i++) {
		buf_fini(&p->cpus[i].runs[0].bytes);
		buf_fini(&p->cpus[i].runs[1].bytes);
	}
	free(p->cpus);
	*p = (struct perf_pieces){ 0 };
}

/* The newest run, if this address continues it, else a new one in place of the oldest. */
static struct perf_pieces_run *run_for(struct perf_pieces_cpu *c, uint64_t addr)
{
	struct perf_pieces_run *newest = &c->runs[1], oldest = c->runs[0];

	if (newest->bytes.size && newest->addr + newest->bytes.size == addr)
		return newest;
	c->runs[0] = *newest;
	*newest = oldest;
	buf_clear(&newest->bytes);
	newest->addr = addr;
	return newest;
}

void perf_pieces_take(struct perf_pieces *p, uint32_t cpu, const void *piece, size_t size)
{
	struct reader r = reader_over(piece, size);
	uint64_t addr = reader_u64le(&r), n = reader_u64le(&r);

	reader_skip(&r, sizeof(uint64_t)); /* the program's own */

	const uint8_t *bytes = reader_bytes(&r, n <= size ? (size_t)n : SIZE_MAX);

	if (r.bad || cpu >= p->n_cpus)
		return;
	buf_add(&run_for(&p->cpus[cpu], addr)->bytes, bytes, (size_t)n);
}

void perf_pieces_forget(struct perf_pieces *p)
{
	for (uint32_t i = 0; i < p->n_cpus; i++)
		clear(&p->cpus[i]);
}

/* The lower one is written first. */
bool perf_pieces_begin(struct perf_pieces *p, uint32_t cpu, uint64_t sp, uint64_t end)
{
	p->below = p->above = NULL;
	p->sp = sp;
	if (cpu >= p->n_cpus)
		return false;

	const struct perf_pieces_run *run = &p->cpus[cpu].runs[1];

	if (run->bytes.size && run->addr == end)
		p->above = run--;
	if (run->bytes.size && run->addr + run->bytes.size == sp)
		p->below = run;
	return p->below || p->above;
}

static bool read_run(const struct perf_pieces_run *run, uint64_t addr, uint64_t *ret)
{
	uint64_t off = run ? addr - run->addr : 0;

	if (!run || off >= run->bytes.size || run->bytes.size - off < sizeof(*ret))
		return false;
	memcpy(ret, run->bytes.data + off, sizeof(*ret));
	return true;
}

bool perf_pieces_read(void *ctx, uint64_t addr, uint64_t *ret)
{
	struct perf_pieces *p = ctx;

	if (read_run(p->above, addr, ret) || read_run(p->below, addr, ret))
		return true;
	p->is_red_missed |= addr < p->sp && p->sp - addr <= PERF_PIECES_RED_BYTES;
	return false;
}

bool perf_pieces_end(struct perf_pieces *p, uint32_t cpu)
{
	bool is_red_missed = p->is_red_missed;

	p->below = p->above = NULL;
	p->sp = 0;
	p->is_red_missed = false;
	if (cpu < p->n_cpus)
		clear(&p->cpus[cpu]);
	return is_red_missed;
}
