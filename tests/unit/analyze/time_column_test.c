/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "analyze/profile_data.h"
#include "analyze/time_column.h"
#include "recording_builder.h"

#define USERTIME "event cpu-time experiment=usertime flags=sampled\nmain time=1\n"
#define TOTALTIME                                                                        \
	"event blocked-time experiment=totaltime flags=exact\nmain time=2 weight=5\n"    \
	"event cpu-time experiment=totaltime flags=sampled\nmain time=3\n"

/* Of as many recordings as there are texts. */
static struct profile *make(const char *const *texts, size_t n, const char *filter)
{
	static const char *const paths[] = { "time_column_test.1.dwell",
					     "time_column_test.2.dwell" };
	const struct profile_options options = { .filter = filter };
	struct profile *p = NULL;

	for (size_t i = 0; i < n; i++)
		recording_builder_write(paths[i], texts[i]);
	assert_int_equal(profile_load((const char **)paths, n, &options, &p, NULL), 0);
	for (size_t i = 0; i < n; i++)
		unlink(paths[i]);
	return p;
}

static void is_time(const struct profile *p, size_t column, const char *name)
{
	assert_string_equal(profile_column(p, column)->name, name);
	assert_true(time_column_is(p, column));
	assert_int_equal(time_column_of_source(p, profile_column(p, column)->source),
			 column);
}

static void of_several_experiments_one_tells_the_time(void **state)
{
	static const char *const texts[] = { USERTIME TOTALTIME };
	own(profile_freep) struct profile *p = make(texts, 1, NULL);

	(void)state;
	is_time(p, 0, "usertime:cpu-time");
	assert_int_equal(time_column_find(p, 1), TIME_COLUMN_NONE);
}

static void it_is_one_that_has_samples(void **state)
{
	static const char *const texts[] = { USERTIME TOTALTIME };
	own(profile_freep) struct profile *p = make(texts, 1, "experiment == totaltime");

	(void)state;
	is_time(p, time_column_find(p, 0), "totaltime:cpu-time");
}

static void each_recording_has_its_own(void **state)
{
	static const char *const texts[] = { USERTIME TOTALTIME, TOTALTIME };
	own(profile_freep) struct profile *p = make(texts, 2, NULL);
	size_t second = time_column_find(p, 1);

	(void)state;
	is_time(p, 0, "usertime:cpu-time");
	assert_int_not_equal(second, TIME_COLUMN_NONE);
	is_time(p, second, "cpu-time");
	assert_int_equal(profile_column(p, second)->source, 1);
	assert_int_equal(time_column_find(p, second + 1), TIME_COLUMN_NONE);
}

#define MANY 1000000

static size_t count_times(const struct profile *p)
{
	size_t n = 0;

	for (size_t i = time_column_find(p, 0); i != TIME_COLUMN_NONE;
	     i = time_column_find(p, i + 1))
		n++;
	return n;
}

/* Whoever writes a recording may write so many: looked at for each of them, all would
 * take hours. */
static void a_recording_may_have_a_million(void **state)
{
	struct profile p = { .n_sources = 1 };

	(void)state;
	vec_reserve(&p.columns, MANY);
	for (size_t i = 0; i < MANY; i++)
		*vec_push(&p.columns) =
			(struct profile_column){ .name = "cycles:u", .total_count = 1 };
	time_column_choose(&p);
	assert_int_equal(count_times(&p), MANY);
	for (size_t i = 0; i < MANY; i++)
		p.columns.at[i].name = "cpu-time";
	time_column_choose(&p);
	assert_int_equal(count_times(&p), 1);
	vec_fini(&p.columns);
	free(p.cpu_column_of);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_several_experiments_one_tells_the_time),
		cmocka_unit_test(it_is_one_that_has_samples),
		cmocka_unit_test(each_recording_has_its_own),
		cmocka_unit_test(a_recording_may_have_a_million),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
