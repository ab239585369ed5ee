/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_head.h"

#include <string.h>

#include "analyze/names.h"
#include "analyze/waits.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/report_text.h"
#include "cmd/report_unfollowed.h"

#define MANY_COMMANDS  3
#define MANY_WAITS     3
#define LEAST_WAIT_PCT 5
#define LEAST_NAME     24 /* columns of a function's, beside where it is */

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
	char count[TEXT_MAX];
	bool is_count = strcmp(c->unit, "count") == 0;

	report_text_amount(b, c, c->total_weight);
	buf_puts(b, " (");
	if (c->event != c->source_event) /* computed, not sampled */
		buf_puts(b, "computed");
	else if (is_count && c->total_count == c->total_weight)
		buf_puts(b, is_exact(r, c) ? "every one" : "one sample each");
	else
		buf_puts(b, text_number(count, c->total_count, "samples"));
	if (c->period > 1) {
		buf_puts(b, ", one each ");
		put_period(b, c);
	}
	if (c->collected_by[0]) {
		buf_puts(b, ", ");
		report_text_safe(b, c->collected_by);
	}
	buf_puts(b, ")");
}

/* "2 processes" behind what there is; of one `one`. */
static void put_count(struct buf *b, uint32_t n, const char *one, const char *many)
{
	char s[TEXT_MAX];

	if (b->size)
		buf_puts(b, ", ");
	buf_printf(b, "%s %s", text_count(s, n), n == 1 ? one : many);
}

/* exec makes another record of the same process: which records went on as another. */
static bool *replaced_by_exec(const struct recording *rec)
{
	uint32_t n = recording_n_processes(rec);
	bool *is_replaced = xcalloc(n + 1, sizeof(bool));

	for (uint32_t i = 0; i < n; i++) {
		uint32_t old = recording_process(rec, i)->exec_of;

		if (old < n)
			is_replaced[old] = true;
	}
	return is_replaced;
}

static uint32_t count_processes(const struct recording *rec, const bool *is_replaced)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < recording_n_processes(rec); i++)
		n += !is_replaced[i];
	return n;
}

/* Over an exec the first thread goes on, the others end. */
static uint32_t count_threads(const struct recording *rec, const bool *is_replaced)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < recording_n_threads(rec); i++) {
		const struct model_thread *t = recording_thread(rec, i);

		n += t->process >= recording_n_processes(rec) ||
		     !is_replaced[t->process] ||
		     t->tid != recording_process(rec, t->process)->pid;
	}
	return n;
}

/* Only kinds of processes are known, not each of them. */
static bool is_folded(const struct recording *rec)
{
	for (uint32_t i = 0; i < recording_n_processes(rec); i++)
		if (recording_process(rec, i)->pid)
			return false;
	return recording_n_processes(rec) > 0;
}

