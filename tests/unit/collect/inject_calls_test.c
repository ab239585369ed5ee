/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_calls.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <spawn.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/inject_tables.h"
#include "memory_of_others.h"
#include "wire/tracer.h"

/* This program is the process that is looked at. */
static bool read_own(void *ctx, uint64_t at, void *to, size_t bytes)
{
	struct iovec here = { to, bytes }, there = { (void *)(uintptr_t)at, bytes };

	(void)ctx;
	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

static const struct inject_memory own_memory = { .read = read_own };

static void read_objects(struct inject_objects *ret)
{
	uint64_t debug = inject_objects_debug(&own_memory, getauxval(AT_PHDR),
					      getauxval(AT_PHNUM));

	assert_int_not_equal(debug, 0);
	assert_int_equal(inject_objects_read(&own_memory, debug, ret, NULL), 0);
	assert_true(ret->is_settled);
}

static void objects_are_those_that_the_linker_has(void **state)
{
	struct inject_objects o = { 0 };
	bool has_libc = false;

	(void)state;
	if (!memory_of_others_is_there())
		skip();
	read_objects(&o);
	vec_each(x, &o.at)
		has_libc |= strstr(x->name, "/libc.so") != NULL;
	assert_true(has_libc);
	inject_objects_fini(&o);
}

static void calls_are_where_the_linker_finds_them(void **state)
{
	struct inject_objects o = { 0 };
	struct inject_calls c;

	(void)state;
	if (!memory_of_others_is_there())
		skip();
	read_objects(&o);
	inject_calls_find(&c, &own_memory, &o);
	for (unsigned k = 0; k < INJECT_N_CALLS; k++) {
		uint64_t word = 0, at = c.symbol[k].at;

		assert_int_equal(c.of[k].address,
				 (uintptr_t)dlsym(RTLD_DEFAULT, c.of[k].name));
		assert_int_equal(at != 0, c.of[k].address != 0);
		assert_true(!at ||
			    inject_memory_read(&own_memory, at, &word, sizeof(word)));
		assert_int_equal(c.symbol[k].bias + word, c.of[k].address);
	}
	inject_objects_fini(&o);
}

/* The older condition of x86-64's glibc is a pointer to one.  A call that somebody else
 * than the C library has is of one version. */
static void a_call_of_two_versions_is_known(void **state)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	struct inject_objects o = { 0 };
	struct inject_calls c;

	(void)state;
	if (!libc || !memory_of_others_is_there())
		skip();
	read_objects(&o);
	inject_calls_find(&c, &own_memory, &o);
	for (unsigned k = 0; k < INJECT_N_CALLS; k++) {
		void *today = dlsym(libc, c.of[k].name),
		     *older = dlvsym(libc, c.of[k].name, "GLIBC_2.2.5");
		bool is_libcs = c.of[k].address == (uintptr_t)today;

		assert_int_equal(c.has_older[k], is_libcs && older && older != today);
	}
	inject_objects_fini(&o);
	dlclose(libc);
}

static void calls_of_later_objects_are_found_beside_those_that_are_known(void **state)
{
	struct inject_objects now = { 0 }, before = { 0 };
	struct inject_calls all, c;

	(void)state;
	if (!memory_of_others_is_there())
		skip();
	read_objects(&now);
	vec_each(o, &now.at)
		if (!strstr(o->name, "/libc.so"))
			*vec_push(&before.at) = *o;
	inject_calls_find(&all, &own_memory, &now);
	inject_calls_find(&c, &own_memory, &before);
	assert_int_not_equal(inject_calls_find_more(&c, &own_memory, &before, &now), 0);
	assert_memory_equal(c.of, all.of, sizeof(all.of));
	assert_memory_equal(c.symbol, all.symbol, sizeof(all.symbol));
	assert_int_equal(inject_calls_find_more(&c, &own_memory, &now, &now), 0);
	inject_objects_fini(&before);
	inject_objects_fini(&now);
}

