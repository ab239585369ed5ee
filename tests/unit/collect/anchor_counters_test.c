/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_counters.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/anchor_cost.h"
#include "collect/anchor_heirs.h"
#include "collect/count_remote.h"
#include "host/clock.h"

#define SLEEP_S 60 /* at most */

/* A turn of a call and a jump, which has flags, a register and the red zone behind it as
 * they were: 0. */
unsigned long one_turn(void);
extern const uint8_t the_call[], the_jump[], called[], jumped_to[];

__asm__(".text\n"
	".globl one_turn, the_call, the_jump, called, jumped_to\n"
	"called:\n"
	"	ret\n"
	"one_turn:\n"
	"the_call:\n"
	"	call called\n"
	"	movl $0x5a5a, %ecx\n"
	"	movl $0x7fffffff, %edx\n"
	"	movl $0x1234, %eax\n"
	"	movq %rcx, -8(%rsp)\n"
	"	addl $1, %edx\n" /* overflow, sign, adjust, parity; no carry, not zero */
	"the_jump:\n"
	"	.byte 0xe9\n"
	"	.long jumped_to - the_jump - 5\n"
	"	ud2\n"
	"jumped_to:\n"
	"	jno 1f\n"
	"	jns 1f\n"
	"	jnp 1f\n"
	"	jc 1f\n"
	"	jz 1f\n"
	"	cmpl $0x1234, %eax\n"
	"	jne 1f\n"
	"	cmpq %rcx, -8(%rsp)\n"
	"	jne 1f\n"
	"	xorl %eax, %eax\n"
	"	ret\n"
	"1:	movl $1, %eax\n"
	"	ret\n");

struct child {
	pid_t pid;
	int order, answer;
};

/* Behind what forks it. */
static void sleep_on(void)
{
	alarm(SLEEP_S);
	for (;;)
		pause();
}

/* So many turns as it is told, again and again; it says how many were wrong.  None: it
 * says which child it has forked. */
static void turn(int from, int to)
{
	unsigned long n, wrong;

	while (read(from, &n, sizeof(n)) == sizeof(n)) {
		wrong = n ? 0 : (unsigned long)fork();
		if (!n && !wrong)
			sleep_on();
		while (n && n--)
			wrong += one_turn();
		if (write(to, &wrong, sizeof(wrong)) != sizeof(wrong))
			break;
	}
	_exit(0);
}

static void begin(struct child *c)
{
	int orders[2], answers[2];

	assert_int_equal(pipe(orders), 0);
	assert_int_equal(pipe(answers), 0);
	c->pid = fork();
	assert_true(c->pid >= 0);
	if (!c->pid) {
		close(orders[1]);
		turn(orders[0], answers[1]);
	}
	c->order = orders[1];
	c->answer = answers[0];
	close(orders[0]);
	close(answers[1]);
}

static void end(struct child *c)
{
	close(c->order);
	close(c->answer);
	waitpid(c->pid, NULL, 0);
}

static void order(const struct child *c, unsigned long turns)
{
	unsigned long wrong = 1;

	assert_int_equal(write(c->order, &turns, sizeof(turns)), sizeof(turns));
	assert_int_equal(read(c->answer, &wrong, sizeof(wrong)), sizeof(wrong));
	assert_int_equal(wrong, 0);
}

static pid_t fork_one(const struct child *c)
{
	unsigned long n = 0, pid = 0;

	assert_int_equal(write(c->order, &n, sizeof(n)), sizeof(n));
	assert_int_equal(read(c->answer, &pid, sizeof(pid)), sizeof(pid));
	assert_true((long)pid > 0);
	return (pid_t)pid;
}

static struct anchor_site site(const uint8_t *at, const uint8_t *to)
{
	return (struct anchor_site){ .addr = (uint64_t)(uintptr_t)at,
				     .target = (uint64_t)(uintptr_t)to };
}

static void assert_hits(struct anchor_counters *k, uint64_t hits)
{
	assert_true(anchor_counters_read(k));
	for (size_t i = 0; i < k->at.n; i++)
		assert_int_equal(k->at.at[i].hits, hits);
}

static void assert_is_as_it_was(pid_t pid)
{
	uint8_t code[64];
	uint64_t at = (uint64_t)(uintptr_t)one_turn;

	assert_true(count_remote_read(pid, at, code, sizeof(code)));
	assert_memory_equal(code, (const void *)(uintptr_t)at, sizeof(code));
}

