/* SPDX-License-Identifier: Apache-2.0
 * The oracle is this CPU: it executes every instruction that can be, with numbers by
 * chance, and whatever is told to be known afterwards must be what came out; so also if
 * some of the numbers were hidden. */
#include "decode/x86_execute.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "decode/x86_flow.h"
#include "decode/x86_machine.h"
#include "decode/x86_writes.h"

#define N_REGS	   16
#define FLAGS	   X86_ALU_FLAGS
#define SCRATCH	   256 /* bytes, in whose middle an operand in memory is */
#define PAGE_BYTES 4096

struct native {
	uint64_t regs[N_REGS]; /* but rsp */
	uint64_t flags;
};

/* Calls code with those registers and flags, and gives back what it leaves. */
void execute_natively(struct native *m, const void *code);
asm(".text\n"
    ".globl execute_natively\n"
    "execute_natively:\n"
    "	push %rbx\n	push %rbp\n	push %r12\n	push %r13\n	push %r14\n	"
    "push %r15\n"
    "	push %rdi\n	push %rsi\n"
    "	fninit\n	fld1\n	fldz\n"
    "	pxor %xmm0, %xmm0\n	pcmpeqd %xmm1, %xmm1\n	pxor %xmm3, %xmm3\n"
    "	push 128(%rdi)\n"
    "	mov (%rdi), %rax\n	mov 8(%rdi), %rcx\n	mov 16(%rdi), %rdx\n"
    "	mov 24(%rdi), %rbx\n	mov 40(%rdi), %rbp\n	mov 48(%rdi), %rsi\n"
    "	mov 64(%rdi), %r8\n	mov 72(%rdi), %r9\n	mov 80(%rdi), %r10\n"
    "	mov 88(%rdi), %r11\n	mov 96(%rdi), %r12\n	mov 104(%rdi), %r13\n"
    "	mov 112(%rdi), %r14\n	mov 120(%rdi), %r15\n	mov 56(%rdi), %rdi\n"
    "	popfq\n"
    "	call *(%rsp)\n"
    "	pushfq\n	cld\n	push %rax\n"
    "	mov 24(%rsp), %rax\n"
    "	mov %rcx, 8(%rax)\n	mov %rdx, 16(%rax)\n	mov %rbx, 24(%rax)\n"
    "	mov %rbp, 40(%rax)\n	mov %rsi, 48(%rax)\n	mov %rdi, 56(%rax)\n"
    "	mov %r8, 64(%rax)\n	mov %r9, 72(%rax)\n	mov %r10, 80(%rax)\n"
    "	mov %r11, 88(%rax)\n	mov %r12, 96(%rax)\n	mov %r13, 104(%rax)\n"
    "	mov %r14, 112(%rax)\n	mov %r15, 120(%rax)\n"
    "	pop %rcx\n	mov %rcx, (%rax)\n	pop %rcx\n	mov %rcx, 128(%rax)\n"
    "	pop %rsi\n	pop %rdi\n"
    "	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbp\n	"
    "pop %rbx\n"
    "	ret\n");

static sigjmp_buf fault;
static uint8_t *page;
static uint8_t scratch[SCRATCH], scratch_before[SCRATCH];
static unsigned n_told, n_tried;

static void on_fault(int signal)
{
	siglongjmp(fault, signal);
}

static void begin(void)
{
	static const int faults[] = { SIGILL, SIGSEGV, SIGFPE, SIGTRAP, SIGBUS };

	/* without its being blocked, there is nothing to restore */
	struct sigaction sa = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		assert_int_equal(sigaction(faults[i], &sa, NULL), 0);
	page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	n_told = n_tried = 0;
}

/* False: it cannot be executed here. */
static bool run_natively(const uint8_t *bytes, unsigned size, struct native *m)
{
	memcpy(page, bytes, size);
	page[size] = 0xc3;
	if (sigsetjmp(fault, 0))
		return false;
	execute_natively(m, page);
	return true;
}

