/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_growth HOW - takes and gives back blocks at random in four phases, between which
 * it makes marks, and says what it did in each: "site taken-in given-in blocks bytes", of
 * blocks that were taken and given back in such phases; given-in 4: they are still there.
 *
 * HOW: program (the program's own marks), threads (the same, of three threads that take
 * turns), lines (it waits for a line at each), child (a forked child does it), pair (it
 * and a forked child do it over and over at once, all marks being called the same, and
 * say nothing).
 */
#include <dwell.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* clang makes no clones, and does not know how to be told. */
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

#define N_PHASES 4
#define N_SITES	 3
#define N_BLOCKS 400
#define N_STEPS	 3000
#define N_ROUNDS 25

struct block {
	void *p; /* NULL: none */
	size_t size;
	unsigned site, phase;
};

static struct block blocks[N_BLOCKS];
static uint64_t n_blocks[N_SITES][N_PHASES][N_PHASES + 1];
static uint64_t n_bytes[N_SITES][N_PHASES][N_PHASES + 1];
static unsigned phase;
static uint32_t seed = 1;

static unsigned below(unsigned n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

NOINLINE void *site_0(void *old, size_t size)
{
	void *p = malloc(size);

	free(old);
	memset(p, 1, size);
	return p;
}

NOINLINE void *site_1(void *old, size_t size)
{
	void *p = calloc(1, size);

	free(old);
	memset(p, 1, size);
	return p;
}

NOINLINE void *site_2(void *old, size_t size)
{
	void *p = realloc(old, size);

	memset(p, 1, size);
	return p;
}

static void count(const struct block *b, unsigned given_in)
{
	n_blocks[b->site][b->phase][given_in]++;
	n_bytes[b->site][b->phase][given_in] += b->size;
}

/* Another block comes in the place of one, or none does. */
static void step(void)
{
	static void *(*const sites[])(void *old, size_t size) = { site_0, site_1,
								  site_2 };
	struct block *b = &blocks[below(N_BLOCKS)];

	if (b->p)
		count(b, phase);
	if (b->p && below(3) == 0) {
		free(b->p);
		b->p = NULL;
		return;
	}
	b->size = 1 + below(3000);
	b->site = below(N_SITES);
	b->phase = phase;
	b->p = sites[b->site](b->p, b->size);
}

static void *steps(void *unused)
{
	for (int i = 0; i < N_STEPS; i++)
		step();
	return unused;
}

static void by_threads(void)
{
	for (int i = 0; i < 3; i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, steps, NULL) != 0)
			abort();
		pthread_join(t, NULL);
	}
}

/* Standard output has a buffer of its own. */
static void say(const char *text)
{
	if (write(1, text, strlen(text)) < 0)
		abort();
}

/* So long that marks are heard of in between; now the one is first and now the other. */
static int rounds(unsigned pause_us)
{
	for (int i = 0; i < N_ROUNDS; i++) {
		steps(NULL);
		dwell_mark("same");
		steps(NULL);
		usleep(pause_us);
	}
	return 0;
}

static void mark(const char *how)
{
	static const char *const names[] = { "one", "two", "three" };
	char line[64];

	if (phase == N_PHASES)
		return;
	if (strcmp(how, "lines") != 0) {
		dwell_mark(names[phase - 1]);
		return;
	}
	say("ready\n");
	if (read(0, line, sizeof(line)) <= 0)
		abort();
}

static void say_sums(void)
{
	char text[100];

	for (unsigned i = 0; i < N_BLOCKS; i++)
		if (blocks[i].p)
			count(&blocks[i], N_PHASES);
	for (unsigned s = 0; s < N_SITES; s++)
		for (unsigned i = 0; i < N_PHASES; i++)
			for (unsigned k = i; k <= N_PHASES; k++) {
				snprintf(text, sizeof(text), "site_%u %u %u %llu %llu\n",
					 s, i, k, (unsigned long long)n_blocks[s][i][k],
					 (unsigned long long)n_bytes[s][i][k]);
				say(text);
			}
}

static int run(const char *how)
{
	while (phase < N_PHASES) {
		if (strcmp(how, "threads") == 0)
			by_threads();
		else
			steps(NULL);
		phase++;
		mark(how);
	}
	say_sums();
	return 0;
}

int main(int argc, char **argv)
{
	bool is_pair;
	int status;

	if (argc < 2)
		return 2;
	is_pair = strcmp(argv[1], "pair") == 0;
	if (!is_pair && strcmp(argv[1], "child") != 0)
		return run(argv[1]);
	if (fork() == 0)
		_exit(is_pair ? rounds(13000) : run("program"));
	if (is_pair)
		rounds(20000);
	return wait(&status) < 0 || status != 0;
}
