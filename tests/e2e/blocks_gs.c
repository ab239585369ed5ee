/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that uses the gs segment for itself: set by calls and by instructions, in all
 * forms that operands have, in threads, children, and with signals among it.  Says what
 * each part comes to; what is wrong by itself is told as such. */
#include <asm/prctl.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define ALONE	 __attribute__((noinline))
#define STEPS	 20000
#define THREADS	 8
#define HAS_BASE (getauxval(AT_HWCAP2) & 2) /* FSGSBASE */

struct block {
	uint64_t zero, self, sum, numbers[64];
	void *function;
	double real[16] __attribute__((aligned(64)));
};

static struct block first;

static void check(int is_right, const char *what)
{
	if (!is_right)
		printf("wrong: %s\n", what);
}

static long set_base(const void *base)
{
	return syscall(SYS_arch_prctl, ARCH_SET_GS, base);
}

static uint64_t get_base(void)
{
	uint64_t base = 1;

	check(syscall(SYS_arch_prctl, ARCH_GET_GS, &base) == 0, "asking for the base");
	return base;
}

static void begin(struct block *b)
{
	memset(b, 0, sizeof(*b));
	b->self = (uint64_t)b;
	for (unsigned i = 0; i < 64; i++)
		b->numbers[i] = 1000 + i;
	for (unsigned i = 0; i < 16; i++)
		b->real[i] = i / 2.0;
	check(set_base(b) == 0, "setting the base");
}

static void calls(void)
{
	begin(&first);
	check(get_base() == (uint64_t)&first, "the base");
	check(set_base((void *)0x7ffffffff000) < 0 && errno == EPERM, "a base too high");
	check(set_base((void *)-4096L) < 0 && errno == EPERM, "a base of the kernel's");
	check(syscall(SYS_arch_prctl, ARCH_GET_GS, 8) < 0 && errno == EFAULT, "nowhere");
	check(get_base() == (uint64_t)&first, "the base as it was");
	puts("calls");
}

static void instructions(void)
{
	uint64_t base = 5, low = 5;

	if (!HAS_BASE)
		return;
	__asm__ volatile("wrgsbase %0" ::"r"(&first.numbers[1]));
	__asm__ volatile("rdgsbase %0" : "=r"(base));
	check(base == (uint64_t)&first.numbers[1], "rdgsbase");
	check(get_base() == (uint64_t)&first.numbers[1], "the call behind wrgsbase");
	__asm__ volatile("rdgsbase %k0" : "+D"(low));
	check(low == (uint32_t)base, "rdgsbase of 32 bits");
	__asm__ volatile("mov $-1, %%rdi; wrgsbase %%edi; rdgsbase %%rsi"
			 : "=S"(base)::"rdi");
	check(base == 0xffffffff, "wrgsbase of 32 bits");
	__asm__ volatile("wrgsbase %%rsp; rdgsbase %0; cmp %%rsp, %0; sete %b0"
			 : "=&q"(base)::"cc");
	check((uint8_t)base, "wrgsbase of the stack's pointer");
	set_base(&first);
	puts("instructions");
}

#define LOAD(text, ...)                                                                  \
	__asm__ volatile(text : "=&r"(got) : __VA_ARGS__);                               \
	sum = sum * 31 + got

/* Operands of each form, with registers that are as they were. */
static void forms(void)
{
	uint64_t got, sum = 0, i = 3, off = offsetof(struct block, numbers);

	LOAD("movq %%gs:%c1, %0", "i"(offsetof(struct block, self)));
	check(got == (uint64_t)&first, "by distance");
	sum = 0;
	LOAD("movq %%gs:(%1), %0", "r"(off));
	LOAD("movq %%gs:8(%1), %0", "D"(off));
	LOAD("movq %%gs:8(%1,%2,8), %0", "r"(off), "r"(i));
	LOAD("movq %%gs:24(,%1,8), %0", "S"(i));
	LOAD("movq %%gs:(%1,%2,8), %0", "D"(off), "S"(i));
	LOAD("addr32 movq %%gs:16(%k1,%k2,4), %0", "r"(off | 1UL << 40), "b"(i * 2));
	LOAD("xor %0, %0; cmp $7, %1; movzwl %%gs:32, %k0; setb %b0", "r"(i) : "cc");
	LOAD("mov %1, %%rdi; mov %2, %%rsi; addq %%gs:(%%rdi,%%rsi), %%rdi; mov %%rdi, "
	     "%0",
	     "r"(off), "r"(i * 8)
	     : "rdi", "rsi", "cc");
	__asm__ volatile("movabs %%gs:%P1, %%rax"
			 : "=a"(got)
			 : "i"(offsetof(struct block, numbers)));
	sum = sum * 31 + got;
	__asm__ volatile("movabs %%eax, %%gs:%P1" ::"a"(77),
			 "i"(offsetof(struct block, sum)));
	sum = sum * 31 + first.sum;
	__asm__ volatile(
		"sub $256, %%rsp; push %%gs:(%0); pop %%gs:(%1); add $256, %%rsp" ::"r"(
			off),
		"r"(off + 8)
		: "memory", "cc");
	sum = sum * 31 + first.numbers[1];
	__asm__ volatile("lock; xaddq %0, %%gs:%c1"
			 : "=r"(got)
			 : "i"(offsetof(struct block, sum)), "0"(1000UL)
			 : "memory", "cc");
	sum = sum * 31 + got + first.sum;
	__asm__ volatile(".byte 0x65; lea 8(%1), %0" : "=r"(got) : "r"(i));
	printf("forms %lu %lu\n", (unsigned long)(sum * 31), (unsigned long)got);
}

