/* SPDX-License-Identifier: Apache-2.0
 * The oracle is the processor, or what emulates it: made-up instructions with made-up
 * registers are executed up to a trap and walked over, and what the walk tells is
 * compared with where the thread is and what its registers hold then. usage:
 * arm_forward_real_test TRIALS [SEED] */
#include "decode/arm_forward.h"

#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#include <cmocka.h>

#define N_REGS	    32
#define MAX_INSNS   12
#define CODE_BYTES  4096
#define ARENA_BYTES 4096
#define GUARD_BYTES (UINT64_C(1) << 33) /* indices of 32 bits do not lead out of it */
#define BRK	    0xd4200000u
#define NZCV	    0xf0000000u

/* Instructions to make up: these bits and any others; and what is to come of it. */
struct class
{
	const char *name;
	uint32_t mask, bits;
	unsigned min_told_pct;	/* of what the processor executes, the walk goes over */
	unsigned min_known_pct; /* of the registers after it, when all were before it */
};

static const struct class classes[] = {
	{ "adr", 0x1f000000, 0x10000000, 100, 100 },
	{ "add number", 0x1f800000, 0x11000000, 100, 100 },
	{ "max number", 0x7ff00000, 0x11c00000, 0, 0 },
	{ "logical number", 0x1f800000, 0x12000000, 100, 100 },
	{ "move number", 0x1f800000, 0x12800000, 100, 100 },
	{ "bit field", 0x1f800000, 0x13000000, 100, 100 },
	{ "wide bit field", 0x9fc00000, 0x93400000, 100, 100 },
	{ "narrow bit field", 0x9fe08000, 0x13000000, 100, 100 },
	{ "extract", 0x7fa00000, 0x13800000, 100, 100 },
	{ "logical", 0x1f000000, 0x0a000000, 100, 100 },
	{ "add shifted", 0x1f200000, 0x0b000000, 100, 100 },
	{ "add extended", 0x1fe00000, 0x0b200000, 100, 100 },
	{ "add carry", 0x1fe0fc00, 0x1a000000, 100, 100 },
	{ "flags", 0x1fe08000, 0x1a000000, 100, 0 },
	{ "compare if", 0x3fe00410, 0x3a400000, 100, 100 },
	{ "select", 0x3fe00800, 0x1a800000, 100, 100 },
	{ "multiply", 0x7f000000, 0x1b000000, 100, 100 },
	{ "divide", 0x7fe0f800, 0x1ac00800, 100, 100 },
	{ "shift", 0x7fe0f000, 0x1ac02000, 100, 100 },
	{ "of two", 0x7fe00000, 0x1ac00000, 100, 0 },
	{ "of one", 0x7fffe000, 0x5ac00000, 100, 100 },
	{ "load or store", 0x3a000000, 0x38000000, 80, 80 },
	{ "at a number", 0x3f000000, 0x39000000, 100, 90 },
	{ "near", 0x3f200400, 0x38000000, 95, 90 },
	{ "moving base", 0x3f200400, 0x38000400, 80, 90 },
	{ "at a register", 0x3f200c00, 0x38200800, 100, 90 },
	{ "pair", 0x3e000000, 0x28000000, 60, 90 },
	{ "vector load or store", 0x3e000000, 0x3c000000, 95, 90 },
	{ "vector pair", 0x3e000000, 0x2c000000, 95, 90 },
	{ "exclusive", 0x3f000000, 0x08000000, 80, 40 },
	{ "atomic", 0x3f200c00, 0x38200000, 90, 90 },
	{ "ordered", 0x3f200c00, 0x19000000, 90, 90 },
	{ "structures", 0xbe000000, 0x0c000000, 90, 90 },
	{ "literal", 0x3b000000, 0x18000000, 90, 90 },
	{ "branch if", 0xff000000, 0x54000000, 100, 100 },
	{ "branch if zero", 0x7e000000, 0x34000000, 100, 100 },
	{ "branch if bit", 0x7e000000, 0x36000000, 100, 100 },
	{ "jump or call", 0x7c000000, 0x14000000, 100, 100 },
	{ "to register", 0xff9ffc1f, 0xd61f0000, 100, 100 },
	{ "read flags", 0xffdfffe0, 0xd51b4200, 100, 100 },
	{ "barrier", 0xffffff1f, 0xd503301f, 0, 0 },
	{ "vector", 0x0e000000, 0x0e000000, 100, 90 },
	{ "floating point", 0x5f000000, 0x1e000000, 100, 50 },
	{ "convert", 0x5f20fc00, 0x1e200000, 100, 40 },
	{ "copy vector", 0xbfe08400, 0x0e000400, 100, 90 },
	{ "scalable", 0x1e000000, 0x04000000, 100, 0 },
};
#define N_CLASSES (sizeof(classes) / sizeof(classes[0]))