static void calls_are_wrapped_for_who_asks_for_them(void **state)
{
	struct inject_objects o = { 0 };
	struct inject_calls c;

	(void)state;
	inject_calls_find(&c, &own_memory, &o);

	unsigned of_heap = inject_calls_named(&c, "malloc");

	assert_true(inject_calls_is_wanted(of_heap, WIRE_TRACER_HEAP));
	assert_false(inject_calls_is_wanted(of_heap, WIRE_TRACER_SYNC));
	assert_true(inject_calls_is_wanted(inject_calls_named(&c, "prctl"),
					   WIRE_TRACER_SYNC));
	assert_int_equal(inject_calls_named(&c, "nothing"), INJECT_N_CALLS);
	assert_int_equal(c.of[of_heap].address, 0);
}

static void count_slot(void *ctx, uint64_t slot, const char *name, uint64_t number,
		       uint32_t symbol)
{
	unsigned *n = ctx;

	(void)number;
	(void)symbol;
	*n += slot && !strcmp(name, "dlsym");
}

static void slots_are_found_of_what_a_program_calls(void **state)
{
	struct inject_objects o = { 0 };
	struct inject_tables t;
	unsigned n = 0;

	(void)state;
	if (!memory_of_others_is_there())
		skip();
	read_objects(&o);
	assert_true(inject_tables_open(&own_memory, &o.at.at[0], &t));
	assert_true(inject_tables_slots(&t, count_slot, &n));
	assert_in_range(n, 1, 2);
	assert_int_equal(inject_tables_find(&t, "nothing_has_that_name"), 0);
	inject_objects_fini(&o);
}

struct meaning {
	const struct inject_tables *tables;
	unsigned n_newer, n_first;
};

static void look_at_meaning(void *ctx, uint64_t slot, const char *name, uint64_t number,
			    uint32_t symbol)
{
	struct meaning *m = ctx;
	bool is_newer = inject_tables_means_newer(m->tables, symbol);

	(void)slot;
	(void)number;
	m->n_newer += is_newer && !strcmp(name, "posix_spawn");
	m->n_first += !is_newer && !strcmp(name, "getpid");
}

/* The C library has two of the first, if it is not a sanitizer's, which has no version.
 */
static void which_version_a_program_means_is_known(void **state)
{
	int (*volatile newer)(pid_t *, const char *, const posix_spawn_file_actions_t *,
			      const posix_spawnattr_t *, char *const[], char *const[]) =
		posix_spawn;
	pid_t (*volatile first)(void) = getpid;
	struct inject_objects o = { 0 };
	struct inject_tables t;
	struct meaning m = { .tables = &t };

	(void)state;
	if (!memory_of_others_is_there() || !first ||
	    !dlvsym(RTLD_DEFAULT, "posix_spawn", "GLIBC_2.2.5") ||
	    dlsym(RTLD_DEFAULT, "posix_spawn") !=
		    dlvsym(RTLD_DEFAULT, "posix_spawn", "GLIBC_2.15") ||
	    !newer)
		skip();
	read_objects(&o);
	assert_true(inject_tables_open(&own_memory, &o.at.at[0], &t));
	assert_true(inject_tables_slots(&t, look_at_meaning, &m));
	assert_in_range(m.n_newer, 1, 2);
	assert_in_range(m.n_first, 1, 2);
	inject_objects_fini(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_version_a_program_means_is_known),
		cmocka_unit_test(objects_are_those_that_the_linker_has),
		cmocka_unit_test(calls_are_where_the_linker_finds_them),
		cmocka_unit_test(a_call_of_two_versions_is_known),
		cmocka_unit_test(
			calls_of_later_objects_are_found_beside_those_that_are_known),
		cmocka_unit_test(calls_are_wrapped_for_who_asks_for_them),
		cmocka_unit_test(slots_are_found_of_what_a_program_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
