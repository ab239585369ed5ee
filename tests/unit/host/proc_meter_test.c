/* SPDX-License-Identifier: Apache-2.0 */
#include "host/proc_meter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

static void a_process_has_what_its_children_used(void **state)
{
	/* Ten and twenty ticks of its own, a hundred and two hundred of children. */
	static const char text[] =
		"17 (a) S 1) R 5 17 17 0 -1 0 3 40 5 60 10 20 100 200 20 0 7 0 4200 9999 "
		"3 18446744073709551615";
	struct proc_meter_process p;
	uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);

	(void)state;
	assert_int_equal(proc_meter_parse_process(text, &p, NULL), 0);
	assert_int_equal(p.minor_faults, 43);
	assert_int_equal(p.major_faults, 65);
	assert_int_equal(p.user_ns, 110 * tick_ns);
	assert_int_equal(p.children_ns, 300 * tick_ns);
	assert_int_equal(p.system_ns, 220 * tick_ns);
	assert_int_equal(p.n_threads, 7);
	assert_int_equal(p.resident_bytes, 3 * sysconf(_SC_PAGESIZE));
}

static void lines_of_io_are_known_by_their_names(void **state)
{
	struct proc_meter_io io;

	(void)state;
	assert_int_equal(proc_meter_parse_io("rchar: 11\nwchar: 12\nsyscr: 1\nsyscw: 2\n"
					     "read_bytes: 13\nwrite_bytes: 14\n"
					     "cancelled_write_bytes: 15\n",
					     &io, NULL),
			 0);
	assert_int_equal(io.read_bytes, 11);
	assert_int_equal(io.written_bytes, 12);
	assert_int_equal(io.disk_read_bytes, 13);
	assert_int_equal(io.disk_written_bytes, 14);
}

static void the_machine_has_its_times_load_and_memory(void **state)
{
	struct proc_meter_machine m;
	struct proc_meter_thread t;
	uint64_t load, bytes, tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);

	(void)state;
	assert_int_equal(
		proc_meter_parse_machine("cpu  1 2 4 8 16 32 64 128 256 512\ncpu0 1 1\n",
					 &m, NULL),
		0);
	assert_int_equal(m.busy_ns, (1 + 2 + 4 + 32 + 64) * tick_ns);
	assert_int_equal(m.idle_ns, 8 * tick_ns);
	assert_int_equal(m.disk_wait_ns, 16 * tick_ns);
	assert_int_equal(m.stolen_ns, 128 * tick_ns);
	assert_int_equal(proc_meter_parse_thread("1 22 333\n", &t, NULL), 0);
	assert_int_equal(t.ready_ns, 22);
	assert_int_equal(t.n_turns, 333);
	assert_int_equal(proc_meter_parse_load("12.05 0.5 0.1 1/2 3\n", &load, NULL), 0);
	assert_int_equal(load, 1205);
	assert_int_equal(proc_meter_parse_available("MemTotal: 9 kB\nMemFree: 8 kB\n"
						    "MemAvailable:       7 kB\n",
						    &bytes, NULL),
			 0);
	assert_int_equal(bytes, 7 * 1024);
}

static void what_is_cut_short_is_refused_with_a_reason(void **state)
{
	struct proc_meter_process p;
	struct proc_meter_io io;
	struct proc_meter_thread t;
	struct proc_meter_machine m;
	uint64_t v;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(proc_meter_parse_process("1 (x) R 2 3", &p, &e), ERR_FORMAT);
	assert_int_equal(proc_meter_parse_process("", &p, &e), ERR_FORMAT);
	assert_int_equal(proc_meter_parse_io("rchar: 11\nwchar: 12\n", &io, &e),
			 ERR_FORMAT);
	assert_int_equal(proc_meter_parse_thread("1", &t, &e), ERR_FORMAT);
	assert_int_equal(proc_meter_parse_machine("cpu  1 2", &m, &e), ERR_FORMAT);
	assert_int_equal(proc_meter_parse_load("x", &v, &e), ERR_FORMAT);
	assert_int_equal(proc_meter_parse_available("", &v, &e), ERR_FORMAT);
	assert_true(e.text[0]);
}

static void what_runs_here_can_be_read(void **state)
{
	struct proc_meter_process p;
	struct proc_meter_thread t;
	struct proc_meter_machine m;
	uint64_t v;

	(void)state;
	/* What an emulator has for the files of its own program is mostly 0. */
	assert_int_equal(proc_meter_process(getppid(), &p, NULL), 0);
	assert_true(p.n_threads > 0);
	assert_true(p.resident_bytes > 0);
	assert_int_equal(proc_meter_thread(getppid(), getppid(), &t, NULL), 0);
	assert_int_equal(proc_meter_machine(&m, NULL), 0);
	assert_true(m.busy_ns > 0);
	assert_int_equal(proc_meter_load(&v, NULL), 0);
	assert_int_equal(proc_meter_available(&v, NULL), 0);
	assert_true(v > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_has_what_its_children_used),
		cmocka_unit_test(lines_of_io_are_known_by_their_names),
		cmocka_unit_test(the_machine_has_its_times_load_and_memory),
		cmocka_unit_test(what_is_cut_short_is_refused_with_a_reason),
		cmocka_unit_test(what_runs_here_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
