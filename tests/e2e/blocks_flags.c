/* SPDX-License-Identifier: Apache-2.0
 *
 * Code that is changed to need the flags that other code, which stays, has left.  What is
 * printed is whether each of four ways there keeps them.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096

typedef int compare(int a, int b);

/* Until it is changed nobody needs flags: xor %eax, %eax; ret.  Then it is sbb. */
static const uint8_t result[] = { 0x31, 0xc0, 0xc3 };
#define NEEDS_FLAGS 0x19

static const struct way {
	const char *name;
	uint8_t code[24];
	unsigned size, to; /* where the distance to the result is, 0: it follows */
} ways[] = {
	/* cmp %esi, %edi; jo to the result; and on */
	{ "on", { 0x39, 0xf7, 0x70, 0x00 }, 4, 0 },
	/* cmp %esi, %edi; jmp */
	{ "jump", { 0x39, 0xf7, 0xe9 }, 7, 3 },
	/* cmp %esi, %edi; jno; ud2 */
	{ "branch", { 0x39, 0xf7, 0x0f, 0x81, 0, 0, 0, 0, 0x0f, 0x0b }, 10, 4 },
	/* cmp %esi, %edi; call; ret */
	{ "call", { 0x39, 0xf7, 0xe8, 0, 0, 0, 0, 0xc3 }, 8, 3 },
};

/* Memory that is writable and can be executed, or only one of both at a time; and what is
 * a file's, as programs and libraries are. */
enum kind { BOTH, APART, FILES, N_KINDS };

/* With the result in the page behind. */
static void put_code(const struct way *w, uint8_t *pages)
{
	uint8_t *begin = pages + PAGE - w->size;
	int32_t distance = (int32_t)(w->size - w->to - 4);

	memcpy(begin, w->code, w->size);
	if (w->to)
		memcpy(begin + w->to, &distance, 4);
	memcpy(pages + PAGE, result, sizeof(result));
}

static uint8_t *map_file(const uint8_t *pages)
{
	FILE *f = tmpfile();
	uint8_t *p;

	fwrite(pages, PAGE, 2, f);
	fflush(f);
	p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0);
	fclose(f);
	return p;
}

static int keeps_flags(const struct way *w, enum kind kind)
{
	int open = PROT_READ | PROT_WRITE | (kind == BOTH ? PROT_EXEC : 0);
	int closed = kind == BOTH ? open : PROT_READ | PROT_EXEC;
	uint8_t *p = mmap(NULL, 2 * PAGE, open, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *begin;
	int before = 0, after = 0;
	compare *f;

	put_code(w, p);
	if (kind == FILES)
		p = map_file(p);
	mprotect(p, 2 * PAGE, closed);
	begin = p + PAGE - w->size;
	memcpy(&f, &begin, sizeof(f));
	for (int i = 0; i < 100; i++)
		before += f(i & 1, 1);
	/* the page of the result alone */
	mprotect(p + PAGE, PAGE, open);
	p[PAGE] = NEEDS_FLAGS;
	mprotect(p + PAGE, PAGE, closed);
	for (int i = 0; i < 100; i++)
		after += f(i & 1, 1);
	munmap(p, 2 * PAGE);
	return before == 0 && after == -50;
}

int main(void)
{
	for (int kind = 0; kind < N_KINDS; kind++)
		for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
			printf("%s: %d\n", ways[i].name, keeps_flags(&ways[i], kind));
	return 0;
}
