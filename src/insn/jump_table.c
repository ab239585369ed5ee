/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/jump_table.h"

#include <string.h>

#define N_SLOTS	 16
#define N_LIMITS 8
#define N_NAMES	 8
/* Less is an offset in an object, more may be an object's address. */
#define LEAST_ADDRESS 0x1000

/* (term << shift) + other + base */
struct value {
	uint32_t id;	/* of the term; 0: none, the value is base */
	uint32_t other; /* id of another unknown number, 0: none */
	uint64_t base;
	uint8_t shift;
	bool is_entry; /* the term is loaded from table + table_id + index * stride: */
	bool is_signed;
	uint8_t bytes;
	uint32_t stride_bytes;
	uint32_t index, table_id;
	uint64_t table;
};

/* What is in memory at a place. */
struct slot {
	struct value at, value;
};

/* An unknown number that stands for one that is made of others. */
struct name {
	struct value of;
	uint32_t id;
};

struct limit {
	uint32_t id;
	bool is_strong; /* compared, not only short */
	uint64_t most;
};

struct state {
	const struct code_step_machine *machine;
	struct value registers[CODE_STEP_N_REGISTERS];
	struct slot slots[N_SLOTS];
	struct limit limits[N_LIMITS];
	struct name names[N_NAMES];
	size_t n_slots, n_limits, n_names; /* the oldest ones are overwritten */
	uint32_t last_id;
	struct {	     /* what was compared last */
		uint32_t id; /* 0: unknown */
		uint64_t with;
	} flags;
};

static struct value constant(uint64_t base)
{
	return (struct value){ .base = base };
}

static struct value unknown(struct state *s)
{
	return (struct value){ .id = ++s->last_id };
}

static bool is_constant(const struct value *v)
{
	return !v->id && !v->other;
}

/* An unknown number and nothing else. */
static bool is_plain(const struct value *v)
{
	return v->id && !v->other && !v->base && !v->shift;
}

static bool is_same(const struct value *a, const struct value *b)
{
	return a->id == b->id && a->other == b->other && a->base == b->base &&
	       a->shift == b->shift;
}

/* The id of a number, the same one whenever it is asked for. */
static uint32_t name(struct state *s, const struct value *v)
{
	size_t n = s->n_names < N_NAMES ? s->n_names : N_NAMES;

	if (is_plain(v))
		return v->id;
	for (size_t i = 0; i < n; i++)
		if (is_same(&s->names[i].of, v))
			return s->names[i].id;
	s->names[s->n_names++ % N_NAMES] = (struct name){ *v, ++s->last_id };
	return s->last_id;
}

static void limit(struct state *s, uint32_t id, uint64_t most, bool is_strong)
{
	s->limits[s->n_limits++ % N_LIMITS] = (struct limit){ id, is_strong, most };
}

/* The last one: it was asked for the sake of the jump, others may be on one of several
 * ways to it. */
static bool find_limit(const struct state *s, uint32_t id, bool is_strong, uint64_t *ret)
{
	size_t n = s->n_limits < N_LIMITS ? s->n_limits : N_LIMITS;

	for (size_t i = 1; i <= n; i++) {
		const struct limit *l = &s->limits[(s->n_limits - i) % N_LIMITS];

		if (l->id != id || l->is_strong != is_strong)
			continue;
		*ret = l->most;
		return true;
	}
	return false;
}

/* The lowest bytes of it; 0: all. */
static struct value extend(struct state *s, struct value v, uint8_t bytes, bool is_signed)
{
	unsigned unused_bits = 64 - 8 * bytes;

	if (!bytes || bytes >= 8)
		return v;
	if (is_constant(&v)) {
		v.base <<= unused_bits;
		v.base = is_signed ? (uint64_t)((int64_t)v.base >> unused_bits)
				   : v.base >> unused_bits;
	} else if (v.is_entry) {
		if (is_plain(&v) && bytes == v.bytes)
			v.is_signed = is_signed;
	} else if (bytes < 4 && is_plain(&v) && !is_signed) {
		limit(s, v.id, (1ull << 8 * bytes) - 1, false);
	}
	return v;
}

