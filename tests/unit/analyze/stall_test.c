/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stall.h"

#include <elf.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/stall_events.h"
#include "analyze/stall_loop.h"
#include "base/mem.h"
#include "insn/machine_model.h"
#include "waiting_loop.h"

/* "D-cache miss of 0 <125, unexplained 3.0": < the most that it can be. */
static void describe(const struct function_code *c, const struct stall *s, struct buf *b)
{
	for (unsigned i = 0; i < s->n; i++) {
		const struct stall_culprit *x = &s->culprits[i];

		buf_printf(b, "%s%s", b->size ? ", " : "", stall_cause_text(x->cause));
		if (x->blamed != PROCEDURE_OUTSIDE)
			buf_printf(b, " of %u",
				   (unsigned)(c->procedure->steps[x->blamed].address -
					      WAITING_LOOP_START));
		if (x->most >= 0)
			buf_printf(b, " <%.1f", x->most);
		if (x->event)
			buf_printf(b, " by %s", x->event);
	}
	if (s->unexplained > 0)
		buf_printf(b, "%sunexplained %.1f", b->size ? ", " : "", s->unexplained);
}

struct stall_case {
	const char *code;
	size_t size;
	uint32_t waits;
	bool has_threads;
	const char *causes;
};

static void check_causes(unsigned machine, const struct stall_case *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		own(function_code_fini) struct function_code c;
		own(stall_fini) struct stalls s = { 0 };
		own(buf_fini) struct buf b = { 0 };

		waiting_loop_make_of(machine, &c, t[i].code, t[i].size, t[i].waits);
		c.is_alone = !t[i].has_threads;
		stall_find(&s, &c);
		describe(&c, &s.of_step[t[i].waits], &b);
		if (strcmp(buf_str(&b), t[i].causes) != 0)
			print_error("# case %zu: %s\n", i, buf_str(&b));
		assert_string_equal(buf_str(&b), t[i].causes);
		assert_true(fabs(s.of_step[t[i].waits].cycles - WAITING_LOOP_WAITED) <
			    0.1);
	}
}

static void whoever_cannot_be_ruled_out_is_guilty(void **state)
{
	static const struct stall_case t[] = {
		/* mov (%rax),%rax: anywhere */
		{ WAITING_LOOP_CODE("\x48\x8b\x00"), 0, false,
		  "D-cache miss of 0, DTLB miss of 0" },
		/* mov (%rsi),%rax: always the same; another thread may take it away */
		{ WAITING_LOOP_CODE("\x48\x8b\x06"), 0, false, "unexplained 20.0" },
		{ WAITING_LOOP_CODE("\x48\x8b\x06"), 0, true, "D-cache miss of 0" },
		/* mov (%rsi),%rax; add $8,%rsi: a new page each 512 times */
		{ WAITING_LOOP_CODE("\x48\x8b\x06\x48\x83\xc6\x08"), 0, false,
		  "D-cache miss of 0 <125.0, DTLB miss of 0 <2.0" },
		/* ... mov 16(%rsi),%rdx waits behind it; or the same place */
		{ WAITING_LOOP_CODE("\x48\x8b\x06\x48\x8b\x56\x10\x48\x83\xc6\x40"), 1,
		  false, "D-cache miss of 3 <250.0, DTLB miss of 3 <3.9" },
		{ WAITING_LOOP_CODE("\x48\x8b\x06\x48\x8b\x16\x48\x83\xc6\x40"), 1, false,
		  "unexplained 20.0" },
		/* mov %al,(%rsi); mov (%rsi),%rax */
		{ WAITING_LOOP_CODE("\x88\x06\x48\x8b\x06"), 1, false,
		  "store forwarding of 0" },
		/* mov %rax,(%rsi); add $64,%rsi: the one before may have waited for it */
		{ WAITING_LOOP_CODE("\x90\x48\x89\x06\x48\x83\xc6\x40"), 0, false,
		  "store buffer full of 1" },
		/* div %rcx */
		{ WAITING_LOOP_CODE("\x48\xf7\xf1"), 0, false, "divider of 0" },
		/* mfence; not %rax; not %rcx */
		{ WAITING_LOOP_CODE("\x0f\xae\xf0\x48\xf7\xd0\x48\xf7\xd1"), 1, false,
		  "synchronisation of 0" },
		/* not %rax */
		{ WAITING_LOOP_CODE("\x48\xf7\xd0"), 0, false, "unexplained 20.0" },
	};

	(void)state;
	check_causes(EM_X86_64, t, sizeof(t) / sizeof(t[0]));
}

