/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/schedule.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_TURNS 400

/* Cycles of a turn of the code, once it goes on and on. */
static double cycles_of(const struct machine_model *m, const char *code, size_t size,
			bool is_taken)
{
	own(operation_reader_freep) struct operation_reader *r = NULL;
	own(schedule_freep) struct schedule *s = schedule_new(m);
	double half = 0, now = 0, before = 0;

	assert_int_equal(operation_reader_new(m->machine, &r, NULL), 0);
	for (int turn = 0; turn < N_TURNS; turn++) {
		struct operation o;

		if (turn == N_TURNS / 2)
			half = now;
		for (size_t at = 0; at < size; at += o.size) {
			assert_true(operation_read(r, (const uint8_t *)code + at,
						   size - at, at, &o));
			now = schedule_step(s, &o, is_taken && at + o.size == size);
			assert_true(now >= before);
			before = now;
		}
	}
	return (now - half) / (N_TURNS - N_TURNS / 2);
}

static bool is_about(double value, double expected)
{
	return value > expected * 0.98 && value < expected * 1.02;
}

#define CODE(text) text, sizeof(text) - 1

/* What every manual says, of the machine whose name it is. */
static const struct {
	const char *machine, *code;
	size_t size;
	double cycles;
} loops[] = {
	/* imul %rcx,%rax, one after the other */
	{ "zen4", CODE("\x48\x0f\xaf\xc1"), 3 },
	{ "golden-cove", CODE("\x48\x0f\xaf\xc1"), 3 },
	{ "generic-x86-64", CODE("\x48\x0f\xaf\xc1"), 3 },
	/* add %rcx,%rax */
	{ "zen4", CODE("\x48\x01\xc8"), 1 },
	/* add $1,%rax, which needs no port on one of them */
	{ "zen4", CODE("\x48\x83\xc0\x01"), 1 },
	{ "golden-cove", CODE("\x48\x83\xc0\x01"), 1.0 / 6 },
	/* mov (%rax),%rax */
	{ "zen4", CODE("\x48\x8b\x00"), 4 },
	{ "golden-cove", CODE("\x48\x8b\x00"), 5 },
	/* addsd %xmm1,%xmm0 */
	{ "zen4", CODE("\xf2\x0f\x58\xc1"), 3 },
	/* vaddpd %ymm1,%ymm2,%ymm0, of which two begin in each cycle */
	{ "zen4", CODE("\xc5\xed\x58\xc1"), 0.5 },
	/* mov %rcx,%rax */
	{ "zen4", CODE("\x48\x89\xc8"), 1.0 / 6 },
	{ "generic-x86-64", CODE("\x48\x89\xc8"), 1.0 / 4 },
	/* xor %eax,%eax; imul %rax,%rax: not one after the other */
	{ "zen4", CODE("\x31\xc0\x48\x0f\xaf\xc0"), 1 },
	/* add $1,(%rsi): through memory, by name or not */
	{ "zen4", CODE("\x48\x83\x06\x01"), 1 },
	{ "generic-x86-64", CODE("\x48\x83\x06\x01"), 6 },
	/* add $1,(%rsi); add $8,%rsi: another place each time */
	{ "generic-x86-64", CODE("\x48\x83\x06\x01\x48\x83\xc6\x08"), 1 },
	/* push %rax; pop %rcx */
	{ "zen4", CODE("\x50\x59"), 2.0 / 3 },
	/* divsd %xmm1,%xmm0 */
	{ "zen4", CODE("\xf2\x0f\x5e\xc1"), 13 },
	/* imul, addsd, add %rcx, paddd of this one */
	{ "zen5", CODE("\x48\x0f\xaf\xc1"), 3 },
	{ "zen5", CODE("\xf2\x0f\x58\xc1"), 2 },
	{ "zen5", CODE("\x48\x01\xc8"), 1 },
	{ "zen5", CODE("\x66\x0f\xfe\xc1"), 2 },
	/* add $1023,%rax and add $1024,%rax; lea 8(%rax),%rax, lea 8(%rax),%eax */
	{ "redwood-cove", CODE("\x48\x05\xff\x03\x00\x00"), 1.0 / 6 },
	{ "redwood-cove", CODE("\x48\x05\x00\x04\x00\x00"), 1 },
	{ "redwood-cove", CODE("\x48\x8d\x40\x08"), 1.0 / 6 },
	{ "redwood-cove", CODE("\x8d\x40\x08"), 1 },
	{ "golden-cove", CODE("\x48\x8d\x40\x08"), 1 },
	/* lea 5(%rax,%rcx),%rax; lea (%rax,%rcx,4),%rax; lea 5(%rax,%rcx,4),%rax */
	{ "redwood-cove", CODE("\x48\x8d\x44\x08\x05"), 1 },
	{ "redwood-cove", CODE("\x48\x8d\x04\x88"), 2 },
	{ "redwood-cove", CODE("\x48\x8d\x44\x88\x05"), 2 },
	{ "skylake", CODE("\x48\x8d\x04\x88"), 1 },
	{ "skylake", CODE("\x48\x8d\x44\x88\x05"), 3 },
	/* movzbl %al,%ecx; movzbl %cl,%eax: not where it is the same register, nor %ah,
	 * nor 16 bits */
	{ "redwood-cove", CODE("\x0f\xb6\xc8\x0f\xb6\xc1"), 2.0 / 6 },
	{ "golden-cove", CODE("\x0f\xb6\xc8\x0f\xb6\xc1"), 2.0 / 6 },
	{ "redwood-cove", CODE("\x0f\xb6\xc0"), 1 },
	{ "redwood-cove", CODE("\x0f\xb6\xcc\x0f\xb6\xc1"), 1 },
	{ "redwood-cove", CODE("\x0f\xb7\xc8\x0f\xb7\xc1"), 2 },
	/* mov $1,%eax */
	{ "redwood-cove", CODE("\xb8\x01\x00\x00\x00"), 1.0 / 6 },
	{ "golden-cove", CODE("\xb8\x01\x00\x00\x00"), 1.0 / 5 },
	/* shl %cl,%rax; bswap %rax: two parts each */
	{ "redwood-cove", CODE("\x48\xd3\xe0"), 1 },
	{ "golden-cove", CODE("\x48\xd3\xe0"), 1 },
	{ "redwood-cove", CODE("\x48\x0f\xc8"), 2 },
	{ "golden-cove", CODE("\x48\x0f\xc8"), 2 },
	/* mov %rax,(%rsi); mov (%rsi),%rax: by name, alone and before not, but not before
	 * add %rcx,%rax, which it is one with */
	{ "redwood-cove", CODE("\x48\x89\x06\x48\x8b\x06"), 0.5 },
	{ "redwood-cove", CODE("\x48\x89\x06\x48\x8b\x06\x48\xf7\xd0"), 1 },
	{ "redwood-cove", CODE("\x48\x89\x06\x48\x8b\x06\x48\x01\xc8"), 7 },
	{ "golden-cove", CODE("\x48\x89\x06\x48\x8b\x06\x48\x01\xc8"), 1 },
	/* ... cmp %rcx,%rax; not %rdx and then add %rcx,%rax; add $1,%rax */
	{ "redwood-cove", CODE("\x48\x89\x06\x48\x8b\x06\x48\x39\xc8"), 0.5 },
	{ "redwood-cove", CODE("\x48\x89\x06\x48\x8b\x06\x48\xf7\xd2\x48\x01\xc8"), 1 },
	{ "redwood-cove", CODE("\x48\x89\x06\x48\x8b\x06\x48\x83\xc0\x01"), 0.5 },
	/* mov %rax,(%rsi); add (%rsi),%rax.  add $1,(%rsi); add %rcx,(%rsi) */
	{ "redwood-cove", CODE("\x48\x89\x06\x48\x03\x06"), 1 },
	{ "redwood-cove", CODE("\x48\x83\x06\x01"), 1 },
	{ "redwood-cove", CODE("\x48\x01\x0e"), 7 },
	/* imul, addsd, add $1, mov (%rax) and mov of these */
	{ "skylake", CODE("\x48\x0f\xaf\xc1"), 3 },
	{ "zen3", CODE("\x48\x0f\xaf\xc1"), 3 },
	{ "skylake", CODE("\xf2\x0f\x58\xc1"), 4 },
	{ "zen3", CODE("\xf2\x0f\x58\xc1"), 3 },
	{ "skylake", CODE("\x48\x83\xc0\x01"), 1 },
	{ "skylake", CODE("\x48\x8b\x00"), 5 },
	{ "skylake", CODE("\x48\x89\xc8"), 1.0 / 4 },
	/* mul w0, w0, w1 */
	{ "neoverse-n1", CODE("\x00\x7c\x01\x1b"), 2 },
	/* mul x0, x0, x1 */
	{ "neoverse-n1", CODE("\x00\x7c\x01\x9b"), 4 },
	/* mul x0, x0, x1 */
	{ "neoverse-v1", CODE("\x00\x7c\x01\x9b"), 2 },
	/* add x0, x0, x1 */
	{ "generic-aarch64", CODE("\x00\x00\x01\x8b"), 1 },
	/* ldr x0, [x0] */
	{ "neoverse-n1", CODE("\x00\x00\x40\xf9"), 4 },
	/* fadd d0, d0, d1 */
	{ "neoverse-v1", CODE("\x00\x28\x61\x1e"), 2 },
	/* fdiv d0, d0, d1 */
	{ "neoverse-n1", CODE("\x00\x18\x61\x1e"), 15 },
	/* fadd v0.2d, v1.2d, v2.2d */
	{ "neoverse-n1", CODE("\x20\xd4\x62\x4e"), 0.5 },
	/* fadd v0.2d, v1.2d, v2.2d */
	{ "neoverse-v1", CODE("\x20\xd4\x62\x4e"), 0.25 },
	/* ldp x0, x2, [x1] */
	{ "neoverse-n1", CODE("\x20\x08\x40\xa9"), 1 },
	/* ldp x0, x2, [x1] */
	{ "neoverse-v1", CODE("\x20\x08\x40\xa9"), 2.0 / 3 },
	/* stp q0, q1, [x1] */
	{ "neoverse-n1", CODE("\x20\x04\x00\xad"), 2 },
	/* ldr x0, [x1], #8 */
	{ "neoverse-n1", CODE("\x20\x84\x40\xf8"), 1 },
	/* mov x0, x1 */
	{ "neoverse-v1", CODE("\xe0\x03\x01\xaa"), 1.0 / 8 },
	/* mov x0, x1 */
	{ "neoverse-n1", CODE("\xe0\x03\x01\xaa"), 1.0 / 3 },
};

