/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/directions.h"

#include <string.h>

#include "base/intern.h"
#include "base/mem.h"
#include "base/vec.h"
#include "collect/accesses.h"
#include "collect/branch_stack.h"
#include "collect/forward_start.h"
#include "collect/roster.h"
#include "collect/stack_builder.h"
#include "collect/steady_memory.h"
#include "collect/tracker.h"
#include "host/clock.h"
#include "host/proc_wait.h"
#include "unwind/stack_memory.h"
#include "unwind/unwind_image.h"

/* Far enough for some turns of most loops. */
#define MAX_INSTRUCTIONS 512
#define MAX_BRANCHES	 32
#define MAX_MET		 64    /* of one sample: others count as met before */
#define MAX_ROWS	 65536 /* then they are written */

struct directions {
	struct stack_builder *stacks;
	struct steady_memory *steady;
	struct accesses *accesses;
	struct intern *keys; /* of rows but for the times; id - 1 is the row */
	VEC(struct model_direction) rows;
};

struct walk {
	struct directions *d;
	struct roster_process *process;
	const struct tracker_sample *sample;
	struct stack_memory memory;
	const struct unwind_map *code; /* of what was gone over last */
	unsigned n_met;		       /* branches */
	uint64_t met[MAX_MET];
};

struct directions *directions_new(struct stack_builder *b)
{
	struct directions *d = xcalloc(1, sizeof(*d));

	d->stacks = b;
	d->steady = steady_memory_new(proc_wait_memory);
	d->accesses = accesses_new();
	d->keys = intern_new();
	return d;
}

void directions_free(struct directions *d)
{
	if (!d)
		return;
	steady_memory_free(d->steady);
	accesses_free(d->accesses);
	intern_free(d->keys);
	vec_fini(&d->rows);
	free(d);
}

/* Mostly that of the instruction before. */
static const struct unwind_map *map_of(const struct walk *w, uint64_t addr)
{
	if (w->code && addr >= w->code->start && addr < w->code->end)
		return w->code;
	return stack_builder_map(w->d->stacks, w->process, addr);
}

/* Of files alone: what compilers make in memory may be other code by now. */
static unsigned read_code(void *ctx, uint64_t addr, uint8_t *to)
{
	struct walk *w = ctx;
	const struct unwind_map *map = map_of(w, addr);
	uint64_t vaddr;

	if (!map || !map->image || !unwind_image_vaddr(map->image, map, addr, &vaddr))
		return 0;
	w->code = map;
	return unwind_image_bytes(map->image, vaddr, to, FORWARD_CODE_BYTES);
}

static bool read_memory(void *ctx, uint64_t addr, void *to, unsigned bytes)
{
	const struct walk *w = ctx;
	const struct tracker_sample *s = w->sample;
	uint64_t word;

	if (bytes > sizeof(word))
		return false;
	if (stack_memory_word(&w->memory, addr, &word) ||
	    (s->read_near && s->read_near(s->near_ctx, addr, &word))) {
		memcpy(to, &word, bytes);
		return true;
	}
	if (steady_memory_read(w->d->steady, w->process->id, (pid_t)w->process->pid, addr,
			       to, bytes))
		return true;
	if (s->miss_near)
		s->miss_near(s->near_ctx, s->pid, addr);
	return false;
}

/* Of the file that the code is of, where the program loader has put it beside that:
 * tables of jumps, among others. */
static bool read_constant(void *ctx, uint64_t addr, void *to, unsigned bytes)
{
	const struct walk *w = ctx;
	const struct unwind_map *map = w->code;
	uint64_t vaddr, word;

	if (!map || bytes > sizeof(word) ||
	    !unwind_image_vaddr(map->image, map, map->start, &vaddr) ||
	    !unwind_image_constant(map->image, vaddr + (addr - map->start), &word))
		return false;
	memcpy(to, &word, bytes);
	return true;
}

