/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/top_detail.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cmd/annotate_code.h"
#include "cmd/annotate_source.h"
#include "cmd/annotate_view.h"
#include "cmd/callers_view.h"
#include "cmd/report_text.h"

char *top_detail_key(const struct top_view *v, uint32_t function)
{
	const struct profile_function *f = profile_function(v->report.profile, function);

	return xasprintf("%s\n%s", f->label, f->image);
}

/* Ids are of one profile, names of all. */
static uint32_t find(const struct top_view *v, const char *key)
{
	const char *image = strchr(key, '\n');
	size_t n = (size_t)(image - key);

	for (uint32_t i = 0; i < profile_n_functions(v->report.profile); i++) {
		const struct profile_function *f = profile_function(v->report.profile, i);

		if (strncmp(f->label, key, n) == 0 && !f->label[n] &&
		    strcmp(f->image, image + 1) == 0)
			return i;
	}
	return MODEL_NONE;
}

static void print_callers(const struct top_view *v, uint32_t function, FILE *out)
{
	struct callers_view c;

	callers_view_init(&c, &v->report, function);
	callers_view_print(&c, out);
	callers_view_fini(&c);
}

static void print_code(const struct top_view *v, uint32_t function, FILE *out)
{
	struct annotate_view a;

	annotate_view_init(&a, &v->report, function);
	if (annotate_source_is_available(&a))
		annotate_source_print(&a, out);
	else
		annotate_code_print(&a, false, out);
	annotate_view_fini(&a);
}

static void print_title(const struct top_view *v, const char *key, const char *what,
			FILE *out)
{
	const char *image = strchr(key, '\n');
	struct buf b = { 0 };
	own(freep) char *name = xstrndup(key, (size_t)(image - key));

	buf_printf(&b, "%s ", what);
	report_text_safe(&b, name);
	buf_puts(&b, " in ");
	report_text_safe(&b, image + 1);
	fputs(report_text_bold(true), out);
	report_text_line(out, &v->report, "", &b);
	fputs(report_text_bold(false), out);
	buf_fini(&b);
}

void top_detail_print(const struct top_view *v, enum top_detail what, const char *key,
		      FILE *out)
{
	uint32_t function = find(v, key);

	print_title(v, key, what == TOP_CALLERS ? "Callers and callees of" : "Code of",
		    out);
	if (function == MODEL_NONE)
		fprintf(out, "It was on no stack in that time.\n");
	else if (what == TOP_CALLERS)
		print_callers(v, function, out);
	else
		print_code(v, function, out);
}