/* a + (b << shift) + offset; what has too many unknown parts is a new unknown. */
static struct value sum(struct state *s, struct value a, struct value b, unsigned shift,
			uint64_t offset)
{
	uint64_t base;

	if (shift && !is_constant(&b) && !is_plain(&b))
		b = (struct value){ .id = name(s, &b) };
	if (shift + b.shift >= 64)
		return unknown(s);
	base = a.base + (b.base << shift) + offset;
	b.shift = (uint8_t)(b.shift + shift);
	if (!is_constant(&a) && !is_constant(&b)) {
		bool is_a_simple = !a.is_entry && !a.other && !a.shift;
		bool is_b_simple = !b.is_entry && !b.other && !b.shift;

		if (is_a_simple && !b.other)
			b.other = a.id;
		else if (is_b_simple && !a.other)
			a.other = b.id, b = a;
		else
			return unknown(s);
	} else if (is_constant(&b)) {
		b = a;
	}
	b.base = base;
	return b;
}

static struct value of_register(const struct state *s, uint8_t reg)
{
	return reg < CODE_STEP_N_REGISTERS ? s->registers[reg] : constant(0);
}

static struct value place(struct state *s, const struct code_step_place *p)
{
	struct value index =
		extend(s, of_register(s, p->index), p->index_bytes, p->is_index_signed);

	return sum(s, of_register(s, p->base), index, p->shift, (uint64_t)p->offset);
}

static bool is_address(uint64_t base)
{
	return (int64_t)base >= LEAST_ADDRESS || (int64_t)base <= -LEAST_ADDRESS;
}

/* NULL: nothing was loaded from or stored to there yet. */
static struct slot *find_slot(struct state *s, const struct value *at)
{
	size_t n = s->n_slots < N_SLOTS ? s->n_slots : N_SLOTS;

	for (size_t i = 0; i < n; i++)
		if (is_same(&s->slots[i].at, at))
			return &s->slots[i];
	return NULL;
}

static void put(struct state *s, const struct value *at, const struct value *v)
{
	struct slot *known = find_slot(s, at);

	if (!known)
		known = &s->slots[s->n_slots++ % N_SLOTS];
	*known = (struct slot){ *at, *v };
}

/* Whether an entry of a table is at the place, and no variable. */
static bool is_in_table(const struct code_step_place *p, const struct value *at)
{
	return at->id && (at->is_entry || at->other || at->shift ||
			  p->index != CODE_STEP_NO_REGISTER || is_address(at->base));
}

static struct value entry(struct state *s, const struct value *at)
{
	return (struct value){ .id = ++s->last_id,
			       .is_entry = true,
			       .stride_bytes = at->shift < 8 ? 1u << at->shift : 0,
			       .index = at->id,
			       .table_id = at->other,
			       .table = at->base };
}

static struct value load(struct state *s, const struct code_step_place *p, uint8_t bytes,
			 bool is_signed)
{
	struct value at = place(s, p);
	const struct slot *known = find_slot(s, &at);
	bool is_table = is_in_table(p, &at);
	struct value v = known ? known->value : is_table ? entry(s, &at) : unknown(s);

	if (!known)
		put(s, &at, &v);
	if (v.is_entry && is_table) {
		v.bytes = bytes;
		v.is_signed = is_signed;
	}
	if (bytes < 4 && is_plain(&v))
		limit(s, v.id, (1ull << 8 * bytes) - 1, false);
	return is_table ? v : extend(s, v, bytes, is_signed);
}

static void store(struct state *s, const struct code_step_effect *e)
{
	struct value at = place(s, &e->place), v = of_register(s, e->from);

	if (!is_in_table(&e->place, &at))
		put(s, &at, &v);
}

static void compare(struct state *s, const struct code_step_effect *e)
{
	struct value v =
		e->is_memory ? load(s, &e->place, 8, false) : of_register(s, e->from);
	struct value with = e->with == CODE_STEP_NO_REGISTER ? constant(e->value)
							     : of_register(s, e->with);

	s->flags.id = !is_constant(&v) && is_constant(&with) ? name(s, &v) : 0;
	s->flags.with = with.base;
}

/* What holds where the path goes on behind a branch. */
static void branch(struct state *s, uint8_t condition, bool is_taken)
{
	uint64_t with = s->flags.with;

	if (!s->flags.id || with > JUMP_TABLE_MAX_ENTRIES)
		return;
	if (condition ==
	    (is_taken ? CODE_STEP_CONDITION_NOT_ABOVE : CODE_STEP_CONDITION_ABOVE))
		limit(s, s->flags.id, with, true);
	else if (with && condition == (is_taken ? CODE_STEP_CONDITION_BELOW
						: CODE_STEP_CONDITION_NOT_BELOW))
		limit(s, s->flags.id, with - 1, true);
}

