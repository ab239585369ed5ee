/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_text.h"

#include <math.h>
#include <string.h>

#include "analyze/names.h"
#include "base/map.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/report_value.h"
#include "unwind/offline.h"

#define LABEL		14 /* columns before the text of a quality line */
#define MANY_COMMANDS	3
#define MANY_IMAGES	3   /* without names are listed */
#define LEAST_PER_MILLE 5   /* and only with this share */
#define FEW_SAMPLES	100 /* say nothing about a rate */

static const char *bold(bool on)
{
	return !command_terminal()->colour ? "" : on ? "\033[1m" : "\033[0m";
}

static void put_safe(struct buf *b, const char *s)
{
	char safe[1000];

	buf_puts(b, text_printable(safe, sizeof(safe), s));
}

static uint64_t wall_ns(const struct report *r, size_t source)
{
	const struct recording *rec = profile_source(r->profile, source);
	uint64_t from = UINT64_MAX, to = 0, a, b;
	size_t n;

	if (r->quality.sources[source].wall_ns)
		return r->quality.sources[source].wall_ns;
	for (size_t i = 0; i < recording_n_sample_blocks(rec); i++) {
		recording_sample_block_range(rec, i, &a, &b, &n);
		from = n && a < from ? a : from;
		to = n && b > to ? b : to;
	}
	return from < to ? to - from : 0;
}

/* Intervals are round numbers and are shown so: "10 ms", not "10.0 ms". */
static void put_period(struct buf *b, const struct profile_column *c)
{
	char s[TEXT_MAX];
	bool is_time = strcmp(c->unit, "ns") == 0;

	if (is_time && c->period % 1000000 == 0)
		buf_printf(b, "%llu ms", (unsigned long long)c->period / 1000000);
	else if (is_time && c->period % 1000 == 0)
		buf_printf(b, "%llu us", (unsigned long long)c->period / 1000);
	else
		buf_puts(b, text_value(s, c->period, c->unit));
}

static bool is_exact(const struct report *r, const struct profile_column *c)
{
	const struct model_event *ev =
		recording_event(profile_source(r->profile, c->source), c->event);

	return ev && ev->flags & EVENT_EXACT && c->period <= 1;
}

/* "12.31 s of cpu-time (1,231 samples, one each 10 ms, perf cpu-clock)". */
static void put_column(struct buf *b, const struct report *r,
		       const struct profile_column *c)
{
	char value[TEXT_MAX], count[TEXT_MAX];
	bool is_count = strcmp(c->unit, "count") == 0;

	buf_printf(b, "%s %s%s (", text_value(value, c->total_weight, c->unit),
		   is_count ? "" : "of ", c->name);
	if (is_count && c->total_count == c->total_weight)
		buf_puts(b, is_exact(r, c) ? "every one" : "one sample each");
	else
		buf_printf(b, "%s sample%s", text_count(count, c->total_count),
			   c->total_count == 1 ? "" : "s");
	if (c->period > 1) {
		buf_puts(b, ", one each ");
		put_period(b, c);
	}
	if (c->collected_by[0]) {
		buf_puts(b, ", ");
		put_safe(b, c->collected_by);
	}
	buf_puts(b, ")");
}

static void put_count(struct buf *b, uint32_t n, const char *one, const char *many)
{
	char s[TEXT_MAX];

	if (b->size)
		buf_puts(b, ", ");
	buf_printf(b, "%s %s", text_count(s, n), n == 1 ? one : many);
}

static void put_line(FILE *out, const struct report *r, const char *indent, struct buf *b)
{
	const char *s = buf_str(b);
	size_t indent_width = text_width(indent);
	char cut[1200];

	if (text_width(s) + indent_width > r->width)
		s = names_shorten(cut, sizeof(cut), s, r->width - indent_width);
	fprintf(out, "%s%s\n", indent, s);
	buf_clear(b);
}

static struct map_entry *take_most(struct map *n_by_name)
{
	struct map_entry *most = NULL;

	for (size_t i = 0; i < n_by_name->cap; i++) {
		struct map_entry *at = &n_by_name->at[i];

		if (at->used && at->value &&
		    (!most || at->value > most->value ||
		     (at->value == most->value && at->key < most->key)))
			most = at;
	}
	return most;
}