static void a_store_that_is_not_taken_in_holds_up_the_way_there(void **state)
{
	static const struct {
		const char *code;
		size_t size;
		const char *causes;
	} t[] = {
		/* addq $1,(%rsi), which another thread does, too */
		{ WAITING_LOOP_CODE("\x48\x83\x06\x01"), "store buffer full of 0" },
		/* add (%rsi),%rax */
		{ WAITING_LOOP_CODE("\x48\x03\x06"), "unexplained 20.0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(function_code_fini) struct function_code c;
		own(stall_fini) struct stalls s = { 0 };
		own(buf_fini) struct buf b = { 0 };

		waiting_loop_make(&c, t[i].code, t[i].size, 0);
		c.is_alone = false;
		c.steps[0].cycles -= WAITING_LOOP_WAITED * WAITING_LOOP_TIMES;
		c.blocks[0].arrival += WAITING_LOOP_WAITED * WAITING_LOOP_TIMES;
		stall_find(&s, &c);
		describe(&c, &s.of_arrival[0], &b);
		assert_string_equal(buf_str(&b), t[i].causes);
	}
}

/* mov (%rax),%rax; not %rcx; not %rdx, which cannot wait */
static void what_retires_together_is_blamed_for_what_none_else_can_be(void **state)
{
	static const struct {
		const char *model;
		const char *causes;
	} t[] = {
		{ "zen5", "D-cache miss of 0, DTLB miss of 0" },
		{ NULL, "unexplained 20.0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(function_code_fini) struct function_code c;
		own(stall_fini) struct stalls s = { 0 };
		own(buf_fini) struct buf b = { 0 };

		waiting_loop_make(&c, "\x48\x8b\x00\x48\xf7\xd1\x48\xf7\xd2", 9, 2);
		c.model = t[i].model ? machine_model_find(t[i].model) : NULL;
		stall_find(&s, &c);
		describe(&c, &s.of_step[2], &b);
		assert_string_equal(buf_str(&b), t[i].causes);
	}
}

/* mov (%rax),%rax; not %rcx; not %rdx, which fetching may have held up, too */
static void some_of_a_long_wait_lands_behind_it(void **state)
{
	static const struct {
		double before; /* that the load waits, cycles */
		const char *causes;
	} t[] = {
		{ WAITING_LOOP_WAITED + 5,
		  "front end <25.0, D-cache miss of 0, DTLB miss of 0" },
		{ WAITING_LOOP_WAITED - 5, "front end <25.0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(function_code_fini) struct function_code c;
		own(stall_fini) struct stalls s = { 0 };
		own(buf_fini) struct buf b = { 0 };

		waiting_loop_make(
			&c, WAITING_LOOP_CODE("\x48\x8b\x00\x48\xf7\xd1\x48\xf7\xd2"), 2);
		c.model = machine_model_find("zen5");
		for (uint32_t k = 0; k < c.procedure->blocks[0].n_steps; k++)
			c.steps[k].waits[SCHEDULE_WAIT_FRONT_END] = 5;
		c.steps[0].cycles += t[i].before * WAITING_LOOP_TIMES;
		c.blocks[0].cycles += t[i].before * WAITING_LOOP_TIMES;
		stall_find(&s, &c);
		describe(&c, &s.of_step[2], &b);
		assert_string_equal(buf_str(&b), t[i].causes);
	}
}

/* mov %rax,(%rsi); add $64,%rsi; not %rcx: while the next store is not taken in, what is
 * before it retires */
static void some_of_a_stores_wait_lands_behind_it(void **state)
{
	static const struct {
		double before; /* that the store waits, cycles */
		const char *causes;
	} t[] = {
		{ WAITING_LOOP_WAITED + 5, "store buffer full of 0" },
		{ WAITING_LOOP_WAITED - 5, "unexplained 20.0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(function_code_fini) struct function_code c;
		own(stall_fini) struct stalls s = { 0 };
		own(buf_fini) struct buf b = { 0 };

		waiting_loop_make(
			&c, WAITING_LOOP_CODE("\x48\x89\x06\x48\x83\xc6\x40\x48\xf7\xd1"),
			2);
		c.model = machine_model_find("redwood-cove");
		c.steps[0].cycles += t[i].before * WAITING_LOOP_TIMES;
		c.blocks[0].cycles += t[i].before * WAITING_LOOP_TIMES;
		stall_find(&s, &c);
		describe(&c, &s.of_step[2], &b);
		assert_string_equal(buf_str(&b), t[i].causes);
	}
}

/* not %rdx; mov %rax,(%rsi); add $64,%rsi; not %rcx: the first one waits for the store to
 * be taken in, and so does the third */
static void some_of_a_wait_for_a_store_lands_behind_that(void **state)
{
	static const struct {
		double before; /* that the first one waits, cycles */
		const char *causes;
	} t[] = {
		{ WAITING_LOOP_WAITED + 5, "store buffer full of 3" },
		{ WAITING_LOOP_WAITED - 5, "unexplained 20.0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(function_code_fini) struct function_code c;
		own(stall_fini) struct stalls s = { 0 };
		own(buf_fini) struct buf b = { 0 };

		waiting_loop_make(&c,
				  WAITING_LOOP_CODE("\x48\xf7\xd2\x48\x89\x06\x48\x83\xc6"
						    "\x40\x48\xf7\xd1"),
				  2);
		c.model = machine_model_find("zen5");
		c.steps[0].cycles += t[i].before * WAITING_LOOP_TIMES;
		c.blocks[0].cycles += t[i].before * WAITING_LOOP_TIMES;
		stall_find(&s, &c);
		describe(&c, &s.of_step[2], &b);
		assert_string_equal(buf_str(&b), t[i].causes);
	}
}

/* mov (%rax),%rax; add $8,%rsi; mov (%rsi),%rbx; not %rcx, where samples land: the load
 * right before goes on to another line each eighth time, the other one each time. */
static void the_likelier_one_of_two_loads_comes_first(void **state)
{
	own(function_code_fini) struct function_code c;
	own(stall_fini) struct stalls s = { 0 };
	own(buf_fini) struct buf b = { 0 };

	(void)state;
	waiting_loop_make(
		&c,
		WAITING_LOOP_CODE("\x48\x8b\x00\x48\x83\xc6\x08\x48\x8b\x1e\x48\xf7\xd1"),
		3);
	c.model = machine_model_find("zen5");
	stall_find(&s, &c);
	describe(&c, &s.of_step[3], &b);
	assert_string_equal(buf_str(&b),
			    "D-cache miss of 0, DTLB miss of 0, D-cache miss of 7 "
			    "<125.0, DTLB miss of 7 <2.0");
}

/* not %rax, which waits; not %rcx; dec; jnz */
static void what_waits_anyway_may_wait_as_long_again(void **state)
{
	static const struct {
		enum schedule_wait wait;
		double each; /* of the loop's four instructions, by the model */
		const char *causes;
	} t[] = {
		{ SCHEDULE_WAIT_PORT, 5.5, "port <22.0" },
		{ SCHEDULE_WAIT_PORT, 3, "port <12.0, unexplained 8.0" },
		{ SCHEDULE_WAIT_PORT, 1.2, "unexplained 20.0" }, /* not a quarter */
		{ SCHEDULE_WAIT_FRONT_END, 3, "front end <12.0, unexplained 8.0" },
		{ SCHEDULE_WAIT_DEPENDENCY, 3, "unexplained 20.0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(function_code_fini) struct function_code c;
		own(stall_fini) struct stalls s = { 0 };
		own(buf_fini) struct buf b = { 0 };

		waiting_loop_make(&c, "\x48\xf7\xd0\x48\xf7\xd1", 6, 0);
		for (uint32_t k = 0; k < c.procedure->blocks[0].n_steps; k++)
			c.steps[k].waits[t[i].wait] = t[i].each;
		stall_find(&s, &c);
		describe(&c, &s.of_step[0], &b);
		assert_string_equal(buf_str(&b), t[i].causes);
	}
}

static void so_is_it_in_code_of_aarch64(void **state)
{
	static const struct stall_case t[] = {
		/* ldr x0, [x0]: anywhere */
		{ WAITING_LOOP_CODE("\x00\x00\x40\xf9"), 0, false,
		  "D-cache miss of 0, DTLB miss of 0" },
		/* ldr x0, [x1]: always the same; another thread may take it away */
		{ WAITING_LOOP_CODE("\x20\x00\x40\xf9"), 0, false, "unexplained 20.0" },
		/* ldr x0, [x1] */
		{ WAITING_LOOP_CODE("\x20\x00\x40\xf9"), 0, true, "D-cache miss of 0" },
		/* ldr x0, [x1], #8: a new page each 512 times */
		{ WAITING_LOOP_CODE("\x20\x84\x40\xf8"), 0, false,
		  "D-cache miss of 0 <125.0, DTLB miss of 0 <2.0" },
		/* ldr x0, [sp, #8]: a frame is where others were before */
		{ WAITING_LOOP_CODE("\xe0\x07\x40\xf9"), 0, false, "unexplained 20.0" },
		/* strb w0, [x1]; ldr x0, [x1] */
		{ WAITING_LOOP_CODE("\x20\x00\x00\x39\x20\x00\x40\xf9"), 1, false,
		  "store forwarding of 0" },
		/* udiv x0, x1, x2 */
		{ WAITING_LOOP_CODE("\x20\x08\xc2\x9a"), 0, false, "divider of 0" },
		/* dmb ish; mvn x0, x0; mvn x1, x1 */
		{ WAITING_LOOP_CODE("\xbf\x3b\x03\xd5\xe0\x03\x20\xaa\xe1\x03\x21\xaa"),
		  1, false, "synchronisation of 0" },
		/* mvn x0, x0 */
		{ WAITING_LOOP_CODE("\xe0\x03\x20\xaa"), 0, false, "unexplained 20.0" },
	};

	(void)state;
	check_causes(EM_AARCH64, t, sizeof(t) / sizeof(t[0]));
}

/* Samples of an event, each of 100, by the step where they landed; [n] elsewhere. */
struct events_case {
	const char *event;
	double samples[6];
	const char *causes;
};

static void take_events(struct function_code *c, const struct events_case *t)
{
	struct miss_samples_event *e = &c->misses.events[c->misses.n++];
	uint32_t n = c->procedure->n_steps;

	*e = (struct miss_samples_event){
		.name = event_name_find(t->event),
		.column = t->event,
		.is_precise = event_name_is_precise(t->event),
		.n_runs = 1,
		.each = 100,
		.of_step = xcalloc(n + 1, sizeof(*e->of_step)),
	};
	assert_non_null(e->name);
	for (uint32_t i = 0; i <= n; i++) {
		e->of_step[i] = i < n ? t->samples[i] : 0;
		e->all += t->samples[i];
	}
}

/* mov (%rax),%rax; not %rcx; dec; jnz; ret: of a million times 20 cycles are 200 samples
 * of the worst miss. */
static void misses_that_were_sampled_bound_causes(void **state)
{
	static const struct events_case t[] = {
		/* as many as there are may be */
		{ "l1d-misses:u", { 0, 0, 250 }, "D-cache miss of 0, DTLB miss of 0" },
		/* 20 at the most, wherever they landed in the loop */
		{ "l1d-misses:u",
		  { 6, 1, 2, 1, 0, 500 },
		  "D-cache miss of 0 <1.8 by l1d-misses:u, DTLB miss of 0" },
		/* none, but what the second level of the buffer takes */
		{ "dtlb-misses",
		  { 0, 0, 0, 0, 0, 500 },
		  "D-cache miss of 0, DTLB miss of 0 <10.3 by dtlb-misses" },
		/* another one's, if the CPU says so */
		{ "l1d-misses:pp", { 0, 0, 250 }, "DTLB miss of 0" },
		{ "l1d-misses:pp",
		  { 0, 90 },
		  "D-cache miss of 0 <11.0 by l1d-misses:pp, DTLB miss of 0" },
		/* a nearer level may have missed all the same */
		{ "cache-misses:u", { 0 }, "D-cache miss of 0, DTLB miss of 0" },
		{ "branch-misses:u", { 0 }, "D-cache miss of 0, DTLB miss of 0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(function_code_fini) struct function_code c;
		own(stall_fini) struct stalls s = { 0 };
		own(buf_fini) struct buf b = { 0 };

		waiting_loop_make(&c, WAITING_LOOP_CODE("\x48\x8b\x00\x48\xf7\xd1"), 0);
		take_events(&c, &t[i]);
		stall_find(&s, &c);
		describe(&c, &s.of_step[0], &b);
		if (strcmp(buf_str(&b), t[i].causes) != 0)
			print_error("# case %zu: %s\n", i, buf_str(&b));
		assert_string_equal(buf_str(&b), t[i].causes);
	}
}

/* What is called may have them. */
static void samples_elsewhere_count_where_calls_lead_there(void **state)
{
	static const struct events_case t = { "dtlb-misses", { 0 }, "" };
	static const char with_call[] = "\x48\x8b\x00\xe8\x00\x01\x00\x00";

	(void)state;
	for (unsigned turn = 0; turn < 2; turn++) {
		own(function_code_fini) struct function_code c;
		struct stall_events_bound b;

		waiting_loop_make(&c, with_call, sizeof(with_call) - 1, 0);
		take_events(&c, &t);
		c.misses.events[0].all = turn ? 1000 : 0;
		b = stall_events_most(&c, STALL_DTLB, 0, 0, WAITING_LOOP_TIMES);
		assert_string_equal(b.event, "dtlb-misses");
		assert_true(turn ? b.most > 100 : b.most < 11);
		b = stall_events_most(&c, STALL_DCACHE, 0, 0, WAITING_LOOP_TIMES);
		assert_true(b.most < 0);
	}
}

/* What was seen of the places that a load accesses. */
struct seen_case {
	uint64_t samples, unknown, lines, pages, once;
	uint64_t span; /* bytes, 0: not told */
	const char *model;
	bool has_threads;
	const char *causes;
};

static void see_places(struct function_code *c, const struct seen_case *t)
{
	struct model_access met = { .what = ACCESS_MET,
				    .value = t->samples,
				    .times = 10 * t->samples };
	struct model_access not_met = { .what = ACCESS_UNKNOWN, .times = t->unknown };

	access_places_init(&c->accesses, c->procedure->n_steps);
	access_places_add(&c->accesses, 0, &met);
	access_places_add(&c->accesses, 0, &not_met);
	for (uint64_t i = 0; i < t->lines + t->once; i++)
		access_places_add(
			&c->accesses, 0,
			&(struct model_access){ .what = ACCESS_LINE,
						.value = distinct_hash(i),
						.times = i < t->lines ? 1000 : 1 });
	for (uint64_t i = 0; i < t->pages; i++)
		access_places_add(&c->accesses, 0,
				  &(struct model_access){ .what = ACCESS_PAGE,
							  .value = distinct_hash(i),
							  .times = 1000 });
	for (unsigned i = 0; t->span && i < 2; i++)
		access_places_add(&c->accesses, 0,
				  &(struct model_access){
					  .what = i ? ACCESS_HIGHEST : ACCESS_LOWEST,
					  .value = WAITING_LOOP_START + i * t->span,
					  .times = 1 });
	c->steps[1].samples = t->samples;
	if (t->model)
		c->model = machine_model_find(t->model);
}

/* mov (%rax),%rax, from anywhere as far as the code tells. */
static void places_that_were_seen_rule_causes_out(void **state)
{
	static const struct seen_case t[] = {
		{ 2000, 0, 10, 2, 0, 0, NULL, false,
		  "DTLB miss of 0 <1.5, unexplained 18.5" },
		/* others may take lines away, not pages */
		{ 2000, 0, 10, 2, 0, 0, NULL, true,
		  "D-cache miss of 0, DTLB miss of 0 <1.5" },
		/* more than are at hand */
		{ 2000, 0, 1000, 2, 0, 0, NULL, false,
		  "D-cache miss of 0, DTLB miss of 0 <1.5" },
		{ 2000, 0, 1000, 100, 0, 0, NULL, false,
		  "D-cache miss of 0, DTLB miss of 0" },
		/* one of 400 is another one each time */
		{ 2000, 0, 5, 2, 20, 0, NULL, false,
		  "D-cache miss of 0 <6.0, DTLB miss of 0 <1.5, unexplained 12.5" },
		/* of one of ten nobody knows */
		{ 2000, 2000, 10, 2, 0, 0, NULL, false,
		  "D-cache miss of 0 <91.2, DTLB miss of 0 <92.4" },
		/* what the second level holds costs little */
		{ 2000, 0, 1000, 100, 0, 0, "zen5", false,
		  "D-cache miss of 0 <28.1, DTLB miss of 0 <10.1" },
		/* most were not seen, but lie between some that were */
		{ 2000, 0, 0, 0, 4000, 300000, "zen5", false,
		  "D-cache miss of 0 <31.1, DTLB miss of 0 <13.2" },
		{ 2000, 0, 0, 0, 4000, 300000, NULL, false,
		  "D-cache miss of 0, DTLB miss of 0" },
		/* one line of each page: these are too many */
		{ 2000, 0, 8000, 8000, 0, 0, "zen5", false,
		  "DTLB miss of 0, D-cache miss of 0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(function_code_fini) struct function_code c;
		own(stall_fini) struct stalls s = { 0 };
		own(buf_fini) struct buf b = { 0 };

		waiting_loop_make(&c, WAITING_LOOP_CODE("\x48\x8b\x00"), 0);
		c.is_alone = !t[i].has_threads;
		see_places(&c, &t[i]);
		stall_find(&s, &c);
		describe(&c, &s.of_step[0], &b);
		if (strcmp(buf_str(&b), t[i].causes) != 0)
			print_error("# case %zu: %s\n", i, buf_str(&b));
		assert_string_equal(buf_str(&b), t[i].causes);
	}
}

/* mov (%rax),%rax, which may wait for what it is fetched by, too */
static void what_is_at_hand_as_far_as_was_seen_comes_last(void **state)
{
	static const struct {
		struct seen_case seen;
		const char *causes;
	} t[] = {
		{ { 2000, 2000, 10, 2, 0, 0, NULL, false, NULL },
		  "front end <15.0, D-cache miss of 0 <91.2, DTLB miss of 0 <92.4" },
		{ { 2000, 2000, 1000, 200, 0, 0, NULL, false, NULL },
		  "D-cache miss of 0, DTLB miss of 0, front end <15.0" },
		/* another thread may take lines away */
		{ { 2000, 2000, 10, 2, 0, 0, NULL, true, NULL },
		  "D-cache miss of 0, DTLB miss of 0 <92.4, front end <15.0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(function_code_fini) struct function_code c;
		own(stall_fini) struct stalls s = { 0 };
		own(buf_fini) struct buf b = { 0 };

		waiting_loop_make(&c, WAITING_LOOP_CODE("\x48\x8b\x00"), 0);
		for (uint32_t k = 0; k < c.procedure->blocks[0].n_steps; k++)
			c.steps[k].waits[SCHEDULE_WAIT_FRONT_END] = 5;
		c.is_alone = !t[i].seen.has_threads;
		see_places(&c, &t[i].seen);
		stall_find(&s, &c);
		describe(&c, &s.of_step[0], &b);
		assert_string_equal(buf_str(&b), t[i].causes);
	}
}

/* mov (%rsi),%rax; add $8,%rsi, which may wait for what it is fetched by, too */
static void who_explains_next_to_nothing_of_the_longest_comes_last(void **state)
{
	static const struct {
		double times_low; /* of a million */
		const char *causes;
	} t[] = {
		{ 1e6, "D-cache miss of 0 <125.0, DTLB miss of 0 <2.0, front end <15.0" },
		{ 3e5, "D-cache miss of 0 <125.0, front end <15.0, DTLB miss of 0 <2.0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(function_code_fini) struct function_code c;
		own(stall_fini) struct stalls s = { 0 };
		own(buf_fini) struct buf b = { 0 };

		waiting_loop_make(&c, WAITING_LOOP_CODE("\x48\x8b\x06\x48\x83\xc6\x08"),
				  0);
		for (uint32_t k = 0; k < c.procedure->blocks[0].n_steps; k++)
			c.steps[k].waits[SCHEDULE_WAIT_FRONT_END] = 3.75;
		c.blocks[0].times_low = t[i].times_low;
		stall_find(&s, &c);
		describe(&c, &s.of_step[0], &b);
		assert_string_equal(buf_str(&b), t[i].causes);
	}
}

/* not %rcx; dec; jnz back as often as not: what the processor says of it counts. */
static void what_was_foreseen_is_not_to_blame(void **state)
{
	static const struct {
		uint64_t missed, foreseen;
		const char *causes;
	} t[] = {
		{ 0, 0, "mispredict of 6 <20.0, unexplained 0.0" },
		{ 500, 500, "mispredict of 6 <10.9, unexplained 9.1" },
		{ 100, 900, "mispredict of 6 <2.4, unexplained 17.6" },
		{ 10, 990, "unexplained 20.0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(function_code_fini) struct function_code c;
		own(stall_fini) struct stalls s = { 0 };
		own(buf_fini) struct buf b = { 0 };

		waiting_loop_make(&c, WAITING_LOOP_CODE("\x48\xf7\xd1"), 0);
		c.steps[0].cycles -= WAITING_LOOP_WAITED * WAITING_LOOP_TIMES;
		c.blocks[0].arrival += WAITING_LOOP_WAITED * WAITING_LOOP_TIMES;
		for (uint32_t k = 0; k < c.procedure->n_ways; k++) {
			if (c.procedure->ways[k].from != 0)
				continue;
			c.ways[k].times = WAITING_LOOP_TIMES / 2;
			if (c.procedure->ways[k].to != 0)
				continue;
			c.ways[k].missed = t[i].missed;
			c.ways[k].foreseen = t[i].foreseen;
		}
		for (uint32_t k = 0; k < c.procedure->n_ways; k++)
			c.ways[k].times_low = c.ways[k].times_high = c.ways[k].times;
		stall_find(&s, &c);
		describe(&c, &s.of_arrival[0], &b);
		if (strcmp(buf_str(&b), t[i].causes) != 0)
			print_error("# case %zu: %s\n", i, buf_str(&b));
		assert_string_equal(buf_str(&b), t[i].causes);
	}
}

/* call 0x4000; dec; jnz: what comes back from the call is fetched again, but hardly ever
 * where its line is one of those that are executed all the time. */
static void code_that_stays_at_hand_is_hardly_to_blame(void **state)
{
	static const struct {
		double refills; /* in a million times */
		const char *causes;
	} t[] = {
		{ -1, "mispredict <20.0, I-cache miss, other" },
		{ 1e6, "mispredict <20.0, I-cache miss, other" },
		{ 15e3, "mispredict <20.0, other, I-cache miss <15.0" },
		{ 5e3, "mispredict <20.0, other, I-cache miss <5.0" },
		{ 500, "mispredict <20.0, other" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(function_code_fini) struct function_code c;
		own(stall_fini) struct stalls s = { 0 };
		own(buf_fini) struct buf b = { 0 };

		waiting_loop_make(&c, WAITING_LOOP_CODE("\xe8\xfb\x2f\x00\x00"), 0);
		c.heat = (struct code_heat_lines){
			.first = WAITING_LOOP_START / 64,
			.n = 1,
			.is_hot = xcalloc(1, sizeof(*c.heat.is_hot)),
			.refills = t[i].refills,
			.page_refills = t[i].refills,
		};
		c.heat.is_hot[0] = true;
		stall_find(&s, &c);
		describe(&c, &s.of_step[0], &b);
		if (strcmp(buf_str(&b), t[i].causes) != 0)
			print_error("# case %zu: %s\n", i, buf_str(&b));
		assert_string_equal(buf_str(&b), t[i].causes);
	}
}

/* A loop of a thousand turns in one of as many: where that is entered its code may be
 * missing, not where this one is. */
static void code_is_fetched_once_for_the_widest_loop(void **state)
{
	/* not %rcx; 3: not %rax; dec %rdi; jnz 3; dec %rsi; jnz 0; ret */
	static const uint8_t code[] = "\x48\xf7\xd1\x48\xf7\xd0\x48\xff\xcf\x75\xf8"
				      "\x48\xff\xce\x75\xf0\xc3";
	static const double times[] = { 1e3, 1e6, 1e3, 1 };
	struct procedure_range range = { .address = WAITING_LOOP_START,
					 .code = code,
					 .size = sizeof(code) - 1 };
	struct procedure_options o = { .machine = EM_X86_64,
				       .ranges = &range,
				       .n_ranges = 1,
				       .entry = WAITING_LOOP_START };
	own(function_code_fini) struct function_code c = { 0 };
	struct stall_loop l;

	(void)state;
	assert_int_equal(procedure_new(&o, &c.procedure, NULL), 0);
	assert_int_equal(c.procedure->n_blocks, 4);
	c.steps = xcalloc(c.procedure->n_steps + 1, sizeof(*c.steps));
	c.blocks = xcalloc(5, sizeof(*c.blocks));
	c.ways = xcalloc(c.procedure->n_ways + 1, sizeof(*c.ways));
	for (unsigned i = 0; i < 4; i++)
		c.blocks[i].times = times[i];
	for (uint32_t i = 0; i < c.procedure->n_ways; i++) {
		const struct procedure_way *w = &c.procedure->ways[i];
		bool is_entry = w->from == PROCEDURE_OUTSIDE;
		double least = is_entry || w->to == PROCEDURE_OUTSIDE
				       ? 1
				       : fmin(times[w->from], times[w->to]);

		c.ways[i].times = w->from == w->to ? least - 1e3 : least;
	}
	stall_loop_find(&l, &c, 1);
	assert_int_equal(l.n_blocks, 1);
	assert_true(fabs(l.entries - 1e-3) < 1e-9);
	assert_true(fabs(stall_loop_code_reach(&l).lines - 1e-6) < 1e-9);
	stall_loop_fini(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whoever_cannot_be_ruled_out_is_guilty),
		cmocka_unit_test(a_store_that_is_not_taken_in_holds_up_the_way_there),
		cmocka_unit_test(
			what_retires_together_is_blamed_for_what_none_else_can_be),
		cmocka_unit_test(some_of_a_long_wait_lands_behind_it),
		cmocka_unit_test(some_of_a_stores_wait_lands_behind_it),
		cmocka_unit_test(some_of_a_wait_for_a_store_lands_behind_that),
		cmocka_unit_test(the_likelier_one_of_two_loads_comes_first),
		cmocka_unit_test(what_waits_anyway_may_wait_as_long_again),
		cmocka_unit_test(so_is_it_in_code_of_aarch64),
		cmocka_unit_test(misses_that_were_sampled_bound_causes),
		cmocka_unit_test(samples_elsewhere_count_where_calls_lead_there),
		cmocka_unit_test(places_that_were_seen_rule_causes_out),
		cmocka_unit_test(what_is_at_hand_as_far_as_was_seen_comes_last),
		cmocka_unit_test(who_explains_next_to_nothing_of_the_longest_comes_last),
		cmocka_unit_test(what_was_foreseen_is_not_to_blame),
		cmocka_unit_test(code_is_fetched_once_for_the_widest_loop),
		cmocka_unit_test(code_that_stays_at_hand_is_hardly_to_blame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
