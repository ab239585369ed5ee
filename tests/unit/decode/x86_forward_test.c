/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/x86_forward.h"
#include "decode/x86_op.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define AT	   0x10000 /* the code */
#define STACK	   0x8000  /* rsp, from where on memory is known: 0x80, 0x81, ... */
#define STACK_SIZE 128
#define CONSTANTS  0x20000 /* eight bytes: 0x70, 0x71, ... */

#define CODE(bytes) bytes, sizeof(bytes) - 1

struct code {
	const char *bytes;
	size_t size;
};

static unsigned read_code(void *ctx, uint64_t addr, uint8_t *to)
{
	const struct code *c = ctx;
	size_t at = (size_t)(addr - AT), n;

	if (at >= c->size)
		return 0;
	n = c->size - at < X86_OP_MAX_BYTES ? c->size - at : X86_OP_MAX_BYTES;
	memcpy(to, c->bytes + at, n);
	return (unsigned)n;
}

static bool read_stack(void *ctx, uint64_t addr, void *to, unsigned bytes)
{
	uint8_t *p = to;

	(void)ctx;
	if (addr < STACK || addr > STACK + STACK_SIZE - bytes)
		return false;
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (uint8_t)(0x80 + addr - STACK + i);
	return true;
}

static bool read_constant(void *ctx, uint64_t addr, void *to, unsigned bytes)
{
	uint8_t *p = to;

	(void)ctx;
	if (addr < CONSTANTS || addr > CONSTANTS + 8 - bytes)
		return false;
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (uint8_t)(0x70 + addr - CONSTANTS + i);
	return true;
}

/* rax is 0x1000, rcx 0x2000 and so on, but r15 unknown; flags are clear. */
static void go_from(const struct forward_limits *limits, uint32_t known_flags,
		    struct code code, struct forward_path *ret)
{
	struct forward_state from = { .ip = AT,
				      .known_regs = 0x7fff,
				      .known_flags = known_flags };
	struct forward_source source = { read_code, read_stack, read_constant, &code };

	for (unsigned i = 0; i < X86_OP_N_REGS; i++)
		from.regs[i] = 0x1000 * (i + 1);
	from.regs[X86_OP_RSP] = STACK;
	x86_forward(&from, &source, limits, ret);
}

static void go(const char *bytes, size_t size, struct forward_path *ret)
{
	static const struct forward_limits limits = { .n_insns = 200, .n_branches = 32 };

	go_from(&limits, X86_FORWARD_FLAGS, (struct code){ bytes, size }, ret);
}

/* A letter each: taken, not, unknown. */
static const char *ways_of(const struct forward_path *path)
{
	static char ways[FORWARD_MAX_BRANCHES + 1];

	for (unsigned i = 0; i < path->n_branches; i++)
		ways[i] = "UNT"[path->branches[i].way];
	ways[path->n_branches] = 0;
	return ways;
}

/* hlt is where programs do not go on. */
struct told {
	const char *what;
	const char *code;
	size_t size;
	const char *ways;
	enum forward_end end;
	unsigned reg; /* is this, or unknown */
	uint64_t value;
	bool is_known;
};

