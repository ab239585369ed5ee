/* SPDX-License-Identifier: Apache-2.0 */
#include "host/core_kernel.h"

#include "host/clock.h"

#define N_ROUNDS 60
#define N_TURNS	 100 /* of a kernel at once: some microseconds */

/* What it is, how often, of how many each time, and the code.  Registers are as BEGIN
 * leaves them; the place that memory begins with holds its own address. */
#if defined(__x86_64__)
/* n_turns in rdi, memory in rsi.  Numbers a little above one stay what they are. */
#define BEGIN                                                                            \
	"mov %rsi, %rax\n mov $3, %ecx\n movabs $0x3ff000001ad7f29b, %rdx\n"             \
	"movq %rdx, %xmm1\n"                                                             \
	".irp i, 0, 2, 3, 4, 5, 6, 7, 8, 9\n movaps %xmm1, %xmm\\i\n .endr\n"
#define AGAIN	      "dec %rdi\n jnz 1b\n ret\n"
#define EACH(text)    ".irp i, rax, rdx, r8, r9, r10, r11\n" text "\n.endr"
#define VECTORS(text) ".irp i, 2, 3, 4, 5, 6, 7, 8, 9\n" text "\n.endr"
#define KERNELS                                                                          \
	KERNEL(additions, "integer additions, one after the other", 60, 1,               \
	       "add %rcx, %rax")                                                         \
	KERNEL(addition, "integer additions", 10, 6, EACH("add %rcx, %\\i"))             \
	KERNEL(move, "moves of registers", 10, 6, EACH("mov %rcx, %\\i"))                \
	KERNEL(rotations, "rotations, one after the other", 60, 1, "rol $3, %rax")       \
	KERNEL(products, "integer products, one after the other", 40, 1,                 \
	       "imul %rcx, %rax")                                                        \
	KERNEL(product, "integer products", 8, 6, EACH("imul $3, %rcx, %\\i"))           \
	KERNEL(loads, "loads, one after the other", 40, 1, "mov (%rax), %rax")           \
	KERNEL(load, "loads", 10, 6, EACH("mov (%rsi), %\\i"))                           \
	KERNEL(store, "stores", 10, 6,                                                   \
	       ".irp i, 64, 72, 80, 88, 96, 104\n mov %rcx, \\i(%rsi)\n .endr")          \
	KERNEL(forwarded, "stores and loads of the same place", 20, 1,                   \
	       "mov %rax, 64(%rsi)\n mov 64(%rsi), %rax")                                \
	KERNEL(sums, "double additions, one after the other", 40, 1,                     \
	       "addsd %xmm1, %xmm0")                                                     \
	KERNEL(sum, "double additions", 6, 8, VECTORS("addsd %xmm1, %xmm\\i"))           \
	KERNEL(multiplications, "double multiplications, one after the other", 40, 1,    \
	       "mulsd %xmm1, %xmm0")                                                     \
	KERNEL(divisions, "double divisions, one after the other", 20, 1,                \
	       "divsd %xmm1, %xmm0")                                                     \
	KERNEL(division, "double divisions", 3, 8, VECTORS("divsd %xmm1, %xmm\\i"))      \
	KERNEL(vector, "vector additions of integers", 8, 8,                             \
	       VECTORS("paddd %xmm1, %xmm\\i"))                                          \
	KERNEL(shuffles, "vector shuffles, one after the other", 40, 1,                  \
	       "pshufd $0x1b, %xmm0, %xmm0")                                             \
	KERNEL(crossings, "moves to a vector and back", 20, 1,                           \
	       "movq %rax, %xmm0\n movq %xmm0, %rax")
#elif defined(__aarch64__)
/* n_turns in x0, memory in x1. */
#define BEGIN                                                                            \
	"mov x2, x1\n mov x3, #3\n mov x4, #0xf29b\n movk x4, #0x1ad7, lsl #16\n"        \
	"movk x4, #0x3ff0, lsl #48\n fmov d1, x4\n"                                      \
	".irp i, 0, 2, 3, 4, 5, 6, 7, 16, 17\n fmov d\\i, d1\n .endr\n"
