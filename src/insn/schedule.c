/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/schedule.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "insn/port_plan.h"

/* Slots of a width make parts of a cycle: counted in parts that all widths divide. */
#define TICKS 840

#define MAX_WINDOW 1024
#define N_STORES   128
#define N_BEGINS   2048
#define AHEAD	   8 /* cycles that fetching is before dispatching at most */
#define STACK_REG  4 /* of what pushes and pops: x86-64 */
#define SMALL_SUM  1024

/* A general register is the value that had this id when it came, and so much more. */
struct sum {
	uint64_t id;
	int64_t offset;
};

struct store {
	uint64_t key;
	uint64_t ready; /* cycle */
	uint64_t by;	/* step */
};

struct schedule {
	const struct machine_model *m;
	uint64_t start;		  /* cycle */
	uint64_t dispatch, fetch; /* tick when the next may enter, may come */
	uint64_t left;		  /* tick when the last one did */
	uint64_t latest;	  /* cycle up to which anything is planned */
	uint64_t n_slots, next_id;
	uint64_t n_steps;		  /* the last one's number, from 1 on */
	uint64_t ready[OPERATION_N_REGS]; /* cycle */
	uint64_t by[OPERATION_N_REGS];	  /* step; 0: none that is known */
	uint8_t why[OPERATION_N_REGS];	  /* enum schedule_wait: not earlier */
	struct sum sums[OPERATION_N_GENERAL];
	struct store stores[N_STORES];
	uint64_t leaves[MAX_WINDOW]; /* tick, by number of the slot; 0: none yet */
	struct port_plan ports;
	struct pool {
		/* Of those that wait: how many begin in which cycle, 0 in all others. */
		uint16_t begins[N_BEGINS];
		uint64_t cycle; /* up to which those that begin are not counted */
		uint32_t n;
	} general, vector;		       /* that wait */
	unsigned dispatch_ticks, retire_ticks; /* of a slot */
	uint64_t spare; /* ticks of the width that the last ones left in less than */
	/* Of the last one. */
	struct last {
		uint64_t ticks;	 /* that it left later than by the width */
		uint64_t queued; /* cycles that it waited for ports */
		uint64_t by;	 /* step whose outcome it waited for; 0: none */
		uint8_t why;	 /* enum schedule_wait: of what it waited for else */
		uint8_t kind;	 /* the same, of its own work */
		bool is_fetched; /* nothing but fetching kept it from entering */
	} last;
	/* What the last one loaded, if it did only that: when it has it, if not by name.
	 */
	struct loaded {
		operation_registers to;
		uint64_t ready; /* cycle */
	} loaded;
	/* What the last one has by renaming alone, unless the next one is one with it. */
	operation_registers renamed;
	bool may_fuse; /* with the one before */
	bool was_half; /* of a slot */
};

struct schedule *schedule_new(const struct machine_model *m)
{
	struct schedule *s = xcalloc(1, sizeof(*s));

	assert(m->window <= MAX_WINDOW && TICKS % m->dispatch_width == 0 &&
	       TICKS % m->retire_width == 0);
	s->m = m;
	s->dispatch_ticks = TICKS / m->dispatch_width;
	s->retire_ticks = TICKS / m->retire_width;
	s->next_id = 1;
	schedule_restart(s);
	return s;
}

void schedule_free(struct schedule *s)
{
	free(s);
}

void schedule_freep(struct schedule **s)
{
	schedule_free(*s);
}

static void empty_pool(struct pool *w, uint64_t cycle)
{
	for (; w->n; w->cycle++) {
		w->n -= w->begins[w->cycle % N_BEGINS];
		w->begins[w->cycle % N_BEGINS] = 0;
	}
	w->cycle = cycle;
}

void schedule_hand_over(struct schedule *s, operation_registers written)
{
	for (unsigned i = 0; i < OPERATION_N_REGS; i++) {
		if (!operation_has_register(written, i))
			continue;
		s->ready[i] = s->start;
		s->by[i] = 0;
		s->why[i] = SCHEDULE_WAIT_DEPENDENCY;
		if (i < OPERATION_N_GENERAL)
			s->sums[i] = (struct sum){ s->next_id++, 0 };
	}
}