static void each_passage_is_counted_and_nothing_else_happens(void **state)
{
	const struct anchor_site sites[] = { site(the_call, called),
					     site(the_jump, jumped_to),
					     /* not what is there */
					     site(the_call, jumped_to),
					     site(called, called) };
	const bool one[] = { false, true }, none[] = { false, false },
		   both[] = { true, true };
	struct anchor_counters k = { 0 };
	struct child c;

	(void)state;
	begin(&c);
	k.pid = c.pid;
	order(&c, 10);
	assert_int_equal(anchor_counters_add(&k, sites, 4, NULL), 0);
	assert_int_equal(k.at.n, 2);
	assert_hits(&k, 0);
	order(&c, 100000);
	assert_hits(&k, 100000);
	/* Those that are there already are not added again. */
	assert_int_equal(anchor_counters_add(&k, sites, 2, NULL), 0);
	assert_int_equal(k.at.n, 2);
	assert_int_equal(anchor_counters_set(&k, one, NULL), 0);
	order(&c, 1000);
	assert_true(anchor_counters_read(&k));
	assert_int_equal(k.at.at[0].hits, 100000);
	assert_int_equal(k.at.at[1].hits, 101000);
	assert_int_equal(anchor_counters_set(&k, none, NULL), 0);
	assert_is_as_it_was(c.pid);
	order(&c, 1000);
	assert_int_equal(anchor_counters_set(&k, both, NULL), 0);
	order(&c, 10);
	assert_true(anchor_counters_read(&k));
	assert_int_equal(k.at.at[0].hits, 100010);
	assert_int_equal(k.at.at[1].hits, 101010);
	assert_int_equal(anchor_counters_set(&k, none, NULL), 0);
	assert_is_as_it_was(c.pid);
	end(&c);
	assert_false(anchor_counters_read(&k));
	anchor_counters_fini(&k);
}

static void a_child_has_what_there_was_when_it_was_forked(void **state)
{
	const struct anchor_site sites[] = { site(the_call, called),
					     site(the_jump, jumped_to) };
	const bool none[] = { false, false }, both[] = { true, true };
	struct anchor_counters k = { 0 }, of_child = { 0 };
	struct child c;

	(void)state;
	begin(&c);
	k.pid = c.pid;
	assert_int_equal(anchor_counters_add(&k, sites, 1, NULL), 0);
	order(&c, 1000);
	of_child.pid = fork_one(&c);
	assert_int_equal(anchor_counters_add(&k, sites, 2, NULL), 0);
	k.alone.last = k.pid;
	assert_true(anchor_counters_inherit(&of_child, &k));
	assert_int_equal(of_child.at.n, 1);
	assert_true(anchor_counters_are_on(&of_child));
	assert_hits(&of_child, 1000);
	assert_int_equal(of_child.alone.last, 0);
	assert_int_equal(anchor_counters_set(&of_child, none, NULL), 0);
	assert_is_as_it_was(of_child.pid);
	assert_int_equal(anchor_counters_set(&of_child, both, NULL), 0);
	assert_int_equal(anchor_counters_end(&of_child, NULL), 0);
	assert_is_as_it_was(of_child.pid);
	assert_int_equal(anchor_counters_end(&k, NULL), 0);
	kill(of_child.pid, SIGKILL);
	end(&c);
	anchor_counters_fini(&of_child);
	anchor_counters_fini(&k);
}

/* What it has besides is in the place of others that its parent has. */
static void who_has_more_than_it_inherited_is_told_from_others(void **state)
{
	const struct anchor_site call = site(the_call, called),
				 jump = site(the_jump, jumped_to);
	struct anchor_counters k = { 0 }, of_child = { 0 }, again = { 0 };
	struct child c;

	(void)state;
	begin(&c);
	k.pid = c.pid;
	assert_int_equal(anchor_counters_add(&k, &call, 1, NULL), 0);
	again.pid = of_child.pid = fork_one(&c);
	assert_true(anchor_counters_inherit(&of_child, &k));
	assert_int_equal(anchor_counters_add(&of_child, &jump, 1, NULL), 0);
	assert_int_equal(of_child.at.n, 2);
	assert_false(anchor_counters_inherit(&again, &k));
	assert_true(anchor_counters_inherit(&again, &of_child));
	assert_int_equal(again.at.n, 2);
	assert_int_equal(anchor_counters_end(&again, NULL), 0);
	assert_is_as_it_was(of_child.pid);
	kill(of_child.pid, SIGKILL);
	end(&c);
	anchor_counters_fini(&again);
	anchor_counters_fini(&of_child);
	anchor_counters_fini(&k);
}

