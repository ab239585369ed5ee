/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/wait_kinds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* The innermost first, as seen in programs of each language; what: NULL, unknown. */
static const struct {
	const char *names[4];
	const char *what;
	bool is_lock;
} stacks[] = {
	/* The C library, linked statically; musl's. */
	{ { "__lll_lock_wait", "__pthread_mutex_lock", "work", "start_thread" },
	  "mutex",
	  true },
	{ { "__timedwait_cp", "__pthread_cond_timedwait", "pthread_cond_wait", "work" },
	  "condition",
	  false },
	{ { "__futex_abstimed_wait_common", "__pthread_clockjoin_ex", "main", "_start" },
	  "thread's end",
	  false },
	{ { "__lll_lock_wait_private", "malloc", "work", "main" },
	  "C library's lock",
	  true },
	{ { "__futex_abstimed_wait_common", "__new_sem_wait_slow64.constprop.0", "work",
	    "main" },
	  "semaphore",
	  false },
	/* Go: a thread without work, and one that waits for the scheduler's lock. */
	{ { "runtime.futexsleep", "runtime.notesleep", "runtime.mPark", "runtime.stopm" },
	  "idle thread",
	  false },
	{ { "runtime.futexsleep", "runtime.lock2", "runtime.schedule", "runtime.mcall" },
	  "runtime's lock",
	  true },
	/* Rust. */
	{ { "syscall", "std::sys::pal::unix::futex::futex_wait",
	    "<std::sys::sync::mutex::futex::Mutex>::lock_contended", "app::work" },
	  "mutex",
	  true },
	{ { "syscall", "std::sys::unix::futex::futex_wait",
	    "std::sys::unix::locks::futex_condvar::Condvar::wait_optional_timeout",
	    "app::work" },
	  "condition",
	  false },
	/* C++20. */
	{ { "syscall",
	    "std::__atomic_wait_address_v<int, main::{lambda()#1}>(int const*, int)",
	    "std::atomic<int>::wait", "main" },
	  "atomic",
	  false },
	{ { "syscall", "wait_for", "my_pthread_mutex_lock", "main" }, NULL, false },
};

static void functions_say_what_they_wait_for(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		const struct wait_kind *kind = wait_kinds_find(stacks[i].names, 4);

		if (!stacks[i].what) {
			assert_null(kind);
			continue;
		}
		assert_non_null(kind);
		assert_string_equal(kind->what, stacks[i].what);
		assert_int_equal(kind->is_lock, stacks[i].is_lock);
	}
	assert_null(wait_kinds_find(NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_say_what_they_wait_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
