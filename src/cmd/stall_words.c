/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/stall_words.h"

#include <inttypes.h>

#include "base/text.h"
#include "cmd/calc_value.h"

#define LEAST 0.05 /* cycles: less rounds to nothing */

/* All that is said of one cause. */
struct cause {
	unsigned n_blamed; /* addresses, the place's own not counted */
	uint64_t blamed;   /* the last of them */
	bool is_its_own;   /* what was waited for is one, too */
	bool is_elsewhere; /* it may be of none in particular, too */
	double most;	   /* of all of them; negative: any number */
};

static bool is_own(const struct stall_place *x, uint64_t blamed)
{
	return blamed == x->address && !x->is_arrival;
}

static struct cause sum_up(const struct stall_place *x, unsigned cause)
{
	struct cause sum = { 0 };

	for (unsigned i = 0; i < x->stall.n; i++) {
		const struct stall_culprit *c = &x->stall.culprits[i];

		if (c->cause != cause)
			continue;
		sum.most = sum.most < 0 || c->most < 0 ? -1 : sum.most + c->most;
		if (!x->blamed[i]) {
			sum.is_elsewhere = true;
		} else if (is_own(x, x->blamed[i])) {
			sum.is_its_own = true;
		} else {
			sum.n_blamed++;
			sum.blamed = x->blamed[i];
		}
	}
	return sum;
}

static bool is_first(const struct stall_place *x, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (x->stall.culprits[k].cause == x->stall.culprits[i].cause)
			return false;
	return true;
}

/* Who is blamed besides none in particular stands in brackets: what all of them explain
 * is not that one's. */
static void put_blamed(const struct cause *sum, struct buf *to)
{
	if (!sum->n_blamed)
		return;
	buf_puts(to, sum->is_elsewhere ? " (also of " : " of ");
	buf_puts(to, sum->is_its_own ? "it or of " : "");
	if (sum->n_blamed == 1)
		buf_printf(to, "0x%" PRIx64, sum->blamed);
	else
		buf_printf(to, "%u places", sum->n_blamed);
	buf_puts(to, sum->is_elsewhere ? ")" : "");
}

static void put_cause(const struct stall_place *x, unsigned cause, struct buf *to)
{
	struct cause sum = sum_up(x, cause);
	char most[TEXT_MAX];

	buf_printf(to, "%s%s", to->size ? ", " : "", stall_cause_text(cause));
	put_blamed(&sum, to);
	if (sum.most >= 0 && sum.most < x->stall.high - LEAST)
		buf_printf(to, " ≤ %s", calc_value_bound(most, sum.most));
}

void stall_words_put(const struct stall_place *x, struct buf *to)
{
	own(buf_fini) struct buf words = { 0 };

	for (unsigned i = 0; i < x->stall.n; i++)
		if (is_first(x, i))
			put_cause(x, x->stall.culprits[i].cause, &words);
	if (!x->stall.n)
		buf_puts(&words, "unexplained");
	else if (x->stall.unexplained >= LEAST && x->stall.low == x->stall.high)
		buf_printf(&words, ", unexplained %.1f", x->stall.unexplained);
	else if (x->stall.unexplained >= LEAST)
		buf_puts(&words, ", some unexplained");
	buf_puts(to, buf_str(&words));
}

void stall_words_json(const struct stall_place *x, struct json *j)
{
	json_key_double(j, "cycles_each", x->stall.cycles);
	if (x->stall.low != x->stall.high) {
		json_key_double(j, "cycles_each_low", x->stall.low);
		json_key_double(j, "cycles_each_high", x->stall.high);
	}
	json_key_double(j, "unexplained_cycles_each", x->stall.unexplained);
	json_key(j, "culprits");
	json_array(j);
	for (unsigned i = 0; i < x->stall.n; i++) {
		const struct stall_culprit *c = &x->stall.culprits[i];

		json_object(j);
		json_key_str(j, "cause", stall_cause_text(c->cause));
		if (x->blamed[i])
			json_key_u64(j, "blamed", x->blamed[i]);
		if (c->most >= 0)
			json_key_double(j, "most_cycles_each", c->most);
		json_object_end(j);
	}
	json_array_end(j);
}