static void loops_take_what_they_are_known_to_take(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		const struct machine_model *m = machine_model_find(loops[i].machine);
		double cycles;

		assert_non_null(m);
		cycles = cycles_of(m, loops[i].code, loops[i].size, false);
		if (!is_about(cycles, loops[i].cycles))
			print_error("# case %zu: %g instead of %g\n", i, cycles,
				    loops[i].cycles);
		assert_true(is_about(cycles, loops[i].cycles));
	}
}

static void taken_branches_have_a_distance(void **state)
{
	const struct machine_model *m = machine_model_find("zen4");

	(void)state;
	/* jmp on; nop; jne, taken and not */
	assert_true(is_about(cycles_of(m, CODE("\xeb\x00"), true), 1));
	assert_true(is_about(cycles_of(m, CODE("\x75\x00"), true), 1));
	assert_true(is_about(cycles_of(m, CODE("\x75\x00"), false), 0.5));
	/* call and ret */
	assert_true(is_about(cycles_of(m, CODE("\xc3"), true), 2));
}

/* Renaming does a small sum, but not one that is one with the branch behind it. */
static void a_sum_that_is_one_with_its_branch_is_computed(void **state)
{
	const struct machine_model *m = machine_model_find("redwood-cove");

	(void)state;
	/* jmp on; dec %rdi, alone and before jnz and before nop; jnz */
	assert_true(is_about(cycles_of(m, CODE("\xeb\x00"), true), 1.0 / 3));
	assert_true(is_about(cycles_of(m, CODE("\x48\xff\xcf"), false), 1.0 / 6));
	assert_true(is_about(cycles_of(m, CODE("\x48\xff\xcf\x75\x00"), true), 1));
	assert_true(is_about(cycles_of(m, CODE("\x48\xff\xcf\x90\x75\x00"), true), 0.5));
}