/* Returns lead back to where calls are counted. */
static bool is_of_interest(const struct forward_branch *b)
{
	return b->kind != FORWARD_RETURN;
}

static bool was_passed(const struct forward_path *path, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (path->branches[k].addr == path->branches[i].addr)
			return true;
	return false;
}

static uint32_t location_of(const struct walk *w, uint64_t addr)
{
	return stack_builder_location(w->d->stacks, w->process, w->sample->time_ns, addr);
}

static uint32_t location_of_access(void *ctx, uint64_t ip)
{
	return location_of(ctx, ip);
}

/* to: 0, not told. */
static struct model_direction *row_of(const struct walk *w, uint64_t branch, uint64_t to)
{
	struct directions *d = w->d;
	struct model_direction row = { .process = w->process->id,
				       .location = location_of(w, branch),
				       .to = to ? location_of(w, to) : MODEL_NONE };
	uint32_t key[] = { row.process, row.location, row.to };
	uint32_t id = intern_add(d->keys, (const char *)key, sizeof(key)) - 1;

	if (id == d->rows.n)
		*vec_push(&d->rows) = row;
	return &d->rows.at[id];
}

static void count(const struct walk *w, const struct forward_branch *b, bool is_again)
{
	bool is_known = b->way != FORWARD_UNKNOWN;
	struct model_direction *row = row_of(w, b->addr, is_known ? b->to : 0);

	row->times += w->sample->count;
	if (!is_again)
		row->samples += w->sample->count;
}

static void take_forward(const struct walk *w, const struct forward_path *path)
{
	for (unsigned i = 0; i < path->n_branches; i++)
		if (is_of_interest(&path->branches[i]))
			count(w, &path->branches[i], was_passed(path, i));
}

static bool is_first(struct walk *w, uint64_t branch)
{
	for (unsigned i = 0; i < w->n_met; i++)
		if (w->met[i] == branch)
			return false;
	if (w->n_met == MAX_MET)
		return false;
	w->met[w->n_met++] = branch;
	return true;
}

static void take_passage(void *ctx, const struct branch_stack_passage *p)
{
	struct walk *w = ctx;
	uint32_t n = w->sample->count;
	struct model_direction *row = row_of(w, p->branch, p->to);

	row->times += n;
	row->missed += p->is_missed ? n : 0;
	row->foreseen += p->is_foreseen ? n : 0;
	if (is_first(w, p->branch))
		row->samples += n;
}

void directions_take(struct directions *d, struct roster_process *p,
		     const struct tracker_sample *s)
{
	static const struct forward_limits limits = { .n_insns = MAX_INSTRUCTIONS,
						      .n_branches = MAX_BRANCHES };
	struct walk w = { .d = d, .process = p, .sample = s };
	const struct unwind_memory *m = &s->memory;
	struct forward_source source = { read_code, read_memory, read_constant, &w };
	struct forward_state from;
	struct forward_path path;
	forward_fn *walk;

	if (!s->regs || s->n_kernel)
		return;
	w.memory = (struct stack_memory){ m->stack, m->stack_addr, m->stack_size, m->read,
					  m->ctx };
	steady_memory_begin(d->steady, s->time_ns, clock_monotonic_ns());
	walk = forward_start(s->regs, s->cpu_flags, &from);
	walk(&from, &source, &limits, &path);
	/* What was is all known, and better than what is to come. */
	if (s->branches.n)
		branch_stack_each(&s->branches, read_code, take_passage, &w);
	else
		take_forward(&w, &path);
	accesses_take(d->accesses, p->id, &path, s->count, location_of_access, &w);
	if (d->rows.n >= MAX_ROWS || accesses_are_full(d->accesses))
		directions_write(d);
}

void directions_write(struct directions *d)
{
	vec_each(row, &d->rows)
		writer_direction(d->stacks->writer, row);
	accesses_write(d->accesses, d->stacks->writer);
	intern_free(d->keys);
	d->keys = intern_new();
	d->rows.n = 0;
}
