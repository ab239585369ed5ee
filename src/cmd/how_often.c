/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/how_often.h"

#include "base/text.h"
#include "cmd/calc_value.h"

static void put_confidence(const struct how_often *h, FILE *out)
{
	fprintf(out, ": confidence %s", frequency_confidence_text(h->least));
	if (h->most != h->least)
		fprintf(out, " to %s", frequency_confidence_text(h->most));
}

void how_often_print(const struct how_often *h, FILE *out)
{
	char text[TEXT_MAX];

	if (!h->is_estimated) {
		fprintf(out, "  %s instructions, every one counted",
			calc_value_times(text, h->high));
		return;
	}
	fprintf(out, "  %s instructions, ",
		calc_value_times_range(text, h->low, h->high));
	if (h->retired_samples > 0) {
		fprintf(out, "by %s samples of the CPU's counter, each estimated",
			calc_value_times(text, h->retired_samples));
		return;
	}
	if (h->n_windows)
		fprintf(out, "by exact counts in %u windows", h->n_windows);
	else
		fputs("estimated from samples", out);
	put_confidence(h, out);
}