/* The waits of a turn, once it goes on and on, by cause; the rest is by the width. */
static double waits_of(const struct machine_model *m, const char *code, size_t size,
		       bool is_taken, double waits[SCHEDULE_N_WAITS])
{
	own(operation_reader_freep) struct operation_reader *r = NULL;
	own(schedule_freep) struct schedule *s = schedule_new(m);
	double half = 0, now = 0;

	memset(waits, 0, SCHEDULE_N_WAITS * sizeof(*waits));
	assert_int_equal(operation_reader_new(EM_X86_64, &r, NULL), 0);
	for (int turn = 0; turn < N_TURNS; turn++) {
		struct operation o;

		if (turn == N_TURNS / 2)
			half = now;
		for (size_t at = 0; at < size; at += o.size) {
			assert_true(operation_read(r, (const uint8_t *)code + at,
						   size - at, at, &o));
			now = schedule_step(s, &o, is_taken && at + o.size == size);
			if (turn >= N_TURNS / 2)
				schedule_add_waits(s, waits);
		}
	}
	for (unsigned i = 0; i < SCHEDULE_N_WAITS; i++)
		waits[i] /= N_TURNS - N_TURNS / 2;
	return (now - half) / (N_TURNS - N_TURNS / 2);
}

/* Five jmp, dec %rdi and jnz: what they wait for is the code behind taken branches, also
 * the last one, which is one with the sum before it. */
