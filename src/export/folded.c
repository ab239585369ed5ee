/* SPDX-License-Identifier: Apache-2.0
 *
 * folded - one stack a line with its weight: "main;work;read 12345".
 *
 * Read by flamegraph.pl, inferno, speedscope and many others.  The format has no
 * escape for its separator, so ';' in names becomes ':' as stackcollapse does.  The
 * weight is in the event's unit.
 */
#include <inttypes.h>

#include "export/exporter.h"
#include "export/plain_text.h"

struct folding {
	const struct profile *p;
	FILE *out;
	size_t column;
};

static int write_stack(void *ctx, const struct profile_frame *frames, size_t n,
		       const uint64_t *weights, unused const uint64_t *counts,
		       unused struct err *e)
{
	struct folding *f = ctx;

	if (!weights[f->column])
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (i)
			fputc(';', f->out);
		plain_text_put(f->out, profile_function(f->p, frames[i].function)->name,
			       ';', ":");
	}
	if (n == 0)
		fputs("[no stack]", f->out);
	fprintf(f->out, " %" PRIu64 "\n", weights[f->column]);
	return 0;
}

static int folded_write(const struct profile *p, const struct export_options *o,
			FILE *out, struct err *e)
{
	struct folding f = { .p = p, .out = out };

	if (exporter_columns(p, o, &f.column) > 0) {
		int rc = profile_each_stack(p, write_stack, &f, e);

		if (rc < 0)
			return rc;
	}
	return exporter_finish(out, e);
}

const struct exporter export_folded = {
	.name = "folded",
	.suffix = "folded",
	.mime = "text/plain",
	.summary = "a line per stack, for flamegraph.pl",
	.is_one_event = true,
	.write = folded_write,
};