/* What would change more of this process than registers and the arena, or what is good
 * only for addresses that were signed. */
static const struct {
	uint32_t mask, bits;
} excluded[] = {
	{ 0xff000000, 0xd4000000 }, /* the kernel */
	{ 0xfffff01f, 0xd500401f }, /* the processor's state */
	{ 0xffffc000, 0x5ac10000 }, /* xpaci is not among them */
	{ 0xffff0000, 0xdac10000 },
};

struct sums {
	unsigned n, n_real, n_told, n_known, n_asked, n_wrong;
};

static struct sums sums[N_CLASSES];
static uint32_t *code;
static uint8_t *arena;
static uint8_t before[ARENA_BYTES];
static uint64_t state = 88172645463325252u;
static unsigned n_trials = 2000;

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1dULL;
}

static unsigned below(unsigned n)
{
	return (unsigned)((any() >> 32) * n >> 32);
}

/* The thread's state in a signal's frame, to go on with and to look at. */
static const struct forward_state *to_enter;
static struct {
	int signal;
	bool is_fetch; /* the fault is of the code, not of data */
	struct forward_state state;
} left;
static sigjmp_buf back;

static void enter(int sig, siginfo_t *info, void *frame)
{
	mcontext_t *m = &((ucontext_t *)frame)->uc_mcontext;

	(void)sig;
	(void)info;
	sigemptyset(&((ucontext_t *)frame)->uc_sigmask);
	memcpy(m->regs, to_enter->regs, sizeof(m->regs));
	m->sp = to_enter->regs[31];
	m->pc = to_enter->ip;
	m->pstate = (m->pstate & ~(uint64_t)NZCV) | to_enter->flags;
}

static void leave(int sig, siginfo_t *info, void *frame)
{
	const mcontext_t *m = &((ucontext_t *)frame)->uc_mcontext;

	left.signal = sig;
	left.is_fetch = sig == SIGSEGV && (uintptr_t)info->si_addr == m->pc;
	memcpy(left.state.regs, m->regs, sizeof(m->regs));
	left.state.regs[31] = m->sp;
	left.state.ip = m->pc;
	left.state.flags = m->pstate & NZCV;
	siglongjmp(back, 1);
}

static void execute(const struct forward_state *from)
{
	static const struct itimerval soon = { .it_value.tv_usec = 20000 }, never;

	to_enter = from;
	setitimer(ITIMER_REAL, &soon, NULL); /* branches to themselves */
	if (!sigsetjmp(back, 1))
		raise(SIGUSR1);
	setitimer(ITIMER_REAL, &never, NULL);
}

static void handle(int sig, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction a = { .sa_sigaction = handler,
			       .sa_flags = SA_SIGINFO | SA_ONSTACK };

	assert_int_equal(sigaction(sig, &a, NULL), 0);
}

/* Within a test, as cmocka has handlers of its own there. */
static void handle_all(void)
{
	handle(SIGUSR1, enter);
	handle(SIGTRAP, leave);
	handle(SIGSEGV, leave);
	handle(SIGBUS, leave);
	handle(SIGILL, leave);
	handle(SIGALRM, leave);
}

static unsigned read_code(void *ctx, uint64_t addr, uint8_t *to)
{
	uint64_t at = addr - (uintptr_t)code;

	(void)ctx;
	if (at > CODE_BYTES - FORWARD_CODE_BYTES)
		return 0;
	memcpy(to, (uint8_t *)code + at, FORWARD_CODE_BYTES);
	return FORWARD_CODE_BYTES;
}