/* Time goes on instead of being set back: so old plans need not be cleared. */
void schedule_restart(struct schedule *s)
{
	s->start = s->latest + PORT_PLAN_CYCLES;
	s->latest = s->start;
	s->dispatch = s->fetch = s->left = s->start * TICKS;
	s->may_fuse = s->was_half = false;
	s->spare = 0;
	s->last = (struct last){ 0 };
	s->loaded = (struct loaded){ 0 };
	s->renamed = 0;
	empty_pool(&s->general, s->start);
	empty_pool(&s->vector, s->start);
	schedule_hand_over(s, ~(operation_registers)0);
	for (size_t i = 0; i < N_STORES; i++)
		s->stores[i].key = 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t cycle_of(uint64_t tick)
{
	return (tick + TICKS - 1) / TICKS;
}

/* The cycle in which the first of these ports can take it. */
static uint64_t take_port(struct schedule *s, uint32_t ports, uint64_t cycle, unsigned n)
{
	uint64_t first;

	if (!ports)
		return cycle;
	first = port_plan_take(&s->ports, ports, cycle, n);
	s->latest = later(s->latest, first + n);
	s->last.queued += first - cycle;
	return first;
}

/* Waiting. */

static void pass_time(struct pool *w, uint64_t cycle)
{
	for (; w->n && w->cycle < cycle; w->cycle++) {
		w->n -= w->begins[w->cycle % N_BEGINS];
		w->begins[w->cycle % N_BEGINS] = 0;
	}
	w->cycle = later(w->cycle, cycle);
}

/* Of those that begin very late it does not matter when. */
static void wait_in(struct pool *w, uint64_t cycle)
{
	if (cycle < w->cycle || cycle >= w->cycle + N_BEGINS)
		return;
	w->begins[cycle % N_BEGINS]++;
	w->n++;
}

/* The cycle from which on there is room. */
static uint64_t find_room(struct pool *w, unsigned max, uint64_t cycle)
{
	pass_time(w, cycle);
	while (w->n >= max)
		pass_time(w, w->cycle + 1);
	return later(cycle, w->cycle);
}

static struct pool *pool_of(struct schedule *s, bool is_vector)
{
	return is_vector && s->m->vector_waiting ? &s->vector : &s->general;
}

static unsigned pool_size(const struct schedule *s, bool is_vector)
{
	return is_vector && s->m->vector_waiting ? s->m->vector_waiting : s->m->waiting;
}

/* What it has of a step begins later than anything that it queued for: that was in the
 * shadow of this wait. */
static void wait_for(struct schedule *s, uint64_t step, uint8_t why)
{
	s->last.by = step;
	s->last.why = why;
	s->last.queued = 0;
	s->last.is_fetched = false;
}

/* Registers. */

static uint64_t when_ready(struct schedule *s, operation_registers registers,
			   uint64_t cycle)
{
	for (; registers; registers &= registers - 1) {
		unsigned reg = operation_first_register(registers);

		if (s->ready[reg] <= cycle)
			continue;
		cycle = s->ready[reg];
		wait_for(s, s->by[reg], s->why[reg]);
	}
	return cycle;
}

static bool is_vector(const struct operation *o)
{
	const operation_registers vectors = (operation_registers)0xffffffffu
					    << OPERATION_REG_VECTOR;

	return ((o->reads | o->writes) & vectors) != 0;
}

static bool uses_stack(const struct operation *o)
{
	return o->pushes || o->pops;
}

/* As what a wait for it counts, whether for its unit or for its outcome. */
static uint8_t kind_of(const struct operation *o)
{
	if (operation_divides(o))
		return SCHEDULE_WAIT_DIVIDER;
	if (operation_synchronises(o))
		return SCHEDULE_WAIT_SYNC;
	return SCHEDULE_WAIT_DEPENDENCY;
}

/* What waits for a result that waited for a port, or for its code, waits for these. */
static uint8_t why_late(const struct schedule *s)
{
	if (s->last.queued)
		return SCHEDULE_WAIT_PORT;
	return s->last.is_fetched ? SCHEDULE_WAIT_FRONT_END : SCHEDULE_WAIT_DEPENDENCY;
}

static void write_registers(struct schedule *s, const struct operation *o, uint64_t cycle)
{
	uint8_t why = kind_of(o) == SCHEDULE_WAIT_DEPENDENCY ? why_late(s) : kind_of(o);
	operation_registers writes = o->writes;

	if (uses_stack(o))
		writes &= ~operation_register_bit(STACK_REG);
	if (o->moves_base)
		writes &= ~operation_register_bit(o->base);
	for (; writes; writes &= writes - 1) {
		unsigned reg = operation_first_register(writes);

		s->ready[reg] = cycle;
		s->by[reg] = s->n_steps;
		s->why[reg] = why;
	}
	s->latest = later(s->latest, cycle);
}

static void write_sums(struct schedule *s, const struct operation *o)
{
	uint32_t writes = (uint32_t)o->writes; /* of the general ones */

	if (uses_stack(o))
		writes &= ~(1u << STACK_REG);
	if (o->from != OPERATION_NO_REG) {
		s->sums[o->to] = s->sums[o->from];
		s->sums[o->to].offset += o->offset;
		writes &= ~(1u << o->to);
	}
	for (; writes; writes &= writes - 1)
		s->sums[__builtin_ctz(writes)] = (struct sum){ s->next_id++, 0 };
	if (o->pops)
		s->sums[STACK_REG].offset += 8;
}

/* Memory. */

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static uint64_t mix_register(const struct schedule *s, uint64_t h, uint8_t reg,
			     int64_t scale, int64_t *offset)
{
	if (reg >= OPERATION_N_GENERAL)
		return mix(h, reg);
	*offset += s->sums[reg].offset * scale;
	return mix(mix(h, s->sums[reg].id), (uint64_t)scale);
}

/* The same for the same place, as far as can be told by how the address is made. */
static uint64_t place_of(struct schedule *s, const struct operation *o)
{
	int64_t offset = o->disp;
	uint64_t h = 1;

	if (o->pushes)
		s->sums[STACK_REG].offset -= 8;
	if (uses_stack(o)) {
		offset = s->sums[STACK_REG].offset;
		h = mix(mix(h, s->sums[STACK_REG].id), 1);
		return mix(mix(h, OPERATION_NO_REG), (uint64_t)offset) | 1;
	}
	h = mix_register(s, h, o->base, 1, &offset);
	h = mix_register(s, h, o->index, o->scale, &offset);
	return mix(h, (uint64_t)offset) | 1;
}

static struct store *store_slot(struct schedule *s, uint64_t place)
{
	return &s->stores[place >> 32 & (N_STORES - 1)];
}

static unsigned latency_of_load(const struct machine_model *m, const struct operation *o)
{
	bool has_index = o->index != OPERATION_NO_REG;

	if (is_vector(o))
		return m->vector_load_latency;
	return m->load_latency +
	       (has_index && (o->scale > 1 || o->disp) ? m->complex_latency : 0);
}

/* A port that moves so much at once does it as often as it takes; when the last began. */
static uint64_t move(struct schedule *s, const struct operation *o, uint32_t ports,
		     unsigned bytes, uint64_t cycle)
{
	uint64_t last = cycle;
	unsigned left = o->width;

	do {
		last = later(last, take_port(s, ports, cycle, 1));
		left = left > bytes ? left - bytes : 0;
	} while (bytes && left);
	return last;
}

/* What was stored before, where that is later than what it has anyway. */
static uint64_t forwarded(struct schedule *s, const struct store *before,
			  unsigned latency, uint64_t cycle)
{
	uint64_t ready = before->ready + latency;

	if (ready <= cycle)
		return cycle;
	wait_for(s, before->by, SCHEDULE_WAIT_DEPENDENCY);
	return ready;
}

/* "add %rcx,%rax", "add %rcx,(%rsi)": a load right before is part of it, or its own. */
static bool is_fusible_sum(const struct operation *o)
{
	uint32_t general = (uint32_t)o->reads;

	return (o->class == OPERATION_ADD || o->class == OPERATION_LOGIC) &&
	       !o->has_immediate && (o->stores || (uint32_t)o->writes) &&
	       __builtin_popcount(general) + o->stores == 2;
}

static uint64_t load_by_name(struct schedule *s, const struct operation *o,
			     const struct store *before, uint64_t cycle, uint64_t done)
{
	const struct machine_model *m = s->m;

	if (m->fused_forward_latency && o->stores && is_fusible_sum(o))
		return forwarded(s, before, m->fused_forward_latency, done);
	if (m->fused_forward_latency && o->class == OPERATION_MOVE)
		s->loaded = (struct loaded){
			o->writes, later(done, before->ready + m->fused_forward_latency)
		};
	return forwarded(s, before, m->forward_latency, cycle);
}

/* A sum that is one with the load before it has what that loads later than others. */
static uint64_t wait_with_load(struct schedule *s, const struct operation *o,
			       const struct loaded *before, uint64_t cycle)
{
	if (!(before->to & o->reads & o->writes) || before->ready <= cycle || o->loads ||
	    !is_fusible_sum(o))
		return cycle;
	wait_for(s, s->n_steps - 1, SCHEDULE_WAIT_DEPENDENCY);
	return before->ready;
}

static uint64_t load(struct schedule *s, const struct operation *o, uint64_t place,
		     uint64_t cycle)
{
	const struct machine_model *m = s->m;
	const struct store *before = store_slot(s, place);
	uint64_t at = is_vector(o) ? move(s, o, m->vector_load_ports,
					  m->vector_load_bytes, cycle)
				   : move(s, o, m->load_ports, m->load_bytes, cycle);
	uint64_t done = at + latency_of_load(m, o);

	if (before->key != place)
		return done;
	if (is_vector(o))
		return forwarded(s, before, m->vector_forward_latency, done);
	if (m->forwards_by_name)
		return load_by_name(s, o, before, cycle, done);
	return forwarded(s, before, m->forward_latency, done);
}

static uint64_t store(struct schedule *s, const struct operation *o, uint64_t place,
		      uint64_t address, uint64_t data)
{
	const struct machine_model *m = s->m;
	/* Where loads and stores have the same ports, one address does for both. */
	bool has_address = o->loads && m->store_address_ports & m->load_ports;
	unsigned bytes = is_vector(o) ? m->vector_store_bytes : m->store_bytes;
	uint64_t before = s->last.queued;
	uint64_t a = has_address ? address
				 : move(s, o, m->store_address_ports, bytes, address);
	uint64_t of_address = s->last.queued - before, d;

	s->last.queued = before;
	d = take_port(s, is_vector(o) ? m->vector_store_data_ports : m->store_data_ports,
		      data, 1);
	if (a > d) /* the data is there before the address is */
		s->last.queued = of_address;
	*store_slot(s, place) = (struct store){ place, data, s->n_steps };
	return later(a, d) + 1;
}

/* Work. */

static bool is_small_sum(const struct operation *o)
{
	return o->from != OPERATION_NO_REG && o->offset < SMALL_SUM &&
	       o->offset >= -SMALL_SUM;
}

static bool is_elided(const struct machine_model *m, const struct operation *o)
{
	if (o->loads || o->stores)
		return false;
	switch (o->class) {
	case OPERATION_MOVE:
		return !o->merges &&
		       m->elides & (o->has_immediate ? MACHINE_ELIDES_CONSTANTS
						     : MACHINE_ELIDES_MOVES);
	case OPERATION_EXTEND:
		return o->is_low_byte && m->elides & MACHINE_ELIDES_BYTES;
	case OPERATION_VECTOR_MOVE:
		return m->elides & MACHINE_ELIDES_VECTOR_MOVES;
	case OPERATION_ADD:
		return m->elides & MACHINE_ELIDES_SMALL_SUMS && is_small_sum(o);
	case OPERATION_LEA:
		return m->elides & MACHINE_ELIDES_SMALL_ADDRESSES && is_small_sum(o);
	default:
		return o->is_zeroing;
	}
}

/* Loading and storing is all that these do with memory. */
static bool is_only_memory(const struct machine_model *m, const struct operation *o)
{
	if ((!o->loads && !o->stores) || o->merges)
		return false;
	return o->class == OPERATION_MOVE || o->class == OPERATION_VECTOR_MOVE ||
	       (o->class == OPERATION_EXTEND &&
		(!o->is_signed || m->elides & MACHINE_ELIDES_SIGNS));
}

static unsigned times_busy(const struct machine_model *m, const struct operation *o,
			   const struct machine_unit *u)
{
	unsigned bytes = operation_divides_floats(o) ? m->divider_bytes : m->vector_bytes;
	unsigned n = u->busy ? u->busy : 1;

	return o->width > bytes && is_vector(o) ? n * (o->width / bytes) : n;
}

/* A branch that is part of the instruction before it. */
static bool is_fused(const struct schedule *s, const struct operation *o)
{
	return o->class == OPERATION_BRANCH && s->may_fuse &&
	       operation_has_register(o->reads, OPERATION_REG_FLAGS);
}

/* What goes on from place to place computes the next one beside its work. */
static void move_base(struct schedule *s, const struct operation *o, uint64_t cycle)
{
	const struct machine_unit *u = &s->m->costs[OPERATION_ADD].units[0];
	uint64_t queued = s->last.queued;

	cycle = take_port(s, u->ports, cycle, 1) + u->latency;
	s->last.queued = queued;
	s->ready[o->base] = cycle;
	s->by[o->base] = s->n_steps;
	s->why[o->base] = SCHEDULE_WAIT_DEPENDENCY;
	s->latest = later(s->latest, cycle);
}

static const struct machine_cost *cost_of(const struct machine_model *m,
					  const struct operation *o)
{
	bool is_address = o->class == OPERATION_LEA || o->class == OPERATION_LEA_COMPLEX;

	return is_address && o->scale > 1 && m->scaled_address.slots
		       ? &m->scaled_address
		       : &m->costs[o->class];
}

static uint64_t work(struct schedule *s, const struct operation *o, uint64_t cycle)
{
	const struct machine_cost *c = cost_of(s->m, o);

	if (is_elided(s->m, o) || is_only_memory(s->m, o))
		return cycle;
	for (size_t i = 0; i < MACHINE_MODEL_MAX_UNITS && c->units[i].ports; i++) {
		cycle = take_port(s, c->units[i].ports, cycle,
				  times_busy(s->m, o, &c->units[i]));
		if (!is_fused(s, o))
			wait_in(pool_of(s, is_vector(o)), cycle);
		cycle += c->units[i].latency;
	}
	return cycle;
}

static bool waits_for_all(const struct operation *o)
{
	return o->class == OPERATION_SYSTEM || o->class == OPERATION_SERIALIZE;
}

static unsigned slots_of(const struct schedule *s, const struct operation *o)
{
	unsigned n = cost_of(s->m, o)->slots;

	if (is_fused(s, o))
		return 0;
	if (o->class == OPERATION_NOP && s->was_half)
		return 0;
	return n ? n : 1;
}

static uint64_t wait_for_room(struct schedule *s, const struct operation *o, uint64_t at)
{
	bool is_of_vectors = is_vector(o);
	uint64_t cycle = at / TICKS;
	uint64_t free =
		find_room(pool_of(s, is_of_vectors), pool_size(s, is_of_vectors), cycle);

	return free > cycle ? free * TICKS : at;
}

/* The cycle in which its work may begin. */
static uint64_t enter(struct schedule *s, const struct operation *o, unsigned slots)
{
	uint64_t first = later(s->dispatch, s->fetch), at = first;
	/* What is one with the one before it came with it. */
	bool is_fetched = is_fused(s, o) ? s->last.is_fetched : s->fetch > s->dispatch;

	/* The place of one that was a window ago. */
	if (slots)
		at = later(
			at,
			s->leaves[(s->n_slots + slots - 1 - s->m->window) % MAX_WINDOW]);
	if (waits_for_all(o))
		at = later(at, s->left);
	at = wait_for_room(s, o, at);
	s->last.is_fetched = is_fetched && at == first;
	s->dispatch = at + slots * s->dispatch_ticks;
	return cycle_of(at) + 1;
}

/* Several leave in one cycle: what they took less than by the width alone is used up by
 * those behind, within a cycle. */
static void note_waiting(struct schedule *s, unsigned slots, uint64_t ticks)
{
	uint64_t width = slots * (uint64_t)s->dispatch_ticks + s->spare;

	s->last.ticks = ticks > width ? ticks - width : 0;
	s->spare = ticks > width ? 0 : width - ticks;
	if (s->spare > TICKS)
		s->spare = TICKS;
}

static void leave(struct schedule *s, const struct operation *o, unsigned slots,
		  uint64_t done)
{
	uint64_t before = s->left;

	s->left = later(s->left + slots * s->retire_ticks, done * TICKS);
	note_waiting(s, slots, s->left - before);
	for (; slots; slots--)
		s->leaves[s->n_slots++ % MAX_WINDOW] = s->left;
	if (waits_for_all(o))
		s->dispatch = later(s->dispatch, s->left);
}

/* What is taken is fetched so long after what was taken before. */
static void jump(struct schedule *s, const struct operation *o)
{
	uint64_t behind = s->dispatch - (uint64_t)AHEAD * TICKS;
	bool is_call = operation_is_call(o) || o->class == OPERATION_RETURN;
	uint64_t distance =
		is_call ? s->m->call_distance * TICKS : TICKS / s->m->taken_width;

	s->fetch = later(s->fetch + distance, behind);
}

/* A sum that is one with its branch is computed with that. */
static void write_fused(struct schedule *s, uint64_t cycle)
{
	operation_registers writes = s->renamed;

	for (; writes; writes &= writes - 1) {
		unsigned reg = operation_first_register(writes);

		s->ready[reg] = cycle;
		s->by[reg] = s->n_steps - 1;
		s->why[reg] = SCHEDULE_WAIT_DEPENDENCY;
	}
}

double schedule_step(struct schedule *s, const struct operation *o, bool is_taken)
{
	unsigned slots = slots_of(s, o);
	uint64_t cycle, done, place = 0, address;
	operation_registers reads;
	bool has_memory = o->loads || o->stores;
	struct loaded loaded = s->loaded;

	s->n_steps++;
	s->loaded.to = 0;
	s->last.queued = s->last.by = 0;
	s->last.why = SCHEDULE_WAIT_DEPENDENCY;
	cycle = done = enter(s, o, slots);
	reads = o->is_zeroing ? 0 : o->reads;
	if (uses_stack(o))
		reads &= ~operation_register_bit(STACK_REG);
	address = when_ready(s, o->address, cycle);
	if (has_memory)
		place = place_of(s, o);
	else if (!o->is_zeroing)
		done = address;
	if (o->loads)
		done = load(s, o, place, address);
	done = when_ready(s, reads, wait_with_load(s, o, &loaded, done));
	done = work(s, o, done);
	if (is_fused(s, o))
		write_fused(s, done);
	s->renamed = is_elided(s->m, o) ? o->writes : 0;
	write_registers(s, o, done);
	if (o->moves_base)
		move_base(s, o, address);
	write_sums(s, o);
	if (o->stores)
		done = store(s, o, place, address, done);
	s->last.kind = kind_of(o);
	leave(s, o, slots, done);
	if (is_taken)
		jump(s, o);
	s->may_fuse = o->may_fuse_with_branch && s->m->elides & MACHINE_ELIDES_BRANCHES;
	s->was_half =
		o->class == OPERATION_NOP && slots && s->m->elides & MACHINE_ELIDES_NOPS;
	return (double)(s->left - s->start * TICKS) / TICKS;
}

void schedule_add_waits(const struct schedule *s, double *waits)
{
	const struct last *l = &s->last;
	uint64_t queued = l->queued * TICKS < l->ticks ? l->queued * TICKS : l->ticks;
	uint8_t why = l->is_fetched ? SCHEDULE_WAIT_FRONT_END : l->why;

	if (!l->ticks)
		return;
	if (l->kind != SCHEDULE_WAIT_DEPENDENCY) {
		waits[l->kind] += (double)l->ticks / TICKS;
		return;
	}
	waits[SCHEDULE_WAIT_PORT] += (double)queued / TICKS;
	waits[why] += (double)(l->ticks - queued) / TICKS;
}

uint64_t schedule_waited_for(const struct schedule *s)
{
	const struct last *l = &s->last;

	if (!l->by || l->is_fetched || l->kind != SCHEDULE_WAIT_DEPENDENCY ||
	    2 * l->queued * TICKS >= l->ticks)
		return 0;
	return s->n_steps - l->by;
}

const char *schedule_wait_text(enum schedule_wait wait)
{
	static const char *const texts[SCHEDULE_N_WAITS] = {
#define WAIT(name, text) [SCHEDULE_WAIT_##name] = text,
#include "insn/schedule_waits.def"
#undef WAIT
	};

	return texts[wait];
}
