/* SPDX-License-Identifier: Apache-2.0 */
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
#include <sys/mman.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "hole.h"
#include "oracle.h"
#include "unwind/local.h"

static struct unwind_local_cache *cache;
static uintptr_t stack_lo, stack_hi;

static struct {
	uintptr_t pcs[ORACLE_MAX];
	uint64_t theirs[ORACLE_MAX];
	uint8_t exact[UNWIND_LOCAL_DEPTH_MAX / 8];
	size_t n, n_theirs, unchanged;
	enum unwind_stop stop;
} got;

static void find_stack(void)
{
	pthread_attr_t attr;
	void *low;
	size_t size;

	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &low, &size);
	pthread_attr_destroy(&attr);
	stack_lo = (uintptr_t)low;
	stack_hi = stack_lo + size;
}

static void check_same(size_t at_least)
{
	assert_int_equal(got.n, got.n_theirs);
	for (size_t i = 0; i < got.n; i++)
		assert_int_equal(got.pcs[i], got.theirs[i]);
	assert_true(got.n >= at_least);
	assert_int_equal(got.stop, UNWIND_END);
}

/* A walk from where we are; libunwind's starts a frame further in. */
static __attribute__((noinline)) int walk_here(int x)
{
	unw_context_t context;
	unw_cursor_t cursor;

	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	got.n = unwind_local(cache, NULL, stack_lo, stack_hi, got.pcs, got.exact,
			     ORACLE_MAX, &got.stop);
	got.unchanged = unwind_local_unchanged(cache);
	for (got.n_theirs = 0; got.n_theirs < ORACLE_MAX; got.n_theirs++) {
		unw_word_t ip = 0;

		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		got.theirs[got.n_theirs] = ip;
		if (unw_step(&cursor) <= 0)
			break;
	}
	/* libunwind reports a frame of address 0 behind the outermost one */
	if (got.theirs[got.n_theirs])
		got.n_theirs++;
	/* the innermost pcs differ by the distance between the two calls */
	got.theirs[0] = got.pcs[0];
	check_same(3);
	return x;
}

static void (*inner)(void);

static __attribute__((noinline)) int deep(int n)
{
	int v;

	if (n) {
		v = deep(n - 1);
	} else {
		inner();
		v = 0;
	}
	__asm__ volatile("" : "+r"(v)); /* or the recursion becomes a loop */
	return v;
}

static void walk_twice(void)
{
	walk_here(1);
	walk_here(2);
}

static void walk_once(void)
{
	walk_here(3);
}

static void a_walk_from_the_caller_equals_libunwinds(void **state)
{
	(void)state;
	inner = walk_twice;
	for (int n = 0; n < 60; n++)
		deep(n * 7 % 60);
}

static void an_unchanged_stack_is_recognised(void **state)
{
	(void)state;
	inner = walk_twice;
	deep(40);
	assert_true(got.unchanged >= 41);
	inner = walk_once;
	for (volatile int i = 0; i < 2; i++)
		deep(20);
	assert_true(got.unchanged >= 21);
	deep(20); /* from another place */
	assert_true(got.unchanged < got.n - 20);
}

static int compare(const void *a, const void *b)
{
	walk_here(1);
	return *(const int *)a - *(const int *)b;
}

static void callbacks_from_a_library_are_walked(void **state)
{
	int v[] = { 3, 1, 2, 5, 4 };

	(void)state;
	qsort(v, 5, sizeof(v[0]), compare);
}

static __attribute__((noinline)) int realigned(int n)
{
	_Alignas(64) char local[64];
	char *p = alloca((size_t)n);

	memset(local, n, sizeof(local));
	memset(p, n, (size_t)n);
	walk_here(n);
	return local[n % 64] + p[n / 2];
}

static void realigned_frames_are_walked_and_verified(void **state)
{
	(void)state;
	for (int i = 1; i < 4; i++)
		realigned(i * 100);
}