static void put_counts(struct buf *b, const struct recording *rec,
		       const bool *is_replaced)
{
	if (is_folded(rec)) {
		put_count(b, recording_n_processes(rec), "kind of process",
			  "kinds of process");
		return;
	}
	put_count(b, count_processes(rec, is_replaced), "process", "processes");
	put_count(b, count_threads(rec, is_replaced), "thread", "threads");
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
static void put_commands(const struct report *r, const struct recording *rec,
			 const bool *is_replaced, FILE *out)
{
	own(map_fini) struct map n_by_name = { 0 };
	own(buf_fini) struct buf b = { 0 };
	uint32_t rest = count_processes(rec, is_replaced);

	for (uint32_t i = 0; i < recording_n_processes(rec); i++) {
		uint32_t comm = recording_process(rec, i)->comm;

		/* One that ended before anybody looked has no name. */
		if (!is_replaced[i] && recording_string(rec, comm)[0])
			++*map_slot(&n_by_name, comm, NULL);
	}
	if (n_by_name.n < 2)
		return;
	for (size_t k = 0; k < MANY_COMMANDS && k < n_by_name.n; k++) {
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
	report_text_line(out, r, "  ", &b);
}

/* What is behind the last slash is the last to go. */
static void put_path(struct buf *b, const char *path, size_t width)
{
	size_t used = text_width(buf_str(b)) + strlen("  ");

	report_text_safe(b, used + text_width(path) > width ? names_base(path) : path);
}

/* What was recorded; NULL when the recording does not tell. */
static const char *subject(const struct recording *rec)
{
	const char *command = recording_info(rec, "command");
	const char *target = recording_info(rec, "target");

	if (command && command[0])
		return command;
	return target && target[0] ? target : NULL;
}

static void put_circumstances(const struct report *r, size_t i, FILE *out)
{
	const struct recording *rec = profile_source(r->profile, i);
	const char *comment = recording_info(rec, "comment");
	const char *host = recording_info(rec, "host");
	const char *unrecorded = recording_info(rec, "unrecorded");
	const char *ends_early = recording_info(rec, "ends-early");
	own(freep) bool *is_replaced = replaced_by_exec(rec);
	own(buf_fini) struct buf b = { 0 };
	uint64_t asleep_ns = r->quality.sources[i].asleep_ns;
	char s[TEXT_MAX];

	if (wall_ns(r, i))
		buf_printf(&b, "%s", text_duration(s, wall_ns(r, i)));
	if (asleep_ns)
		buf_printf(&b, " beside %s of sleep", text_duration(s, asleep_ns));
	put_counts(&b, rec, is_replaced);
	if (host) {
		buf_puts(&b, ", on ");
		report_text_safe(&b, host);
	}
	if (subject(rec)) {
		buf_puts(&b, ", ");
		put_path(&b, recording_path(rec), r->width);
	}
	report_text_line(out, r, "  ", &b);
	if (!is_folded(rec)) /* how many kinds have a name says nothing */
		put_commands(r, rec, is_replaced, out);
	if (comment) {
		report_text_safe(&b, comment);
		report_text_line(out, r, "  ", &b);
	}
	if (unrecorded) {
		buf_puts(&b, "not recorded: ");
		report_text_safe(&b, unrecorded);
		report_text_line(out, r, "  ", &b);
	}
	if (ends_early) {
		buf_puts(&b, "ends early, ");
		report_text_safe(&b, ends_early);
		report_text_line(out, r, "  ", &b);
	}
	report_unfollowed_print(r, rec, out);
}

static bool is_whole(const struct report *r, size_t column)
{
	for (size_t i = 0; i < profile_n_columns(r->profile); i++)
		if (profile_column(r->profile, i)->whole == column)
			return true;
	return false;
}

static void put_short(struct buf *b, const char *name, size_t width)
{
	char s[1000];

	buf_puts(b, names_shorten(s, sizeof(s), name, width));
}

/* "43.2 % in read, called by load_page (server)" */
static void put_wait(struct buf *b, const struct report *r, const struct wait *w,
		     uint64_t total)
{
	char pct[TEXT_MAX];

	buf_printf(b, "%s in ", text_pct(pct, (double)w->weight, (double)total));
	put_short(b, profile_function(r->profile, w->function)->name, r->width / 3);
	if (w->caller == MODEL_NONE)
		return;
	buf_puts(b, ", called by ");
	put_short(b, profile_function(r->profile, w->caller)->name, r->width / 3);
	buf_puts(b, " (");
	report_text_safe(b, profile_function(r->profile, w->caller)->image);
	buf_puts(b, ")");
}

/* The table says of them only that they ended in the scheduler. */
static void put_waits(const struct report *r, size_t column, FILE *out)
{
	uint64_t total = profile_column(r->profile, column)->total_weight;
	own(freep) struct wait *waits = NULL;
	size_t n = waits_find(r->profile, column, &waits);
	own(buf_fini) struct buf b = { 0 };

	for (size_t i = 0; i < n && i < MANY_WAITS; i++) {
		if (waits[i].weight * 100 < LEAST_WAIT_PCT * total)
			break;
		put_wait(&b, r, &waits[i], total);
		report_text_line(out, r, "      ", &b);
	}
}

static bool is_said(const struct report *r, size_t source, size_t column)
{
	const struct profile_column *c = profile_column(r->profile, column);

	return c->source == source && (c->total_weight || column == r->shown[0]) &&
	       !report_profile_is_aside(r, column);
}

/* It says all of how it was collected that there are as many of it as there were. */
static bool is_plain(const struct report *r, size_t column)
{
	const struct profile_column *c = profile_column(r->profile, column);

	return c->event == c->source_event && c->whole == MODEL_NONE &&
	       !is_whole(r, column) && !waits_is_column(c) && is_exact(r, c);
}

static bool are_together(const struct report *r, size_t a, size_t b)
{
	const struct profile_column *x = profile_column(r->profile, a);
	const struct profile_column *y = profile_column(r->profile, b);

	return is_plain(r, a) && is_plain(r, b) &&
	       strcmp(x->experiment, y->experiment) == 0 &&
	       strcmp(x->collected_by, y->collected_by) == 0;
}

/* The next one that is said, or as many as there are. */
static size_t next_said(const struct report *r, size_t source, size_t column)
{
	do
		column++;
	while (column < profile_n_columns(r->profile) && !is_said(r, source, column));
	return column;
}

/* Lines break between amounts. */
static void put_piece(const struct report *r, struct buf *line, struct buf *piece,
		      FILE *out)
{
	static const char indent[] = "  ";
	size_t width = text_width(indent) + text_width(buf_str(line)) +
		       text_width(buf_str(piece));

	if (line->size && width > r->width)
		report_text_line(out, r, indent, line);
	buf_puts(line, buf_str(piece) + (!line->size && *buf_str(piece) == ' '));
	buf_clear(piece);
}

static void put_sum(const struct report *r, size_t column, struct buf *piece)
{
	const struct profile_column *c = profile_column(r->profile, column);

	report_text_amount(piece, c, c->total_weight);
}

/* What an experiment observed of everything is said in one sentence; returns the last of
 * it, or the column where it has no others. */
static size_t put_together(const struct report *r, size_t source, size_t column,
			   FILE *out)
{
	own(buf_fini) struct buf line = { 0 }, piece = { 0 };
	size_t n = profile_n_columns(r->profile), c = next_said(r, source, column);
	size_t last = column;

	if (c == n || !are_together(r, column, c))
		return column;
	put_sum(r, column, &piece);
	for (; c < n && are_together(r, column, c); c = next_said(r, source, c)) {
		buf_puts(&piece, ",");
		put_piece(r, &line, &piece, out);
		buf_puts(&piece, " ");
		put_sum(r, c, &piece);
		last = c;
	}
	put_piece(r, &line, &piece, out);
	buf_puts(&piece, " (every one");
	if (*profile_column(r->profile, column)->collected_by)
		buf_puts(&piece, ", ");
	report_text_safe(&piece, profile_column(r->profile, column)->collected_by);
	buf_puts(&piece, ")");
	put_piece(r, &line, &piece, out);
	report_text_line(out, r, "  ", &line);
	return last;
}

/* How the parts of a whole were collected is said of each. */
static void put_alone(const struct report *r, size_t c, FILE *out)
{
	const struct profile_column *column = profile_column(r->profile, c);
	own(buf_fini) struct buf b = { 0 };
	char value[TEXT_MAX];

	if (is_whole(r, c))
		buf_printf(&b, "%s of %s, the sum of",
			   text_value(value, column->total_weight, column->unit),
			   column->name);
	else
		put_column(&b, r, column);
	report_text_line(out, r, column->whole == MODEL_NONE ? "  " : "    ", &b);
	if (waits_is_column(column))
		put_waits(r, c, out);
}

static void put_columns(const struct report *r, size_t source, FILE *out)
{
	size_t n = profile_n_columns(r->profile), last;

	for (size_t c = 0; c < n; c++) {
		if (!is_said(r, source, c))
			continue;
		last = put_together(r, source, c, out);
		if (last == c)
			put_alone(r, c, out);
		c = last;
	}
}

/* In one line, whatever scripts it is given: "python3 -c import os print(1)". */
static void put_command(struct buf *b, const char *command)
{
	own(freep) char *line = xstrdup(command);
	char *to = line;

	for (const char *s = command; *s; s++) {
		bool is_space = strchr(" \t\r\n", *s);

		if (!is_space)
			*to++ = *s;
		else if (to > line && to[-1] != ' ')
			*to++ = ' ';
	}
	*to = '\0';
	report_text_safe(b, line);
}

void report_head_subject(const struct report *r, size_t i, FILE *out)
{
	const struct recording *rec = profile_source(r->profile, i);
	const char *what = subject(rec);
	own(buf_fini) struct buf b = { 0 };

	report_text_source(r, i, &b);
	put_command(&b, what ? what : recording_path(rec));
	fputs(report_text_bold(true), out);
	report_text_line(out, r, "", &b);
	fputs(report_text_bold(false), out);
	put_circumstances(r, i, out);
}

void report_head_filter(const struct report *r, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };

	if (!r->filter)
		return;
	buf_puts(&b, "only where ");
	report_text_safe(&b, r->filter);
	report_text_line(out, r, "  ", &b);
}

/* Is the name one of those separated by commas before the colon? */
static bool lists(const char *unrecorded, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = unrecorded; at; at = *at == ',' ? at + 2 : NULL) {
		size_t length = strcspn(at, ",:");

		if (length == n && strncmp(at, name, n) == 0)
			return true;
		at += length;
	}
	return false;
}