/* The names that most processes have: "31 bash, 30 sort, 3 others". */
static void put_commands(const struct report *r, const struct recording *rec, FILE *out)
{
	own(map_fini) struct map n_by_name = { 0 };
	own(buf_fini) struct buf b = { 0 };
	uint32_t rest = recording_n_processes(rec);

	for (uint32_t i = 0; i < rest; i++)
		++*map_slot(&n_by_name, recording_process(rec, i)->comm, NULL);
	if (n_by_name.n < 2)
		return;
	for (unsigned k = 0; k < MANY_COMMANDS && rest; k++) {
		struct map_entry *most = take_most(&n_by_name);
		char name[100];

		text_printable(name, sizeof(name),
			       recording_string(rec, (uint32_t)most->key));
		put_count(&b, (uint32_t)most->value, name, name);
		rest -= (uint32_t)most->value;
		most->value = 0;
	}
	if (rest)
		put_count(&b, rest, "other", "others");
	put_line(out, r, "  ", &b);
}

static void put_circumstances(const struct report *r, size_t i, FILE *out)
{
	const struct recording *rec = profile_source(r->profile, i);
	const char *comment = recording_info(rec, "comment");
	const char *host = recording_info(rec, "host");
	own(buf_fini) struct buf b = { 0 };
	char s[TEXT_MAX];

	if (wall_ns(r, i))
		buf_printf(&b, "%s", text_duration(s, wall_ns(r, i)));
	put_count(&b, recording_n_processes(rec), "process", "processes");
	put_count(&b, recording_n_threads(rec), "thread", "threads");
	if (host) {
		buf_puts(&b, ", on ");
		put_safe(&b, host);
	}
	if (recording_info(rec, "command")) {
		buf_puts(&b, ", ");
		put_safe(&b, recording_path(rec));
	}
	put_line(out, r, "  ", &b);
	put_commands(r, rec, out);
	if (comment) {
		put_safe(&b, comment);
		put_line(out, r, "  ", &b);
	}
}

static bool is_whole(const struct report *r, size_t column)
{
	for (size_t i = 0; i < profile_n_columns(r->profile); i++)
		if (profile_column(r->profile, i)->whole == column)
			return true;
	return false;
}

/* How the parts of a whole were collected is said of each. */
static void put_columns(const struct report *r, size_t source, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };
	char value[TEXT_MAX];

	for (size_t c = 0; c < profile_n_columns(r->profile); c++) {
		const struct profile_column *column = profile_column(r->profile, c);
		bool is_shown = column->total_weight || c == r->shown[0];

		if (column->source != source || !is_shown)
			continue;
		if (is_whole(r, c))
			buf_printf(&b, "%s of %s, the sum of",
				   text_value(value, column->total_weight, column->unit),
				   column->name);
		else
			put_column(&b, r, column);
		put_line(out, r, column->whole == MODEL_NONE ? "  " : "    ", &b);
	}
}

static void put_source(const struct report *r, size_t i, FILE *out)
{
	const struct recording *rec = profile_source(r->profile, i);
	const char *command = recording_info(rec, "command");
	own(buf_fini) struct buf b = { 0 };

	if (profile_n_sources(r->profile) > 1)
		buf_printf(&b, "[%zu] ", i + 1);
	put_safe(&b, command ? command : recording_path(rec));
	fputs(bold(true), out);
	put_line(out, r, "", &b);
	fputs(bold(false), out);
	put_circumstances(r, i, out);
	put_columns(r, i, out);
}

void report_text_head(const struct report *r, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };

	for (size_t i = 0; i < profile_n_sources(r->profile); i++)
		put_source(r, i, out);
	if (r->filter) {
		buf_puts(&b, "only where ");
		put_safe(&b, r->filter);
		put_line(out, r, "  ", &b);
	}
	fputc('\n', out);
}

void report_text_column(const struct report *r, size_t column, struct buf *ret)
{
	const struct profile_column *c = profile_column(r->profile, column);

	if (profile_n_sources(r->profile) > 1)
		buf_printf(ret, "[%u] ", c->source + 1);
	buf_puts(ret, c->name);
}