static const struct told of_registers[] = {
	/* cmp %rbx,%rax; jb 1f; hlt; 1: hlt */
	{ "known registers decide a branch", CODE("\x48\x39\xd8\x72\x01\xf4\xf4"), "T",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0x1000, true },
	/* cmp %rax,%rbx; jb 1f; mov $7,%eax; hlt; 1: hlt */
	{ "a branch not taken goes on",
	  CODE("\x48\x39\xc3\x72\x06\xb8\x07\x00\x00\x00\xf4\xf4"), "N",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 7, true },
	/* test %r15,%r15; je 1f; 1: hlt */
	{ "an unknown one ends the path", CODE("\x4d\x85\xff\x74\x00\xf4"), "U",
	  FORWARD_AT_BRANCH, X86_OP_RAX, 0x1000, true },
	/* xor %r15d,%r15d; jne 1f; mov %r15,%rax; 1: hlt */
	{ "zero is known of what is not", CODE("\x45\x31\xff\x75\x03\x4c\x89\xf8\xf4"),
	  "N", FORWARD_AT_STRANGER, X86_OP_RAX, 0, true },
	/* movzbl %r15b,%eax; cmp $0x100,%eax; jae 1f; 1: hlt */
	{ "the byte of a word that is not known is small",
	  CODE("\x41\x0f\xb6\xc7\x3d\x00\x01\x00\x00\x73\x00\xf4"), "N",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0, false },
	/* or $4,%r15; je 1f; 1: hlt */
	{ "a bit that is set is not zero", CODE("\x49\x83\xcf\x04\x74\x00\xf4"), "N",
	  FORWARD_AT_STRANGER, 15, 0, false },
	/* add %r15,%r15; mov %rax,%rbx; cmove %rbx,%rax; hlt */
	{ "two moves that are the same need no flags",
	  CODE("\x4d\x01\xff\x48\x89\xc3\x48\x0f\x44\xc3\xf4"), "", FORWARD_AT_STRANGER,
	  X86_OP_RAX, 0x1000, true },
	/* test %r15,%r15; sete %al; cmp $2,%al; jae 1f; 1: hlt */
	{ "a condition that is not known is 0 or 1",
	  CODE("\x4d\x85\xff\x0f\x94\xc0\x3c\x02\x73\x00\xf4"), "N", FORWARD_AT_STRANGER,
	  X86_OP_RAX, 0, false },
};

static const struct told of_memory[] = {
	/* mov 0x10(%rsp),%rax; hlt */
	{ "memory that is known is read", CODE("\x48\x8b\x44\x24\x10\xf4"), "",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0x9796959493929190, true },
	/* mov 0x10000(%rsp),%rax; hlt */
	{ "memory that is not known is not", CODE("\x48\x8b\x84\x24\x00\x00\x01\x00\xf4"),
	  "", FORWARD_AT_STRANGER, X86_OP_RAX, 0, false },
	/* mov %rbx,-8(%rsp); mov -8(%rsp),%rax; hlt */
	{ "what was stored is read", CODE("\x48\x89\x5c\x24\xf8\x48\x8b\x44\x24\xf8\xf4"),
	  "", FORWARD_AT_STRANGER, X86_OP_RAX, 0x4000, true },
	/* movw $0x1234,(%rsp); mov (%rsp),%eax; hlt */
	{ "parts of what was stored are read",
	  CODE("\x66\xc7\x04\x24\x34\x12\x8b\x04\x24\xf4"), "", FORWARD_AT_STRANGER,
	  X86_OP_RAX, 0x83821234, true },
	/* push %rbx; push $-2; pop %rcx; pop %rax; hlt */
	{ "what was pushed is popped", CODE("\x53\x6a\xfe\x59\x58\xf4"), "",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0x4000, true },
	/* mov %rbx,(%r15); mov (%rsp),%rax; hlt */
	{ "a store nobody knows where may be anywhere",
	  CODE("\x49\x89\x1f\x48\x8b\x04\x24\xf4"), "", FORWARD_AT_STRANGER, X86_OP_RAX,
	  0, false },
	/* mov %rbx,(%r15); mov 0x20000,%rax; hlt */
	{ "but not where nobody can store",
	  CODE("\x49\x89\x1f\x48\x8b\x04\x25\x00\x00\x02\x00\xf4"), "",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0x7776757473727170, true },
	/* mov 0x20001,%rax; hlt */
	{ "of constants all of it must be known",
	  CODE("\x48\x8b\x04\x25\x01\x00\x02\x00\xf4"), "", FORWARD_AT_STRANGER,
	  X86_OP_RAX, 0, false },
	/* mov %rbx,%fs:0; mov (%rsp),%rax; hlt */
	{ "so may one by fs",
	  CODE("\x64\x48\x89\x1c\x25\x00\x00\x00\x00\x48\x8b\x04\x24\xf4"), "",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0, false },
	/* mov %rbx,(%r15); push %rbx; pop %rax; hlt */
	{ "what is stored after it is known", CODE("\x49\x89\x1f\x53\x58\xf4"), "",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0x4000, true },
	/* mov (%r15),%rbx; mov %fs:0x28,%rcx; mov (%rsp),%rax; hlt */
	{ "a load nobody knows from where spoils nothing",
	  CODE("\x49\x8b\x1f\x64\x48\x8b\x0c\x25\x28\x00\x00\x00\x48\x8b\x04\x24"
	       "\xf4"),
	  "", FORWARD_AT_STRANGER, X86_OP_RAX, 0x8786858483828180, true },
	/* movups %xmm0,(%rsp); mov 8(%rsp),%rax; hlt */
	{ "a vector stores what is not known",
	  CODE("\x0f\x11\x04\x24\x48\x8b\x44\x24\x08\xf4"), "", FORWARD_AT_STRANGER,
	  X86_OP_RAX, 0, false },
	/* movups %xmm0,-16(%rsp); mov (%rsp),%rax; hlt */
	{ "but only there", CODE("\x0f\x11\x44\x24\xf0\x48\x8b\x04\x24\xf4"), "",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0x8786858483828180, true },
	/* vmovups %ymm0,-16(%rsp); mov 8(%rsp),%rax; hlt */
	{ "wide ones store more",
	  CODE("\xc5\xfc\x11\x44\x24\xf0\x48\x8b\x44\x24\x08\xf4"), "",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0, false },
	/* vmovups %zmm0,-64(%rsp); mov (%rsp),%rax; hlt */
	{ "distances may be in units of what is stored",
	  CODE("\x62\xf1\x7c\x48\x11\x44\x24\xff\x48\x8b\x04\x24\xf4"), "",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0x8786858483828180, true },
	/* vmovups %zmm17,64(%rsp); mov 0x70(%rsp),%rax; hlt */
	{ "and then are far",
	  CODE("\x62\xe1\x7c\x48\x11\x4c\x24\x01\x48\x8b\x44\x24\x70\xf4"), "",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0, false },
	/* movups (%r15),%xmm0; vpxor (%r15),%ymm0,%ymm1; mov (%rsp),%rax; hlt */
	{ "vectors are loaded without harm",
	  CODE("\x41\x0f\x10\x07\xc4\xc1\x7d\xef\x0f\x48\x8b\x04\x24\xf4"), "",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0x8786858483828180, true },
	/* xor %eax,%eax; ucomisd %xmm1,%xmm0; je 1f; 1: hlt */
	{ "their comparisons make flags unknown",
	  CODE("\x31\xc0\x66\x0f\x2e\xc1\x74\x00\xf4"), "U", FORWARD_AT_BRANCH,
	  X86_OP_RAX, 0, true },
	/* xor %eax,%eax; pxor %xmm1,%xmm0; movd %xmm0,%eax; jne 1f; 1: hlt */
	{ "but moves do not",
	  CODE("\x31\xc0\x66\x0f\xef\xc1\x66\x0f\x7e\xc0\x75\x00\xf4"), "N",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0, false },
};

