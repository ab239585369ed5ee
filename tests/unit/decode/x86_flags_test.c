/* SPDX-License-Identifier: Apache-2.0
 * The oracle is this CPU: an instruction is executed with a flag set and cleared.  If
 * anything else comes out, it reads the flag; if the flag does, it does not set it. */
#include "decode/x86_flags.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "decode/x86_flow.h"
#include "decode/x86_op.h"

#define N_REGS	 16
#define N_TRIALS 5

/* The instruction set's bits of enum x86_flag. */
static const uint64_t flag_bits[] = { 1, 4, 16, 64, 128, 2048 };
#define N_FLAGS	 (sizeof(flag_bits) / sizeof(flag_bits[0]))
#define FLAG_SET 0x8d5ULL

struct machine {
	uint64_t regs[N_REGS]; /* but rsp */
	uint64_t flags;
};

/* Calls code with those registers and flags, and gives back what it leaves. */
void execute(struct machine *m, const void *code);
asm(".text\n"
    ".globl execute\n"
    "execute:\n"
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

static void on_fault(int signal)
{
	siglongjmp(fault, signal);
}

/* False: it cannot be executed here. */
static bool run(const uint8_t *bytes, unsigned size, struct machine *m)
{
	memcpy(page, bytes, size);
	page[size] = 0xc3;
	if (sigsetjmp(fault, 1))
		return false;
	execute(m, page);
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

/* Some small, so that shifts by nothing and results of zero are seen. */
static void fill(struct machine *m, unsigned trial)
{
	for (unsigned i = 0; i < N_REGS; i++)
		m->regs[i] = trial == 0 ? 0 : random_word() >> (trial * 8 + i) % 64;
	m->flags = 2 | (random_word() & FLAG_SET);
}

struct seen {
	uint8_t read, kept;
	bool is_executed;
};

static void try_flag(const uint8_t *bytes, unsigned size, const struct machine *from,
		     unsigned i, struct seen *s)
{
	struct machine a = *from, b = *from;
	uint64_t bit = flag_bits[i];

	a.flags |= bit;
	b.flags &= ~bit;
	if (!run(bytes, size, &a) || !run(bytes, size, &b))
		return;
	s->is_executed = true;
	if ((a.flags ^ b.flags) & bit)
		s->kept |= (uint8_t)(1u << i);
	if (((a.flags ^ b.flags) & FLAG_SET & ~bit) ||
	    memcmp(a.regs, b.regs, sizeof(a.regs)) != 0)
		s->read |= (uint8_t)(1u << i);
}

static struct seen observe(const uint8_t *bytes, unsigned size)
{
	struct seen s = { 0 };

	for (unsigned trial = 0; trial < N_TRIALS; trial++) {
		struct machine from;

		fill(&from, trial);
		for (unsigned i = 0; i < N_FLAGS; i++)
			try_flag(bytes, size, &from, i, &s);
		if (!s.is_executed)
			break;
	}
	return s;
}

/* Told wrongly, an instruction costs a program its flags. */
static bool check_one(const uint8_t *bytes)
{
	struct x86_op op;
	struct x86_flags told;
	struct seen s;

	if (!x86_op_read(bytes, &op) || x86_flow_of(&op) != X86_FLOW_ON)
		return false;
	s = observe(bytes, op.size);
	if (!s.is_executed)
		return false;
	told = x86_flags_of(&op);
	if ((s.read & ~told.read) || (s.kept & told.set & ~told.read))
		fail_msg("%02x %02x %02x %02x %02x: reads %#x, told %#x; keeps %#x, told "
			 "to set %#x",
			 bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], s.read,
			 told.read, s.kept, told.set);
	return true;
}

/* Opcodes whose reg field is not a register. */
static bool is_group(unsigned map, unsigned opcode)
{
	if (map == X86_OP_ONE)
		return (opcode >= 0x80 && opcode <= 0x83) || opcode == 0xc0 ||
		       opcode == 0xc1 || (opcode >= 0xd0 && opcode <= 0xdf) ||
		       (opcode | 1) == 0xf7 || (opcode | 1) == 0xff;
	return map == X86_OP_0F && opcode == 0xba;
}

/* Between registers only, not rsp, and none that has another result each time or changes
 * what this process lives on. */
static bool is_harmless(unsigned map, unsigned opcode)
{
	static const struct {
		uint8_t map, first, last;
	} not_[] = {
		{ X86_OP_ONE, 0x26, 0x26 }, { X86_OP_ONE, 0x2e, 0x2e },
		{ X86_OP_ONE, 0x36, 0x36 }, { X86_OP_ONE, 0x3e, 0x3e },
		{ X86_OP_ONE, 0x40, 0x68 }, { X86_OP_ONE, 0x6a, 0x6a },
		{ X86_OP_ONE, 0x6c, 0x7f }, { X86_OP_ONE, 0x8e, 0x8f },
		{ X86_OP_ONE, 0x94, 0x94 }, { X86_OP_ONE, 0x9a, 0x9d },
		{ X86_OP_ONE, 0xa0, 0xa7 }, { X86_OP_ONE, 0xaa, 0xaf },
		{ X86_OP_ONE, 0xbc, 0xbc }, { X86_OP_ONE, 0xc2, 0xc5 },
		{ X86_OP_ONE, 0xc7, 0xcf }, { X86_OP_ONE, 0xd7, 0xd7 },
		{ X86_OP_ONE, 0xe0, 0xf4 }, { X86_OP_ONE, 0xfa, 0xfd },
		{ X86_OP_0F, 0x00, 0x01 },  { X86_OP_0F, 0x05, 0x08 },
		{ X86_OP_0F, 0x30, 0x37 },  { X86_OP_0F, 0x80, 0x8f },
		{ X86_OP_0F, 0xa0, 0xa2 },  { X86_OP_0F, 0xa8, 0xaa },
		{ X86_OP_0F, 0xae, 0xae },  { X86_OP_0F, 0xc7, 0xc7 },
		{ X86_OP_0F, 0xcc, 0xcc },
	};

	for (size_t i = 0; i < sizeof(not_) / sizeof(not_[0]); i++)
		if (not_[i].map == map && opcode >= not_[i].first &&
		    opcode <= not_[i].last)
			return false;
	return true;
}

static const uint8_t prefixes[] = { 0, 0x48, 0x66, 0xf2, 0xf3 };

/* Operands rcx and rbx or, where the opcode goes on there, all that the reg field says.
 */
static unsigned check_opcode(unsigned map, unsigned opcode, uint8_t prefix)
{
	unsigned n = 0;

	for (unsigned reg = 0; reg < 8; reg++) {
		static const uint8_t numbers[] = { 0, 1, 5, 0x20 };

		for (unsigned k = 0; k < sizeof(numbers); k++) {
			uint8_t bytes[X86_OP_MAX_BYTES + 1] = { 0 };
			unsigned at = 0;

			if (prefix)
				bytes[at++] = prefix;
			if (map != X86_OP_ONE)
				bytes[at++] = 0x0f;
			if (map == X86_OP_0F38)
				bytes[at++] = 0x38;
			if (map == X86_OP_0F3A)
				bytes[at++] = 0x3a;
			bytes[at++] = (uint8_t)opcode;
			/* not rsp: rm is rbx, or rcx of the x87's */
			bytes[at++] =
				(uint8_t)(0xc0 | reg << 3 |
					  (opcode >= 0xd8 && opcode <= 0xdf ? 1 : 3));
			bytes[at] = numbers[k];
			n += (reg != 4 || is_group(map, opcode)) && check_one(bytes);
		}
	}
	return n;
}

static void begin(void)
{
	static const int faults[] = { SIGILL, SIGSEGV, SIGFPE, SIGTRAP, SIGBUS };

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		signal(faults[i], on_fault);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
}

static void the_cpu_agrees_on_the_flags_of_every_opcode(void **state)
{
	unsigned n = 0;

	(void)state;
	if (getenv("DWELL_MEMCHECK"))
		skip(); /* its CPU is another */
	begin();
	for (unsigned map = X86_OP_ONE; map <= X86_OP_0F3A; map++)
		for (unsigned opcode = 0; opcode < 256; opcode++)
			for (size_t p = 0; p < sizeof(prefixes); p++)
				if (is_harmless(map, opcode))
					n += check_opcode(map, opcode, prefixes[p]);
	assert_in_range(n, 20000, 1000000);
}

/* VEX forms with all registers rbx and rcx: bits of general registers, vectors, masks. */
static void the_cpu_agrees_on_the_flags_of_vectors(void **state)
{
	unsigned n = 0;

	(void)state;
	if (getenv("DWELL_MEMCHECK"))
		skip();
	begin();
	for (unsigned map = X86_OP_0F; map <= X86_OP_0F3A; map++)
		for (unsigned opcode = 0; opcode < 256; opcode++)
			for (unsigned pp = 0; pp < 16; pp++) {
				/* W and L and pp; vvvv is 1 or none */
				uint8_t p1 =
					(uint8_t)((pp & 8) << 4 | (pp & 4) | (pp & 3));
				uint8_t bytes[X86_OP_MAX_BYTES + 1] = {
					0xc4, (uint8_t)(0xe0 | map),
					0,    (uint8_t)opcode,
					0xcb, 3
				};

				if (map == X86_OP_0F &&
				    (opcode == 0x77 || opcode == 0xae))
					continue;
				bytes[2] = p1 | 0x70;
				n += check_one(bytes);
				bytes[2] = p1 | 0x78;
				n += check_one(bytes);
			}
	assert_in_range(n, 500, 100000);
}

static void strings_and_jumps_read_and_set_what_the_manual_says(void **state)
{
	static const struct {
		const char *bytes;
		unsigned read, set;
	} t[] = {
		{ "\xa6", 0, X86_FLAGS_ALL },
		{ "\xf3\xa6", 0, 0 }, /* maybe not once */
		{ "\xf2\xae", 0, 0 },
		{ "\xf3\xa4", 0, 0 },
		{ "\x72\x10", X86_FLAG_C, 0 },
		{ "\x0f\x8f\x10\0\0", X86_FLAG_Z | X86_FLAG_S | X86_FLAG_O, 0 },
		{ "\xe0\x10", X86_FLAG_Z, 0 },
		{ "\xe3\x10", 0, 0 },
		{ "\x9c", X86_FLAGS_ALL, 0 },
		{ "\x9d", 0, X86_FLAGS_ALL },
		{ "\x0f\x05", X86_FLAGS_ALL, 0 },
		{ "\xcc", X86_FLAGS_ALL, 0 },
		{ "\xd3\xe0", 0, 0 }, /* cl may be 0 */
		{ "\x83\x3d\1\2\3\4\5", 0, X86_FLAGS_ALL },
		{ "\xf0\x0f\xb1\x0b", 0, X86_FLAGS_ALL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint8_t bytes[X86_OP_MAX_BYTES] = { 0 };
		struct x86_op op;

		memcpy(bytes, t[i].bytes, strlen(t[i].bytes));
		assert_true(x86_op_read(bytes, &op));
		assert_int_equal(x86_flags_of(&op).read, t[i].read);
		assert_int_equal(x86_flags_of(&op).set, t[i].set);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_and_jumps_read_and_set_what_the_manual_says),
		cmocka_unit_test(the_cpu_agrees_on_the_flags_of_every_opcode),
		cmocka_unit_test(the_cpu_agrees_on_the_flags_of_vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
