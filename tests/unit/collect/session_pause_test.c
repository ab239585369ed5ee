/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session_pause.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "collect/source.h"

#define N_SOURCES 3

/* One that keeps what it is told. */
struct heard {
	struct source base;
	unsigned n_told;
	bool is_paused;
};

static void hear(struct source *source, bool is_paused)
{
	struct heard *h = (struct heard *)source;

	h->n_told++;
	h->is_paused = is_paused;
}

static const struct source_ops ops = { .name = "heard", .pause = hear };

struct fixture {
	struct heard heard[N_SOURCES];
	struct source *sources[N_SOURCES];
};

static void begin(struct fixture *f)
{
	*f = (struct fixture){ 0 };
	for (size_t i = 0; i < N_SOURCES; i++) {
		f->heard[i].base.ops = &ops;
		f->sources[i] = &f->heard[i].base;
	}
}

static void tell(struct fixture *f, bool is_paused)
{
	session_pause_tell(f->sources, N_SOURCES, is_paused);
}

/* rests: a letter of each source, as it is now; n: how often each was told. */
static void check(const struct fixture *f, const char *rests, const char *n)
{
	for (size_t i = 0; i < N_SOURCES; i++) {
		assert_int_equal(f->heard[i].is_paused, rests[i] == 'r');
		assert_int_equal(f->heard[i].n_told, n[i] - '0');
	}
}

static void who_is_told_again_hears_nothing(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	tell(&f, false);
	check(&f, "ooo", "000");
	tell(&f, true);
	tell(&f, true);
	check(&f, "rrr", "111");
	tell(&f, false);
	tell(&f, false);
	check(&f, "ooo", "222");
}

static void while_one_is_alone_the_others_rest(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	f.heard[1].base.wants_alone = true;
	tell(&f, false);
	check(&f, "ror", "101");
	f.heard[1].base.wants_alone = false;
	tell(&f, false);
	check(&f, "ooo", "202");
}

static void who_is_alone_stays_so_when_a_pause_ends(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	tell(&f, true);
	f.heard[0].base.wants_alone = true;
	tell(&f, true);
	check(&f, "rrr", "111");
	tell(&f, false);
	check(&f, "orr", "211");
	f.heard[0].base.wants_alone = false;
	tell(&f, false);
	check(&f, "ooo", "222");
}

static void a_pause_outlasts_who_was_alone(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	f.heard[2].base.wants_alone = true;
	tell(&f, false);
	tell(&f, true);
	check(&f, "rrr", "111");
	f.heard[2].base.wants_alone = false;
	tell(&f, true);
	check(&f, "rrr", "111");
	tell(&f, false);
	check(&f, "ooo", "222");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_told_again_hears_nothing),
		cmocka_unit_test(while_one_is_alone_the_others_rest),
		cmocka_unit_test(who_is_alone_stays_so_when_a_pause_ends),
		cmocka_unit_test(a_pause_outlasts_who_was_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