static void what_is_one_with_the_one_before_is_fetched_with_it(void **state)
{
	static const char code[] = "\xeb\x00\xeb\x00\xeb\x00\xeb\x00\xeb\x00"
				   "\x48\xff\xcf\x75\x00";
	own(operation_reader_freep) struct operation_reader *r = NULL;
	own(schedule_freep) struct schedule *s =
		schedule_new(machine_model_find("redwood-cove"));
	double waits[SCHEDULE_N_WAITS] = { 0 }, now = 0;

	(void)state;
	assert_int_equal(operation_reader_new(EM_X86_64, &r, NULL), 0);
	for (int turn = 0; turn < N_TURNS; turn++) {
		struct operation o;

		for (size_t at = 0; at < sizeof(code) - 1; at += o.size) {
			assert_true(operation_read(r, (const uint8_t *)code + at,
						   sizeof(code) - 1 - at, at, &o));
			now = schedule_step(s, &o, o.class != OPERATION_ADD);
			schedule_add_waits(s, waits);
		}
	}
	assert_true(is_about(now / N_TURNS, 2)); /* six branches, three a cycle */
	assert_true(waits[SCHEDULE_WAIT_FRONT_END] / N_TURNS > 0.9);
	assert_true(waits[SCHEDULE_WAIT_DEPENDENCY] / N_TURNS < 0.1);
}

/* How many steps back the last instruction's wait is for, once they go on and on. */
static uint64_t waited_for(const char *code, size_t size)
{
	own(operation_reader_freep) struct operation_reader *r = NULL;
	own(schedule_freep) struct schedule *s = schedule_new(machine_model_find("zen4"));
	struct operation o;

	assert_int_equal(operation_reader_new(EM_X86_64, &r, NULL), 0);
	for (int turn = 0; turn < N_TURNS; turn++)
		for (size_t at = 0; at < size; at += o.size) {
			assert_true(operation_read(r, (const uint8_t *)code + at,
						   size - at, at, &o));
			schedule_step(s, &o, false);
		}
	return schedule_waited_for(s);
}

