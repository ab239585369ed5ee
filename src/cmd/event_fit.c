/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/event_fit.h"

#include <string.h>

#include "base/text.h"
#include "cmd/report_text.h"

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

/* Behind the line whole names, as many as there is room for; none has a comma before an
 * ellipsis that stands for all. */
static void put_names(struct buf *line, const char *names, size_t width)
{
	static const char before[] = ": ", between[] = ", ", more[] = ", …";
	size_t used = text_width(buf_str(line)) + text_width(before), n = 0;
	size_t room = width > used ? width - used : 0;

	if (text_width(names) <= room) {
		buf_printf(line, "%s%s", before, names);
		return;
	}
	for (const char *end = names; (end = strstr(end, between)); end++) {
		own(buf_fini) struct buf some = { 0 };

		buf_add(&some, names, (size_t)(end - names));
		if (text_width(buf_str(&some)) + text_width(more) > room)
			break;
		n = some.size;
	}
	if (n)
		buf_printf(line, "%s%.*s%s", before, (int)n, names, more);
}

void event_fit_print_names(const struct report *r, size_t n, const char *names,
			   size_t n_rows, FILE *out)
{
	own(buf_fini) struct buf line = { 0 };
	char s[TEXT_MAX];

	if (!n)
		return;
	buf_printf(&line, "… %s %s not fit (--width, --event)",
		   text_number(s, n, "more events"), n == 1 ? "does" : "do");
	put_names(&line, names, r->width);
	report_text_line(out, r, "", &line);
	if (n_rows)
		fprintf(out, "… %s %s only these\n", text_number(s, n_rows, "more rows"),
			n_rows == 1 ? "has" : "have");
}

void event_fit_print_rest(const struct report *r, size_t n, size_t n_rows, FILE *out)
{
	own(buf_fini) struct buf names = { 0 };

	for (size_t i = n; i < r->n_shown; i++) {
		buf_puts(&names, i > n ? ", " : "");
		report_text_column(r, r->shown[i], &names);
	}
	event_fit_print_names(r, r->n_shown - n, buf_str(&names), n_rows, out);
}