/* All else is with the stack's pointer as the base: pop counts from behind itself. */
static void stack(void)
{
	uint64_t was, now[4] = { 0 };

	set_base(NULL);
	__asm__ volatile("sub $256, %%rsp; push $41; push $42; push $43\n"
			 "pop %%gs:(%%rsp); pop %%rax; pop %%rdx\n"
			 "push %%gs:-8(%%rsp); pop %%rcx; add $256, %%rsp"
			 : "=a"(now[0]), "=d"(now[1]), "=c"(now[2])::"memory", "cc");
	was = now[0] * 10000 + now[1] * 100 + now[2];
	set_base(&first);
	printf("stack %lu\n", (unsigned long)was);
}

__attribute__((target("avx"))) static void vectors(void)
{
	double sum[4], more[8] = { 0 };

	if (!__builtin_cpu_supports("avx"))
		return;
	__asm__ volatile("vmovupd %%gs:%c1, %%ymm1; vaddpd %%gs:%c2(%3), %%ymm1, %%ymm1\n"
			 "addpd %%gs:%c1, %%xmm1; vmovupd %%ymm1, %0; vzeroupper"
			 : "=m"(sum)
			 : "i"(offsetof(struct block, real)),
			   "i"(offsetof(struct block, real) + 16), "r"(16UL)
			 : "xmm1");
	if (__builtin_cpu_supports("avx512f"))
		__asm__ volatile(
			"kxnorw %%k1, %%k1, %%k1; vmovupd %%gs:-64(%1), %%zmm2%{%%k1%}\n"
			"vaddpd %%gs:-120(%1)%{1to8%}, %%zmm2, %%zmm2\n"
			"vmovupd %%zmm2, %0; vzeroupper"
			: "=m"(more)
			: "r"(offsetof(struct block, real) + 128)
			: "xmm2");
	else
		more[3] = first.real[11] + first.real[1];
	printf("vectors %g %g\n", sum[0] + sum[3], more[3]);
}

static ALONE long leaf(long n)
{
	return n * 3 + 1;
}

