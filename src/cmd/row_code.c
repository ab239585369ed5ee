/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/row_code.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/anchoring.h"
#include "base/arena.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "cmd/calc_value.h"
#include "cmd/code_text.h"
#include "cmd/report_text.h"
#include "cmd/stall_words.h"
#include "host/clock.h"
#include "insn/machine_model.h"

#define DEFAULT_SECONDS 1
#define NS_PER_S	1e9
#define MAX_CODE	15  /* bytes of an instruction */
#define WIDE		120 /* columns from which lines are named beside the code */

/* What is known of a row that was looked at. */
struct known {
	const char *text;
	uint32_t stall; /* index + 1; 0: none */
	bool is_late;	/* there was no time for it */
};

struct stalled {
	struct stall_search_found found;
	const char *text; /* of the instruction that was waited for */
};

struct row_code {
	const struct report *r;
	const struct grouping *g;
	struct stall_search *search;
	uint64_t until_ns;  /* of its CPU time; 0: at all */
	size_t n_unweighed; /* rows that there was no time to order by their stalls */
	bool has_text, has_lines;
	uint32_t *known_of; /* [row]: index + 1; 0: not looked at */
	VEC(struct known) known;
	VEC(struct stalled) stalls;
	struct code_text text; /* of the function that was asked for last */
	unsigned machine;      /* whose code that reads; 0: none */
	struct arena texts;
};

int row_code_new(const struct report *r, const struct grouping *g,
		 const struct options *o, struct row_code **ret, struct err *e)
{
	own(row_code_freep) struct row_code *c = xcalloc(1, sizeof(*c));
	uint64_t seconds = options_u64(o, "seconds", DEFAULT_SECONDS);
	double clock_ghz = 0;
	int rc = report_profile_clock(o, &clock_ghz, e);

	c->r = r;
	c->g = g;
	c->known_of = xcalloc(grouping_n_rows(g) + 1, sizeof(*c->known_of));
	if (seconds)
		c->until_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) +
			      seconds * (uint64_t)NS_PER_S;
	if (rc == 0)
		rc = stall_search_new(r->profile, options_str(o, "model"), clock_ghz,
				      &c->search, e);
	if (rc < 0)
		return rc;
	*ret = steal(&c);
	return 0;
}

void row_code_free(struct row_code *c)
{
	if (!c)
		return;
	stall_search_free(c->search);
	code_text_fini(&c->text);
	arena_fini(&c->texts);
	vec_fini(&c->known);
	vec_fini(&c->stalls);
	free(c->known_of);
	free(c);
}

void row_code_freep(struct row_code **c)
{
	row_code_free(*c);
}

/* Code. */

/* Readers of code are expensive to make: one is, for each kind of machine. */
static bool turn_to(struct row_code *c, uint32_t function)
{
	const struct profile *p = c->r->profile;
	const struct profile_function *f = profile_function(p, function);
	unsigned machine = symbolizer_machine(profile_symbolizer(p), f->sym_image);

	if (machine != c->machine) {
		code_text_fini(&c->text);
		c->machine = 0;
		if (code_text_init(&c->text, p, function, false, NULL) < 0)
			return false;
		c->machine = machine;
	}
	c->text.function = f;
	c->text.has_delta = stall_search_delta(c->search, function, &c->text.delta);
	return true;
}

/* Another build's code has other names at the same addresses. */
static const char *code_at(struct row_code *c, uint32_t function, uint32_t build,
			   uint64_t address)
{
	struct symbolizer *s = profile_symbolizer(c->r->profile);
	own(buf_fini) struct buf code = { 0 };
	struct disasm_instruction in = { 0 };
	char text[sizeof(in.mnemonic) + sizeof(in.operands) + 2];

	if (profile_function(c->r->profile, function)->sym_image != build ||
	    (symbolizer_code(s, build, address, MAX_CODE, &code, NULL) < 0 &&
	     symbolizer_code(s, build, address, 1, &code, NULL) < 0) ||
	    !turn_to(c, function))
		return "";
	disasm_decode(c->text.disasm, code.data, code.size, address, &in);
	snprintf(text, sizeof(text), "%s%s%s", in.mnemonic, in.operands[0] ? " " : "",
		 in.operands);
	return arena_strdup(&c->texts, text);
}

/* Rows. */

static bool has_time_for(const struct row_code *c, uint32_t function)
{
	return !c->until_ns || function == MODEL_NONE ||
	       stall_search_has_read(c->search, function) ||
	       clock_read_ns(CLOCK_THREAD_CPUTIME_ID) < c->until_ns;
}

static int find_stall(struct row_code *c, const struct dimension_label *l,
		      struct stall_search_found *ret, struct err *e)
{
	uint32_t f = l->code_function;

	if (f == MODEL_NONE || !stall_search_has_time(c->search) ||
	    profile_function(c->r->profile, f)->sym_image != l->build)
		return 0;
	return stall_search_find(c->search, f, l->address, ret, e);
}

int row_code_stall(struct row_code *c, size_t row, struct stall_search_found *ret,
		   struct err *e)
{
	struct dimension_label label;
	int rc = 0;

	grouping_label(c->g, row, &label);
	if (has_time_for(c, label.code_function))
		rc = find_stall(c, &label, ret, e);
	else
		c->n_unweighed++;
	grouping_label_fini(&label);
	return rc;
}