static bool read_memory(void *ctx, uint64_t addr, void *to, unsigned bytes)
{
	uint64_t at = addr - (uintptr_t)arena, in_code = addr - (uintptr_t)code;

	(void)ctx;
	if (in_code <= CODE_BYTES - bytes) {
		memcpy(to, (uint8_t *)code + in_code, bytes);
		return true;
	}
	if (at > ARENA_BYTES - bytes)
		return false;
	memcpy(to, before + at, bytes);
	return true;
}

static uint64_t number(void)
{
	switch (below(8)) {
	case 0 ... 2:
		return (uintptr_t)arena + ARENA_BYTES / 2 + below(4) * 16;
	case 3:
		return (uintptr_t)code + 4 * (uint64_t)below(CODE_BYTES / 4);
	case 4:
		return below(130);
	case 5:
		return 0 - (uint64_t)below(130);
	case 6:
		return (any() & 1) << 63 | (any() & 1) << 31 | below(2);
	default:
		return any();
	}
}

static uint32_t instruction(const struct class *c)
{
	static const uint8_t at[] = { 0, 5, 10, 16 };
	uint32_t word = (uint32_t)any();

	/* the same few registers again and again */
	for (unsigned i = 0; i < sizeof(at); i++)
		if (below(4))
			word = (word & ~(31u << at[i])) | (below(5) ? below(4) : 31)
								  << at[i];
	word = (word & ~c->mask) | c->bits;
	for (unsigned i = 0; i < sizeof(excluded) / sizeof(excluded[0]); i++)
		if ((word & excluded[i].mask) == excluded[i].bits)
			return 0xd503201f; /* nop */
	return word;
}

static void begin(struct forward_state *ret)
{
	for (unsigned i = 0; i < N_REGS; i++)
		ret->regs[i] = number();
	ret->regs[31] = (uintptr_t)arena + ARENA_BYTES / 2;
	ret->ip = (uintptr_t)code + CODE_BYTES / 2;
	ret->flags = any() & NZCV;
	ret->known_regs = UINT32_MAX;
	ret->known_flags = NZCV;
	for (unsigned i = 0; i < ARENA_BYTES / 8; i++) {
		uint64_t v = number();

		memcpy(before + 8 * i, &v, sizeof(v));
	}
	memcpy(arena, before, ARENA_BYTES);
}

static void fill(const uint32_t *insns, unsigned n)
{
	for (unsigned i = 0; i < CODE_BYTES / 4; i++)
		code[i] = BRK;
	memcpy(code + CODE_BYTES / 8, insns, n * sizeof(*insns));
	__builtin___clear_cache((char *)code, (char *)code + CODE_BYTES);
}

static void walk(const struct forward_state *from, unsigned n, bool has_memory,
		 struct forward_path *ret)
{
	struct forward_source source = { read_code, has_memory ? read_memory : NULL, NULL,
					 NULL };
	struct forward_limits limits = { .n_insns = n, .n_branches = MAX_INSNS };

	arm_forward(from, &source, &limits, ret);
}

static void show(const char *name, const uint32_t *insns, unsigned n, const char *what,
		 unsigned which, uint64_t told, uint64_t is)
{
	printf("# wrong in %s: %s %u told %#" PRIx64 ", is %#" PRIx64 " after", name,
	       what, which, told, is);
	for (unsigned i = 0; i < n; i++)
		printf(" %08x", insns[i]);
	printf("\n");
}

/* The number of what was told and is not so. */
static unsigned compare(const char *name, const uint32_t *insns, unsigned n,
			const struct forward_state *told)
{
	uint64_t flags = (told->flags ^ left.state.flags) & told->known_flags;
	unsigned n_wrong = 0;

	if (told->ip != left.state.ip) {
		show(name, insns, n, "place", 0, told->ip, left.state.ip);
		return 1;
	}
	for (unsigned i = 0; i < N_REGS; i++)
		if (told->known_regs >> i & 1 && told->regs[i] != left.state.regs[i]) {
			show(name, insns, n, "register", i, told->regs[i],
			     left.state.regs[i]);
			n_wrong++;
		}
	if (flags) {
		show(name, insns, n, "flags", 0, told->flags, left.state.flags);
		n_wrong++;
	}
	return n_wrong;
}