/* A line under its label, wrapped at spaces below itself. */
static void put_labelled(const struct report *r, const char *label, struct buf *text,
			 FILE *out)
{
	const char *s = buf_str(text);
	size_t room = r->width > LABEL + 20 ? r->width - LABEL : 20;

	fprintf(out, "  %-*s", LABEL - 2, label);
	for (size_t at = 0; *s;) {
		size_t n = strcspn(s, " ");
		own(freep) char *word = strndup(s, n);
		size_t width = word ? text_width(word) : n;

		if (at && at + 1 + width > room) {
			fprintf(out, "\n%*s", LABEL, "");
			at = 0;
		}
		at += fprintf(out, "%s", at ? " " : "") > 0;
		fwrite(s, 1, n, out);
		at += width;
		s += n + (s[n] == ' ');
	}
	fputc('\n', out);
	buf_clear(text);
}

static void put_share(struct buf *b, const struct report *r, size_t column, uint64_t part)
{
	char s[TEXT_MAX];

	if (b->size)
		buf_puts(b, "; ");
	buf_printf(b, "%s of ",
		   text_pct(s, (double)part, (double)r->quality.columns[column].total));
	report_text_column(r, column, b);
}

static void put_lost(const struct report *r, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };
	uint64_t lost = 0, taken = 0;
	char s[TEXT_MAX], pct[TEXT_MAX];

	for (size_t i = 0; i < r->quality.n_sources; i++)
		lost += r->quality.sources[i].lost_samples;
	for (size_t i = 0; i < profile_n_columns(r->profile); i++)
		if (profile_column(r->profile, i)->whole == MODEL_NONE)
			taken += profile_column(r->profile, i)->total_count;
	if (!lost)
		buf_puts(&b, "nothing");
	else
		buf_printf(&b, "%s samples, %s of what was taken", text_count(s, lost),
			   text_pct(pct, (double)lost, (double)(lost + taken)));
	put_labelled(r, "lost", &b, out);
}

static void put_truncated(const struct report *r, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };

	for (size_t c = 0; c < r->quality.n_columns; c++) {
		const struct quality_column *q = &r->quality.columns[c];
		const char *separator = ": ";
		char s[TEXT_MAX];

		if (!q->truncated || profile_column(r->profile, c)->whole != MODEL_NONE)
			continue;
		put_share(&b, r, c, q->truncated);
		for (unsigned i = 0; i < UNWIND_N_STOPS; i++) {
			if (!q->truncated_by[i])
				continue;
			buf_printf(&b, "%s%s %s", separator, unwind_stop_text(i),
				   text_pct(s, (double)q->truncated_by[i],
					    (double)q->total));
			separator = ", ";
		}
	}
	if (!b.size)
		buf_puts(&b, "nothing: every stack reaches its outermost frame");
	put_labelled(r, "truncated", &b, out);
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
		put_safe(&b, first[i].image);
		buf_printf(&b, " %s",
			   text_pct(s, (double)first[i].weight, (double)total));
	}
	if (first->problem) {
		buf_puts(&b, ": ");
		put_safe(&b, first->problem);
	}
	put_labelled(r, "", &b, out);
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
	buf_printf(&b, "%zu more image%s", n, n == 1 ? "" : "s");
	if (r->n_shown == 1)
		buf_printf(
			&b, " %s",
			text_pct(s, (double)sum, (double)q->columns[r->shown[0]].total));
	put_labelled(r, "", &b, out);
}

static void put_unresolved(const struct report *r, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };
	size_t n = count_notable(r);

	for (size_t c = 0; c < r->quality.n_columns; c++)
		if (r->quality.columns[c].unresolved &&
		    profile_column(r->profile, c)->whole == MODEL_NONE)
			put_share(&b, r, c, r->quality.columns[c].unresolved);
	if (!b.size)
		buf_puts(&b, "nothing: every sample has a function");
	else if (!n)
		buf_printf(&b, ", in %zu image%s", r->quality.n_images,
			   r->quality.n_images == 1 ? "" : "s");
	put_labelled(r, "unresolved", &b, out);
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

	if (r->n_shown > 1) {
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
	put_labelled(r, "rate", &b, out);
}