static struct value mask(struct state *s, struct value v, uint64_t with)
{
	bool is_short = with == 0xff || with == 0xffff || with == 0xffffffff;

	if (is_short)
		return extend(s, v, with == 0xff ? 1 : with == 0xffff ? 2 : 4, false);
	v = unknown(s);
	if (with < JUMP_TABLE_MAX_ENTRIES)
		limit(s, v.id, with, true);
	return v;
}

/* A number that was added to is another one, unless it is a place on the stack. */
static struct value settle(struct state *s, struct value v, uint8_t to)
{
	bool is_moved = v.id && !v.other && !v.shift && v.base;

	return is_moved && !is_address(v.base) && to != s->machine->stack_register
		       ? unknown(s)
		       : v;
}

static void apply(struct state *s, const struct code_step_effect *e)
{
	struct value v = { 0 };

	if (e->changes_flags)
		s->flags.id = 0;
	if (e->kind == CODE_STEP_EFFECT_SET)
		v = settle(s, extend(s, place(s, &e->place), e->bytes, e->is_signed),
			   e->to);
	else if (e->kind == CODE_STEP_EFFECT_LOAD)
		v = load(s, &e->place, e->bytes, e->is_signed);
	else if (e->kind == CODE_STEP_EFFECT_LIMIT)
		v = mask(s, of_register(s, e->from), e->value);
	else if (e->kind == CODE_STEP_EFFECT_COMPARE)
		compare(s, e);
	else if (e->kind == CODE_STEP_EFFECT_STORE)
		store(s, e);
	for (uint32_t left = e->changed; left; left &= left - 1)
		s->registers[__builtin_ctz(left)] = unknown(s);
	if (e->to < CODE_STEP_N_REGISTERS)
		s->registers[e->to] = v.id || v.base || e->kind ? v : unknown(s);
}

/* The register that had the number before the path, if one had. */
static uint8_t register_of(uint32_t id)
{
	return id && id <= CODE_STEP_N_REGISTERS ? (uint8_t)(id - 1)
						 : CODE_STEP_NO_REGISTER;
}

static bool describe(const struct state *s, const struct value *v, struct jump_table *ret)
{
	uint64_t most = JUMP_TABLE_MAX_ENTRIES - 1;
	bool is_limited = find_limit(s, v->index, true, &most);

	if (!v->is_entry || v->shift > 3 || !v->stride_bytes || !v->bytes ||
	    (!v->table_id && !v->table))
		return false;
	if (!is_limited)
		find_limit(s, v->index, false, &most);
	*ret = (struct jump_table){ .address = v->table,
				    .addend = v->base,
				    .stride_bytes = v->stride_bytes,
				    .entry_bytes = v->bytes,
				    .shift = v->shift,
				    .is_signed = v->is_signed,
				    .is_limited = is_limited,
				    .n_entries = (uint32_t)most + 1,
				    .is_elsewhere = v->table_id,
				    .is_added = v->other && v->other == v->table_id,
				    .is_added_elsewhere =
					    v->other && v->other != v->table_id,
				    .table_register = register_of(v->table_id),
				    .addend_register = register_of(v->other) };
	return true;
}

bool jump_table_find(const struct code_step_machine *m,
		     const struct jump_table_step *path, size_t n, struct jump_table *ret)
{
	struct state s = { .machine = m };
	struct code_step_effect e = { 0 };
	struct value v;

	for (uint32_t i = 0; i < CODE_STEP_N_REGISTERS; i++)
		s.registers[i] = unknown(&s);
	for (size_t i = 0; i < n; i++) {
		const struct code_step *step = path[i].step;

		m->effect(path[i].code, step, &e);
		if (e.kind == CODE_STEP_EFFECT_BRANCH && i + 1 < n)
			branch(&s, e.condition,
			       path[i + 1].step->address != step->address + step->size);
		if (i + 1 < n)
			apply(&s, &e);
	}
	if (!n || e.kind != CODE_STEP_EFFECT_JUMP)
		return false;
	v = e.is_memory ? load(&s, &e.place, e.bytes, false)
			: of_register(&s, e.place.base);
	return describe(&s, &v, ret);
}

uint64_t jump_table_target(const struct jump_table *t, uint64_t entry)
{
	unsigned unused_bits = 64 - 8u * t->entry_bytes;

	if (t->is_signed)
		entry = (uint64_t)((int64_t)(entry << unused_bits) >> unused_bits);
	return (entry << t->shift) + t->addend;
}