#define AGAIN	      "subs x0, x0, #1\n b.ne 1b\n ret\n"
#define EACH(text)    ".irp i, 2, 4, 5, 6, 7, 8\n" text "\n.endr"
#define VECTORS(text) ".irp i, 2, 3, 4, 5, 6, 7, 16, 17\n" text "\n.endr"
#define KERNELS                                                                          \
	KERNEL(additions, "integer additions, one after the other", 60, 1,               \
	       "add x2, x2, x3")                                                         \
	KERNEL(addition, "integer additions", 10, 6, EACH("add x\\i, x\\i, x3"))         \
	KERNEL(move, "moves of registers", 10, 6, EACH("mov x\\i, x3"))                  \
	KERNEL(rotations, "rotations, one after the other", 60, 1, "ror x2, x2, #3")     \
	KERNEL(products, "integer products of 32 bits, one after the other", 40, 1,      \
	       "mul w2, w2, w3")                                                         \
	KERNEL(long_products, "integer products of 64 bits, one after the other", 40, 1, \
	       "mul x2, x2, x3")                                                         \
	KERNEL(product, "integer products of 32 bits", 8, 6, EACH("mul w\\i, w3, w3"))   \
	KERNEL(loads, "loads, one after the other", 40, 1, "ldr x2, [x2]")               \
	KERNEL(load, "loads", 10, 6, EACH("ldr x\\i, [x1]"))                             \
	KERNEL(store, "stores", 10, 6,                                                   \
	       ".irp i, 64, 72, 80, 88, 96, 104\n str x3, [x1, #\\i]\n .endr")           \
	KERNEL(forwarded, "stores and loads of the same place", 20, 1,                   \
	       "str x2, [x1, #64]\n ldr x2, [x1, #64]")                                  \
	KERNEL(sums, "double additions, one after the other", 40, 1, "fadd d0, d0, d1")  \
	KERNEL(sum, "double additions", 6, 8, VECTORS("fadd d\\i, d\\i, d1"))            \
	KERNEL(multiplications, "double multiplications, one after the other", 40, 1,    \
	       "fmul d0, d0, d1")                                                        \
	KERNEL(divisions, "double divisions, one after the other", 20, 1,                \
	       "fdiv d0, d0, d1")                                                        \
	KERNEL(division, "double divisions", 3, 8, VECTORS("fdiv d\\i, d\\i, d1"))       \
	KERNEL(vector, "vector additions of integers", 8, 8,                             \
	       VECTORS("add v\\i\\().4s, v\\i\\().4s, v1.4s"))                           \
	KERNEL(shuffles, "vector shuffles, one after the other", 40, 1,                  \
	       "ext v0.16b, v0.16b, v0.16b, #4")                                         \
	KERNEL(crossings, "moves to a vector and back", 20, 1,                           \
	       "fmov d0, x2\n fmov x2, d0")
#endif

#define KERNEL(name, what, n_times, n_each, text)                                        \
	void core_kernel_##name(uint64_t n_turns, void *memory);                         \
	extern const uint8_t core_kernel_##name##_code[], core_kernel_##name##_end[];    \
	__asm__(".pushsection .text\n .p2align 6\n"                                      \
		".hidden core_kernel_" #name ", core_kernel_" #name "_code\n"            \
		".hidden core_kernel_" #name "_end\n"                                    \
		".globl core_kernel_" #name ", core_kernel_" #name "_code\n"             \
		".globl core_kernel_" #name "_end\n"                                     \
		".type core_kernel_" #name ", %function\n"                               \
		"core_kernel_" #name ":\n" BEGIN ".p2align 6\n 1:\n"                     \
		"core_kernel_" #name "_code:\n"                                          \
		".rept " #n_times "\n" text "\n .endr\n"                                 \
		"core_kernel_" #name "_end:\n" AGAIN ".size core_kernel_" #name          \
		", . - core_kernel_" #name "\n .popsection\n");
KERNELS
#undef KERNEL

static const struct core_kernel kernels[] = {
#define KERNEL(name, what, n_times, n_each, text)                                        \
	{ what, core_kernel_##name##_code, core_kernel_##name##_end,                     \
	  (n_times) * (n_each), core_kernel_##name },
	KERNELS
#undef KERNEL
};

#define N_KERNELS (sizeof(kernels) / sizeof(kernels[0]))

size_t core_kernel_count(void)
{
	return N_KERNELS;
}

const struct core_kernel *core_kernel_at(size_t i)
{
	return &kernels[i];
}

static uint64_t ns_of(const struct core_kernel *k, void *memory)
{
	uint64_t from = clock_monotonic_ns();

	k->run(N_TURNS, memory);
	return clock_monotonic_ns() - from;
}

/* By turns, as the clock may change; the quickest run of each is one that nothing
 * interrupted. */
void core_kernel_measure(double *cycles)
{
	_Alignas(64) void *memory[32] = { memory };
	uint64_t best[N_KERNELS];
	double cycle;

	for (size_t i = 0; i < N_KERNELS; i++)
		best[i] = UINT64_MAX;
	for (unsigned round = 0; round < N_ROUNDS; round++)
		for (size_t i = 0; i < N_KERNELS; i++) {
			uint64_t took = ns_of(&kernels[i], memory);

			best[i] = took && took < best[i] ? took : best[i];
		}
	cycle = (double)best[0] / kernels[0].n;
	for (size_t i = 0; i < N_KERNELS; i++)
		cycles[i] = (double)best[i] / kernels[i].n / cycle;
}