static void heirs_are_as_they_were_though_their_parent_has_ended(void **state)
{
	const struct anchor_site sites[] = { site(the_call, called),
					     site(the_jump, jumped_to) };
	struct anchor_counters k = { 0 };
	struct anchor_heirs heirs = { 0 };
	struct child c;
	pid_t child;

	(void)state;
	begin(&c);
	k.pid = c.pid;
	assert_int_equal(anchor_counters_add(&k, sites, 2, NULL), 0);
	child = fork_one(&c);
	end(&c);
	anchor_heirs_keep(&heirs, &k);
	assert_int_equal(heirs.of.n, 1);
	assert_int_equal(anchor_heirs_end(&heirs, NULL), 0);
	assert_is_as_it_was(child);
	kill(child, SIGKILL);
	anchor_heirs_fini(&heirs);
}

static void what_nobody_has_copies_of_is_not_kept(void **state)
{
	const struct anchor_site call = site(the_call, called);
	struct anchor_counters k = { 0 };
	struct anchor_heirs heirs = { 0 };
	struct child c;

	(void)state;
	begin(&c);
	k.pid = c.pid;
	assert_int_equal(anchor_counters_add(&k, &call, 1, NULL), 0);
	end(&c);
	anchor_heirs_keep(&heirs, &k);
	assert_int_equal(heirs.of.n, 0);
	anchor_heirs_fini(&heirs);
}

/* As if it executed one: the mark is not what it was. */
static void another_program_is_not_written_to(void **state)
{
	const struct anchor_site sites[] = { site(the_call, called),
					     site(the_jump, jumped_to) };
	const bool none[] = { false };
	struct anchor_counters k = { 0 };
	struct child c;

	(void)state;
	begin(&c);
	k.pid = c.pid;
	assert_int_equal(anchor_counters_add(&k, sites, 1, NULL), 0);
	k.mark++;
	assert_true(anchor_counters_add(&k, sites, 2, NULL) < 0);
	assert_true(anchor_counters_set(&k, none, NULL) < 0);
	assert_int_equal(k.at.n, 1);
	assert_true(k.at.at[0].is_on);
	k.mark--;
	order(&c, 1000);
	assert_hits(&k, 1000);
	assert_int_equal(anchor_counters_set(&k, none, NULL), 0);
	assert_false(k.at.at[0].is_on);
	assert_is_as_it_was(c.pid);
	end(&c);
	anchor_counters_fini(&k);
}

/* A jump reaches it, but no counter below the jump does. */
static void what_leads_too_far_has_none(void **state)
{
	const size_t bytes = 0x7ff90000;
	const int32_t away = 0x7ff80000;
	uint8_t *at = mmap(NULL, bytes, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct anchor_site sites[] = { site(at, at + 5 + away) };
	struct anchor_counters k = { 0 };
	struct child c;

	(void)state;
	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(mprotect(at, 4096, PROT_READ | PROT_WRITE), 0);
	at[0] = 0xe9;
	memcpy(at + 1, &away, sizeof(away));
	begin(&c);
	k.pid = c.pid;
	assert_int_equal(anchor_counters_add(&k, sites, 1, NULL), 0);
	assert_int_equal(k.at.n, 0);
	end(&c);
	anchor_counters_fini(&k);
	munmap(at, bytes);
}

/* Another process: it has the memory of the one that begins it, until that ends. */
static int share(void *from)
{
	char c;

	return read(*(int *)from, &c, 1) == 1;
}

static void begin_sharing(struct child *c, int *ret_end)
{
	static uint8_t stack[64 << 10];
	int orders[2], begun[2], until[2];
	char byte = 0;

	assert_int_equal(pipe(orders), 0);
	assert_int_equal(pipe(begun), 0);
	assert_int_equal(pipe(until), 0);
	c->pid = fork();
	assert_true(c->pid >= 0);
	if (!c->pid) {
		close(orders[1]);
		if (clone(share, stack + sizeof(stack), CLONE_VM | SIGCHLD, until) > 0 &&
		    write(begun[1], &byte, 1) == 1 && wait(NULL) > 0 &&
		    write(begun[1], &byte, 1) == 1)
			(void)!read(orders[0], &byte, 1);
		_exit(0);
	}
	c->order = orders[1];
	c->answer = begun[0];
	*ret_end = until[1];
	close(orders[0]);
	close(begun[1]);
	close(until[0]);
	assert_int_equal(read(c->answer, &byte, 1), 1);
}

static void who_shares_memory_has_none(void **state)
{
	const struct anchor_site sites[] = { site(the_call, called) };
	const bool none[] = { false };
	struct anchor_counters k = { 0 };
	struct child c;
	char byte = 0;
	int until;
	struct err e;

	(void)state;
	begin_sharing(&c, &until);
	k.pid = c.pid;
	assert_int_equal(anchor_counters_add(&k, sites, 1, &e), ERR_UNSUPPORTED);
	assert_non_null(strstr(e.text, "shares memory"));
	assert_int_equal(k.at.n, 0);
	assert_is_as_it_was(c.pid);
	assert_int_equal(write(until, &byte, 1), 1);
	assert_int_equal(read(c.answer, &byte, 1), 1);
	assert_int_equal(anchor_counters_add(&k, sites, 1, &e), 0);
	assert_int_equal(k.at.n, 1);
	assert_int_equal(anchor_counters_set(&k, none, NULL), 0);
	close(until);
	end(&c);
	anchor_counters_fini(&k);
}

/* A jump to what is behind it, which others might come to as well. */
static void shared_code_has_none(void **state)
{
	const uint8_t jump[] = { 0xe9, 0, 0, 0, 0, 0xc3 };
	uint8_t *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const struct anchor_site sites[] = { site(at, at + 5) };
	struct anchor_counters k = { 0 };
	struct child c;

	(void)state;
	assert_ptr_not_equal(at, MAP_FAILED);
	memcpy(at, jump, sizeof(jump));
	begin(&c);
	k.pid = c.pid;
	assert_int_equal(anchor_counters_add(&k, sites, 1, NULL), 0);
	assert_int_equal(k.at.n, 0);
	assert_memory_equal(at, jump, sizeof(jump));
	end(&c);
	anchor_counters_fini(&k);
	munmap(at, 4096);
}

static void who_has_ended_has_none(void **state)
{
	const struct anchor_site sites[] = { site(the_call, called) };
	struct anchor_counters k = { 0 };
	struct child c;
	struct err e;

	(void)state;
	begin(&c);
	k.pid = c.pid;
	end(&c);
	assert_true(anchor_counters_add(&k, sites, 1, &e) < 0 || k.at.n == 0);
	anchor_counters_fini(&k);
}

/* A process that says what its CPU time is, without end. */
static pid_t tell_time_to(volatile uint64_t *own_ns)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!pid)
		*own_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	return pid;
}