static const struct told of_ways[] = {
	/* call 1f; mov $5,%eax; hlt; 1: ret */
	{ "calls come back", CODE("\xe8\x06\x00\x00\x00\xb8\x05\x00\x00\x00\xf4\xc3"),
	  "T", FORWARD_AT_STRANGER, X86_OP_RAX, 5, true },
	/* call 1f; hlt; 1: mov %rax,(%r15); ret */
	{ "unless what they return to is lost",
	  CODE("\xe8\x01\x00\x00\x00\xf4\x49\x89\x07\xc3"), "U", FORWARD_AT_BRANCH,
	  X86_OP_RAX, 0x1000, true },
	/* mov %r12,(%rsp); ret */
	{ "returns go where memory says", CODE("\x4c\x89\x24\x24\xc3"), "T",
	  FORWARD_AT_CODE, X86_OP_RSP, 0x8008, true },
	/* lea 1f(%rip),%rdx; jmp *%rdx; hlt; 1: mov $9,%eax; hlt */
	{ "jumps go where registers say",
	  CODE("\x48\x8d\x15\x03\x00\x00\x00\xff\xe2\xf4\xb8\x09\x00\x00\x00"
	       "\xf4"),
	  "T", FORWARD_AT_STRANGER, X86_OP_RAX, 9, true },
	/* lea 1f(%rip),%rdx; call *%rdx; hlt; 1: pop %rax; sub %rdx,%rax; hlt */
	{ "calls do so, too",
	  CODE("\x48\x8d\x15\x03\x00\x00\x00\xff\xd2\xf4\x58\x48\x29\xd0\xf4"), "T",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0xffffffffffffffff, true },
	/* jmp *%r15 */
	{ "but not where nobody knows", CODE("\x41\xff\xe7"), "U", FORWARD_AT_BRANCH,
	  X86_OP_RAX, 0x1000, true },
	/* mov $3,%ecx; xor %eax,%eax; 1: inc %eax; loop 1b; hlt */
	{ "rcx counts", CODE("\xb9\x03\x00\x00\x00\x31\xc0\xff\xc0\xe2\xfc\xf4"), "TTN",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 3, true },
	/* xor %ecx,%ecx; jrcxz 1f; mov $3,%eax; 1: hlt */
	{ "zero counts are jumped over", CODE("\x31\xc9\xe3\x05\xb8\x03\x00\x00\x00\xf4"),
	  "T", FORWARD_AT_STRANGER, X86_OP_RAX, 0x1000, true },
	/* mov $2,%ecx; test %eax,%eax; 1: loope 1b; hlt */
	{ "and must be equal besides", CODE("\xb9\x02\x00\x00\x00\x85\xc0\xe1\xfe\xf4"),
	  "N", FORWARD_AT_STRANGER, X86_OP_RCX, 1, true },
	/* mov $60,%eax; syscall */
	{ "a system call ends it", CODE("\xb8\x3c\x00\x00\x00\x0f\x05"), "",
	  FORWARD_AT_KERNEL, X86_OP_RAX, 60, true },
	/* int3 */
	{ "a trap ends it", CODE("\xcc"), "", FORWARD_AT_KERNEL, X86_OP_RAX, 0x1000,
	  true },
	/* movb $0x90,1f(%rip); nop; 1: nop; hlt */
	{ "code that is written is not known",
	  CODE("\xc6\x05\x01\x00\x00\x00\x90\x90\x90\xf4"), "", FORWARD_AT_CODE,
	  X86_OP_RAX, 0x1000, true },
};