static void walk_both(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	got.n = unwind_local(cache, context, stack_lo, stack_hi, got.pcs, got.exact,
			     ORACLE_MAX, &got.stop);
	got.n_theirs = oracle_walk(context, got.theirs);
}

static void signal_self(void)
{
	__asm__ volatile("" ::: "memory"); /* raise() is declared never to call back */
	raise(SIGUSR1);
	__asm__ volatile("" ::: "memory");
}

static void handle_by(void (*handler)(int, siginfo_t *, void *), int sig, int flags)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags };

	sigaction(sig, &sa, NULL);
}

static void a_signal_context_is_walked(void **state)
{
	(void)state;
	handle_by(walk_both, SIGUSR1, 0);
	inner = signal_self;
	deep(30);
	check_same(30);
	assert_true(got.exact[0] & 1);
	assert_false(got.exact[0] & 2);
}

static void an_alternate_stack_is_walked_to_the_thread(void **state)
{
	static char memory[65536];
	stack_t alt = { .ss_sp = memory, .ss_size = sizeof(memory) },
		off = { .ss_flags = SS_DISABLE };

	(void)state;
	assert_int_equal(sigaltstack(&alt, NULL), 0);
	handle_by(walk_both, SIGUSR1, SA_ONSTACK);
	inner = signal_self;
	deep(30);
	check_same(30);
	sigaltstack(&off, NULL);
}

static void in_handler(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
	signal_self();
}

/* The walk starts on the alternate stack, outside of the bounds it was given. */
static void a_handler_on_another_stack_is_walked_through(void **state)
{
	static char memory[65536];
	stack_t alt = { .ss_sp = memory, .ss_size = sizeof(memory) },
		off = { .ss_flags = SS_DISABLE };

	(void)state;
	assert_int_equal(sigaltstack(&alt, NULL), 0);
	handle_by(walk_both, SIGUSR1, SA_ONSTACK);
	handle_by(in_handler, SIGUSR2, SA_ONSTACK);
	inner = NULL;
	__asm__ volatile("" ::: "memory");
	raise(SIGUSR2);
	__asm__ volatile("" ::: "memory");
	check_same(8);
	sigaltstack(&off, NULL);
}

void on_rbx(void (*fn)(void)); /* on_rbx.S */

static __attribute__((noinline)) void clobber_rbx(void)
{
	__asm__ volatile("xor %%ebx, %%ebx" : : : "rbx");
	inner();
	__asm__ volatile("xor %%ebx, %%ebx" : : : "rbx");
}

static void a_frame_on_another_register_is_walked(void **state)
{
	(void)state;
	inner = walk_twice;
	on_rbx(clobber_rbx);
	assert_true(got.n > 6);
	handle_by(walk_both, SIGUSR1, 0);
	inner = signal_self;
	on_rbx(clobber_rbx);
	check_same(7);
	/* and an ordinary stack after it */
	inner = walk_twice;
	deep(10);
}

static void *in_thread(void *arg)
{
	uintptr_t lo = stack_lo, hi = stack_hi;

	find_stack();
	inner = walk_twice;
	deep(*(int *)arg);
	stack_lo = lo;
	stack_hi = hi;
	return NULL;
}

static void a_thread_ends_at_clone(void **state)
{
	pthread_t t;
	int depth = 10;

	(void)state;
	assert_int_equal(pthread_create(&t, NULL, in_thread, &depth), 0);
	pthread_join(t, NULL);
	assert_true(got.n >= 12);
}

static void the_depth_is_limited(void **state)
{
	uint8_t exact[UNWIND_LOCAL_DEPTH_MAX / 8];
	uintptr_t pcs[2];
	enum unwind_stop stop;

	(void)state;
	assert_int_equal(
		unwind_local(cache, NULL, stack_lo, stack_hi, pcs, exact, 2, &stop), 2);
	assert_int_equal(stop, UNWIND_LIMIT);
	inner = walk_twice;
	deep(5);
}

