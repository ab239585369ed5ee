/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_copies.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/inject_place.h"

#define FIRST_PID 77

static struct wire_injected head_of(uint32_t owner_pid)
{
	return (struct wire_injected){ .magic = WIRE_INJECTED_MAGIC,
				       .is_patched = 1,
				       .owner_pid = owner_pid,
				       .owner_start = 5,
				       .first_pid = FIRST_PID };
}

/* A process that has this at a place, until it is killed. */
static pid_t begin(unsigned place, const struct wire_injected *head)
{
	void *at = (void *)(uintptr_t)(INJECT_PLACE_FIRST + place * INJECT_PLACE_STRIDE);
	int answer[2];
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(answer), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (mmap(at, sizeof(*head), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != at)
			_exit(1);
		memcpy(at, head, sizeof(*head));
		if (write(answer[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	close(answer[1]);
	assert_int_equal(read(answer[0], &byte, 1), 1);
	close(answer[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void those_of_a_recorder_are_found_whose_calls_come_by(void **state)
{
	uint32_t us = (uint32_t)getpid();
	struct wire_injected ours = head_of(us), others = head_of(us + 1), left = ours;
	struct inject_copies found = { 0 };
	pid_t first, last, other, gone;

	(void)state;
	left.is_patched = 0;
	first = begin(0, &ours);
	last = begin(INJECT_PLACE_N - 1, &ours);
	other = begin(0, &others);
	gone = begin(0, &left);
	for (int i = 0; i < 2; i++) { /* anew */
		unsigned n = 0;

		assert_int_equal(inject_copies_find(&ours, &found, NULL), 0);
		assert_int_equal(found.of.n, 2);
		vec_each(x, &found.of) {
			uint64_t place =
				(x->at - INJECT_PLACE_FIRST) / INJECT_PLACE_STRIDE;

			assert_int_equal(x->first_pid, FIRST_PID);
			n += x->pid == first && place == 0;
			n += x->pid == last && place == INJECT_PLACE_N - 1;
		}
		assert_int_equal(n, 2);
	}
	end(last);
	assert_int_equal(inject_copies_find(&ours, &found, NULL), 0);
	assert_int_equal(found.of.n, 1);
	assert_int_equal(found.of.at[0].pid, first);
	end(first);
	end(other);
	end(gone);
	inject_copies_fini(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_of_a_recorder_are_found_whose_calls_come_by),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