static const struct told of_others[] = {
	/* mov %rsp,%rdi; mov $0x41,%al; stosb; mov (%rsp),%eax; hlt */
	{ "strings are stored", CODE("\x48\x89\xe7\xb0\x41\xaa\x8b\x04\x24\xf4"), "",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0x83828141, true },
	/* mov %rsp,%rdi; lea 8(%rsp),%rsi; movsw; mov (%rsp),%eax; hlt */
	{ "strings are moved",
	  CODE("\x48\x89\xe7\x48\x8d\x74\x24\x08\x66\xa5\x8b\x04\x24\xf4"), "",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0x83828988, true },
	/* std; mov %rsp,%rdi; stosl; sub %rsp,%rdi; hlt */
	{ "downwards if so it is", CODE("\xfd\x48\x89\xe7\xab\x48\x29\xe7\xf4"), "",
	  FORWARD_AT_STRANGER, X86_OP_RDI, 0xfffffffffffffffc, true },
	/* mov %rsp,%rdi; mov $2,%ecx; rep stosb; mov (%rsp),%eax; hlt */
	{ "repeated they leave what is not known",
	  CODE("\x48\x89\xe7\xb9\x02\x00\x00\x00\xf3\xaa\x8b\x04\x24\xf4"), "",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0, false },
	/* mov %rsp,%rdi; mov $2,%ecx; rep stosb; movzwl 2(%rsp),%eax; hlt */
	{ "but no more of it",
	  CODE("\x48\x89\xe7\xb9\x02\x00\x00\x00\xf3\xaa\x0f\xb7\x44\x24\x02"
	       "\xf4"),
	  "", FORWARD_AT_STRANGER, X86_OP_RAX, 0x8382, true },
	/* mov %rsp,%rdi; mov $2,%ecx; rep stosq; mov %rdi,%rax; hlt */
	{ "and count to the end",
	  CODE("\x48\x89\xe7\xb9\x02\x00\x00\x00\xf3\x48\xab\x48\x89\xf8\xf4"), "",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0x8010, true },
	/* mov %rsp,%rdi; mov %r15,%rcx; rep stosb; mov 8(%rsp),%rax; hlt */
	{ "many times is anywhere",
	  CODE("\x48\x89\xe7\x4c\x89\xf9\xf3\xaa\x48\x8b\x44\x24\x08\xf4"), "",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0, false },
	/* mov %rsp,%rbp; sub $64,%rsp; movl $1,(%rsp); leave; mov %rsp,%rax; hlt
	 */
	{ "a frame is left",
	  CODE("\x48\x89\xe5\x48\x83\xec\x40\xc7\x04\x24\x01\x00\x00\x00\xc9\x48"
	       "\x89\xe0\xf4"),
	  "", FORWARD_AT_STRANGER, X86_OP_RAX, 0x8008, true },
	/* cmp %rax,%rax; pushf; cmp %rbx,%rax; popf; jne 1f; 1: hlt */
	{ "flags are pushed and popped",
	  CODE("\x48\x39\xc0\x9c\x48\x39\xd8\x9d\x75\x00\xf4"), "N", FORWARD_AT_STRANGER,
	  X86_OP_RAX, 0x1000, true },
	/* cmp %rax,%rax; lahf; cmp %rbx,%rax; sahf; jne 1f; 1: hlt */
	{ "and kept in ah", CODE("\x48\x39\xc0\x9f\x48\x39\xd8\x9e\x75\x00\xf4"), "N",
	  FORWARD_AT_STRANGER, X86_OP_RBX, 0x4000, true },
	/* mov $0x43,%ecx; bt %rcx,(%rsp); jc 1f; 1: hlt */
	{ "bits are beyond a word",
	  CODE("\xb9\x43\x00\x00\x00\x48\x0f\xa3\x0c\x24\x72\x00\xf4"), "T",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0x1000, true },
	/* mov $0x83828180,%eax; cmpxchg %ebx,(%rsp); jne 1f; mov (%rsp),%ecx; 1:
	   hlt */
	{ "what is the same is exchanged",
	  CODE("\xb8\x80\x81\x82\x83\x0f\xb1\x1c\x24\x75\x03\x8b\x0c\x24\xf4"), "N",
	  FORWARD_AT_STRANGER, X86_OP_RCX, 0x4000, true },
	/* cmpxchg %ebx,(%rsp); je 1f; 1: hlt */
	{ "what is not is loaded", CODE("\x0f\xb1\x1c\x24\x74\x00\xf4"), "N",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0x83828180, true },
	/* pop (%rsp); mov (%rsp),%rax; hlt */
	{ "a pop to the stack is behind it", CODE("\x8f\x04\x24\x48\x8b\x04\x24\xf4"), "",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0, false },
	/* xor %ecx,%ecx; div %ecx; mov $1,%eax; hlt */
	{ "a division that fails is not gone on from",
	  CODE("\x31\xc9\xf7\xf1\xb8\x01\x00\x00\x00\xf4"), "", FORWARD_AT_STRANGER,
	  X86_OP_RCX, 0, true },
	/* mov $-1,%rcx; mov 0x8001(%ecx),%al; hlt */
	{ "addresses go round at 32 bits",
	  CODE("\x48\xc7\xc1\xff\xff\xff\xff\x67\x8a\x81\x01\x80\x00\x00\xf4"), "",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0x1080, true },
	/* endbr64; mfence; prefetcht0 (%r15); nopw 8(%rax,%rax); mov (%rsp),%eax;
	   hlt */
	{ "endbr and fences are nothing",
	  CODE("\xf3\x0f\x1e\xfa\x0f\xae\xf0\x41\x0f\x18\x0f\x66\x0f\x1f\x44\x00"
	       "\x08\x8b\x04\x24\xf4"),
	  "", FORWARD_AT_STRANGER, X86_OP_RAX, 0x83828180, true },
	/* .byte 0x66,0xe9,0,0,0,0; hlt */
	{ "of 16 bits jumps are disputed", CODE("\x66\xe9\x00\x00\x00\x00\xf4"), "",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0x1000, true },
	/* xbegin 1f; 1: hlt */
	{ "a transaction may go either way", CODE("\xc7\xf8\x00\x00\x00\x00\xf4"), "",
	  FORWARD_AT_STRANGER, X86_OP_RAX, 0x1000, true },
};

