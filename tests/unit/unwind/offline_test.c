/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "by_hand.h"
#include "hole.h"
#include "oracle.h"
#include "self_maps.h"
#include "unwind/offline.h"

static struct self_maps maps;
static volatile uint64_t stack_top; /* read by the signal handler */

static struct {
	struct unwind_frame frames[ORACLE_MAX];
	uint64_t pcs[ORACLE_MAX];
	size_t n, n_pcs;
	enum unwind_stop stop;
} got;

static void walk_both(int sig, siginfo_t *info, void *context)
{
	struct unwind_regs regs = oracle_regs(context);
	uint64_t low = regs.r[UNWIND_X86_64_RSP] - 128;
	struct unwind_memory memory = { .stack = (const uint8_t *)low,
					.stack_addr = low,
					.stack_size = stack_top - low };

	(void)sig;
	(void)info;
	got.n = unwind_offline(&regs, &memory, self_maps_find, &maps, got.frames,
			       ORACLE_MAX, &got.stop);
	got.n_pcs = oracle_walk(context, got.pcs);
}

static void check_same(size_t at_least)
{
	assert_int_equal(got.n, got.n_pcs);
	for (size_t i = 0; i < got.n; i++)
		assert_int_equal(got.frames[i].pc, got.pcs[i]);
	assert_true(got.n >= at_least);
	assert_int_equal(got.stop, UNWIND_END);
	assert_false(got.frames[0].is_return);
	assert_true(got.frames[1].is_return);
}

static __attribute__((noinline)) int leaf(int x)
{
	/* raise() is declared never to call back: the handler reads our statics */
	__asm__ volatile("" ::: "memory");
	raise(SIGUSR1);
	__asm__ volatile("" ::: "memory");
	return x + 1;
}

static __attribute__((noinline)) int deep(int n)
{
	int v = n ? deep(n - 1) : leaf(n);

	__asm__ volatile("" : "+r"(v)); /* or the recursion becomes a loop */
	return v;
}

static void a_deep_stack_is_walked_whole(void **state)
{
	(void)state;
	deep(200);
	check_same(200);
}

static int compare(const void *a, const void *b)
{
	if (!got.n)
		leaf(1);
	return *(const int *)a - *(const int *)b;
}

static void a_callback_from_a_library_is_walked(void **state)
{
	int v[] = { 3, 1, 2, 5, 4 };

	(void)state;
	got.n = 0;
	qsort(v, 5, sizeof(v[0]), compare);
	check_same(5);
}

/* Over-aligned locals and alloca make the compiler realign the stack (DRAP). */
static __attribute__((noinline)) int realigned(int n)
{
	_Alignas(64) char local[64];
	char *p = alloca((size_t)n);

	memset(local, n, sizeof(local));
	memset(p, n, (size_t)n);
	return leaf(n) + local[n % 64] + p[n / 2];
}

static void a_realigned_frame_is_walked(void **state)
{
	(void)state;
	realigned(100);
	check_same(4);
}

static __attribute__((noinline)) void in_handler(int sig)
{
	(void)sig;
	leaf(2);
}

static void a_signal_frame_is_walked(void **state)
{
	struct sigaction sa = { .sa_handler = in_handler };

	(void)state;
	sigaction(SIGUSR2, &sa, NULL);
	raise(SIGUSR2);
	check_same(6);
}

void on_rbx(void (*fn)(void)); /* on_rbx.S */

static __attribute__((noinline)) void clobber_rbx(void)
{
	__asm__ volatile("xor %%ebx, %%ebx" : : : "rbx");
	leaf(3);
	__asm__ volatile("xor %%ebx, %%ebx" : : : "rbx");
}

static void a_frame_on_another_register_is_walked(void **state)
{
	(void)state;
	on_rbx(clobber_rbx);
	check_same(7);
}

static void *in_thread(void *arg)
{
	uint64_t saved = stack_top;
	pthread_attr_t attr;
	void *low;
	size_t size;

	(void)arg;
	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &low, &size);
	pthread_attr_destroy(&attr);
	stack_top = (uint64_t)low + size;
	deep(10);
	stack_top = saved;
	return NULL;
}

static void a_thread_ends_at_clone(void **state)
{
	pthread_t t;

	(void)state;
	assert_int_equal(pthread_create(&t, NULL, in_thread, NULL), 0);
	pthread_join(t, NULL);
	check_same(12);
}

static void a_short_copy_is_said_to_be_short(void **state)
{
	uint64_t saved = stack_top;

	(void)state;
	stack_top = (uint64_t)__builtin_frame_address(0) - 256;
	deep(100);
	stack_top = saved;
	assert_int_equal(got.stop, UNWIND_STACK_SHORT);
	assert_true(got.n > 10 && got.n < got.n_pcs);
	for (size_t i = 0; i < got.n; i++)
		assert_int_equal(got.frames[i].pc, got.pcs[i]);
}

