/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/record_next.h"

#include "analyze/profile.h"
#include "analyze/time_column.h"
#include "base/buf.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/name_to_type.h"
#include "cmd/report_text.h"
#include "store/model.h"

#define MOST_BYTES (UINT64_C(16) << 20) /* are read in a fraction of a second */
#define ROOM	   60			/* columns for a name */

struct sums {
	const struct profile *p;
	uint64_t *of_function; /* time */
};

static int add_stack(void *ctx, const struct profile_stack *s, struct err *e)
{
	const struct sums *to = ctx;

	(void)e;
	if (!s->n)
		return 0;
	for (size_t i = 0; i < profile_n_columns(to->p); i++)
		if (time_column_is(to->p, i))
			to->of_function[s->frames[s->n - 1].function] += s->weights[i];
	return 0;
}

/* A function whose code is in a file. */
static bool has_code(const struct profile_function *f)
{
	return f->kind == IMAGE_ELF && f->size;
}

/* Where most time is; MODEL_NONE: nowhere that code is at hand. */
static uint32_t hottest(const struct profile *p)
{
	own(freep) uint64_t *of = xcalloc(profile_n_functions(p) + 1, sizeof(*of));
	struct sums s = { p, of };
	uint32_t best = MODEL_NONE;
	uint64_t most = 0;

	if (profile_each_stack(p, add_stack, &s, NULL) < 0)
		return MODEL_NONE;
	for (uint32_t i = 0; i < profile_n_functions(p); i++) {
		if (of[i] <= most || !has_code(profile_function(p, i)))
			continue;
		most = of[i];
		best = i;
	}
	return best;
}

/* Without asking anybody else for symbols. */
static struct profile *load(const char *path)
{
	const struct sym_options sym = { .no_inline = true, .no_debuginfod = true };
	const struct profile_options o = { .no_inline = true, .sym = &sym };
	struct profile *p = NULL;

	return profile_load(&path, 1, &o, &p, NULL) < 0 ? NULL : p;
}

static void print_insn(const struct profile *p, const char *file, FILE *out)
{
	uint32_t f = hottest(p);
	own(buf_fini) struct buf name = { 0 };
	own(freep) char *plain = f == MODEL_NONE ? NULL : name_to_type(p, f, ROOM);

	fprintf(out, "dwell: next: dwell stalls %s\n", file);
	if (!plain)
		return;
	report_text_quoted(&name, plain);
	fprintf(out, "dwell: next: dwell calc %s %s\n", buf_str(&name), file);
}

/* It is the command that is called as the experiment is. */
static void print_own(const struct session_settings *x, const char *file, FILE *out)
{
	for (size_t i = 0; i < x->n_choices; i++) {
		const struct command *c = command_find(x->choices[i].experiment->name);

		if (c)
			fprintf(out, "dwell: next: dwell %s %s\n", c->name, file);
	}
}

void record_next_print(const struct session_settings *x, const struct session_outcome *o,
		       const char *shown, FILE *out)
{
	own(profile_freep) struct profile *p = NULL;
	own(buf_fini) struct buf file = { 0 };

	report_text_quoted(&file, shown);
	fprintf(out, "dwell: next: dwell report %s\n", buf_str(&file));
	print_own(x, buf_str(&file), out);
	if (x->insn && o->stats.samples && o->bytes <= MOST_BYTES)
		p = load(o->path);
	if (p && time_column_find(p, 0) != TIME_COLUMN_NONE)
		print_insn(p, buf_str(&file), out);
}
