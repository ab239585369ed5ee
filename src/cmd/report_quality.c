/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_quality.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cmd/report_matches.h"
#include "cmd/report_text.h"
#include "unwind/offline.h"

#define MANY_IMAGES	3	   /* without names are listed */
#define LEAST_PER_MILLE 5	   /* and only with this share */
#define MANY_EVENTS	3	   /* have their shares told one by one */
#define FEW_SAMPLES	100	   /* say nothing about a rate */
#define FEW_TO_COMPARE	20	   /* nor by how much CPU time differs */
#define WIDE_GAP_PCT	5	   /* needs a word */
#define LONG_ENOUGH_NS	1000000000 /* of a program, to compare the profiler's time */
#define SMALL_SELF_PCT	5	   /* needs no length of the program */
#define ALWAYS_ON	0.9995
#define STOLEN_GAP_PCT	0.5 /* worth one, where the cause is known */

static void put_share(struct buf *b, const struct report *r, size_t column, uint64_t part)
{
	char s[TEXT_MAX];

	if (b->size)
		buf_puts(b, "; ");
	buf_printf(b, "%s of ",
		   text_pct(s, (double)part, (double)r->quality.columns[column].total));
	report_text_column(r, column, b);
}

/* What of a column is missing in one way. */
typedef uint64_t missing_fn(const struct quality_column *q);

static uint64_t truncated(const struct quality_column *q)
{
	return q->truncated;
}

static uint64_t unresolved(const struct quality_column *q)
{
	return q->unresolved;
}

static bool is_missed(const struct report *r, size_t column, missing_fn *missing)
{
	return missing(&r->quality.columns[column]) &&
	       !report_profile_is_aside(r, column) &&
	       profile_column(r->profile, column)->whole == MODEL_NONE;
}

/* Columns of which something is missing, those that are told one by one first: of many
 * it is the one that the rows are ordered by.  Returns how many of ret are told so. */
static size_t list_missed(const struct report *r, missing_fn *missing, size_t *ret,
			  size_t *ret_n)
{
	size_t n = 0;

	for (size_t c = 0; c < r->quality.n_columns; c++)
		if (is_missed(r, c, missing))
			ret[n++] = c;
	*ret_n = n;
	for (size_t i = 0; n > MANY_EVENTS && i < n; i++)
		if (ret[i] == r->sort_column) {
			ret[i] = ret[0];
			ret[0] = r->sort_column;
		}
	return n > MANY_EVENTS ? 1 : n;
}

/* The others in a few words; JSON has them all. */
static void put_others(const struct report *r, missing_fn *missing, const size_t *columns,
		       size_t n, struct buf *b)
{
	double most = 0;
	char s[TEXT_MAX], others[TEXT_MAX];

	for (size_t i = 0; i < n; i++) {
		const struct quality_column *q = &r->quality.columns[columns[i]];
		double share = (double)missing(q) / (double)q->total;

		most = share > most ? share : most;
	}
	if (n)
		buf_printf(b, "; of %s up to %s", text_number(others, n, "other events"),
			   text_pct(s, most, 1));
}

static void put_lost(const struct report *r, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };
	char s[TEXT_MAX], pct[TEXT_MAX];

	for (size_t i = 0; i < r->quality.n_sources; i++) {
		const struct quality_source *q = &r->quality.sources[i];
		uint64_t lost = q->lost_samples;

		if (!lost)
			continue;
		buf_puts(&b, b.size ? "; " : "");
		report_text_source(r, i, &b);
		/* What a ring had no room for may also have told of a process. */
		buf_printf(
			&b, "up to %s, %s of what was taken",
			text_number(s, lost, "samples"),
			text_pct(pct, (double)lost, (double)(lost + q->taken_samples)));
	}
	if (!b.size)
		buf_puts(&b, "nothing");
	report_text_labelled(r, "lost", &b, out);
}

/* No event of it has callers, which is no fault of its stacks. */
static bool has_single_frames(const struct report *r)
{
	bool has = profile_n_columns(r->profile) > 0;

	for (size_t c = 0; c < profile_n_columns(r->profile); c++) {
		const struct profile_column *column = profile_column(r->profile, c);
		const struct model_event *ev = recording_event(
			profile_source(r->profile, column->source), column->source_event);

		has = has && ev && ev->flags & EVENT_PC_ONLY;
	}
	return has;
}

static void put_stops(const struct quality_column *q, struct buf *b)
{
	const char *separator = ": ";
	char s[TEXT_MAX];

	for (unsigned i = 0; i < UNWIND_N_STOPS; i++) {
		if (!q->truncated_by[i])
			continue;
		buf_printf(b, "%s%s %s", separator, unwind_stop_text(i),
			   text_pct(s, (double)q->truncated_by[i], (double)q->total));
		separator = ", ";
	}
}