static int by_size(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* It goes on at once, and who looks at it may not. */
static int64_t is_outside_by(uint64_t ns, uint64_t least, uint64_t most)
{
	if (ns < least)
		return (int64_t)(least - ns);
	return ns > most ? (int64_t)(ns - most) : 0;
}

/* The kernel's own last look at who runs is milliseconds old as often as not. */
static void who_stands_has_its_time(void **state)
{
	const struct anchor_site sites[] = { site(the_call, called) };
	const bool on[] = { true };
	struct anchor_counters k = { 0 };
	int64_t away_ns[15];
	uint64_t *own_ns = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(own_ns, MAP_FAILED);
	k.pid = tell_time_to(own_ns);
	assert_int_equal(anchor_counters_add(&k, sites, 1, NULL), 0);
	for (size_t i = 0; i < 15; i++) {
		uint64_t before, after;

		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
		before = *(volatile uint64_t *)own_ns;
		assert_int_equal(anchor_counters_stand(&k, on, NULL), 0);
		after = *(volatile uint64_t *)own_ns;
		away_ns[i] = is_outside_by(k.stood_ns, before, after);
	}
	qsort(away_ns, 15, sizeof(*away_ns), by_size);
	/* The two clocks are not one: either may be a little ahead. */
	assert_in_range(away_ns[7], 0, 500000);
	kill(k.pid, SIGKILL);
	waitpid(k.pid, NULL, 0);
	anchor_counters_fini(&k);
	munmap(own_ns, 4096);
}

static void one_takes_no_more_than_is_told(void **state)
{
	double ns = anchor_cost_hit_ns();

	(void)state;
	if (getenv("DWELL_MEMCHECK")) /* each instruction takes as long there */
		skip();
	/* A locked addition takes some cycles, and no microsecond. */
	assert_true(ns > 1 && ns < 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_passage_is_counted_and_nothing_else_happens),
		cmocka_unit_test(a_child_has_what_there_was_when_it_was_forked),
		cmocka_unit_test(who_has_more_than_it_inherited_is_told_from_others),
		cmocka_unit_test(heirs_are_as_they_were_though_their_parent_has_ended),
		cmocka_unit_test(what_nobody_has_copies_of_is_not_kept),
		cmocka_unit_test(another_program_is_not_written_to),
		cmocka_unit_test(what_leads_too_far_has_none),
		cmocka_unit_test(who_shares_memory_has_none),
		cmocka_unit_test(shared_code_has_none),
		cmocka_unit_test(who_has_ended_has_none),
		cmocka_unit_test(who_stands_has_its_time),
		cmocka_unit_test(one_takes_no_more_than_is_told),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
