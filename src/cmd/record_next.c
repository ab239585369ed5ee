/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/record_next.h"

#include <string.h>

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
static struct profile *load(const char *path, bool is_by_tables)
{
	const struct sym_options sym = { .no_inline = true,
					 .no_debuginfod = true,
					 .is_by_tables = is_by_tables };
	const struct profile_options o = { .no_inline = true, .sym = &sym };
	struct profile *p = NULL;

	return profile_load(&path, 1, &o, &p, NULL) < 0 ? NULL : p;
}

/* Of several that are called so debug information tells which is where. */
static bool is_clear(const struct profile *p, uint32_t function)
{
	const struct profile_function *f = profile_function(p, function);

	return strcmp(f->label, f->name) == 0;
}

/* The hottest function, to be typed, or NULL; the caller frees it.  False: the recording
 * is not about time. */
static bool name_hottest(const char *path, bool is_by_tables, char **ret)
{
	own(profile_freep) struct profile *p = load(path, is_by_tables);
	uint32_t f;

	*ret = NULL;
	if (!p || time_column_find(p, 0) == TIME_COLUMN_NONE)
		return false;
	f = hottest(p);
	if (f != MODEL_NONE && is_by_tables && !is_clear(p, f))
		return name_hottest(path, false, ret);
	if (f != MODEL_NONE)
		*ret = name_to_type(p, f, ROOM);
	return true;
}

static void print_insn(const char *path, const char *file, FILE *out)
{
	own(buf_fini) struct buf name = { 0 };
	own(freep) char *plain = NULL;

	if (!name_hottest(path, true, &plain))
		return;
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
	own(buf_fini) struct buf file = { 0 };

	report_text_quoted(&file, shown);
	fprintf(out, "dwell: next: dwell report %s\n", buf_str(&file));
	print_own(x, buf_str(&file), out);
	if (x->insn && o->stats.samples && o->bytes <= MOST_BYTES)
		print_insn(o->path, buf_str(&file), out);
}