static void put_truncated(const struct report *r, FILE *out)
{
	own(freep) size_t *columns = xcalloc(r->quality.n_columns + 1, sizeof(*columns));
	own(buf_fini) struct buf b = { 0 };
	size_t n, told = list_missed(r, truncated, columns, &n);

	for (size_t i = 0; i < told; i++) {
		const struct quality_column *q = &r->quality.columns[columns[i]];

		put_share(&b, r, columns[i], q->truncated);
		put_stops(q, &b);
	}
	put_others(r, truncated, columns + told, n - told, &b);
	if (!b.size && profile_has_calls(r->profile))
		buf_puts(&b, "nothing: instead of stacks there are calls, and callers "
			     "have shares of what they called by how often they did");
	else if (!b.size && has_single_frames(r))
		buf_puts(&b, "nothing: there is one frame by design, and no callers");
	else if (!b.size)
		buf_puts(&b, "nothing: every stack reaches its outermost frame");
	report_text_labelled(r, "truncated", &b, out);
}

/* Images with a share worth a word, heaviest first: at most MANY_IMAGES. */
static size_t count_notable(const struct report *r)
{
	const struct quality *q = &r->quality;
	size_t n = 0;

	while (n < q->n_images && n < MANY_IMAGES &&
	       q->images[n].weight * 1000 >=
		       LEAST_PER_MILLE * q->columns[q->images[n].column].total)
		n++;
	return n;
}

static bool is_same_problem(const struct quality_image *a, const struct quality_image *b)
{
	return a->problem && b->problem && strcmp(a->problem, b->problem) == 0;
}

/* The images of one problem with their shares, then what to do about it; returns how
 * many there were. */
static size_t put_problem(const struct report *r, const struct quality_image *first,
			  size_t n, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };
	size_t i = 0;
	char s[TEXT_MAX];

	for (; i < n && (!i || is_same_problem(&first[i], first)); i++) {
		uint64_t total = r->quality.columns[first[i].column].total;

		buf_puts(&b, i ? ", " : "");
		report_text_safe(&b, first[i].image);
		buf_printf(&b, " %s",
			   text_pct(s, (double)first[i].weight, (double)total));
	}
	if (first->problem) {
		buf_puts(&b, ": ");
		report_text_safe(&b, first->problem);
	}
	report_text_labelled(r, "", &b, out);
	return i;
}

/* The rest in one line; what they have adds up in one event only. */
static void put_other_images(const struct report *r, size_t shown, FILE *out)
{
	const struct quality *q = &r->quality;
	own(buf_fini) struct buf b = { 0 };
	uint64_t sum = 0;
	size_t n = 0;
	char s[TEXT_MAX];

	for (size_t i = shown; i < q->n_images; i++) {
		n += q->images[i].weight > 0;
		sum += q->images[i].weight;
	}
	if (!n)
		return;
	buf_puts(&b, text_number(s, n, "more images"));
	if (r->n_shown == 1)
		buf_printf(
			&b, " %s",
			text_pct(s, (double)sum, (double)q->columns[r->shown[0]].total));
	report_text_labelled(r, "", &b, out);
}

/* Code that is not at hand has no ideal time. */
static void put_not_timed(const struct report *r, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };
	char s[TEXT_MAX];

	for (size_t c = 0; c < r->quality.n_columns; c++) {
		double share = r->quality.columns[c].not_timed_share;

		if (share <= 0)
			continue;
		buf_puts(&b, b.size ? "; " : "");
		report_text_column(r, c, &b);
		buf_printf(&b, " is without %s of all instructions",
			   text_pct(s, share, 1));
	}
	if (!b.size)
		return;
	buf_puts(&b, ": their code is not at hand");
	report_text_labelled(r, "not timed", &b, out);
}

static void put_unresolved(const struct report *r, FILE *out)
{
	own(freep) size_t *columns = xcalloc(r->quality.n_columns + 1, sizeof(*columns));
	own(buf_fini) struct buf b = { 0 };
	size_t n = count_notable(r), n_missed;
	char images[TEXT_MAX];
	size_t told = list_missed(r, unresolved, columns, &n_missed);

	for (size_t i = 0; i < told; i++)
		put_share(&b, r, columns[i], unresolved(&r->quality.columns[columns[i]]));
	put_others(r, unresolved, columns + told, n_missed - told, &b);
	buf_puts(&b, b.size ? ": in functions whose names are not known"
			    : "nothing: every sample has a function");
	if (!n && n_missed)
		buf_printf(&b, ", of %s",
			   text_number(images, r->quality.n_images, "images"));
	report_text_labelled(r, "unresolved", &b, out);
	for (size_t i = 0; i < n;)
		i += put_problem(r, &r->quality.images[i], n - i, out);
	if (n)
		put_other_images(r, n, out);
}