static void a_refresh_forgets_what_was_cached(void **state)
{
	(void)state;
	inner = walk_twice;
	deep(5);
	unwind_local_refresh();
	deep(5);
}

static void a_hole_in_the_table_is_walked_by_frame_pointers(void **state)
{
	void (*volatile not_inlined)(void) = signal_self;
	uint64_t caller_of_this;
	size_t n;

	(void)state;
	handle_by(walk_both, SIGUSR1, 0);
	not_inlined();
	n = got.n;
	caller_of_this = got.pcs[n - 5];
	hole_call(signal_self);
	assert_int_equal(got.stop, UNWIND_END);
	assert_int_equal(got.n, n + 1);
	assert_int_equal(got.pcs[n - 4], caller_of_this);
}

static volatile int n_steps, n_right;

static void count_right(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *c = context;
	uint64_t pc = (uint64_t)c->uc_mcontext.gregs[REG_RIP];

	if (pc < (uint64_t)hole_steps || pc >= (uint64_t)hole_steps_end)
		return;
	walk_both(sig, info, context);
	n_steps++;
	n_right += got.stop == UNWIND_END && got.pcs[1] == (uint64_t)hole_returned;
}

static void every_instruction_in_a_hole_has_its_caller(void **state)
{
	(void)state;
	if (getenv("DWELL_MEMCHECK"))
		skip(); /* valgrind sends no SIGTRAP per instruction */
	handle_by(count_right, SIGTRAP, 0);
	hole_step();
	assert_int_equal(n_steps, HOLE_N_STEPS);
	assert_int_equal(n_right, HOLE_N_STEPS);
}

static struct {
	uint64_t whose, name; /* of the last stack */
	bool is_known;
	unsigned n_known;
} naming = { .whose = 1 };