static void put_cpu(const struct report *r, const struct quality_source *q, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };
	char sampled[TEXT_MAX], used[TEXT_MAX];

	if (!q->has_cpu || !q->used_ns)
		return;

	double gap =
		100 * ((double)q->sampled_ns - (double)q->used_ns) / (double)q->used_ns;

	buf_printf(&b, "%s sampled, %s used by rusage (%+.1f %%)",
		   text_duration(sampled, q->sampled_ns), text_duration(used, q->used_ns),
		   fabs(gap) < 0.05 ? 0.0 : gap);
	put_labelled(r, "cpu time", &b, out);
}

static void put_self(const struct report *r, const struct quality_source *q, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };
	char cpu[TEXT_MAX], pct[TEXT_MAX];

	if (!q->self_cpu_ns)
		return;
	buf_printf(&b, "%s of CPU", text_duration(cpu, q->self_cpu_ns));
	if (q->used_ns)
		buf_printf(&b, ", %s of the program's",
			   text_pct(pct, (double)q->self_cpu_ns, (double)q->used_ns));
	put_labelled(r, "profiler", &b, out);
}

static void put_damage(const struct report *r, size_t i, FILE *out)
{
	const struct quality_source *q = &r->quality.sources[i];
	own(buf_fini) struct buf b = { 0 };

	if (q->damage) {
		put_safe(&b, q->damage);
		put_labelled(r, "damaged", &b, out);
	} else if (!q->is_complete) {
		buf_puts(&b, "the recording was not ended in order: what was written "
			     "until then is here");
		put_labelled(r, "unfinished", &b, out);
	}
	if (q->n_bad_blocks) {
		buf_printf(&b,
			   "%zu block%s of samples could not be read: ", q->n_bad_blocks,
			   q->n_bad_blocks == 1 ? "" : "s");
		put_safe(&b, q->bad_block);
		put_labelled(r, "damaged", &b, out);
	}
}

static void put_unseen(const struct report *r, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };
	char s[TEXT_MAX];

	for (unsigned g = 0; g < QUALITY_N_GAPS; g++) {
		uint64_t n = 0;

		for (size_t i = 0; i < r->quality.n_sources; i++)
			n += r->quality.sources[i].gaps[g];
		if (!n)
			continue;
		buf_printf(&b, "%s%s", b.size ? "; " : "", quality_gaps[g].text);
		if (quality_gaps[g].is_counted)
			buf_printf(&b, ": %s", text_count(s, n));
	}
	if (b.size)
		put_labelled(r, "not seen", &b, out);
}

static void put_gaps(const struct report *r, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };

	if (quality_is_complete(&r->quality)) {
		buf_puts(&b, "nothing lost, truncated or unresolved");
		put_labelled(r, "complete", &b, out);
		return;
	}
	put_unseen(r, out);
	put_lost(r, out);
	put_truncated(r, out);
	put_unresolved(r, out);
}

void report_text_quality(const struct report *r, FILE *out)
{
	fputc('\n', out);
	put_gaps(r, out);
	for (size_t c = 0; c < r->quality.n_columns; c++)
		put_rate(r, c, out);
	for (size_t i = 0; i < r->quality.n_sources; i++) {
		put_cpu(r, &r->quality.sources[i], out);
		put_self(r, &r->quality.sources[i], out);
		put_damage(r, i, out);
	}
}

void report_text_next(const char *const *lines, size_t n, FILE *out)
{
	fputs("\nNext: ", out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%sdwell %s%s", i ? "  ·  " : "", bold(true), lines[i],
			bold(false));
	fputc('\n', out);
}

void report_text_quoted(struct buf *to, const char *name)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/+-@%,";

	if (name[0] && strspn(name, plain) == strlen(name)) {
		buf_puts(to, name);
		return;
	}
	buf_u8(to, '\'');
	for (; *name; name++) {
		if (*name == '\'')
			buf_puts(to, "'\\''");
		else
			buf_u8(to, (uint8_t)*name);
	}
	buf_u8(to, '\'');
}
