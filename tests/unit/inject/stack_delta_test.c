/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collect/timer_record.h"
#include "inject/stack_delta.h"

static void push(struct stack_delta_frames *f, uintptr_t pc, bool is_exact)
{
	f->pcs[f->n] = pc;
	f->exact[f->n / 8] =
		(uint8_t)((f->exact[f->n / 8] & ~(1 << f->n % 8)) | is_exact << f->n % 8);
	f->n++;
}

/* What the target sends, and what the recorder makes of it. */
static void send(struct timer_record_stacks *stacks, const struct stack_delta_frames *f,
		 const struct stack_delta_frames *previous, struct timer_record *ret)
{
	static uint8_t payload[WIRE_SAMPLER_PAYLOAD_MAX];
	uint32_t n_shared = previous ? stack_delta_shared(f, previous) : 0;
	struct wire_sampler_sample head = {
		.n_frames = (uint16_t)f->n,
		.n_shared = (uint16_t)n_shared,
		.count = 1,
		.slot = 3,
	};
	struct err e = { 0 };
	size_t n;

	memcpy(payload, &head, sizeof(head));
	n = stack_delta_encode(f, n_shared, payload + sizeof(head));
	assert_true(n <= (f->n - n_shared) * 10);
	assert_int_equal(timer_record_parse(stacks, WIRE_SAMPLER_SAMPLE, payload,
					    sizeof(head) + n, ret, &e),
			 0);
}

static void assert_same(const struct timer_record *r, const struct stack_delta_frames *f)
{
	assert_int_equal(r->sample.n_frames, f->n);
	for (uint32_t i = 0; i < f->n; i++) {
		assert_int_equal(r->pcs[i], f->pcs[i]);
		assert_int_equal(r->exact[i / 8] >> (i % 8) & 1,
				 stack_delta_is_exact(f, i));
	}
}

static void stacks_arrive_as_they_were_sent(void **state)
{
	static struct stack_delta_frames f[2];
	static struct timer_record r;
	struct timer_record_stacks stacks = { 0 };

	(void)state;
	srand(1);
	for (int round = 0; round < 500; round++) {
		struct stack_delta_frames *now = &f[round % 2],
					  *before = &f[!(round % 2)];
		uint32_t n_new = (uint32_t)rand() % 20, keep;

		now->n = 0;
		for (uint32_t i = 0; i < n_new; i++)
			push(now, (uintptr_t)rand() * (uintptr_t)rand() >> rand() % 3,
			     rand() % 5 == 0);
		keep = before->n ? (uint32_t)rand() % (before->n + 1) : 0;
		for (uint32_t i = before->n - keep;
		     i < before->n && now->n < WIRE_SAMPLER_DEPTH_MAX; i++)
			push(now, before->pcs[i], stack_delta_is_exact(before, i));
		send(&stacks, now, round ? before : NULL, &r);
		assert_same(&r, now);
	}
	timer_record_stacks_fini(&stacks);
}

static void a_deep_stack_of_extreme_addresses_fits_the_record(void **state)
{
	static struct stack_delta_frames f;
	static struct timer_record r;
	struct timer_record_stacks stacks = { 0 };

	(void)state;
	for (uint32_t i = 0; i < WIRE_SAMPLER_DEPTH_MAX; i++)
		push(&f, i % 2 ? UINTPTR_MAX >> 2 : 0, i % 2);
	send(&stacks, &f, NULL, &r);
	assert_same(&r, &f);
	timer_record_stacks_fini(&stacks);
}

static void the_same_address_as_call_and_as_interrupted_is_not_shared(void **state)
{
	static struct stack_delta_frames a, b;

	(void)state;
	push(&a, 100, true);
	push(&a, 200, false);
	push(&b, 100, false);
	push(&b, 200, false);
	assert_int_equal(stack_delta_shared(&a, &b), 1);
}

static void frames_of_the_library_itself_are_left_out(void **state)
{
	static struct stack_delta_frames f;

	(void)state;
	push(&f, 100, true);
	push(&f, 205, false);
	push(&f, 300, true);
	push(&f, 299, false);
	stack_delta_drop(&f, 200, 300);
	assert_int_equal(f.n, 2);
	assert_int_equal(f.pcs[1], 300);
	assert_true(stack_delta_is_exact(&f, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_arrive_as_they_were_sent),
		cmocka_unit_test(a_deep_stack_of_extreme_addresses_fits_the_record),
		cmocka_unit_test(
			the_same_address_as_call_and_as_interrupted_is_not_shared),
		cmocka_unit_test(frames_of_the_library_itself_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