static void who_was_waited_for_is_known(void **state)
{
	static const struct {
		const char *code;
		size_t size;
		uint64_t back;
	} t[] = {
		/* mov (%rax),%rax: for itself */
		{ CODE("\x48\x8b\x00"), 1 },
		/* mov (%rax),%rax; nop; add %rcx,%rax: the load */
		{ CODE("\x48\x8b\x00\x90\x48\x01\xc8"), 2 },
		/* movq %xmm0,8(%rsi); movq 8(%rsi),%xmm0: who stored */
		{ CODE("\x66\x0f\xd6\x46\x08\xf3\x0f\x7e\x46\x08"), 1 },
		/* imul %rcx,%rcx,3 to four registers wait for a port */
		{ CODE("\x48\x6b\xc1\x03\x48\x6b\xd1\x03\x48\x6b\xd9\x03\x48\x6b\xf1"
		       "\x03"),
		  0 },
		/* div %rcx: its own work */
		{ CODE("\x48\xf7\xf1"), 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_int_equal(waited_for(t[i].code, t[i].size), t[i].back);
}

/* Whoever is slower than the machine is wide waits for something that can be named. */
static void who_leaves_late_waited_for_something(void **state)
{
	static const struct {
		const char *code;
		size_t size;
		bool is_taken;
		unsigned slots, wait;
	} t[] = {
		/* imul %rcx,%rax */
		{ CODE("\x48\x0f\xaf\xc1"), false, 1, SCHEDULE_WAIT_DEPENDENCY },
		/* mov (%rax),%rax */
		{ CODE("\x48\x8b\x00"), false, 1, SCHEDULE_WAIT_DEPENDENCY },
		/* imul %rcx,%rcx,3 to four registers, one a cycle */
		{ CODE("\x48\x6b\xc1\x03\x48\x6b\xd1\x03\x48\x6b\xd9\x03\x48\x6b\xf1"
		       "\x03"),
		  false, 4, SCHEDULE_WAIT_PORT },
		/* imul $3,%rcx,%rax; add %rax,%rdx: the sum waits for who waits */
		{ CODE("\x48\x6b\xc1\x03\x48\x01\xc2\x48\x6b\xd9\x03\x48\x01\xde"), false,
		  4, SCHEDULE_WAIT_PORT },
		/* div %rcx */
		{ CODE("\x48\xf7\xf1"), false, 2, SCHEDULE_WAIT_DIVIDER },
		/* divsd %xmm1,%xmm0 */
		{ CODE("\xf2\x0f\x5e\xc1"), false, 1, SCHEDULE_WAIT_DIVIDER },
		/* lock xadd %rax,(%rsi) */
		{ CODE("\xf0\x48\x0f\xc1\x06"), false, 6, SCHEDULE_WAIT_SYNC },
		/* jmp to the next one */
		{ CODE("\xeb\x00"), true, 1, SCHEDULE_WAIT_FRONT_END },
		/* mov %rcx,%rax: as many as the machine is wide */
		{ CODE("\x48\x89\xc8"), false, 1, SCHEDULE_N_WAITS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		double waits[SCHEDULE_N_WAITS], all = 0;
		double cycles = waits_of(machine_model_find("zen4"), t[i].code, t[i].size,
					 t[i].is_taken, waits);
		double beyond = cycles - t[i].slots / 6.0;

		for (unsigned w = 0; w < SCHEDULE_N_WAITS; w++) {
			all += waits[w];
			if (w != t[i].wait && waits[w] > 0.03 * cycles)
				print_error("# case %zu: %g of %g for %s\n", i, waits[w],
					    cycles, schedule_wait_text(w));
			assert_true(w == t[i].wait || waits[w] <= 0.03 * cycles);
		}
		assert_true(all >= beyond - 0.02 && all <= beyond + 0.02);
	}
}

/* Code that is as slow where there is always a port for memory free does not wait for
 * one, also if its loads and addresses queue behind each other in the shadow of what it
 * waits for. */
static void what_is_not_waited_for_is_no_wait_for_ports(void **state)
{
	static const struct {
		const char *code;
		size_t size;
	} t[] = {
		/* mov -24(%rbp),%rax; mov 8(%rax),%rax; add %rax,-8(%rbp);
		 * mov -24(%rbp),%rax; mov (%rax),%rax; mov %rax,-24(%rbp);
		 * add $1,-16(%rbp): a list's sum, not optimised */
		{ CODE("\x48\x8b\x45\xe8\x48\x8b\x40\x08\x48\x01\x45\xf8"
		       "\x48\x8b\x45\xe8\x48\x8b\x00\x48\x89\x45\xe8"
		       "\x48\x83\x45\xf0\x01") },
		/* add %rcx,(%rsi) and eight times mov 64(%rsi),%rdx */
		{ CODE("\x48\x01\x0e\x48\x8b\x56\x40\x48\x8b\x56\x40"
		       "\x48\x8b\x56\x40\x48\x8b\x56\x40\x48\x8b\x56\x40"
		       "\x48\x8b\x56\x40\x48\x8b\x56\x40\x48\x8b\x56\x40") },
		/* imul %rcx,%rax; mov %rax,(%rsi); mov %rdi,8(%rsi); mov %rdi,16(%rsi) */
		{ CODE("\x48\x0f\xaf\xc1\x48\x89\x06\x48\x89\x7e\x08"
		       "\x48\x89\x7e\x10") },
		/* mov %rdi,(%rbx), four times; imul %rcx,%rsi; mov %rdi,(%rsi) */
		{ CODE("\x48\x89\x3b\x48\x89\x7b\x08\x48\x89\x7b\x10\x48\x89\x7b\x18"
		       "\x48\x0f\xaf\xf1\x48\x89\x3e") },
	};
	const uint32_t more = 0xfu << (MACHINE_MODEL_MAX_PORTS - 4);

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct machine_model m = *machine_model_find("redwood-cove");
		double waits[SCHEDULE_N_WAITS];
		double cycles = waits_of(&m, t[i].code, t[i].size, false, waits);

		m.load_ports |= more;
		m.store_address_ports |= more;
		m.store_data_ports |= more;
		assert_true(is_about(cycles_of(&m, t[i].code, t[i].size, false), cycles));
		if (waits[SCHEDULE_WAIT_PORT] > 0.03 * cycles)
			print_error("# case %zu: %g of %g\n", i,
				    waits[SCHEDULE_WAIT_PORT], cycles);
		assert_true(waits[SCHEDULE_WAIT_PORT] <= 0.03 * cycles);
	}
}

/* No machine does more in a cycle than it is wide, or waits for ever. */
static void no_model_is_faster_than_its_width(void **state)
{
	(void)state;
	for (size_t i = 0; i < machine_model_count(); i++) {
		const struct machine_model *m = machine_model_at(i);
		/* mov %rax,%rcx; mov %rdx,%rbx; xor %eax,%eax; add %r8,%r9 */
		double cycles =
			m->machine == EM_X86_64
				? cycles_of(m,
					    CODE("\x48\x89\xc1\x48\x89\xd3\x31\xc0"
						 "\x4d\x01\xc1"),
					    false)
				: cycles_of(m,
					    CODE("\xe1\x03\x00\xaa\xe3\x03\x02\xaa\x00"
						 "\x00\x80\xd2\x29\x01\x08\x8b"),
					    false);

		assert_true(cycles >= 4.0 / m->dispatch_width - 1e-9);
		assert_true(cycles <= 4);
	}
}

/* What was before does not matter after a restart. */
static void a_restart_forgets_all(void **state)
{
	own(schedule_freep) struct schedule *s = schedule_new(machine_model_find("zen4"));
	own(operation_reader_freep) struct operation_reader *r = NULL;
	struct operation divide, store, load;
	double first, second;

	(void)state;
	assert_int_equal(operation_reader_new(EM_X86_64, &r, NULL), 0);
	assert_true(operation_read(r, (const uint8_t *)"\x48\xf7\xf1", 3, 0, &divide));
	assert_true(operation_read(r, (const uint8_t *)"\x48\x89\x06", 3, 0, &store));
	assert_true(operation_read(r, (const uint8_t *)"\x48\x8b\x06", 3, 0, &load));
	first = schedule_step(s, &load, false);
	for (int i = 0; i < 1000; i++) {
		schedule_step(s, &divide, false);
		schedule_step(s, &store, false);
	}
	schedule_restart(s);
	second = schedule_step(s, &load, false);
	assert_true(first == second);
}

static void machines_are_found_by_what_the_kernel_calls_them(void **state)
{
	static const struct {
		const char *processor, *name;
	} t[] = {
		{ "AuthenticAMD 25 17", "zen4" },
		{ "AuthenticAMD 25 97", "zen4" },
		{ "AuthenticAMD 26 2", "zen5" },
		{ "AuthenticAMD 26 68", "zen5" },
		{ "AuthenticAMD 26 80", "generic-x86-64" },
		{ "GenuineIntel 6 143", "golden-cove" },
		{ "GenuineIntel 6 142", "skylake" },
		{ "GenuineIntel 6 85", "skylake" },
		{ "AuthenticAMD 25 1", "zen3" },
		{ "AuthenticAMD 25 33", "zen3" },
		{ "AuthenticAMD 23 49", "generic-x86-64" },
		{ "GenuineIntel 6 79", "generic-x86-64" },
		/* Sapphire Rapids has 32K, Granite Rapids 64K. */
		{ "GenuineIntel 6 143 amx_tile l1i:32K", "golden-cove" },
		{ "GenuineIntel 6 173 amx_tile l1i:64K", "redwood-cove" },
		{ "GenuineIntel 6 173", "redwood-cove" },
		/* Numbers of processors that do not have this. */
		{ "GenuineIntel 6 167 avx512f amx_tile l1i:64K", "redwood-cove" },
		{ "GenuineIntel 6 143 amx_tile l1i:64K", "redwood-cove" },
		{ "GenuineIntel 6 85 avx512f amx_tile l1i:32K", "golden-cove" },
		{ "GenuineIntel 6 85 avx512f avx512_fp16", "golden-cove" },
		{ "AuthenticAMD 25 33 avx512f", "zen4" },
		{ "AuthenticAMD 26 200 avx512f avx512_vp2intersect", "zen5" },
		/* Less than it has says nothing against it. */
		{ "GenuineIntel 6 173 amx_tile l1i:32K", "redwood-cove" },
		{ "AuthenticAMD 26 2 avx512f", "zen5" },
		{ "GenuineIntel 6 79 amx_tiles xamx_tile", "generic-x86-64" },
		{ "GenuineIntel 6 167 avx512f l1i:64K", "generic-x86-64" },
		{ "AuthenticAMD 6 143 amx_tile", "generic-x86-64" },
		{ "AuthenticAMD 6 143", "generic-x86-64" },
		{ "", "generic-x86-64" },
		{ NULL, "generic-x86-64" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_string_equal(machine_model_of(EM_X86_64, t[i].processor)->name,
				    t[i].name);
	assert_string_equal(machine_model_of(EM_AARCH64, "0x41 8 0xd0c")->name,
			    "neoverse-n1");
	assert_string_equal(machine_model_of(EM_AARCH64, "0x41 8 0xd40")->name,
			    "neoverse-v1");
	assert_string_equal(machine_model_of(EM_AARCH64, "0x61 8 0x022")->name,
			    "generic-aarch64");
	assert_string_equal(machine_model_of(EM_AARCH64, "AuthenticAMD 25 17")->name,
			    "generic-aarch64");
	assert_null(machine_model_of(EM_S390, "AuthenticAMD 25 17"));
	assert_null(machine_model_find("zen"));
}

static void a_model_of_no_such_number_is_the_nearest(void **state)
{
	static const struct {
		const char *model, *processor;
		bool is_nearest;
	} t[] = {
		{ "redwood-cove", "GenuineIntel 6 167 amx_tile l1i:64K", true },
		{ "redwood-cove", "GenuineIntel 6 173 amx_tile l1i:64K", false },
		{ "redwood-cove", "GenuineIntel 6 173", false },
		{ "golden-cove", "GenuineIntel 6 250 avx512_fp16", true },
		/* Chosen by somebody, for another processor. */
		{ "golden-cove", "GenuineIntel 6 173 amx_tile l1i:64K", false },
		{ "zen4", "GenuineIntel 6 167 amx_tile l1i:64K", false },
		{ "generic-x86-64", "GenuineIntel 6 79", false },
		{ "generic-x86-64", NULL, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_int_equal(machine_model_is_nearest(machine_model_find(t[i].model),
							  t[i].processor),
				 t[i].is_nearest);
}

/* Every class that does something has its costs; ports are those that there are. */
static void every_model_of_x86_knows_every_class(void **state)
{
	(void)state;
	for (size_t i = 0; i < machine_model_count(); i++) {
		const struct machine_model *m = machine_model_at(i);

		assert_true(m->dispatch_width && m->retire_width && m->window &&
			    m->waiting && m->taken_width && m->call_distance);
		for (unsigned c = 0; m->machine == EM_X86_64 && c < OPERATION_N_CLASSES;
		     c++) {
			const struct machine_cost *cost = &m->costs[c];

			if (c == OPERATION_NOP || c == OPERATION_PREFETCH ||
			    c == OPERATION_EXCHANGE)
				continue;
			if (!cost->units[0].ports)
				print_error("# %s: %s\n", m->name,
					    operation_class_text(c));
			assert_true(cost->units[0].ports && cost->units[0].latency &&
				    cost->slots);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loops_take_what_they_are_known_to_take),
		cmocka_unit_test(taken_branches_have_a_distance),
		cmocka_unit_test(a_sum_that_is_one_with_its_branch_is_computed),
		cmocka_unit_test(who_leaves_late_waited_for_something),
		cmocka_unit_test(what_is_not_waited_for_is_no_wait_for_ports),
		cmocka_unit_test(what_is_one_with_the_one_before_is_fetched_with_it),
		cmocka_unit_test(who_was_waited_for_is_known),
		cmocka_unit_test(no_model_is_faster_than_its_width),
		cmocka_unit_test(a_restart_forgets_all),
		cmocka_unit_test(machines_are_found_by_what_the_kernel_calls_them),
		cmocka_unit_test(a_model_of_no_such_number_is_the_nearest),
		cmocka_unit_test(every_model_of_x86_knows_every_class),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
