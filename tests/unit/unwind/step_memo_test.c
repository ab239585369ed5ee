/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "unwind/local.h"
#include "unwind/step_memo.h"

static void an_empty_one_has_nothing(void **state)
{
	struct step_memo *m = calloc(1, sizeof(*m));

	(void)state;
	assert_non_null(m);
	assert_false(step_memo_has(m, 0, 0));
	assert_false(step_memo_has(m, 0x1000, 0x2000));
	free(m);
}

/* Whatever fell to the same place since: what it has was put there. */
static void it_has_what_was_put_there(void **state)
{
	struct step_memo *m = calloc(1, sizeof(*m));
	uint64_t n_kept = 0, n = 4 << STEP_MEMO_BITS;

	(void)state;
	assert_non_null(m);
	for (uint64_t i = 1; i <= n; i++) {
		step_memo_put(m, i * 16, i * 48);
		assert_true(step_memo_has(m, i * 16, i * 48));
		assert_false(step_memo_has(m, i * 16, i * 48 + 1));
		assert_false(step_memo_has(m, i * 48, i * 16));
	}
	for (uint64_t i = 1; i <= n; i++)
		n_kept += step_memo_has(m, i * 16, i * 48);
	assert_in_range(n_kept, 1 << (STEP_MEMO_BITS - 1), 1 << STEP_MEMO_BITS);
	free(m);
}

#if defined(__x86_64__)
/* As a JIT compiler makes them: push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret. */
static const uint8_t compiled[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
#define CALL	 4
#define RETURNED 6
#define APART	 64
#define N_COPIES 8

static struct unwind_local_cache *cache;
static uintptr_t stack_lo, stack_hi;
static uint8_t *code;

static struct walked {
	uintptr_t pcs[256];
	size_t n;
	enum unwind_stop stop;
} first, second;

static __attribute__((noinline)) void walk_into(struct walked *w)
{
	uint8_t exact[UNWIND_LOCAL_DEPTH_MAX / 8];

	w->n = unwind_local(cache, NULL, stack_lo, stack_hi, w->pcs, exact, 256,
			    &w->stop);
}

/* From there on it is no longer seen that it called. */
static void wipe_calls(void)
{
	for (unsigned i = 0; i < N_COPIES; i++)
		memset(code + i * APART + CALL, 0x90, RETURNED - CALL);
}

static unsigned depth;

/* Through as many of them as there are. */
static __attribute__((noinline)) void go_deeper(void)
{
	uint8_t *next = code + depth * APART;

	if (depth == N_COPIES) {
		for (volatile int i = 0; i < 2; i++) { /* from the same place */
			walk_into(i ? &second : &first);
			wipe_calls();
		}
		return;
	}
	depth++;
	((void (*)(void (*)(void)))(uintptr_t)next)(go_deeper);
	__asm__ volatile("" : : : "memory"); /* no tail call */
}

static void wipe_and_walk(void)
{
	wipe_calls();
	walk_into(&first);
}

static size_t count_compiled(const struct walked *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += w->pcs[i] - (uintptr_t)code < N_COPIES * APART;
	return n;
}

static void write_code(void)
{
	for (unsigned i = 0; i < N_COPIES; i++)
		memcpy(code + i * APART, compiled, sizeof(compiled));
	depth = 0;
}

static void proved_steps_need_no_code(void **state)
{
	(void)state;
	write_code();
	go_deeper();
	assert_int_equal(first.stop, UNWIND_END);
	assert_int_equal(count_compiled(&first), N_COPIES);
	assert_int_equal(second.stop, UNWIND_END);
	assert_int_equal(second.n, first.n);
	assert_memory_equal(second.pcs, first.pcs, first.n * sizeof(*first.pcs));
}

static void others_do(void **state)
{
	(void)state;
	unwind_local_refresh(); /* forgets */
	write_code();
	((void (*)(void (*)(void)))(uintptr_t)code)(wipe_and_walk);
	assert_int_equal(first.stop, UNWIND_NO_MAP);
	assert_int_equal(count_compiled(&first), 0);
}
#endif

static int set_up(void **state)
{
	(void)state;
#if defined(__x86_64__)
	pthread_attr_t attr;
	void *low;
	size_t size;

	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &low, &size);
	pthread_attr_destroy(&attr);
	stack_lo = (uintptr_t)low;
	stack_hi = stack_lo + size;
	unwind_local_refresh();
	cache = calloc(1, unwind_local_cache_bytes());
	code = mmap(NULL, (N_COPIES + 1) * APART, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!cache || code == MAP_FAILED)
		return -1;
	code += APART; /* in front of code that cannot be read there may be a call */
	return 0;
#else
	return 0;
#endif
}

static int tear_down(void **state)
{
	(void)state;
#if defined(__x86_64__)
	munmap(code - APART, (N_COPIES + 1) * APART);
	free(cache);
#endif
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_one_has_nothing),
		cmocka_unit_test(it_has_what_was_put_there),
#if defined(__x86_64__)
		cmocka_unit_test(proved_steps_need_no_code),
		cmocka_unit_test(others_do),
#endif
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