/* "250 Hz of 1,000 Hz asked", where sampling did not keep up. */
static void put_rate(const struct report *r, size_t column, FILE *out)
{
	const struct quality_rate *rate = &r->quality.columns[column].rate;
	own(buf_fini) struct buf b = { 0 };
	char got[TEXT_MAX], asked[TEXT_MAX], tick[TEXT_MAX];

	if (!rate->asked_ns || rate->expected < FEW_SAMPLES ||
	    rate->delivered * 100 >= rate->expected * 99)
		return;

	double hz = 1e9 / (double)rate->asked_ns;

	if (r->n_shown > 1 || r->leaves_events_out) {
		report_text_column(r, column, &b);
		buf_puts(&b, ": ");
	}
	buf_printf(&b, "%s Hz of %s Hz asked",
		   text_count(got, (uint64_t)(hz * (double)rate->delivered /
						      (double)rate->expected +
					      0.5)),
		   text_count(asked, (uint64_t)(hz + 0.5)));
	if (rate->tick_ns > rate->asked_ns)
		buf_printf(&b, ": CPU timers tick at CONFIG_HZ (%s); times are exact",
			   text_duration(tick, rate->tick_ns));
	else if (rate->is_throttled)
		buf_puts(&b, ": the kernel throttled sampling (see "
			     "kernel.perf_event_max_sample_rate)");
	report_text_labelled(r, "rate", &b, out);
}

/* Events that the CPU could not count all at once. */
static void put_turns(const struct report *r, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };
	char s[TEXT_MAX];
	unsigned n = 0;

	for (size_t c = 0; c < r->quality.n_columns; c++) {
		double share = r->quality.columns[c].on_share;

		if (share >= ALWAYS_ON)
			continue;
		buf_puts(&b, b.size ? ", " : "");
		report_text_column(r, c, &b);
		buf_printf(&b, "%s on %s of the time", n++ ? "" : " was",
			   text_pct(s, share, 1));
	}
	if (!b.size)
		return;
	buf_puts(&b, ": scaled to all of it");
	report_text_labelled(r, "took turns", &b, out);
}

/* Whether what is missing may be the rest that each process leaves behind its last
 * sample. */
static bool is_spread_thin(const struct report *r, size_t source, double gap)
{
	const struct quality_source *q = &r->quality.sources[source];
	const struct recording *rec = profile_source(r->profile, source);
	double rest = (double)q->period_ns * recording_n_processes(rec);

	return gap < -WIDE_GAP_PCT && rest > (double)(q->used_ns - q->sampled_ns);
}

/* Clocks go on while a hypervisor has the CPU, the account of threads does not. */
static bool is_stolen(const struct quality_source *q, double gap)
{
	return gap >= STOLEN_GAP_PCT && q->stolen_ns;
}

static void put_cpu(const struct report *r, size_t source, FILE *out)
{
	const struct quality_source *q = &r->quality.sources[source];
	own(buf_fini) struct buf b = { 0 };
	char sampled[TEXT_MAX], used[TEXT_MAX], stolen[TEXT_MAX];

	if (!q->has_cpu || !q->used_ns)
		return;

	double gap =
		100 * ((double)q->sampled_ns - (double)q->used_ns) / (double)q->used_ns;

	report_text_source(r, source, &b);
	buf_printf(&b, "%s sampled, %s used by rusage",
		   text_duration(sampled, q->sampled_ns),
		   text_duration(used, q->used_ns));
	if (q->gaps[QUALITY_GAP_RUNNING]) {
		buf_puts(&b, ", which leaves out processes that went on");
		report_text_labelled(r, "cpu time", &b, out);
		return;
	}
	if (q->used_ns < FEW_TO_COMPARE * q->period_ns) {
		buf_puts(&b, ": too short to compare, try a shorter interval (-i)");
		report_text_labelled(r, "cpu time", &b, out);
		return;
	}
	buf_printf(&b, " (%+.1f %%)", fabs(gap) < 0.05 ? 0.0 : gap);
	if (is_spread_thin(r, source, gap))
		buf_puts(&b, ": many processes were shorter than the interval, try a "
			     "shorter one (-i)");
	else if (is_stolen(q, gap))
		buf_printf(&b,
			   ": the hypervisor took up to %s meanwhile, which rusage "
			   "leaves out",
			   text_duration(stolen, q->stolen_ns));
	report_text_labelled(r, "cpu time", &b, out);
}

/* Starting and ending cost the same however little the program does: beside next to
 * nothing a share says nothing. */
static bool is_comparable(const struct quality_source *q)
{
	return q->used_ns >= LONG_ENOUGH_NS ||
	       q->self_cpu_ns * 100 <= SMALL_SELF_PCT * q->used_ns;
}

