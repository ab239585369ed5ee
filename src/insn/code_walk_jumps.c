/* SPDX-License-Identifier: Apache-2.0 */
/* Where indirect jumps lead. */
#include <string.h>

#include "base/search.h"
#include "insn/code_walk.h"

#define MAX_PATH      256 /* steps before a jump that are looked at */
#define LEAST_ENTRIES 3	  /* of a table that is only guessed to be one */
#define MAX_ELSEWHERE 32  /* of these in a row that do not lead to the procedure */

/* The step before on one path to it, or NONE: the one that falls to it, else a jump. */
static uint32_t step_before(const struct code_walk *w, uint32_t step)
{
	uint32_t off = code_walk_off(w, w->steps.at[step].address);
	uint32_t from;

	if (w->fallen_by[off])
		return w->step_at[off - w->fallen_by[off]] - 1;
	from = w->jump_from[off];
	return from ? from - 1 : CODE_WALK_NONE;
}

/* Of those found by ever longer paths: short ones hold however one comes to the jump,
 * longer ones for one of the ways to it only. */
static bool find_table(struct code_walk *w, uint32_t jump, struct jump_table *ret)
{
	struct jump_table_step path[MAX_PATH];
	uint32_t n_blocks = 0, next_try = 1;
	bool is_found = false;
	size_t n = 0;

	for (uint32_t i = jump; i != CODE_WALK_NONE && n < MAX_PATH && w->path_left;) {
		uint64_t address = w->steps.at[i].address;
		uint32_t before = step_before(w, i);
		bool begins = w->marks[code_walk_off(w, address)] & CODE_WALK_BEGINS;

		w->path_left--;
		n++;
		path[MAX_PATH - n].step = &w->steps.at[i];
		path[MAX_PATH - n].code = code_walk_code(w, address);
		i = before == jump ? CODE_WALK_NONE : before;
		n_blocks += begins;
		if ((!begins || n_blocks < next_try) && i != CODE_WALK_NONE &&
		    n < MAX_PATH)
			continue;
		next_try = 2 * n_blocks;
		is_found |= jump_table_find(w->machine, path + MAX_PATH - n, n, ret);
		if (is_found && ret->is_limited && !ret->is_elsewhere &&
		    !ret->is_added_elsewhere)
			break;
	}
	return is_found;
}

static int compare_constants(const void *a, const void *b)
{
	const struct code_walk_constant *x = a, *y = b;

	return x->value != y->value ? (x->value > y->value) - (x->value < y->value)
				    : x->to - y->to;
}

/* Registers with constants, as far as they are seen from one instruction to the next. */
struct knowledge {
	uint64_t value[CODE_STEP_N_REGISTERS];
	uint32_t known; /* bits */
};

static void note_constant(struct code_walk *w, const uint8_t *code,
			  const struct code_step *s, struct knowledge *k)
{
	struct code_step_effect e;
	uint64_t value;
	bool is_known;

	w->machine->effect(code, s, &e);
	k->known &= ~e.changed;
	if (e.to >= CODE_STEP_N_REGISTERS)
		return;
	value = (uint64_t)e.place.offset;
	is_known =
		e.kind == CODE_STEP_EFFECT_SET && e.place.index == CODE_STEP_NO_REGISTER;
	if (is_known && e.place.base != CODE_STEP_NO_REGISTER) {
		is_known = k->known >> e.place.base & 1;
		value += k->value[e.place.base];
	}
	k->known &= ~(1u << e.to);
	if (!is_known)
		return;
	k->known |= 1u << e.to;
	k->value[e.to] = value;
	*vec_push(&w->constants) = (struct code_walk_constant){ value, e.to };
}

/* Reads each range from its start on: most code is read so as it is meant. */
static void sweep(struct code_walk *w)
{
	struct code_step s;

	if (w->has_swept)
		return;
	w->has_swept = true;
	for (size_t i = 0; i < w->n_ranges; i++) {
		const struct procedure_range *r = &w->ranges[i];
		struct knowledge k = { 0 };

		for (size_t at = 0; at < r->size;) {
			if (!w->machine->read(r->code + at, r->size - at, r->address + at,
					      &s)) {
				at += w->machine->unit_bytes;
				continue;
			}
			w->marks[w->range_offs[i] + at] |= CODE_WALK_LIKELY;
			note_constant(w, r->code + at, &s, &k);
			at += s.size;
		}
	}
	if (w->constants.n)
		qsort(w->constants.at, w->constants.n, sizeof(*w->constants.at),
		      compare_constants);
}

static bool read_entry(const struct code_walk *w, const struct jump_table *t, uint32_t i,
		       uint64_t *ret)
{
	const struct procedure_options *o = w->options;
	uint8_t bytes[8] = { 0 };
	uint64_t entry = 0;

	if (!o->read || !o->read(o->ctx, t->address + (uint64_t)i * t->stride_bytes,
				 bytes, t->entry_bytes))
		return false;
	for (unsigned k = t->entry_bytes; k--;)
		entry = entry << 8 | bytes[k];
	*ret = jump_table_target(t, entry);
	return true;
}

static bool is_likely(const struct code_walk *w, uint32_t off)
{
	return off != CODE_WALK_NONE &&
	       (w->step_at[off] || (w->marks[off] & CODE_WALK_LIKELY));
}

