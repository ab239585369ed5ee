/* SPDX-License-Identifier: Apache-2.0 */
#include "store/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/own.h"
#include "store/model.h"

static const struct model_process whole = {
	.pid = 7,
	.ppid = 1,
	.parent = MODEL_NONE,
	.exec_of = 3,
	.comm = 1,
	.exe = 2,
	.exit_status = -1,
	.start_ns = 1000,
	.end_ns = 2000,
	.cgroup = 4,
	.host = 5,
	.epoch = 6,
};

static void assert_is_whole(const struct model_process *p)
{
	own(buf_fini) struct buf want = { 0 };
	own(buf_fini) struct buf have = { 0 };

	layout_encode(layout_of(FORMAT_PROCESSES), 0, &whole, &want);
	layout_encode(layout_of(FORMAT_PROCESSES), 0, p, &have);
	assert_int_equal(have.size, want.size);
	assert_memory_equal(have.data, want.data, want.size);
}

/* The record of `whole`, only its first n bytes. */
static struct model_process decode_first(struct buf *record, size_t n, bool *ret_is_bad)
{
	struct model_process p;
	uint32_t id;

	record->data[0] = (uint8_t)n;

	struct reader r = reader_over(record->data, n + 1);

	layout_decode(layout_of(FORMAT_PROCESSES), &r, &id, &p);
	*ret_is_bad = r.bad;
	return p;
}

static void a_record_comes_back_as_it_was(void **state)
{
	own(buf_fini) struct buf record = { 0 };
	bool is_bad;

	(void)state;
	layout_encode(layout_of(FORMAT_PROCESSES), 0, &whole, &record);

	struct model_process p = decode_first(&record, record.size - 1, &is_bad);

	assert_false(is_bad);
	assert_is_whole(&p);
}

/* The cgroup, the host and the epoch were added later. */
static void an_older_record_has_nothing_in_the_newer_fields(void **state)
{
	own(buf_fini) struct buf record = { 0 };
	bool is_bad;

	(void)state;
	layout_encode(layout_of(FORMAT_PROCESSES), 0, &whole, &record);

	struct model_process p = decode_first(&record, record.size - 1 - 3, &is_bad);

	assert_false(is_bad);
	assert_int_equal(p.end_ns, 2000);
	assert_int_equal(p.cgroup, 0);
	assert_int_equal(p.host, 0);
	assert_int_equal(p.epoch, 0);
	p = decode_first(&record, 1, &is_bad);
	assert_false(is_bad);
	assert_int_equal(p.exec_of, MODEL_NONE);
}

static void a_newer_record_is_read_as_far_as_it_is_known(void **state)
{
	own(buf_fini) struct buf record = { 0 };
	bool is_bad;

	(void)state;
	layout_encode(layout_of(FORMAT_PROCESSES), 0, &whole, &record);
	buf_puts(&record, "what a later version knows");

	struct model_process p = decode_first(&record, record.size - 1, &is_bad);

	assert_false(is_bad);
	assert_is_whole(&p);
}

static void an_unknown_cgroup_is_refused(void **state)
{
	uint32_t n[FORMAT_N_KINDS];

	(void)state;
	for (unsigned i = 0; i < FORMAT_N_KINDS; i++)
		n[i] = 10;
	assert_true(layout_ids_are_known(layout_of(FORMAT_PROCESSES), &whole, n));
	n[FORMAT_STRINGS] = 4; /* its id is 4 */
	assert_false(layout_ids_are_known(layout_of(FORMAT_PROCESSES), &whole, n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_comes_back_as_it_was),
		cmocka_unit_test(an_older_record_has_nothing_in_the_newer_fields),
		cmocka_unit_test(a_newer_record_is_read_as_far_as_it_is_known),
		cmocka_unit_test(an_unknown_cgroup_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