static int look_at(struct row_code *c, const struct dimension_label *l, struct known *ret,
		   struct err *e)
{
	struct stalled stalled = { .text = "" };
	const struct stall_place *place = &stalled.found.place;
	int rc;

	*ret = (struct known){ .text = "" };
	if (!has_time_for(c, l->code_function)) {
		ret->is_late = true;
		return 0;
	}
	rc = find_stall(c, l, &stalled.found, e);
	if (l->code_function == MODEL_NONE || rc < 0)
		return rc;
	ret->text = code_at(c, l->code_function, l->build, l->address);
	c->has_text |= *ret->text != 0;
	if (rc == 0)
		return 0;
	if (!place->is_arrival)
		stalled.text = code_at(c, l->code_function, l->build, place->address);
	*vec_push(&c->stalls) = stalled;
	ret->stall = (uint32_t)c->stalls.n;
	return 0;
}

int row_code_look(struct row_code *c, const struct ranking_row *rows, size_t n,
		  struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		struct dimension_label label;
		struct known known;

		if (c->known_of[rows[i].id])
			continue;
		grouping_label(c->g, rows[i].id, &label);
		rc = look_at(c, &label, &known, e);
		c->has_lines |= label.line != 0;
		grouping_label_fini(&label);
		*vec_push(&c->known) = known;
		c->known_of[rows[i].id] = (uint32_t)c->known.n;
	}
	return rc;
}

bool row_code_has_text(const struct row_code *c)
{
	return c->has_text;
}

bool row_code_has_stalls(const struct row_code *c)
{
	return c->has_text && stall_search_has_time(c->search);
}

bool row_code_has_lines(const struct row_code *c)
{
	return c->has_lines && c->r->width >= WIDE;
}

static const struct stalled *stall_of(const struct row_code *c, size_t row)
{
	uint32_t known = c->known_of[row];
	uint32_t stall = known ? c->known.at[known - 1].stall : 0;

	return stall ? &c->stalls.at[stall - 1] : NULL;
}

const char *row_code_text(const struct row_code *c, size_t row)
{
	return c->known_of[row] ? c->known.at[c->known_of[row] - 1].text : "";
}

double row_code_share(const struct row_code *c, size_t row)
{
	const struct stalled *s = stall_of(c, row);

	return s ? s->found.share : 0;
}

bool row_code_note(const struct row_code *c, size_t row, struct buf *ret)
{
	const struct stalled *s = stall_of(c, row);
	const struct stall_place *x;
	char cycles[TEXT_MAX];

	if (!s)
		return false;
	x = &s->found.place;
	buf_printf(
		ret, "↳ waited %s cycles ",
		x->stall.low == x->stall.high
			? calc_value_cycles(cycles, x->stall.cycles)
			: calc_value_cycles_range(cycles, x->stall.low, x->stall.high));
	if (x->is_arrival)
		buf_puts(ret, "on the way here: ");
	else
		buf_printf(ret, "for 0x%" PRIx64 " %s: ", x->address, s->text);
	stall_words_put(x, ret);
	return true;
}

static bool is_late(const struct row_code *c, size_t row)
{
	return c->known_of[row] && c->known.at[c->known_of[row] - 1].is_late;
}

void row_code_json(const struct row_code *c, size_t row, struct json *j)
{
	const struct stalled *s = stall_of(c, row);
	const struct stall_place *x;

	if (is_late(c, row))
		json_key_bool(j, "is_late", true);
	if (*row_code_text(c, row))
		json_key_str(j, "instruction", row_code_text(c, row));
	if (!s)
		return;
	x = &s->found.place;
	json_key(j, "stall");
	json_object(j);
	json_key_u64(j, "address", x->address);
	json_key_bool(j, "is_on_the_way", x->is_arrival);
	if (*s->text)
		json_key_str(j, "instruction", s->text);
	json_key_bool(j, "is_estimated", s->found.is_estimated);
	json_key_double(j, "share", s->found.share);
	json_key_double(j, "times", x->times);
	json_key_double(j, "cycles", x->cycles);
	stall_words_json(x, j);
	json_object_end(j);
}

size_t row_code_n_late(const struct row_code *c, const struct ranking_row *rows, size_t n)
{
	size_t n_late = c->n_unweighed;

	for (size_t i = 0; i < n; i++)
		n_late += is_late(c, rows[i].id);
	return n_late;
}

void row_code_print_legend(const struct row_code *c, FILE *out)
{
	const struct machine_model *m = stall_search_model(c->search);
	own(buf_fini) struct buf b = { 0 };
	char n[TEXT_MAX];

	if (m)
		buf_printf(&b,
			   "what the instruction before took beyond the best case (%s); "
			   "≤ is the most that a cause explains of it",
			   m->name);
	if (stall_search_is_estimated(c->search))
		buf_printf(&b,
			   "; how often is estimated from %s, so others may stall, "
			   "too: %s",
			   anchoring_n_windows(c->r->profile)
				   ? "exact counts in windows, and samples"
				   : "samples, confidence low",
			   report_profile_leaves_counts_out(c->r)
				   ? "--event leaves out the counts, which tell exactly"
				   : "a recording of bbcounts beside this one tells "
				     "exactly");
	if (c->r->n_late_rows)
		buf_printf(&b, "%s%s %s not looked at for want of time (--seconds)",
			   b.size ? "; " : "", text_number(n, c->r->n_late_rows, "rows"),
			   c->r->n_late_rows == 1 ? "was" : "were");
	if (b.size)
		report_text_labelled(c->r, "stalled", &b, out);
}