/* How many entries there may be before something else is in memory. */
static uint32_t room(const struct code_walk *w, const struct jump_table *t)
{
	size_t next =
		search_split(w->constants.n, i, w->constants.at[i].value <= t->address);
	uint64_t n;

	if (next == w->constants.n)
		return t->n_entries;
	n = (w->constants.at[next].value - t->address) / t->stride_bytes;
	return n < t->n_entries ? (uint32_t)n : t->n_entries;
}

/* Of a table whose length is guessed: while they lead where instructions are.  Some of
 * whole addresses may lead to a part of the procedure that is not known. */
static uint32_t count_likely(struct code_walk *w, const struct jump_table *t)
{
	bool are_addresses = t->entry_bytes == 8 && !t->addend && !t->shift;
	uint32_t n = room(w, t), n_likely = 0;
	uint64_t target;

	for (uint32_t i = 0; i < n && w->entries_left; i++) {
		uint32_t off;

		w->entries_left--;
		if (!read_entry(w, t, i, &target) || !target)
			break;
		off = code_walk_off(w, target);
		if (is_likely(w, off))
			n_likely = i + 1;
		else if (off != CODE_WALK_NONE || !are_addresses ||
			 i - n_likely >= MAX_ELSEWHERE)
			break;
	}
	return n_likely;
}

static struct jump_table put_at(const struct jump_table *t, uint64_t place)
{
	struct jump_table here = *t;

	here.address += place;
	here.addend += t->is_added ? place : 0;
	return here;
}

/* The only constant that, as the place of the table, makes one.  reg: of those that are
 * set in it, or of all. */
static bool place_table(struct code_walk *w, struct jump_table *t, uint8_t reg)
{
	struct jump_table found;
	uint32_t n, n_found = 0;
	uint64_t last = 0;

	for (size_t i = 0; i < w->constants.n && w->entries_left; i++) {
		const struct code_walk_constant *c = &w->constants.at[i];
		struct jump_table here = put_at(t, c->value);

		w->entries_left--;
		if ((reg != CODE_STEP_NO_REGISTER && c->to != reg) ||
		    (n_found && c->value == last))
			continue;
		n = count_likely(w, &here);
		if (n < LEAST_ENTRIES)
			continue;
		if (n_found++)
			return false;
		last = c->value;
		found = here;
	}
	if (n_found)
		*t = found;
	return n_found;
}

static int compare_offs(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void sort_targets(struct code_walk *w, struct code_walk_jump *j)
{
	uint32_t *at = w->targets.at + j->first, n = 0;

	qsort(at, j->n, sizeof(*at), compare_offs);
	for (uint32_t i = 0; i < j->n; i++)
		if (!i || at[i] != at[n - 1])
			at[n++] = at[i];
	j->n = n;
	w->targets.n = j->first + n;
}

/* False: what is there makes no sense. */
static bool take_entries(struct code_walk *w, struct code_walk_jump *j,
			 const struct jump_table *t, uint32_t n)
{
	uint32_t first = (uint32_t)w->targets.n;
	bool leads_outside = false;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t target;
		uint32_t off;

		if (!w->entries_left || !read_entry(w, t, i, &target)) {
			w->targets.n = first;
			return false;
		}
		w->entries_left--;
		off = code_walk_off(w, target);
		if (off == CODE_WALK_NONE)
			leads_outside = true;
		else
			*vec_push(&w->targets) = off;
	}
	if (w->targets.n == first)
		return false;
	j->first = first;
	j->n = (uint32_t)w->targets.n - first;
	j->is_resolved = true;
	j->leads_outside = leads_outside;
	sort_targets(w, j);
	for (uint32_t i = 0; i < j->n; i++)
		code_walk_lead(w, w->targets.at[j->first + i], j->step);
	return true;
}

/* The only place in the code that the register is set to. */
static bool place_addend(struct code_walk *w, struct jump_table *t)
{
	uint64_t found = 0;
	bool is_found = false;

	for (size_t i = 0; i < w->constants.n && w->entries_left; i++) {
		const struct code_walk_constant *c = &w->constants.at[i];

		w->entries_left--;
		if (c->to != t->addend_register || (is_found && c->value == found) ||
		    code_walk_off(w, c->value) == CODE_WALK_NONE)
			continue;
		if (is_found)
			return false;
		is_found = true;
		found = c->value;
	}
	t->addend += found;
	return is_found;
}

static void guess(struct code_walk *w, struct code_walk_jump *j, struct jump_table *t)
{
	uint32_t n;

	sweep(w);
	if (t->is_added_elsewhere && !place_addend(w, t))
		return;
	if (t->is_elsewhere &&
	    (t->table_register == CODE_STEP_NO_REGISTER ||
	     !place_table(w, t, t->table_register)) &&
	    !place_table(w, t, CODE_STEP_NO_REGISTER))
		return;
	n = t->is_limited ? t->n_entries : count_likely(w, t);
	if (n)
		j->is_guessed = take_entries(w, j, t, n);
}

void code_walk_resolve(struct code_walk *w, struct code_walk_jump *j, bool may_guess)
{
	struct jump_table t;

	if (j->is_resolved || !find_table(w, j->step, &t))
		return;
	if (may_guess)
		guess(w, j, &t);
	else if (t.is_limited && !t.is_elsewhere && !t.is_added_elsewhere)
		take_entries(w, j, &t, t.n_entries);
}