/* Did it get to where something can be compared? */
static bool has_left(void)
{
	return left.signal == SIGTRAP || left.is_fetch;
}

/* The same with less known in the beginning is told with less, but no less true. */
static void walk_less(const struct forward_state *all, unsigned n,
		      struct forward_path *ret)
{
	struct forward_state from = *all;

	from.known_regs = (uint32_t)(any() | any());
	from.known_flags = (uint32_t)any() & NZCV;
	walk(&from, n, any() & 1, ret);
}

static void try_one(const struct class *c, struct sums *s)
{
	uint32_t insn = instruction(c);
	struct forward_state from;
	struct forward_path path, less;

	begin(&from);
	fill(&insn, 1);
	walk(&from, 1, true, &path);
	walk_less(&from, 1, &less);
	execute(&from);
	s->n++;
	if (!has_left())
		return;
	s->n_real++;
	if (!path.n_insns)
		return;
	s->n_told++;
	s->n_wrong += compare(c->name, &insn, 1, &path.last);
	s->n_known += (unsigned)__builtin_popcount(path.last.known_regs) == N_REGS &&
		      path.last.known_flags == NZCV;
	if (less.n_insns)
		s->n_wrong += compare(c->name, &insn, 1, &less.last);
}

static void single_instructions_do_what_is_told(void **unused)
{
	unsigned n_wrong = 0, n_few = 0;

	(void)unused;
	handle_all();
	for (unsigned i = 0; i < N_CLASSES; i++) {
		const struct class *c = &classes[i];
		struct sums *s = &sums[i];

		for (unsigned k = 0; k < n_trials; k++)
			try_one(c, s);
		printf("# %-20s of %u executed %u, gone over %u, all known %u\n", c->name,
		       s->n, s->n_real, s->n_told, s->n_known);
		n_wrong += s->n_wrong;
		if (100 * s->n_told < s->n_real * c->min_told_pct ||
		    100 * s->n_known < s->n_told * c->min_known_pct ||
		    (c->min_told_pct && s->n_real < 20)) {
			printf("# too few of %s\n", c->name);
			n_few++;
		}
	}
	assert_int_equal(n_wrong, 0);
	assert_int_equal(n_few, 0);
}

/* As far as it goes through the code once: the trap at the end is met nowhere before. */
static void walk_once(const struct forward_state *from, struct forward_path *ret)
{
	unsigned n = 0;
	uint64_t ip = from->ip;

	do {
		ip = n ? ret->last.ip : ip;
		walk(from, ++n, true, ret);
	} while (n < MAX_INSNS && ret->n_insns == n && ret->last.ip > ip);
	if (ret->last.ip <= ip)
		walk(from, n - 1, true, ret);
}

/* A trap, if that is in the code. */
static void plant(uint64_t at)
{
	uint64_t i = (at - (uintptr_t)code) / 4;

	if (i >= CODE_BYTES / 4)
		return;
	code[i] = BRK;
	__builtin___clear_cache((char *)&code[i], (char *)&code[i + 1]);
}

/* What was stored is loaded again, branches go forward. */
static void sequences_do_what_is_told(void **unused)
{
	unsigned n_wrong = 0, n_compared = 0, n_insns = 0;

	(void)unused;
	handle_all();
	for (unsigned k = 0; k < 10 * n_trials; k++) {
		uint32_t insns[MAX_INSNS];
		struct forward_state from;
		struct forward_path path;
		uint64_t end;

		for (unsigned i = 0; i < MAX_INSNS; i++)
			insns[i] = instruction(&classes[below(N_CLASSES)]);
		begin(&from);
		fill(insns, MAX_INSNS);
		from.known_regs = below(2) ? UINT32_MAX : (uint32_t)(any() | any());
		walk_once(&from, &path);
		end = path.last.ip;
		plant(end);
		walk(&from, path.n_insns, true, &path); /* the trap is memory, too */
		execute(&from);
		if (!has_left() || path.n_insns < 2 || path.last.ip != end)
			continue;
		n_compared++;
		n_insns += path.n_insns;
		n_wrong += compare("a sequence", insns, MAX_INSNS, &path.last);
	}
	printf("# %u sequences of %u instructions compared\n", n_compared, n_insns);
	assert_int_equal(n_wrong, 0);
	assert_true(n_compared > n_trials / 2);
}