static uint64_t name_walked(const uint64_t *frame)
{
	uint64_t name = 1;

	got.n = unwind_local_from(cache, frame, stack_lo, stack_hi, got.pcs, got.exact,
				  ORACLE_MAX, &got.stop);
	assert_int_equal(got.stop, UNWIND_END);
	for (size_t i = 0; i < got.n; i++)
		name = (name ^ got.pcs[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return name;
}

/* What is known without a walk is what a walk finds. */
static __attribute__((noinline)) int name_caller(int x)
{
	const uint64_t *frame = __builtin_frame_address(0);
	uint64_t known = unwind_local_known(cache, frame, naming.whose);

	naming.name = name_walked(frame);
	naming.is_known = known != 0;
	naming.n_known += naming.is_known;
	if (known)
		assert_true(known == naming.name);
	else
		unwind_local_keep(cache, frame, stack_hi, naming.whose, naming.name);
	return x;
}

static void name_once(void)
{
	name_caller(1);
}

static void a_named_stack_is_known_again(void **state)
{
	(void)state;
	inner = name_once;
	for (volatile int i = 0; i < 4; i++) {
		deep(20);
		assert_int_equal(naming.is_known, i >= 2); /* kept at the second time */
	}
	naming.whose = 2;
	deep(20);
	assert_false(naming.is_known);
	naming.whose = 1;
	unwind_local_refresh();
	for (volatile int i = 0; i < 3; i++)
		deep(20);
	assert_true(naming.is_known);
	unwind_local_refresh();
	deep(20);
	assert_false(naming.is_known);
}

static void another_caller_far_up_is_another_stack(void **state)
{
	uint64_t name;

	(void)state;
	inner = name_once;
	for (volatile int i = 0; i < 4; i++)
		deep(20);
	assert_true(naming.is_known);
	name = naming.name;
	deep(20);
	assert_false(naming.is_known);
	assert_true(naming.name != name);
}

static unsigned seed = 1;

static int wander(int n);

static __attribute__((noinline)) int wander_framed(int n)
{
	volatile char *p = alloca((size_t)(seed >> 20 & 48) + 16);

	p[0] = (char)n;
	return wander(n - 1) + p[0];
}

static __attribute__((noinline)) int wander_realigned(int n)
{
	_Alignas(64) volatile char local[64];

	local[n % 64] = (char)n;
	return wander(n - 1) + local[n % 64];
}

static int wander_compare(const void *a, const void *b)
{
	return wander(*(const int *)a - 1) + *(const int *)b;
}

static __attribute__((noinline)) int wander_sorting(int n)
{
	int v[] = { n, n };

	qsort(v, 2, sizeof(v[0]), wander_compare);
	return v[0];
}

static __attribute__((noinline)) int wander(int n)
{
	static int (*const ways[])(int) = { wander_framed, wander_realigned,
					    wander_sorting, deep };

	if (n <= 0)
		return name_caller(n);
	seed = seed * 1103515245 + 12345;
	return ways[seed >> 16 & 3](n) + 1;
}

static void every_named_stack_is_what_a_walk_finds(void **state)
{
	(void)state;
	inner = name_once;
	naming.n_known = 0;
	for (int i = 0; i < 100000; i++)
		wander(1 + i % 4);
	assert_true(naming.n_known > 10000);
}

/* One of its own for each thread, most of which are short: pages that no walk has
 * written are not there. */
static void a_new_cache_is_not_cleared(void **state)
{
	struct unwind_local_cache *kept = cache;
	size_t size = unwind_local_cache_bytes(), n_pages = (size + 4095) / 4096, n = 0;
	unsigned char is_there[4096];

	(void)state;
	assert_true(n_pages <= sizeof(is_there));
	cache = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	assert_ptr_not_equal(cache, MAP_FAILED);
	madvise(cache, size, MADV_NOHUGEPAGE);
	unwind_local_refresh();
	inner = walk_once;
	deep(5);
	assert_int_equal(mincore(cache, size, is_there), 0);
	for (size_t i = 0; i < n_pages; i++)
		n += is_there[i] & 1;
	assert_in_range(n, 1, n_pages / 2);
	munmap(cache, size);
	cache = kept;
}

/* As older libraries have none. */
extern int find_object(void *addr, void *ret) __asm__("_dl_find_object")
	__attribute__((weak));

/* Of a cache that was filled before any other. */
static void the_first_refresh_forgets_as_the_others_do(void **state)
{
	(void)state;
	inner = name_once;
	for (volatile int i = 0; i < 4; i++)
		deep(20);
	assert_true(naming.is_known);
	unwind_local_refresh();
	deep(20);
	assert_false(naming.is_known);
}

static int set_up(void **state)
{
	(void)state;
	find_stack();
	if (!find_object)
		unwind_local_refresh();
	cache = calloc(1, unwind_local_cache_bytes());
	return cache ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	free(cache);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_refresh_forgets_as_the_others_do),
		cmocka_unit_test(a_walk_from_the_caller_equals_libunwinds),
		cmocka_unit_test(an_unchanged_stack_is_recognised),
		cmocka_unit_test(callbacks_from_a_library_are_walked),
		cmocka_unit_test(realigned_frames_are_walked_and_verified),
		cmocka_unit_test(a_signal_context_is_walked),
		cmocka_unit_test(an_alternate_stack_is_walked_to_the_thread),
		cmocka_unit_test(a_handler_on_another_stack_is_walked_through),
		cmocka_unit_test(a_frame_on_another_register_is_walked),
		cmocka_unit_test(a_thread_ends_at_clone),
		cmocka_unit_test(a_hole_in_the_table_is_walked_by_frame_pointers),
		cmocka_unit_test(every_instruction_in_a_hole_has_its_caller),
		cmocka_unit_test(the_depth_is_limited),
		cmocka_unit_test(a_refresh_forgets_what_was_cached),
		cmocka_unit_test(a_new_cache_is_not_cleared),
		cmocka_unit_test(a_named_stack_is_known_again),
		cmocka_unit_test(another_caller_far_up_is_another_stack),
		cmocka_unit_test(every_named_stack_is_what_a_walk_finds),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