const char *report_head_unrecorded(const struct report *r, const char *experiment)
{
	for (size_t i = 0; i < profile_n_sources(r->profile); i++) {
		const char *text =
			recording_info(profile_source(r->profile, i), "unrecorded");

		if (text && lists(text, experiment))
			return text;
	}
	return NULL;
}

void report_head_subjects(const struct report *r, FILE *out)
{
	for (size_t i = 0; i < profile_n_sources(r->profile); i++)
		report_head_subject(r, i, out);
	report_head_filter(r, out);
	fputc('\n', out);
}

void report_head_print(const struct report *r, FILE *out)
{
	for (size_t i = 0; i < profile_n_sources(r->profile); i++) {
		report_head_subject(r, i, out);
		put_columns(r, i, out);
	}
	report_head_filter(r, out);
	fputc('\n', out);
}

void report_head_function(const struct report *r, uint32_t function, FILE *out)
{
	const struct profile_function *f = profile_function(r->profile, function);
	own(buf_fini) struct buf line = { 0 }, where = { 0 };
	size_t room = r->width, used;

	if (*report_text_image(f)) {
		buf_puts(&where, "  in ");
		report_text_safe(&where, f->image);
	}
	if (f->decl_file) {
		buf_puts(&where, where.size ? ", " : "  in ");
		report_text_safe(&where, f->decl_file);
		if (f->decl_line)
			buf_printf(&where, ":%u", f->decl_line);
	}
	used = text_width(buf_str(&where));
	put_short(&line, f->name, used + LEAST_NAME < room ? room - used : LEAST_NAME);
	buf_puts(&line, buf_str(&where));
	report_text_line(out, r, "", &line);
}