static void jumps(void)
{
	long got = 7;

	first.function = (void *)leaf;
	__asm__ volatile(
		"sub $256, %%rsp; call *%%gs:%c2; mov %%rax, %%rdi; mov %3, %%rcx\n"
		"call *%%gs:-8(%%rcx,%4); add $256, %%rsp"
		: "=a"(got), "+D"(got)
		: "i"(offsetof(struct block, function)), "b"(8UL),
		  "d"(offsetof(struct block, function))
		: "rcx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
	__asm__ volatile(
		"lea 1f(%%rip), %%rax; mov %%rax, %%gs:%c2; jmp *%%gs:%c2; ud2; 1:"
		: "=a"(got)
		: "0"(got), "i"(offsetof(struct block, sum))
		: "memory");
	puts("jumps");
}

/* n, once; flags and registers that a detour may take are as they were. */
static ALONE uint64_t step(uint64_t n)
{
	uint64_t di = n ^ 1, si = n ^ 2, bx = n ^ 3, dx = n ^ 4, is_zero;

	__asm__ volatile("cmp %4, %4; addq $0, %%gs:%c6; cmp %4, %4\n"
			 "movq %%gs:%c6, %0; mov %0, %%r8; lea 1(%%r8), %%r8\n"
			 "mov %%r8, %%gs:%c6; sete %b0"
			 : "=&a"(is_zero), "+D"(di), "+S"(si), "+b"(bx), "+d"(dx)
			 : "r"(n), "i"(offsetof(struct block, sum))
			 : "r8", "memory", "cc");
	return (is_zero & 0xff) == 1 && di == (n ^ 1) && si == (n ^ 2) && bx == (n ^ 3) &&
	       dx == (n ^ 4);
}

static void *thread(void *argument)
{
	struct block *own = aligned_alloc(64, sizeof(*own));
	uint64_t right = 0;

	check(get_base() == (uint64_t)argument, "what a thread begins with");
	begin(own);
	for (uint64_t i = 0; i < STEPS; i++)
		right += step(i);
	check(get_base() == (uint64_t)own, "a thread's own");
	check(own->sum == STEPS && right == STEPS, "a thread's steps");
	free(own);
	return NULL;
}

static void threads(void)
{
	pthread_t t[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, thread, &first);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	check(get_base() == (uint64_t)&first, "the first thread's");
	puts("threads");
}

static volatile int n_ticks;

static void tick(int signal, siginfo_t *info, void *context)
{
	uint64_t self;

	(void)signal, (void)info, (void)context;
	__asm__ volatile("movq %%gs:%c1, %0"
			 : "=r"(self)
			 : "i"(offsetof(struct block, self)));
	check(self == (uint64_t)&first, "in a handler");
	n_ticks++;
}

static void ticks(void)
{
	struct itimerval often = { { 0, 150 }, { 0, 150 } }, never = { 0 };
	struct sigaction a = { .sa_sigaction = tick,
			       .sa_flags = SA_SIGINFO | SA_RESTART };
	uint64_t right = 0, n = 0;

	begin(&first);
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (; n_ticks < 3000; n++)
		right += step(n);
	setitimer(ITIMER_REAL, &never, NULL);
	check(right == n && first.sum == n, "steps among signals");
	puts("ticks");
}

static uint8_t *hole;
static uint64_t seen[4];
extern const char at_load[], behind_load[], at_jump[], behind_jump[];

static void fault(int signal, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	int is_jump = r[REG_RIP] == (greg_t)at_jump;

	(void)signal;
	seen[0] += (uint8_t *)info->si_addr == hole + 16;
	seen[1] += r[REG_RIP] == (greg_t)at_load || is_jump;
	seen[2] += (uint64_t)r[REG_RDI];
	seen[3] += (uint64_t)r[REG_RDX] + (uint64_t)r[REG_RCX];
	r[REG_RIP] = (greg_t)(is_jump ? behind_jump : behind_load);
}

/* In one place only, which has names. */
__attribute__((noinline)) static uint64_t fault_twice(void)
{
	uint64_t di, dx, cx;

	__asm__ volatile("mov $11, %%edi; mov $12, %%edx; mov $16, %%ecx\n"
			 ".globl at_load\nat_load: addl $3, %%gs:(%%rcx)\n"
			 ".globl behind_load\nbehind_load:\n"
			 ".globl at_jump\nat_jump: jmp *%%gs:(%%rcx)\n"
			 ".globl behind_jump\nbehind_jump:"
			 : "=D"(di), "=d"(dx), "=c"(cx)::"memory", "cc");
	return di + dx + cx;
}

static void faults(void)
{
	struct sigaction a = { .sa_sigaction = fault, .sa_flags = SA_SIGINFO };
	uint64_t sum = 0;

	hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &a, NULL);
	for (int i = 0; i < 10; i++) {
		set_base(hole);
		sum = fault_twice();
		set_base(&first);
	}
	printf("faults %lu %lu %lu %lu, %lu\n", seen[0], seen[1], seen[2], seen[3], sum);
}

static void children(void)
{
	int status = 1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		begin(&first);
		_exit(get_base() != (uint64_t)&first || !step(3) || first.sum != 1);
	}
	waitpid(pid, &status, 0);
	check(status == 0, "a child");
	fflush(stdout);
	pid = vfork();
	if (!pid)
		execl("/proc/self/exe", "blocks_gs", "again", NULL);
	waitpid(pid, &status, 0);
	check(status == 0, "a program in its place");
	puts("children");
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) /* again */
		return get_base() != 0;
	check(get_base() == 0, "none at the begin");
	calls();
	instructions();
	forms();
	stack();
	vectors();
	jumps();
	threads();
	ticks();
	faults();
	children();
	return 0;
}
