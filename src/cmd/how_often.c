/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/how_often.h"

#include <math.h>

#include "analyze/anchoring.h"
#include "base/text.h"
#include "cmd/calc_value.h"
#include "cmd/report_text.h"

static void put_confidence(const struct how_often *h, struct buf *to)
{
	buf_printf(to, ": confidence %s", frequency_confidence_text(h->least));
	if (h->most != h->least)
		buf_printf(to, " to %s", frequency_confidence_text(h->most));
}

void how_often_put(const struct how_often *h, struct buf *to)
{
	char text[TEXT_MAX];

	if (!h->is_estimated) {
		buf_printf(to, "%s, every one counted",
			   text_number(text, (uint64_t)llround(h->high), "instructions"));
		return;
	}
	buf_printf(to, "%s instructions, ",
		   calc_value_times_range(text, h->low, h->high));
	if (h->retired_samples > 0 && h->least > FREQUENCY_LOW) {
		buf_printf(to, "by %s of the CPU's counter, each estimated",
			   text_number(text, (uint64_t)llround(h->retired_samples),
				       "samples"));
		return;
	}
	if (h->n_windows)
		buf_printf(to, "by exact counts in %s",
			   text_number(text, h->n_windows, "windows"));
	else
		buf_puts(to, "estimated from samples");
	put_confidence(h, to);
}

void how_often_put_who_tells(const struct report *r, struct buf *to)
{
	bool is_refused =
		!anchoring_n_windows(r->profile) && anchoring_refusal(r->profile);

	if (report_profile_leaves_counts_out(r)) {
		buf_puts(to, "The counts, which tell exactly, are left out by --event");
		return;
	}
	buf_puts(to, "A recording of bbcounts beside this one tells exactly");
	if (!is_refused)
		buf_puts(to,
			 anchoring_was_tried(r->profile)
				 ? "; more windows, by a larger share (anchors:5%) or "
				   "in a longer run, tell better"
				 : "; anchors in it (-e usertime,anchors:5%) nearly do");
}

static void put_why_not(const struct report *r, struct buf *to)
{
	uint32_t n = anchoring_n_windows(r->profile);
	const char *why = anchoring_refusal(r->profile);
	char windows[TEXT_MAX];

	if (n) {
		buf_printf(to, "%s of exact counts %s too little of it",
			   text_number(windows, n, "windows"), n == 1 ? "tells" : "tell");
	} else if (why) {
		buf_puts(to, "no exact counts now and then: ");
		report_text_safe(to, why);
	} else if (anchoring_was_tried(r->profile)) {
		buf_puts(to, "No window of exact counts came before it ended");
	}
}

void how_often_put_refusal(const struct how_often *h, const struct report *r, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };

	if (!h->is_estimated || h->n_windows)
		return;
	put_why_not(r, &b);
	if (b.size)
		report_text_wrapped(r, &b, out);
}
