/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/stall_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define OWN 0x1000

static const struct {
	struct {
		unsigned cause;
		uint64_t blamed;
		double most;
	} culprits[4];
	unsigned n;
	bool is_arrival;
	double unexplained;
	const char *want;
} cases[] = {
	{ { { STALL_DCACHE, OWN, -1 }, { STALL_DTLB, OWN, 2.5 } },
	  2,
	  false,
	  0,
	  "D-cache miss, DTLB miss ≤ 2.5" },
	/* A bound that is no less than all says nothing. */
	{ { { STALL_DCACHE, OWN, 40 } }, 1, false, 0, "D-cache miss" },
	{ { { STALL_BRANCH, 0x2000, 4 }, { STALL_BRANCH, 0x2010, 5 } },
	  2,
	  false,
	  0,
	  "mispredict of 2 places ≤ 9.0" },
	/* What they explain together is not of the one that has an address. */
	{ { { STALL_BRANCH, 0x2000, 2 }, { STALL_BRANCH, 0, 13 } },
	  2,
	  false,
	  1,
	  "mispredict (also of 0x2000) ≤ 15.0, unexplained 1.0" },
	{ { { STALL_BRANCH, 0x2000, 4 }, { STALL_BRANCH, 0, -1 } },
	  2,
	  false,
	  0,
	  "mispredict (also of 0x2000)" },
	{ { { STALL_BRANCH, 0, 3 },
	    { STALL_BRANCH, OWN, 2 },
	    { STALL_BRANCH, 0x2000, 2 },
	    { STALL_BRANCH, 0x2010, 2 } },
	  4,
	  false,
	  0,
	  "mispredict (also of it or of 2 places) ≤ 9.0" },
	{ { { STALL_BRANCH, 0, 3 } }, 1, false, 0, "mispredict ≤ 3.0" },
	{ { { STALL_ICACHE, 0, 0.03 } }, 1, false, 0, "I-cache miss ≤ 0.03" },
	{ { { STALL_FORWARD, 0x2000, -1 },
	    { STALL_DCACHE, OWN, -1 },
	    { STALL_FORWARD, 0x2010, -1 } },
	  3,
	  false,
	  0,
	  "store forwarding of 2 places, D-cache miss" },
	{ { { STALL_DCACHE, OWN, -1 }, { STALL_DCACHE, 0x2000, -1 } },
	  2,
	  false,
	  0,
	  "D-cache miss of it or of 0x2000" },
	{ { { STALL_DCACHE, OWN, 2 },
	    { STALL_DCACHE, 0x2000, 3 },
	    { STALL_DCACHE, 0x2010, 4 } },
	  3,
	  false,
	  0,
	  "D-cache miss of it or of 2 places ≤ 9.0" },
	/* A way's address is where it leads to, and another instruction's. */
	{ { { STALL_DIVIDER, OWN, -1 } }, 1, true, 0, "divider of 0x1000" },
	{ { { 0 } }, 0, false, 20, "unexplained" },
};

static void each_cause_is_named_once_with_whom_it_blames(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stall_place x = { .address = OWN,
					 .is_arrival = cases[i].is_arrival };
		own(buf_fini) struct buf b = { 0 };

		x.stall = (struct stall){ .cycles = 20,
					  .low = 20,
					  .high = 20,
					  .n = cases[i].n,
					  .unexplained = cases[i].unexplained };
		for (unsigned k = 0; k < cases[i].n; k++) {
			x.stall.culprits[k] = (struct stall_culprit){
				.cause = (uint8_t)cases[i].culprits[k].cause,
				.most = cases[i].culprits[k].most
			};
			x.blamed[k] = cases[i].culprits[k].blamed;
		}
		stall_words_put(&x, &b);
		assert_string_equal(buf_str(&b), cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_cause_is_named_once_with_whom_it_blames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
