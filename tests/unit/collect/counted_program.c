/* SPDX-License-Identifier: Apache-2.0 */
#include "counted_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/count_ways.h"

#define FIRST	COUNTED_PROGRAM_FIRST
#define SIZE	COUNTED_PROGRAM_SIZE
#define TARGETS COUNTED_PROGRAM_TARGETS
#define N	COUNTED_PROGRAM_N

#define STEPS_MAX 3000

static struct count_file_block blocks[N];
static struct count_file_return returns[N];
static struct count_file_pair pairs[2 * N];
static uint32_t pairs_before[N + 1];
static struct count_file_extra extras[N];
static uint64_t counters[6 * N];
static uint32_t parents[2 * N];
static uint32_t n_counters, n_parts, n_pairs, n_extras;

static uint32_t root_of(uint32_t i)
{
	while (parents[i] != i)
		i = parents[i];
	return i;
}

/* 0: they were apart. */
static uint32_t counter_between(uint32_t a, uint32_t b)
{
	a = root_of(a);
	b = root_of(b);
	if (a == b)
		return n_counters++;
	parents[a > b ? a : b] = a > b ? b : a;
	return 0;
}

/* Part 0 is outside of all code; block i begins in part i. */
static uint32_t part_of(const struct count_way *w)
{
	return w->is_out ? 0 : (uint32_t)(w->addr - FIRST) / SIZE;
}

static uint64_t any_target(void)
{
	return FIRST + SIZE * (1 + (uint64_t)rand() % (TARGETS - 1));
}

static void plan_pairs(uint32_t i)
{
	for (unsigned k = 0; k < 2; k++)
		pairs[n_pairs++] = (struct count_file_pair){ .block = i,
							     .counter = n_counters++,
							     .target = any_target() };
}

static void plan_block(uint32_t i)
{
	static const uint8_t ends[] = { COUNT_END_ON,	       COUNT_END_CONDITIONAL,
					COUNT_END_JUMP,	       COUNT_END_CALL,
					COUNT_END_CONDITIONAL, COUNT_END_RETURN,
					COUNT_END_JUMP_TO };
	struct count_file_block *b = &blocks[i];
	struct count_ways ways;
	uint32_t behind = i;

	*b = (struct count_file_block){
		.addr = FIRST + SIZE * i,
		.target = any_target(),
		.image = COUNT_FILE_NO_IMAGE,
		.size_bytes = SIZE,
		.n_insns = 1,
		.end = i + 1 == TARGETS || i + 1 == N
			       ? COUNT_END_RETURN
			       : ends[(unsigned)rand() % sizeof(ends)],
	};
	if (rand() % 8 == 0) {
		b->inside = n_counters++;
		b->counted_at = SIZE / 2;
		behind = n_parts++;
	}
	ways = count_ways_of(b);
	if (ways.on.is_there)
		b->on = counter_between(behind, part_of(&ways.on));
	if (ways.to.is_there)
		b->to = counter_between(behind, part_of(&ways.to));
	pairs_before[i] = n_pairs;
	if (b->end == COUNT_END_JUMP_TO)
		plan_pairs(i);
	returns[i] = (struct count_file_return){ i, counter_between(0, i) };
}

void counted_program_clear(void)
{
	memset(counters, 0, sizeof(counters));
	n_extras = 0;
}

void counted_program_make(unsigned seed)
{
	srand(seed);
	n_counters = 1;
	n_parts = N;
	n_pairs = 0;
	for (uint32_t i = 0; i < 2 * N; i++)
		parents[i] = i;
	for (uint32_t i = 1; i < N; i++)
		plan_block(i);
	pairs_before[N] = n_pairs;
	counted_program_clear();
}

uint32_t counted_program_pairs(uint32_t n)
{
	return pairs_before[n];
}

static void count(uint32_t counter)
{
	if (counter)
		counters[counter]++;
}

static void add_extra(enum count_extra kind, uint32_t block, uint64_t addr)
{
	assert_true(n_extras < N);
	extras[n_extras++] = (struct count_file_extra){
		.kind = (uint16_t)kind, .block = block, .addr = addr, .n = 1
	};
}

/* Where block i goes on, 0: outside; *ret_counter of the way. */
static uint32_t next_of(uint32_t i, uint32_t *ret_counter)
{
	const struct count_file_pair *p = &pairs[pairs_before[i] + (unsigned)rand() % 2];
	struct count_ways ways = count_ways_of(&blocks[i]);
	bool is_on = ways.on.is_there && (!ways.to.is_there || rand() % 2);
	const struct count_way *w = is_on ? &ways.on : &ways.to;

	*ret_counter = w->counter;
	if (blocks[i].end != COUNT_END_JUMP_TO)
		return part_of(w);
	*ret_counter = p->counter;
	return (uint32_t)(p->target - FIRST) / SIZE;
}

/* Some leave a block before its counter.  What goes in circles is left, too. */
static void go_on(uint32_t i, uint32_t n)
{
	for (unsigned n_steps = 0; i; n_steps++) {
		uint32_t counter, next = next_of(i, &counter);
		bool is_left = next >= n || n_steps == STEPS_MAX;
		uint64_t off = is_left && rand() % 2 ? 0 : SIZE;

		if (off >= blocks[i].counted_at)
			count(blocks[i].inside);
		if (is_left) {
			add_extra(COUNT_EXTRA_LEAVE, i, blocks[i].addr + off);
			return;
		}
		count(counter);
		i = next;
	}
}

void counted_program_walk(uint32_t i, uint32_t n)
{
	count(returns[i].counter);
	go_on(i, n);
}

void counted_program_enter(uint32_t i, uint32_t n)
{
	add_extra(COUNT_EXTRA_ENTER, 0, blocks[i].addr);
	go_on(i, n);
}

/* Files. */

static void put(int fd, uint64_t off, const void *data, size_t size)
{
	assert_int_equal(pwrite(fd, data, size, (off_t)off), size);
}

int counted_program_file(const struct count_file_base *there, uint32_t from, uint32_t n)
{
	int fd = memfd_create("counts", MFD_CLOEXEC);
	uint32_t from_pair = from ? pairs_before[from] : 0;
	const struct count_file_header h = { .magic = COUNT_FILE_MAGIC,
					     .version = COUNT_FILE_VERSION,
					     .n_blocks = n,
					     .n_pairs = pairs_before[n],
					     .n_returns = n,
					     .n_extras = n_extras,
					     .n_counters = n_counters,
					     .n_threads = 1,
					     .n_nests = 1,
					     .id = { .time_ns = 1, .pid = 2 },
					     .base = *there };

	assert_true(fd >= 0 && ftruncate(fd, COUNT_FILE_BYTES) == 0);
	put(fd, 0, &h, sizeof(h));
	put(fd, COUNT_FILE_BLOCKS_OFF + from * sizeof(*blocks), &blocks[from],
	    (n - from) * sizeof(*blocks));
	put(fd, COUNT_FILE_RETURNS_OFF + from * sizeof(*returns), &returns[from],
	    (n - from) * sizeof(*returns));
	put(fd, COUNT_FILE_PAIRS_OFF + from_pair * sizeof(*pairs), &pairs[from_pair],
	    (h.n_pairs - from_pair) * sizeof(*pairs));
	put(fd, COUNT_FILE_EXTRAS_OFF, extras, n_extras * sizeof(*extras));
	put(fd, COUNT_FILE_COUNTERS_OFF + COUNT_FILE_THREAD_SKIP, counters,
	    n_counters * sizeof(*counters));
	return fd;
}