static __attribute__((noinline)) void call_leaf(void)
{
	leaf(3);
}

static void a_hole_in_the_table_is_walked_by_frame_pointers(void **state)
{
	uint64_t caller_of_this;
	size_t n;

	(void)state;
	call_leaf();
	n = got.n;
	caller_of_this = got.frames[n - 5].pc;
	hole_call(call_leaf);
	assert_int_equal(got.stop, UNWIND_END);
	assert_int_equal(got.n, n + 1);
	assert_int_equal(got.frames[n - 4].pc, caller_of_this);
}

static volatile int n_steps, n_right;

static void count_right(int sig, siginfo_t *info, void *context)
{
	struct unwind_regs regs = oracle_regs(context);
	uint64_t pc = regs.r[UNWIND_X86_64_PC];

	if (pc < (uint64_t)hole_steps || pc >= (uint64_t)hole_steps_end)
		return;
	walk_both(sig, info, context);
	n_steps++;
	n_right += got.stop == UNWIND_END && got.frames[1].pc == (uint64_t)hole_returned;
}

static void every_instruction_in_a_hole_has_its_caller(void **state)
{
	struct sigaction sa = { .sa_sigaction = count_right, .sa_flags = SA_SIGINFO };

	(void)state;
	if (getenv("DWELL_MEMCHECK"))
		skip(); /* valgrind sends no SIGTRAP per instruction */
	sigaction(SIGTRAP, &sa, NULL);
	hole_step();
	assert_int_equal(n_steps, HOLE_N_STEPS);
	assert_int_equal(n_right, HOLE_N_STEPS);
}

static volatile int n_wrong, n_early;

static void check_by_hand(int sig, siginfo_t *info, void *context)
{
	struct unwind_regs regs = oracle_regs(context);
	uint64_t pc = regs.r[UNWIND_X86_64_PC];

	if (pc < (uint64_t)by_hand_start || pc >= (uint64_t)by_hand_end)
		return;
	n_steps++;
	walk_both(sig, info, context);
	for (size_t i = 0; i < got.n; i++) {
		uint64_t at = got.frames[i].pc;

		if (at == (uint64_t)by_hand_returned) {
			n_right += got.stop == UNWIND_END;
			return;
		}
		/* the helper's caller is one of these */
		n_wrong += at < (uint64_t)by_hand_start || at >= (uint64_t)by_hand_end ||
			   i > 1;
	}
	n_early++;
}

static void every_instruction_of_what_was_written_by_hand_has_its_caller(void **state)
{
	static const struct {
		void (*f)(void);
		int n_early;
	} t[] = {
		{ by_hand_help, 0 }, { by_hand_1, 0 }, { by_hand_2, 0 }, { by_hand_3, 0 },
		{ by_hand_4, 0 },    { by_hand_5, 0 }, { by_hand_6, 0 }, { by_hand_7, 0 },
		{ by_hand_8, 0 },    { by_hand_9, 4 }, /* where it jumps is not in its
							  code */
	};
	struct sigaction sa = { .sa_sigaction = check_by_hand, .sa_flags = SA_SIGINFO };

	(void)state;
	if (getenv("DWELL_MEMCHECK"))
		skip(); /* valgrind sends no SIGTRAP per instruction */
	sigaction(SIGTRAP, &sa, NULL);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		n_steps = n_right = n_wrong = n_early = 0;
		by_hand_step(t[i].f);
		assert_int_equal(n_wrong, 0);
		assert_int_equal(n_early, t[i].n_early);
		assert_int_equal(n_right, n_steps - n_early);
		assert_in_range(n_right, 1, INT_MAX);
	}
}

static int set_up(void **state)
{
	struct sigaction sa = { .sa_sigaction = walk_both, .sa_flags = SA_SIGINFO };
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	unsigned long low, high;

	(void)state;
	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "[stack]") && sscanf(line, "%lx-%lx", &low, &high) == 2)
			stack_top = high;
	if (f)
		fclose(f);
	sigaction(SIGUSR1, &sa, NULL);
	self_maps_read(&maps);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	self_maps_fini(&maps);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_deep_stack_is_walked_whole),
		cmocka_unit_test(a_callback_from_a_library_is_walked),
		cmocka_unit_test(a_realigned_frame_is_walked),
		cmocka_unit_test(a_signal_frame_is_walked),
		cmocka_unit_test(a_frame_on_another_register_is_walked),
		cmocka_unit_test(a_thread_ends_at_clone),
		cmocka_unit_test(a_hole_in_the_table_is_walked_by_frame_pointers),
		cmocka_unit_test(every_instruction_in_a_hole_has_its_caller),
		cmocka_unit_test(
			every_instruction_of_what_was_written_by_hand_has_its_caller),
		cmocka_unit_test(a_short_copy_is_said_to_be_short),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
