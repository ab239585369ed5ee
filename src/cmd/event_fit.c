/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/event_fit.h"

size_t event_fit(const struct report *r, size_t least, event_fit_fn *make, void *view)
{
	size_t n = r->n_shown;

	while (n > 1) {
		own(report_table_freep) struct report_table *t = make(view, n);

		if (report_table_numbers_width(t) + least <= r->width)
			break;
		n--;
	}
	return n;
}

void event_fit_print_rest(const struct report *r, size_t n, FILE *out)
{
	size_t rest = r->n_shown - n;

	if (rest)
		fprintf(out, "… %zu more event%s not fit: use --width or --event\n", rest,
			rest == 1 ? " does" : "s do");
}