static void check_told(const struct told *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct forward_path path;
		bool is_known;

		go(t[i].code, t[i].size, &path);
		is_known = path.last.known_regs >> t[i].reg & 1;
		if (strcmp(ways_of(&path), t[i].ways) != 0 || path.end != t[i].end ||
		    is_known != t[i].is_known || path.last.regs[t[i].reg] != t[i].value)
			fail_msg("%s: ways %s, end %u, register %#lx, known %d",
				 t[i].what, ways_of(&path), path.end,
				 (unsigned long)path.last.regs[t[i].reg], is_known);
	}
}

#define CHECK_TOLD(t) check_told(t, sizeof(t) / sizeof((t)[0]))

static void registers_decide_as_far_as_they_are_known(void **state)
{
	(void)state;
	CHECK_TOLD(of_registers);
}

static void memory_is_known_until_it_may_have_been_stored_to(void **state)
{
	(void)state;
	CHECK_TOLD(of_memory);
}

static void calls_jumps_and_loops_are_followed(void **state)
{
	(void)state;
	CHECK_TOLD(of_ways);
}

static void strings_flags_and_exchanges_do_what_they_do(void **state)
{
	(void)state;
	CHECK_TOLD(of_others);
}

static void branches_have_their_addresses_and_where_they_go(void **state)
{
	struct forward_path path;

	(void)state;
	/* cmp %rax, %rax; jne +0; je +1; hlt; jmp *%r15 */
	go(CODE("\x48\x39\xc0\x75\x00\x74\x01\xf4\x41\xff\xe7"), &path);
	assert_int_equal(path.n_branches, 3);
	assert_int_equal(path.n_insns, 3);
	assert_int_equal(path.branches[0].addr, AT + 3);
	assert_int_equal(path.branches[0].to, AT + 5);
	assert_int_equal(path.branches[0].way, FORWARD_NOT_TAKEN);
	assert_int_equal(path.branches[0].kind, FORWARD_CONDITIONAL);
	assert_int_equal(path.branches[1].to, AT + 8);
	assert_int_equal(path.branches[1].way, FORWARD_TAKEN);
	assert_int_equal(path.branches[2].to, 0);
	assert_int_equal(path.branches[2].kind, FORWARD_JUMP_TO);
	assert_int_equal(path.last.ip, AT + 8);
}