/* In the middle of memory that nobody may touch. */
static void *map(size_t bytes, int prot)
{
	uint8_t *p = mmap(NULL, 2 * GUARD_BYTES, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_true(p != MAP_FAILED);
	assert_int_equal(mprotect(p + GUARD_BYTES, bytes, prot), 0);
	return p + GUARD_BYTES;
}

/* Good addresses are signed and authenticated; what is between is not known. */
static void signed_addresses_come_back(void **unused)
{
	static const struct {
		uint32_t insns[4];
		unsigned n_insns, reg; /* known again after these */
	} t[] = {
		{ { 0xd503233f, 0xd50323bf }, 2, 30 }, /* paciasp autiasp */
		{ { 0xd503237f, 0xd50323ff }, 2, 30 }, /* pacibsp autibsp */
		{ { 0xd503231f, 0xd503239f }, 2, 30 }, /* paciaz autiaz */
		{ { 0xd503211f, 0xd503219f }, 2, 17 }, /* pacia1716 autia1716 */
		{ { 0xd503233f, 0xd50320ff }, 2, 30 }, /* paciasp xpaclri */
		{ { 0xdac10020, 0xdac11020 }, 2, 0 },  /* pacia autia x0, x1 */
		{ { 0xdac10c20, 0xdac11c20 }, 2, 0 },  /* pacdb autdb x0, x1 */
		{ { 0xdac123e0, 0xdac133e0 }, 2, 0 },  /* paciza autiza x0 */
		{ { 0xdac10020, 0xdac143e0 }, 2, 0 },  /* pacia x0, x1; xpaci */
		{ { 0xd503233f, 0xd65f0bff }, 2, 31 }, /* paciasp retaa */
		{ { 0xd503237f, 0xd65f0fff }, 2, 31 }, /* pacibsp retab */
		{ { 0xdac10020, 0xd71f0801 }, 2, 31 }, /* pacia; braa x0, x1 */
		{ { 0xdac123e0, 0xd63f081f }, 2, 31 }, /* paciza; blraaz x0 */
		{ { 0xd503233f, 0xf81f0ffe, 0xf84107fe, 0xd50323bf }, 4, 30 },
	};

	(void)unused;
	handle_all();
	for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct forward_state from;
		struct forward_path path;

		begin(&from);
		from.regs[0] = from.regs[17] = from.regs[30] = from.ip + 64;
		fill(t[i].insns, t[i].n_insns);
		walk(&from, 1, true, &path);
		assert_int_equal(path.n_insns, 1);
		assert_int_equal(__builtin_popcount(path.last.known_regs), N_REGS - 1);
		walk(&from, t[i].n_insns, true, &path);
		assert_int_equal(path.n_insns, t[i].n_insns);
		assert_true(path.last.known_regs >> t[i].reg & 1);
		execute(&from);
		assert_true(has_left());
		assert_int_equal(compare("signing", t[i].insns, t[i].n_insns, &path.last),
				 0);
	}
}

static int set_up(void **unused)
{
	static uint8_t stack[1 << 16];
	const stack_t alt = { .ss_sp = stack, .ss_size = sizeof(stack) };

	(void)unused;
	code = map(CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC);
	arena = map(ARENA_BYTES, PROT_READ | PROT_WRITE);
	assert_int_equal(sigaltstack(&alt, NULL), 0);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(single_instructions_do_what_is_told),
		cmocka_unit_test(sequences_do_what_is_told),
		cmocka_unit_test(signed_addresses_come_back),
	};

	if (argc > 1)
		n_trials = (unsigned)strtoul(argv[1], NULL, 10);
	if (argc > 2)
		state ^= strtoull(argv[2], NULL, 0) * 0x9e3779b97f4a7c15ULL;
	return cmocka_run_group_tests(tests, set_up, NULL);
}
