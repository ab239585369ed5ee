/* SPDX-License-Identifier: Apache-2.0
 *
 * Code that one thread changes while others execute it: of the program's own file, made
 * writable for that; jumps that lead elsewhere from one moment to the next; and pages
 * whose rights change while they are written to.  Says what it saw.
 *	PROGRAM WHAT ROUNDS
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE	4096
#define THREADS 3

typedef uint32_t number(void);

static uint32_t n_rounds;
static _Atomic uint32_t told, seen[THREADS];
static _Atomic int is_over, n_wrong;

/* Of instructions of one byte, so that a thread may be anywhere in its first bytes. */
number patched;
extern uint8_t patched_number[];
__asm__(".pushsection .text.patched, \"ax\"\n"
	".balign 4096\n"
	".globl patched, patched_number\n"
	"patched:\n"
	"push %rbx; push %rcx; pop %rcx; push %rcx; pop %rcx; push %rcx\n"
	"pop %rcx; pop %rbx; nop; nop; nop\n"
	"mov $0, %eax\n"
	".set patched_number, . - 4\n"
	"ret\n"
	".balign 4096\n"
	".popsection\n");

/* The same, one in each page. */
#define ALIKE 8
number alike;
__asm__(".pushsection .text.alike, \"ax\"\n"
	".balign 4096\n"
	".globl alike\n"
	"alike:\n"
	".rept 8\n"
	"mov $0, %eax\n"
	"ret\n"
	".balign 4096\n"
	".endr\n"
	".popsection\n");

static void protect(void *page, int prot)
{
	if (mprotect(page, PAGE, prot) != 0)
		abort();
}

static void store(void *to, uint32_t n)
{
	atomic_store((_Atomic uint32_t *)to, n);
}

/* What was told before the call is what the call says, or newer. */
static void *look(void *which)
{
	_Atomic uint32_t *mine = &seen[(uintptr_t)which];

	while (!is_over) {
		uint32_t least = told, n = patched();

		n_wrong += n < least || n > n_rounds;
		*mine = n;
	}
	return NULL;
}

static void begin(pthread_t t[THREADS], void *(*what)(void *))
{
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, what, (void *)i);
}

static void end(pthread_t t[THREADS])
{
	is_over = 1;
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

static void put_number(uint32_t n)
{
	uint8_t *page = (uint8_t *)(uintptr_t)patched;

	protect(page, PROT_READ | PROT_WRITE | PROT_EXEC);
	store(patched_number, n);
	protect(page, PROT_READ | PROT_EXEC);
}

static void alone(void)
{
	for (uint32_t i = 0; i < n_rounds; i++) {
		n_wrong += patched() != i;
		put_number(i + 1);
	}
}

static void patch(void)
{
	pthread_t t[THREADS];

	begin(t, look);
	for (uint32_t i = 1; i <= n_rounds; i++) {
		put_number(i);
		told = i;
		while (seen[i % THREADS] != i)
			sched_yield();
	}
	end(t);
}

static void *spin(void *unused)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	told = 1;
	while (!is_over)
		;
	return unused;
}

/* Beside a thread that hears no signal and never leaves its loop: what is executed of the
 * code that is changed may be as it was. */
static void deaf(void)
{
	uint8_t *page = (uint8_t *)(uintptr_t)alike;
	pthread_t t;

	pthread_create(&t, NULL, spin, NULL);
	while (!told)
		sched_yield();
	for (uint32_t i = 0; i < ALIKE * PAGE; i += PAGE)
		n_wrong += ((number *)(uintptr_t)(page + i))() != 0;
	for (uint32_t i = 0; i < n_rounds * PAGE; i += PAGE) {
		protect(page + i, PROT_READ | PROT_WRITE | PROT_EXEC);
		page[i + 1] = 1;
		protect(page + i, PROT_READ | PROT_EXEC);
	}
	is_over = 1;
	pthread_join(t, NULL);
}

static uint8_t *code;

#define TARGETS 16

/* In a page: nop; nop; nop; jmp TARGET, whose distance is changed at once, and targets
 * that say which they are. */
static void put_jump(uint8_t *page, uint32_t i)
{
	uint32_t off = 64 + i % TARGETS * 8;

	store(page + 4, off - 8);
}

static void put_page(uint8_t *page)
{
	memcpy(page, (uint8_t[]){ 0x90, 0x90, 0x90, 0xe9 }, 4);
	put_jump(page, 0);
	for (uint8_t i = 0; i < TARGETS; i++) {
		uint8_t mov[] = { 0xb8, i, 0, 0, 0, 0xc3 };

		memcpy(page + 64 + i * 8, mov, sizeof(mov));
	}
}

static void pause_for(uint32_t n)
{
	for (volatile uint32_t k = n; k; k--)
		;
}

static void wait_for(_Atomic uint32_t *what, uint32_t n)
{
	for (unsigned i = 1; *what != n; i++)
		if (i % 1000 == 0)
			sched_yield();
}

/* As long as the page is executed for the first time, about. */
static void *change_jumps(void *unused)
{
	for (uint32_t i = 1; i <= n_rounds; i++) {
		wait_for(&seen[0], i);
		for (uint32_t n = 0; n < 64; n++)
			put_jump(code + i * PAGE, n);
		put_jump(code + i * PAGE, i);
		told = i;
	}
	return unused;
}

static void jumps(void)
{
	size_t bytes = (n_rounds + 1) * (size_t)PAGE;
	pthread_t t;

	code = mmap(NULL, bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		abort();
	pthread_create(&t, NULL, change_jumps, NULL);
	for (uint32_t i = 1; i <= n_rounds; i++) {
		number *page = (number *)(uintptr_t)(code + i * PAGE);

		put_page(code + i * PAGE);
		seen[0] = i;
		pause_for(i * 40503 % 0x200);
		page();
		wait_for(&told, i);
		n_wrong += page() != i % TARGETS;
	}
	pthread_join(t, NULL);
	munmap(code, bytes);
}

static void *write_on(void *unused)
{
	for (uint32_t n = 0; !is_over; n++)
		store(code + 2048, n);
	return unused;
}

/* The page can be written all the time, and executed now and then. */
static void rights(void)
{
	pthread_t t[THREADS];

	code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (code == MAP_FAILED)
		abort();
	memcpy(code, (uint8_t[]){ 0xb8, 7, 0, 0, 0, 0xc3 }, 6);
	begin(t, write_on);
	for (uint32_t i = 0; i < n_rounds; i++) {
		protect(code, PROT_READ | PROT_WRITE | PROT_EXEC);
		n_wrong += ((number *)(uintptr_t)code)() != 7;
		protect(code, PROT_READ | PROT_WRITE);
	}
	end(t);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*what)(void);
	} all[] = { { "alone", alone },
		    { "patch", patch },
		    { "deaf", deaf },
		    { "jumps", jumps },
		    { "rights", rights } };

	if (argc < 3)
		return 2;
	n_rounds = (uint32_t)atoi(argv[2]);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(argv[1], all[i].name))
			all[i].what();
	printf("%s: %d wrong\n", argv[1], n_wrong);
	return 0;
}
