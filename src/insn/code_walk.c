/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/code_walk.h"

#include "base/mem.h"
#include "base/search.h"

#define MAX_PATH_STEPS (1u << 22)
#define MAX_ENTRIES    (1u << 21)

void code_walk_init(struct code_walk *w, const struct procedure_options *options,
		    const struct code_step_machine *m)
{
	uint32_t at = 0;

	*w = (struct code_walk){ .options = options,
				 .machine = m,
				 .ranges = options->ranges,
				 .n_ranges = options->n_ranges,
				 .path_left = MAX_PATH_STEPS,
				 .entries_left = MAX_ENTRIES };
	w->range_offs = xcalloc(w->n_ranges + 1, sizeof(*w->range_offs));
	for (size_t i = 0; i < w->n_ranges; i++) {
		w->range_offs[i] = at;
		at += (uint32_t)w->ranges[i].size;
	}
	w->range_offs[w->n_ranges] = w->n_bytes = at;
	w->marks = xcalloc(at + 1, sizeof(*w->marks));
	w->fallen_by = xcalloc(at + 1, sizeof(*w->fallen_by));
	w->step_at = xcalloc(at + 1, sizeof(*w->step_at));
	w->jump_from = xcalloc(at + 1, sizeof(*w->jump_from));
}

void code_walk_fini(struct code_walk *w)
{
	free(w->range_offs);
	free(w->marks);
	free(w->fallen_by);
	free(w->step_at);
	free(w->jump_from);
	vec_fini(&w->steps);
	vec_fini(&w->jumps);
	vec_fini(&w->targets);
	vec_fini(&w->work);
	vec_fini(&w->constants);
}

void code_walk_finip(struct code_walk *w)
{
	code_walk_fini(w);
}

/* The last range that begins at the address or before it, n_ranges if none does. */
static size_t range_before(const struct code_walk *w, uint64_t address)
{
	size_t n = search_split(w->n_ranges, i, w->ranges[i].address <= address);

	return n ? n - 1 : w->n_ranges;
}

uint32_t code_walk_off(const struct code_walk *w, uint64_t address)
{
	size_t i = range_before(w, address);

	if (i == w->n_ranges || address - w->ranges[i].address >= w->ranges[i].size)
		return CODE_WALK_NONE;
	return w->range_offs[i] + (uint32_t)(address - w->ranges[i].address);
}

uint32_t code_walk_range_of(const struct code_walk *w, uint32_t off)
{
	size_t low = 0, high = w->n_ranges;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (w->range_offs[middle] <= off)
			low = middle;
		else
			high = middle;
	}
	return (uint32_t)low;
}

const uint8_t *code_walk_code(const struct code_walk *w, uint64_t address)
{
	const struct procedure_range *r = &w->ranges[range_before(w, address)];

	return r->code + (address - r->address);
}

void code_walk_lead(struct code_walk *w, uint32_t off, uint32_t from_step)
{
	if (off == CODE_WALK_NONE)
		return;
	w->marks[off] |= CODE_WALK_BEGINS;
	if (!w->jump_from[off])
		w->jump_from[off] = from_step + 1;
	if (!w->step_at[off])
		*vec_push(&w->work) = off;
}

static bool read_at(const struct code_walk *w, uint32_t range, uint32_t off,
		    struct code_step *ret)
{
	const struct procedure_range *r = &w->ranges[range];
	uint32_t at = off - w->range_offs[range];

	return w->machine->read(r->code + at, r->size - at, r->address + at, ret);
}

/* Whether nothing but what fills up follows in the range. */
static bool is_end(const struct code_walk *w, uint32_t range, uint32_t off)
{
	struct code_step s;

	while (off < w->range_offs[range + 1]) {
		if (!read_at(w, range, off, &s) || !s.is_padding)
			return false;
		off += s.size;
	}
	return true;
}

static bool never_returns(const struct code_walk *w, uint32_t range, uint32_t next,
			  const struct code_step *s)
{
	const struct procedure_options *o = w->options;

	if (!code_step_is_call(s))
		return false;
	if (s->flow == CODE_STEP_CALL && o->never_returns &&
	    o->never_returns(o->ctx, s->target))
		return true;
	return is_end(w, range, next);
}

static void add_step(struct code_walk *w, uint32_t off, const struct code_step *s)
{
	uint32_t i = (uint32_t)w->steps.n;

	*vec_push(&w->steps) = *s;
	w->step_at[off] = i + 1;
	if (s->flow == CODE_STEP_BRANCH || s->flow == CODE_STEP_JUMP)
		code_walk_lead(w, code_walk_off(w, s->target), i);
	else if (s->flow == CODE_STEP_JUMP_TO)
		*vec_push(&w->jumps) = (struct code_walk_jump){ .step = i };
}

/* Reads on until something does not fall through, or was read already. */
static void read_on(struct code_walk *w, uint32_t off)
{
	uint32_t range = code_walk_range_of(w, off);
	struct code_step s;

	while (off < w->range_offs[range + 1] && !w->step_at[off] &&
	       read_at(w, range, off, &s)) {
		uint32_t next = off + s.size;

		s.is_final = never_returns(w, range, next, &s);
		add_step(w, off, &s);
		if (!code_step_falls(&s))
			return;
		if (next == w->range_offs[range + 1]) {
			code_walk_lead(w, code_walk_off(w, s.address + s.size),
				       (uint32_t)w->steps.n - 1);
			return;
		}
		if (w->fallen_by[next] || s.flow == CODE_STEP_BRANCH)
			w->marks[next] |= CODE_WALK_BEGINS;
		if (!w->fallen_by[next])
			w->fallen_by[next] = s.size;
		off = next;
	}
}

static void follow(struct code_walk *w)
{
	while (w->work.n)
		read_on(w, w->work.at[--w->work.n]);
}

/* Follows all ways, those out of tables as well: first the ones that are certain. */
static void settle(struct code_walk *w)
{
	for (;;) {
		follow(w);
		while (w->n_tried < w->jumps.n)
			code_walk_resolve(w, &w->jumps.at[w->n_tried++], false);
		if (w->work.n)
			continue;
		if (w->n_guess_tried == w->jumps.n)
			return;
		code_walk_resolve(w, &w->jumps.at[w->n_guess_tried++], true);
	}
}

/* What no way leads to and is no filling between others. */
static void take_rest(struct code_walk *w)
{
	struct code_step s;

	for (uint32_t range = 0; range < w->n_ranges; range++)
		for (uint32_t off = w->range_offs[range];
		     off < w->range_offs[range + 1];) {
			if (w->step_at[off]) {
				off += w->steps.at[w->step_at[off] - 1].size;
			} else if (!read_at(w, range, off, &s)) {
				off += w->machine->unit_bytes;
			} else if (s.is_padding) {
				off += s.size;
			} else {
				w->marks[off] |= CODE_WALK_ROOT | CODE_WALK_BEGINS;
				*vec_push(&w->work) = off;
				settle(w);
			}
		}
}

void code_walk_run(struct code_walk *w)
{
	uint32_t entry = code_walk_off(w, w->options->entry);

	if (entry != CODE_WALK_NONE) {
		w->marks[entry] |= CODE_WALK_BEGINS;
		*vec_push(&w->work) = entry;
	}
	settle(w);
	take_rest(w);
}