static uint64_t random_word(void)
{
	static uint64_t x = 88172645463325252ULL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

/* Small, large, equal, and those around which sizes end. */
static uint64_t random_number(void)
{
	static const uint64_t ends[] = { 0,	 1,	     0x7f,	 0x80,	     0xff,
					 0x7fff, 0x8000,     0xffff,	 0x7fffffff, 8,
					 16,	 0x80000000, 0xffffffff, INT64_MAX,  32,
					 64,	 1ULL << 63, UINT64_MAX, 33,	     5 };
	uint64_t r = random_word();

	switch (r >> 8 & 3) {
	case 0:
		return ends[r % (sizeof(ends) / sizeof(ends[0]))];
	case 1:
		return random_word() >> (r % 64);
	case 2:
		return 0 - (random_word() >> (r % 64));
	default:
		return random_word();
	}
}

static void fill(struct native *m)
{
	for (unsigned i = 0; i < N_REGS; i++)
		m->regs[i] =
			i && random_word() % 5 == 0 ? m->regs[i - 1] : random_number();
	m->regs[X86_OP_RSP] = 0;
	m->flags = 2 | (random_word() & FLAGS);
	for (unsigned i = 0; i < SCRATCH; i++)
		scratch_before[i] = (uint8_t)random_number();
}

static bool read_scratch(void *ctx, uint64_t addr, void *to, unsigned bytes)
{
	uint64_t at = addr - (uintptr_t)scratch;

	(void)ctx;
	if (at > SCRATCH - bytes)
		return false;
	memcpy(to, scratch_before + at, bytes);
	return true;
}

/* Hides numbers, whole or some of their bits, one time in four none. */
static void known_of(struct x86_machine *m, const struct native *n, unsigned at)
{
	uint64_t how = random_word() >> 20;

	for (unsigned i = 0; i < N_REGS; i++) {
		uint64_t mask = random_word() | random_word();

		if (!(how & 3) || i == X86_OP_RSP || i == at || random_word() % 3)
			mask = UINT64_MAX;
		else if (how & 4)
			mask = how & 8 ? 0xff : how & 16 ? ~0xffULL : 0;
		m->regs[i] = (struct known_bits){ n->regs[i] & mask,
						  i == X86_OP_RSP ? 0 : mask };
	}
	m->flags.known = X86_MACHINE_FLAGS & (how & 3 ? random_word() : UINT64_MAX);
	m->flags.bits = n->flags & m->flags.known;
	path_memory_init(&m->memory, how & 0x300 ? read_scratch : NULL, NULL, NULL);
}

static void fail_told(const uint8_t *bytes, const struct x86_op *op, const char *what,
		      unsigned which, struct known_bits told, uint64_t is)
{
	char hex[3 * X86_OP_MAX_BYTES + 1] = "";

	for (unsigned i = 0; i < op->size; i++)
		snprintf(hex + 3 * i, 4, "%02x ", bytes[i]);
	fail_msg("%s: %s %u told %#lx of %#lx, is %#lx", hex, what, which,
		 (unsigned long)told.bits, (unsigned long)told.known, (unsigned long)is);
}

static bool is_wrong(struct known_bits told, uint64_t is)
{
	return ((told.bits ^ is) & told.known) || (told.bits & ~told.known);
}

static void compare(const uint8_t *bytes, const struct x86_op *op,
		    const struct x86_machine *m, const struct native *after)
{
	for (unsigned i = 0; i < N_REGS; i++) {
		if (i == X86_OP_RSP)
			continue;
		if (is_wrong(m->regs[i], after->regs[i]))
			fail_told(bytes, op, "register", i, m->regs[i], after->regs[i]);
		n_told += m->regs[i].known == UINT64_MAX;
	}
	if (is_wrong(m->flags, after->flags & X86_MACHINE_FLAGS))
		fail_told(bytes, op, "flags", 0, m->flags, after->flags & FLAGS);
	n_told += (unsigned)__builtin_popcount((unsigned)m->flags.known);
	for (unsigned i = 0; i < SCRATCH; i++) {
		struct known_bits addr = known_bits_of((uintptr_t)scratch + i, 8);
		struct known_bits v = path_memory_load(&m->memory, addr, 1);

		if (is_wrong(v, scratch[i]))
			fail_told(bytes, op, "byte", i, v, scratch[i]);
	}
}

/* at: the register that addresses the scratch memory, or X86_OP_NO_REG. */
static bool check_once(const uint8_t *bytes, const struct x86_op *op, unsigned at)
{
	struct native n;
	struct x86_machine m;
	struct x86_step s;

	fill(&n);
	if (at != X86_OP_NO_REG)
		n.regs[at] = (uintptr_t)scratch + SCRATCH / 2 - (uint64_t)op->disp;
	known_of(&m, &n, at);
	memcpy(scratch, scratch_before, SCRATCH);
	s = x86_machine_step(&m, op, bytes, (uintptr_t)page + op->size);
	if (!x86_execute(&s))
		return false;
	if (!run_natively(bytes, op->size, &n))
		return false;
	n_tried++;
	compare(bytes, op, &m, &n);
	return true;
}

/* Those that touch no stack, no segments, and nothing that this process lives on. */
static bool is_harmless(const uint8_t *bytes)
{
	static const struct {
		uint8_t map, first, last;
	} not_[] = {
		{ X86_OP_ONE, 0x50, 0x5f }, { X86_OP_ONE, 0x68, 0x68 },
		{ X86_OP_ONE, 0x6a, 0x6a }, { X86_OP_ONE, 0x6c, 0x7f },
		{ X86_OP_ONE, 0x8c, 0x8c }, { X86_OP_ONE, 0x8e, 0x8f },
		{ X86_OP_ONE, 0x9c, 0x9d }, { X86_OP_ONE, 0xa0, 0xa7 },
		{ X86_OP_ONE, 0xaa, 0xaf }, { X86_OP_ONE, 0xc2, 0xc5 },
		{ X86_OP_ONE, 0xc8, 0xcf }, { X86_OP_ONE, 0xd7, 0xd7 },
		{ X86_OP_ONE, 0xe0, 0xf4 }, { X86_OP_ONE, 0xfa, 0xfd },
		{ X86_OP_0F, 0x00, 0x08 },  { X86_OP_0F, 0x0e, 0x0f },
		{ X86_OP_0F, 0x20, 0x27 },  { X86_OP_0F, 0x30, 0x37 },
		{ X86_OP_0F, 0xa0, 0xa2 },  { X86_OP_0F, 0xa8, 0xaa },
		{ X86_OP_0F, 0xae, 0xae },  { X86_OP_0F, 0xc7, 0xc7 },
		{ X86_OP_0F, 0xf7, 0xf7 },
	};
	struct x86_op op;

	if (!x86_op_read(bytes, &op))
		return false;
	for (size_t i = 0; i < sizeof(not_) / sizeof(not_[0]); i++)
		if (not_[i].map == op.map && op.opcode >= not_[i].first &&
		    op.opcode <= not_[i].last)
			return false;
	/* bt and its like reach far beyond their operand */
	if (op.map == X86_OP_0F && op.mod != 3 && !op.is_vector &&
	    (op.opcode == 0xa3 || op.opcode == 0xab || op.opcode == 0xb3 ||
	     op.opcode == 0xbb))
		return false;
	return !(x86_writes(&op) >> X86_OP_RSP & 1);
}

static void check_insn(const uint8_t *bytes, unsigned at, unsigned n_times)
{
	struct x86_op op;

	if (!is_harmless(bytes) || !x86_op_read(bytes, &op) ||
	    x86_flow_of(&op) != X86_FLOW_ON)
		return;
	for (unsigned i = 0, n_failed = 0; i < n_times && n_failed < 2; i++)
		n_failed += !check_once(bytes, &op, at);
}

static const uint8_t map_bytes[][3] = {
	{ 0 }, { 1, 0x0f }, { 2, 0x0f, 0x38 }, { 2, 0x0f, 0x3a }
};

struct form {
	unsigned map, opcode;
	uint8_t prefix, rex, modrm, imm;
	bool is_in_memory;
};

/* modrm's registers: not rsp. */
static void check_form(const struct form *f)
{
	uint8_t bytes[X86_OP_MAX_BYTES + 8] = { 0 };
	const uint8_t *map = map_bytes[f->map];
	struct x86_op op;
	unsigned n = 0;

	if (f->prefix)
		bytes[n++] = f->prefix;
	if (f->rex)
		bytes[n++] = f->rex;
	memcpy(bytes + n, map + 1, map[0]);
	n += map[0];
	bytes[n++] = (uint8_t)f->opcode;
	bytes[n++] = f->modrm;
	if (f->is_in_memory)
		bytes[n++] = 0x10; /* displacement */
	bytes[n++] = f->imm;
	bytes[n++] = f->imm & 1 ? 0xff : 0;
	/* not a prefix */
	if (x86_op_read(bytes, &op) && op.map == f->map && op.opcode == f->opcode &&
	    !op.is_vector)
		check_insn(bytes, f->is_in_memory ? X86_OP_RSI : X86_OP_NO_REG, 1);
}

static void check_opcode(unsigned map, unsigned opcode)
{
	static const uint8_t prefixes[] = { 0, 0x66, 0xf2, 0xf3 };
	static const uint8_t rexes[] = { 0, 0x40, 0x48 };
	static const uint8_t numbers[] = { 0, 1, 5, 8, 17, 32, 0x41, 0x80, 0xff };

	for (unsigned i = 0; i < 4 * 3 * 8 * 5; i++) {
		unsigned rm = i / 96;

		/* al cl bl(dh) r-m with mod 3; in memory by rsi */
		static const uint8_t rms[] = { 0xc0, 0xc1, 0xc3, 0xc7, 0x46 };
		struct form f = {
			.map = map,
			.opcode = opcode,
			.prefix = prefixes[i & 3],
			.rex = rexes[(i >> 2) % 3],
			.modrm = (uint8_t)(rms[rm] | (i / 12 % 8) << 3),
			.imm = numbers[random_word() % sizeof(numbers)],
			.is_in_memory = rm == 4,
		};

		check_form(&f);
	}
}

static void the_cpu_agrees_on_what_every_instruction_does(void **state)
{
	(void)state;
	if (getenv("DWELL_MEMCHECK"))
		skip(); /* its CPU is another */
	begin();
	for (unsigned map = X86_OP_ONE; map <= X86_OP_0F3A; map++)
		for (unsigned opcode = 0; opcode < 256; opcode++)
			check_opcode(map, opcode);
	printf("# %u tried, %u known per instruction\n", n_tried, n_told / n_tried);
	assert_in_range(n_tried, 60000, 10000000);
	assert_in_range(n_told / n_tried, 11, 20);
}

/* VEX, with rbx and rcx and a number, or memory. */
static void the_cpu_agrees_on_what_vectors_do(void **state)
{
	(void)state;
	if (getenv("DWELL_MEMCHECK"))
		skip();
	begin();
	for (unsigned map = X86_OP_0F; map <= X86_OP_0F3A; map++)
		for (unsigned i = 0; i < 256 * 16 * 4; i++) {
			unsigned opcode = i & 255, p = i >> 8 & 15, k = i >> 12;
			uint8_t p1 = (uint8_t)((p & 8) << 4 | (p & 7));
			bool is_memory = k & 1;
			uint8_t bytes[X86_OP_MAX_BYTES + 1] = {
				0xc4,
				(uint8_t)(0xe0 | map),
				/* vvvv is 1 or none */
				p1 | (k & 2 ? 0x70 : 0x78),
				(uint8_t)opcode,
				is_memory ? 0x4e : 0xcb,
				is_memory ? 0x10 : 3,
				is_memory ? 3 : 0,
			};

			if (map == X86_OP_0F &&
			    (opcode == 0x77 || opcode == 0xae || opcode == 0xf7))
				continue;
			/* of those with vectors of addresses, and what needs rsp */
			if (map == X86_OP_0F38 && ((opcode >= 0x90 && opcode < 0x94) ||
						   opcode == 0x49 || opcode == 0x4b))
				continue;
			check_insn(bytes, is_memory ? X86_OP_RSI : X86_OP_NO_REG, 4);
		}
	assert_in_range(n_tried, 5000, 1000000);
}

/* What is executed, more often. */
static void the_cpu_agrees_on_arithmetic_with_many_numbers(void **state)
{
	static const struct {
		uint8_t map, first, last;
	} t[] = {
		{ X86_OP_ONE, 0x00, 0x3f }, { X86_OP_ONE, 0x69, 0x69 },
		{ X86_OP_ONE, 0x80, 0x87 }, { X86_OP_ONE, 0xc0, 0xc1 },
		{ X86_OP_ONE, 0xd0, 0xd3 }, { X86_OP_ONE, 0xf6, 0xf7 },
		{ X86_OP_0F, 0x40, 0x4f },  { X86_OP_0F, 0x90, 0x9f },
		{ X86_OP_0F, 0xa3, 0xa5 },  { X86_OP_0F, 0xab, 0xaf },
		{ X86_OP_0F, 0xb0, 0xbf },  { X86_OP_0F, 0xc0, 0xc1 },
		{ X86_OP_0F, 0xc8, 0xcb },
	};

	(void)state;
	if (getenv("DWELL_MEMCHECK"))
		skip();
	begin();
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		for (unsigned opcode = t[i].first; opcode <= t[i].last; opcode++)
			for (unsigned k = 0; k < 2; k++)
				check_opcode(t[i].map, opcode);
	assert_in_range(n_tried, 100000, 10000000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cpu_agrees_on_what_every_instruction_does),
		cmocka_unit_test(the_cpu_agrees_on_what_vectors_do),
		cmocka_unit_test(the_cpu_agrees_on_arithmetic_with_many_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