static void limits_end_a_path(void **state)
{
	/* 1: inc %eax; jne 1b */
	static const struct code loop = { CODE("\xff\xc0\x75\xfc") };
	/* call 1f; 1: ret */
	static const struct code call = { CODE("\xe8\x00\x00\x00\x00\xc3") };
	static const struct {
		struct forward_limits limits;
		const struct code *code;
		unsigned n_insns, n_branches;
		enum forward_end end;
	} t[] = {
		{ { 10, 32, false }, &loop, 10, 5, FORWARD_LIMIT },
		{ { 100, 3, false }, &loop, 7, 3, FORWARD_LIMIT },
		{ { 0, 3, false }, &loop, 0, 0, FORWARD_LIMIT },
		{ { 100, 0, false }, &loop, 1, 0, FORWARD_LIMIT },
		{ { UINT32_MAX, UINT32_MAX, false },
		  &loop,
		  2 * FORWARD_MAX_BRANCHES + 1,
		  FORWARD_MAX_BRANCHES,
		  FORWARD_LIMIT },
		{ { 100, 32, true }, &call, 0, 0, FORWARD_AT_CALL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct forward_path path;

		go_from(&t[i].limits, X86_FORWARD_FLAGS, *t[i].code, &path);
		assert_int_equal(path.n_insns, t[i].n_insns);
		assert_int_equal(path.n_branches, t[i].n_branches);
		assert_int_equal(path.end, t[i].end);
	}
}

static void flags_may_be_unknown(void **state)
{
	static const struct forward_limits limits = { 10, 10, false };
	struct forward_path path;

	(void)state;
	/* jb 1f; 1: hlt */
	go_from(&limits, X86_FORWARD_FLAGS & ~1u, (struct code){ CODE("\x72\x00\xf4") },
		&path);
	assert_string_equal(ways_of(&path), "U");
	/* jbe: one of two flags is known, and is clear */
	go_from(&limits, 1, (struct code){ CODE("\x76\x00\xf4") }, &path);
	assert_string_equal(ways_of(&path), "U");
	go_from(&limits, 0x41, (struct code){ CODE("\x76\x00\xf4") }, &path);
	assert_string_equal(ways_of(&path), "N");
}

static void code_may_end_within_an_instruction(void **state)
{
	struct forward_path path;

	(void)state;
	go(CODE("\x90\x48\x81\xc0\x01\x00"), &path);
	assert_int_equal(path.n_insns, 1);
	assert_int_equal(path.end, FORWARD_AT_CODE);
	go(CODE(""), &path);
	assert_int_equal(path.n_insns, 0);
	assert_int_equal(path.end, FORWARD_AT_CODE);
	assert_int_equal(path.last.ip, AT);
}

/* 100 different places are pushed to: those of the beginning are lost, not wrong. */
static void many_stores_are_forgotten_at_once(void **state)
{
	static char code[104];
	struct forward_path path;

	(void)state;
	memset(code, 0x53, sizeof(code));      /* push %rbx */
	memcpy(code + 100, "\x58\x5a\xf4", 3); /* pop %rax; pop %rdx */
	go(code, sizeof(code), &path);
	assert_int_equal(path.last.regs[X86_OP_RAX], 0x4000);
	/* 93 of them; add $744, %rsp; pop %rax */
	memcpy(code + 93, "\x48\x81\xc4\xe8\x02\x00\x00\x58\xf4", 9);
	go(code, sizeof(code), &path);
	assert_int_equal(path.last.regs[X86_OP_RSP], STACK + 8);
	assert_false(path.last.known_regs >> X86_OP_RAX & 1);
}

/* Those of an instruction that is not executed here, too; none of the own frame but
 * of tables there. */
static void accesses_have_their_addresses(void **state)
{
	static const struct forward_access are[] = {
		{ AT, 0x1000 + 8 },  { AT + 4, 0x2000 + 4 * 0x4000 },
		{ AT + 7, 0 },	     { AT + 19, AT + 27 + 0x10 },
		{ AT + 27, 0x9000 }, { AT + 38, STACK + 8 * 0x4000 }
	};
	struct forward_path path;

	(void)state;
	/* mov 8(%rax),%rdx; add %edx,(%rcx,%rbx,4); mov (%r15),%rsi;
	 * mov 8(%rsp),%rdi; lea (%rax),%r9; incl 0x10(%rip); movups (%r8),%xmm0;
	 * mov %fs:(%rax),%rax; nopl (%rax); mov (%rsp,%rbx,8),%r10; hlt */
	go(CODE("\x48\x8b\x50\x08\x01\x14\x99\x49\x8b\x37\x48\x8b\x7c\x24\x08"
		"\x4c\x8d\x08\x90\x48\xff\x05\x11\x00\x00\x00\x90\x41\x0f\x10\x00"
		"\x64\x48\x8b\x00\x0f\x1f\x00\x4c\x8b\x14\xdc\xf4"),
	   &path);
	assert_int_equal(path.n_accesses, sizeof(are) / sizeof(are[0]));
	for (unsigned i = 0; i < path.n_accesses; i++) {
		assert_int_equal(path.accesses[i].ip, are[i].ip);
		assert_int_equal(path.accesses[i].addr, are[i].addr);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_decide_as_far_as_they_are_known),
		cmocka_unit_test(memory_is_known_until_it_may_have_been_stored_to),
		cmocka_unit_test(calls_jumps_and_loops_are_followed),
		cmocka_unit_test(strings_flags_and_exchanges_do_what_they_do),
		cmocka_unit_test(branches_have_their_addresses_and_where_they_go),
		cmocka_unit_test(limits_end_a_path),
		cmocka_unit_test(flags_may_be_unknown),
		cmocka_unit_test(code_may_end_within_an_instruction),
		cmocka_unit_test(many_stores_are_forgotten_at_once),
		cmocka_unit_test(accesses_have_their_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
