/* SPDX-License-Identifier: Apache-2.0
 *
 * folded - one stack a line with its weight: "main;work;read 12345".
 *
 * Read by flamegraph.pl, inferno, speedscope and many others.  The format has no
 * escape for its separator, so ';' in names becomes ':' as stackcollapse does.  The
 * weight is in the event's unit.
 */
#include <inttypes.h>

#include "base/vec.h"
#include "export/exporter.h"
#include "export/plain_text.h"

struct folding {
	const struct profile *p;
	FILE *out;
	size_t column;
	struct buf line;  /* the frames of the current stack */
	VEC(size_t) ends; /* of each frame in it */
};

static void folding_fini(struct folding *f)
{
	buf_fini(&f->line);
	vec_fini(&f->ends);
}

/* What the line has in common with the one before is there already. */
static void set_line(struct folding *f, const struct profile_stack *s)
{
	f->ends.n = s->n_same;
	f->line.size = s->n_same ? f->ends.at[s->n_same - 1] : 0;
	for (size_t i = s->n_same; i < s->n; i++) {
		if (i)
			buf_u8(&f->line, ';');
		plain_text_add(&f->line,
			       profile_function(f->p, s->frames[i].function)->name, ';',
			       ":");
		*vec_push(&f->ends) = f->line.size;
	}
}

static int write_stack(void *ctx, const struct profile_stack *s, struct err *e)
{
	struct folding *f = ctx;

	set_line(f, s);
	if (!s->weights[f->column])
		return 0;
	if (s->n)
		fwrite(f->line.data, 1, f->line.size, f->out);
	else
		fputs("[no stack]", f->out);
	fprintf(f->out, " %" PRIu64 "\n", s->weights[f->column]);
	return ferror(f->out) ? err_os(e, "cannot write") : 0;
}

static int folded_write(const struct profile *p, const struct export_options *o,
			FILE *out, struct err *e)
{
	own(folding_fini) struct folding f = { .p = p, .out = out };

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
