/* SPDX-License-Identifier: Apache-2.0
 *
 * noted - probes that are passed so many times, with such values, as is known.
 *
 * Their notes are written by hand: what <sys/sdt.h> would make of DTRACE_PROBE().
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where files may be moved to later is known by a mark that all of them share. */
#define MARK                                                                             \
	".ifndef _.stapsdt.base\n"                                                       \
	".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"      \
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n"                                 \
	"_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n"                            \
	".popsection\n.endif\n"

#define NOTE(name, semaphore, arguments)                                                 \
	"990: nop\n"                                                                     \
	".pushsection .note.stapsdt, \"\", \"note\"\n.balign 4\n"                        \
	".4byte 992f - 991f, 994f - 993f, 3\n"                                           \
	"991: .asciz \"stapsdt\"\n992: .balign 4\n"                                      \
	"993: .8byte 990b, _.stapsdt.base, " semaphore "\n"                              \
	".asciz \"noted\"\n.asciz \"" name "\"\n.asciz \"" arguments "\"\n"              \
	"994: .balign 4\n.popsection\n" MARK

#define PROBE(name, semaphore, arguments, ...)                                           \
	__asm__ volatile(NOTE(name, semaphore, arguments)::__VA_ARGS__ : "memory")

/* The kernel adds 1 for each who has a breakpoint at the probe. */
extern volatile uint16_t noted_guarded_semaphore;
volatile uint16_t noted_guarded_semaphore __attribute__((section(".probes")));

void plain(void);
void values(long i);
void twice(long i);
void guarded(long i);

__attribute__((noinline)) void plain(void)
{
	PROBE("plain", "0", "", "n"(0));
	__asm__ volatile("");
}

/* i, -i in memory, 7, the lowest byte of i, and its lowest two less 500. */
__attribute__((noinline)) void values(long i)
{
	volatile int below = (int)-i;
	uint8_t byte = (uint8_t)i;
	volatile int16_t word = (int16_t)(i - 500);

	PROBE("values", "0", "8@%0 -4@%1 4@%2 1@%3 -2@%4", "r"(i), "m"(below), "n"(7),
	      "r"((uint64_t)byte), "m"(word));
}

/* Two places, which have the value differently. */
__attribute__((noinline)) void twice(long i)
{
	volatile long kept = i;

	if (i % 3 == 0)
		PROBE("twice", "0", "8@%0", "r"(i));
	else
		PROBE("twice", "0", "8@%0", "m"(kept));
}

__attribute__((noinline)) void guarded(long i)
{
	if (noted_guarded_semaphore)
		PROBE("guarded", "noted_guarded_semaphore", "8@%0", "r"(i));
	__asm__ volatile("");
}

/* The tables of the code that is run are read meanwhile. */
__attribute__((noinline)) static void settle(void)
{
	for (int i = 0; i < 20; i++) {
		plain();
		usleep(100000);
	}
}

static void known(void)
{
	for (int i = 0; i < 700; i++)
		plain();
	for (long i = 0; i < 1000; i++)
		values(i);
	for (long i = 0; i < 900; i++)
		twice(i);
	for (long i = 0; i < 100; i++)
		guarded(i);
	printf("%d\n", noted_guarded_semaphore);
}

static void settled(void)
{
	settle();
	for (int i = 0; i < 700; i++)
		plain();
}

/* For each byte that is read ten passes, then an answer: is the probe wanted? */
static void paced(void)
{
	char c;

	while (read(0, &c, 1) == 1) {
		for (long i = 0; i < 10; i++)
			guarded(i);
		c = noted_guarded_semaphore ? 'y' : 'n';
		if (write(1, &c, 1) != 1)
			return;
	}
}

static const struct {
	const char *name;
	void (*fn)(void);
} modes[] = {
	{ "known", known },
	{ "paced", paced },
	{ "settled", settled },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (argc == 2 && !strcmp(argv[1], modes[i].name)) {
			modes[i].fn();
			return 0;
		}
	}
	return 2;
}