static void put_self(const struct report *r, size_t source, FILE *out)
{
	const struct quality_source *q = &r->quality.sources[source];
	own(buf_fini) struct buf b = { 0 };
	char cpu[TEXT_MAX], used[TEXT_MAX];

	if (!q->self_cpu_ns)
		return;
	report_text_source(r, source, &b);
	buf_printf(&b, "%s of CPU", text_duration(cpu, q->self_cpu_ns));
	bool has_account = q->used_ns && !q->gaps[QUALITY_GAP_RUNNING];

	if (has_account && is_comparable(q))
		buf_printf(&b, ", %s of the program's",
			   text_pct(used, (double)q->self_cpu_ns, (double)q->used_ns));
	else if (has_account)
		buf_printf(&b, ", start and end included; the program %s",
			   text_duration(used, q->used_ns));
	report_text_labelled(r, "profiler", &b, out);
}

static void put_damage(const struct report *r, size_t i, FILE *out)
{
	const struct quality_source *q = &r->quality.sources[i];
	own(buf_fini) struct buf b = { 0 };
	char blocks[TEXT_MAX];

	if (q->damage) {
		report_text_source(r, i, &b);
		report_text_safe(&b, q->damage);
		report_text_labelled(r, "damaged", &b, out);
	} else if (!q->is_complete) {
		report_text_source(r, i, &b);
		buf_puts(&b, "the recording was not ended in order: what was written "
			     "until then is here");
		report_text_labelled(r, "unfinished", &b, out);
	}
	if (q->n_bad_blocks) {
		report_text_source(r, i, &b);
		buf_printf(&b, "%s of samples could not be read: ",
			   text_number(blocks, q->n_bad_blocks, "blocks"));
		report_text_safe(&b, q->bad_block);
		report_text_labelled(r, "damaged", &b, out);
	}
}

static void put_gap(const struct report *r, size_t source, struct buf *b,
		    const char *text, const uint64_t *n)
{
	char s[TEXT_MAX];

	if (b->size)
		buf_puts(b, "; ");
	else
		report_text_source(r, source, b);
	report_text_safe(b, text);
	if (n)
		buf_printf(b, ": %s", text_count(s, *n));
}

static void put_unseen(const struct report *r, size_t source, FILE *out)
{
	const struct quality_source *q = &r->quality.sources[source];
	own(buf_fini) struct buf b = { 0 };

	for (unsigned g = 0; g < QUALITY_N_GAPS; g++)
		if (q->gaps[g])
			put_gap(r, source, &b, quality_gaps[g].text,
				quality_gaps[g].is_counted ? &q->gaps[g] : NULL);
	for (size_t i = 0; i < q->n_others; i++)
		put_gap(r, source, &b, q->others[i].name, &q->others[i].n);
	if (b.size)
		report_text_labelled(r, "not seen", &b, out);
}

static void put_left_out(const struct report *r, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };

	if (!profile_leaves_calls_out(r->profile))
		return;
	buf_puts(&b, "callers' shares of what they called: a filter may leave out "
		     "who called");
	report_text_labelled(r, "left out", &b, out);
}

/* Of the experiments that sum up, intervals tell more. */
static void put_late(const struct report *r, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };

	if (!profile_has_late_sums(r->profile))
		return;
	buf_puts(&b, "what is summed up counts when its sum was told, up to a second "
		     "later: 'interval == N' has all of an interval, but of one that the "
		     "program's own mark ended");
	report_text_labelled(r, "by time", &b, out);
}

static void put_gaps(const struct report *r, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };

	put_left_out(r, out);
	put_late(r, out);
	if (quality_is_complete(&r->quality)) {
		buf_puts(&b, "nothing lost, truncated or unresolved");
		report_text_labelled(r, "complete", &b, out);
		return;
	}
	for (size_t i = 0; i < r->quality.n_sources; i++)
		put_unseen(r, i, out);
	put_lost(r, out);
	put_truncated(r, out);
	put_unresolved(r, out);
	put_not_timed(r, out);
}

void report_quality_print_gaps(const struct report *r, FILE *out)
{
	fputc('\n', out);
	report_matches_print(r, out);
	put_gaps(r, out);
	for (size_t c = 0; c < r->quality.n_columns; c++)
		put_rate(r, c, out);
	put_turns(r, out);
	for (size_t i = 0; i < r->quality.n_sources; i++)
		put_damage(r, i, out);
}

void report_quality_print(const struct report *r, FILE *out)
{
	fputc('\n', out);
	report_matches_print(r, out);
	put_gaps(r, out);
	for (size_t c = 0; c < r->quality.n_columns; c++)
		put_rate(r, c, out);
	put_turns(r, out);
	for (size_t i = 0; i < r->quality.n_sources; i++) {
		put_cpu(r, i, out);
		put_self(r, i, out);
		put_damage(r, i, out);
	}
}
