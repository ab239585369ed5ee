/* SPDX-License-Identifier: Apache-2.0
 *
 * Code whose data is as far away as an instruction can reach, above and below it; and
 * where code far away jumps and calls.  Says what it comes to.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE	 4096
#define DISTANCE 0x7f000000UL
#define CODE_AT	 0x300000000000UL
#define ROUNDS	 3000

/* Of one of the two places of data. */
struct data {
	uint32_t number, limit;
	uint64_t target;
	uint32_t four[4];
};

typedef uint32_t code_fn(uint32_t n);

static uint8_t *at;
static volatile int n_faults;

static void *map(uint64_t addr, int prot)
{
	void *p = mmap((void *)addr, PAGE, prot,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (p != (void *)addr)
		abort();
	return p;
}

/* Of more_bytes behind the distance. */
static void put(const char *bytes, size_t n, const void *operand, unsigned more_bytes)
{
	memcpy(at, bytes, n);
	at += n;
	if (operand) {
		int32_t distance =
			(int32_t)((uint64_t)operand - (uint64_t)at - 4 - more_bytes);

		memcpy(at, &distance, 4);
		at += 4;
	}
}

#define PUT(bytes, operand, more) put(bytes, sizeof(bytes) - 1, operand, more)

/* One that ends with a call, or a jump, to where the data says. */
static code_fn *compose(struct data *d, int calls)
{
	uint8_t *start = at;

	PUT("\x8b\x05", &d->number, 0); /* mov number, %eax */
	PUT("\x83\x05", &d->number, 1); /* addl $5, number */
	PUT("\x05", NULL, 0);
	PUT("\x39\x3d", &d->limit, 0);		  /* cmp %edi, limit */
	PUT("\x8d\x35", &d->limit, 0);		  /* lea limit, %esi */
	PUT("\x0f\x92\xc1\x0f\xb6\xc9", NULL, 0); /* setb %cl; movzbl %cl, %ecx */
	PUT("\x01\xc8", NULL, 0);		  /* add %ecx, %eax */
	PUT("\xf3\x0f\x6f\x05", &d->four, 0);	  /* movdqu four, %xmm0 */
	PUT("\x66\x0f\xfe\x05", &d->four, 0);	  /* paddd four, %xmm0 */
	PUT("\x66\x0f\x7e\xc1", NULL, 0);	  /* movd %xmm0, %ecx */
	PUT("\x01\xc8\x89\xc7", NULL, 0);	  /* add %ecx, %eax; mov %eax, %edi */
	PUT("\x44\x0f\xaf\x05", &d->limit, 0);	  /* imul limit, %r8d */
	if (calls) {
		PUT("\x50\xff\x15", &d->target, 0); /* push %rax; call *target */
		PUT("\x59\xff\xc0\xc3", NULL, 0);   /* pop %rcx; inc %eax; ret */
	} else {
		PUT("\xff\x25", &d->target, 0); /* jmp *target */
	}
	return (code_fn *)(uintptr_t)start;
}

static uint32_t leaf(uint32_t n)
{
	return n * 3 + 1;
}

static uint32_t other(uint32_t n)
{
	return n ^ 0x55;
}

static void begin(struct data *d)
{
	*d = (struct data){ 100, 1500, (uint64_t)leaf, { 7, 8, 9, 10 } };
}

static void fault(int signal, siginfo_t *info, void *context)
{
	uint64_t page = (uint64_t)info->si_addr & -(uint64_t)PAGE;

	(void)signal, (void)context;
	n_faults++;
	if (mprotect((void *)page, PAGE, PROT_READ | PROT_WRITE) != 0)
		abort();
}

int main(void)
{
	struct sigaction a = { .sa_sigaction = fault, .sa_flags = SA_SIGINFO };
	struct data *data[2];
	code_fn *code[4];
	uint64_t sum = 0;

	at = map(CODE_AT, PROT_READ | PROT_WRITE | PROT_EXEC);
	data[0] = map(CODE_AT + DISTANCE, PROT_READ | PROT_WRITE);
	data[1] = map(CODE_AT - DISTANCE, PROT_READ | PROT_WRITE);
	sigaction(SIGSEGV, &a, NULL);
	for (int i = 0; i < 4; i++) {
		begin(data[i / 2]);
		code[i] = compose(data[i / 2], i % 2);
	}
	for (uint32_t n = 0; n < ROUNDS; n++) {
		struct data *d = data[n & 1];

		if (n % 100 == 7)
			mprotect(d, PAGE, n % 200 == 7 ? PROT_NONE : PROT_READ);
		sum = sum * 31 + code[n % 4](n);
		if (n % 1000 == 500)
			data[0]->target = data[1]->target = (uint64_t)other;
	}
	printf("%lu, %u, %u, %d faults\n", (unsigned long)sum, data[0]->number,
	       data[1]->number, n_faults);
	return 0;
}
