/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/heap_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/heap_facts.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/heap_frames.h"
#include "cmd/heap_timeline_view.h"
#include "cmd/report_head.h"
#include "cmd/report_json.h"
#include "cmd/report_quality.h"
#include "cmd/report_text.h"
#include "cmd/report_value.h"

#define MANY_PROCESSES 5
#define MANY_UNTOLD    3

static uint64_t greatest(const struct profile *p, enum heap_fact fact)
{
	uint64_t most = 0;

	for (size_t i = 0; i < profile_n_sources(p); i++) {
		struct heap_processes processes = { 0 };

		heap_facts_load(&processes, profile_source(p, i));
		vec_each(x, &processes.all)
			if (x->facts[fact] > most)
				most = x->facts[fact];
		heap_facts_fini(&processes);
	}
	return most;
}

int heap_view_load(struct heap_view *v, struct err *e)
{
	const struct profile *p = v->report->profile;
	const char *why = report_head_unrecorded(v->report, "heap");
	size_t column = heap_places_column(p, v->table->order);

	if (column == SIZE_MAX &&
	    heap_places_column(p, heap_tables[0]->order) != SIZE_MAX)
		return err_set(e, ERR_UNSUPPORTED,
			       "%s has no %s: it was recorded by an older dwell",
			       v->report->paths[0], v->table->order);
	if (column == SIZE_MAX && why)
		return err_set(e, ERR_UNSUPPORTED, "%s has no heap (not recorded: %s)",
			       v->report->paths[0], why);
	if (column == SIZE_MAX)
		return err_set(e, ERR_UNSUPPORTED,
			       "%s has no heap: record with 'dwell run -e heap'",
			       v->report->paths[0]);
	v->sample_bytes = greatest(p, HEAP_FACT_SAMPLE);
	v->is_so_far = greatest(p, HEAP_FACT_LOOKED) >= HEAP_FACTS_VISITED;
	v->rows = xcalloc(profile_n_sources(p), sizeof(*v->rows));
	for (size_t i = 0; i < profile_n_sources(p); i++) {
		int rc = heap_rows_load(&v->rows[i], profile_source(p, i), e);

		if (rc < 0)
			return rc;
	}
	return heap_places_load(&v->places, p, column, v->limit, e);
}

void heap_view_fini(struct heap_view *v)
{
	for (size_t i = 0; v->rows && i < profile_n_sources(v->report->profile); i++)
		heap_rows_fini(&v->rows[i]);
	free(v->rows);
	heap_places_fini(&v->places);
}

/* A block that is taken with probability p adds size / p, with a variance of less than
 * size / p times the bytes for each block. */
void heap_view_put_error(const struct heap_view *v, uint64_t bytes, struct buf *b)
{
	char s[TEXT_MAX];
	double error = sqrt((double)v->sample_bytes * (double)bytes);

	if (v->sample_bytes && bytes)
		buf_printf(b, " ± %s", text_pct(s, error, (double)bytes));
}

/* Processes. */

static void put_left(const struct heap_process *x, struct buf *b)
{
	/* By enum heap_facts_looked. */
	static const char *const why_not[HEAP_FACTS_N_LOOKED] = {
		[2] = "it did not end by itself",
		[3] = "it is a forked child",
		[4] = "not all blocks are observed",
		[5] = "not all blocks were observed",
		[6] = "its memory could not be read",
		[HEAP_FACTS_VISITED] = "it ran before it was observed",
		[HEAP_FACTS_WENT_ON] = "the recorder was killed before it ended",
	};
	static const struct {
		enum heap_fact fact;
		const char *what;
	} parts[] = { { HEAP_FACT_LOST, "lost" },
		      { HEAP_FACT_INDIRECTLY, "lost with others" },
		      { HEAP_FACT_POSSIBLY, "possibly lost" } };
	uint64_t looked = x->facts[HEAP_FACT_LOOKED], n = 0;
	char s[TEXT_MAX];

	buf_printf(b, ", %s %s", text_size(s, x->facts[HEAP_FACT_LEFT]),
		   looked >= HEAP_FACTS_VISITED ? "not given back so far"
						: "never given back");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (x->facts[parts[i].fact + 1])
			buf_printf(b, "%s%s %s", n++ ? ", " : ", of which ",
				   text_size(s, x->facts[parts[i].fact]), parts[i].what);
	if (looked == HEAP_FACTS_LOOKED && !n)
		buf_puts(b, ", all of it still pointed to");
	if (looked < HEAP_FACTS_N_LOOKED && why_not[looked])
		buf_printf(b, " (lost or not: not known, as %s)", why_not[looked]);
}

static void put_process(const struct heap_view *v, size_t source,
			const struct heap_process *x, FILE *out)
{
	const struct recording *rec = profile_source(v->report->profile, source);
	const struct model_process *process = recording_process(rec, x->process);
	own(buf_fini) struct buf b = { 0 };
	char s[TEXT_MAX];

	report_text_safe(&b, recording_string(rec, process->comm));
	buf_printf(&b, " (%u): peak %s", process->pid,
		   text_size(s, x->facts[HEAP_FACT_PEAK]));
	buf_printf(&b, " in %s",
		   text_number(s, x->facts[HEAP_FACT_PEAK_BLOCKS], "blocks"));
	if (x->facts[HEAP_FACT_PEAK_TIME] > process->start_ns)
		buf_printf(&b, " after %s",
			   text_duration(s, x->facts[HEAP_FACT_PEAK_TIME] -
						    process->start_ns));
	buf_printf(&b, "; %s",
		   text_number(s, x->facts[HEAP_FACT_ALLOCATIONS], "allocations"));
	buf_printf(&b, " of %s", text_size(s, x->facts[HEAP_FACT_ALLOCATED]));
	if (x->facts[HEAP_FACT_LEFT_BLOCKS])
		put_left(x, &b);
	else
		buf_puts(&b, ", all given back");
	if (x->facts[HEAP_FACT_SAMPLE]) {
		buf_printf(&b, "; estimated from a block for each %s",
			   text_size(s, x->facts[HEAP_FACT_SAMPLE]));
		heap_view_put_error(v, x->facts[HEAP_FACT_ALLOCATED], &b);
	}
	if (x->facts[HEAP_FACT_MAPPINGS])
		buf_printf(&b, "; up to %s mapped by itself",
			   text_size(s, x->facts[HEAP_FACT_MAPPED_PEAK]));
	report_text_labelled(v->report, "process", &b, out);
}

static bool is_told(const struct heap_processes *h, uint32_t process)
{
	vec_each(x, &h->all) {
		if (x->process == process)
			return true;
	}
	return false;
}

/* Those that ran when the recorder was killed: what a process did is written when it
 * ends.  How many; the names of the first. */
static size_t list_untold(const struct recording *rec, struct buf *names)
{
	struct heap_processes told = { 0 };
	size_t n = 0;

	heap_facts_load(&told, rec);
	for (uint32_t i = 0;
	     !recording_is_complete(rec) && i < recording_n_processes(rec); i++) {
		const struct model_process *process = recording_process(rec, i);

		if (process->end_ns || is_told(&told, i) || n++ >= MANY_UNTOLD)
			continue;
		buf_puts(names, n > 1 ? ", " : "");
		report_text_safe(names, recording_string(rec, process->comm));
		buf_printf(names, " (%u)", process->pid);
	}
	heap_facts_fini(&told);
	return n;
}

static void put_untold(const struct heap_view *v, size_t source, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };
	size_t n = list_untold(profile_source(v->report->profile, source), &b);

	if (!n)
		return;
	if (n > MANY_UNTOLD)
		buf_printf(&b, " and %zu more", n - MANY_UNTOLD);
	buf_puts(&b, ": had not ended when the recorder did, and what they did until "
		     "then was not written");
	report_text_labelled(v->report, "not known", &b, out);
}

/* What is known of them nevertheless is of a moment. */
static void put_interim(const struct heap_view *v, size_t source, FILE *out)
{
	const struct recording *rec = profile_source(v->report->profile, source);
	const char *start = recording_info(rec, "start-monotonic-ns");
	own(buf_fini) struct buf b = { 0 };
	uint64_t start_ns = start ? strtoull(start, NULL, 10) : 0, time_ns, next_ns;
	char s[TEXT_MAX];

	if (!recording_has_interim(rec, &time_ns, &next_ns) || time_ns < start_ns ||
	    next_ns < time_ns)
		return;
	buf_printf(&b,
		   "the recorder was killed: of what had not ended, the heap as of "
		   "%s",
		   text_duration(s, time_ns - start_ns));
	buf_printf(&b, ", at most about %s before that",
		   text_duration(s, next_ns - time_ns));
	report_text_labelled(v->report, "so far", &b, out);
}

static bool has_untold(const struct heap_view *v)
{
	const struct profile *p = v->report->profile;
	own(buf_fini) struct buf names = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < profile_n_sources(p); i++)
		n += list_untold(profile_source(p, i), &names);
	return n > 0;
}

void heap_view_print_processes(const struct heap_view *v, size_t source, FILE *out)
{
	struct heap_processes processes = { 0 };
	size_t n = 0;

	heap_facts_load(&processes, profile_source(v->report->profile, source));
	vec_each(x, &processes.all) {
		if (n++ < MANY_PROCESSES)
			put_process(v, source, x, out);
	}
	if (n > MANY_PROCESSES)
		fprintf(out, "  … %zu more, with smaller peaks\n", n - MANY_PROCESSES);
	put_interim(v, source, out);
	put_untold(v, source, out);
	heap_facts_fini(&processes);
}

/* Places. */

static uint64_t value_of(const struct heap_view *v, const struct heap_place *place,
			 const char *event)
{
	size_t column = heap_places_column(v->report->profile, event);

	return column == SIZE_MAX ? 0 : place->values[column];
}

static const char *unit_of(const struct heap_view *v, const char *event)
{
	size_t column = heap_places_column(v->report->profile, event);

	return column == SIZE_MAX ? "count"
				  : profile_column(v->report->profile, column)->unit;
}

/* 0: there is none of what the column is about, as no block was given back that could
 * have lived for some time. */
static uint64_t divisor(const struct heap_view *v, const struct heap_place *place,
			size_t column)
{
	const char *per = v->table->columns[column].per;
	const char *less = v->table->columns[column].less;
	uint64_t n = per ? value_of(v, place, per) : 1;
	uint64_t taken = less ? value_of(v, place, less) : 0;

	return n > taken ? n - taken : 0;
}

static void put_values(const struct heap_view *v, const struct heap_place *place,
		       FILE *out)
{
	own(buf_fini) struct buf b = { 0 };
	char s[TEXT_MAX];

	buf_printf(&b, "%s", text_pct(s, (double)place->weight, (double)v->places.total));
	if (v->table->estimated)
		heap_view_put_error(v, value_of(v, place, v->table->estimated), &b);
	for (size_t i = 0; i < HEAP_TABLE_COLUMNS && v->table->columns[i].title; i++) {
		const char *event = v->table->columns[i].event;
		uint64_t value = value_of(v, place, event), n = divisor(v, place, i);

		if (v->table->columns[i].is_seldom && !value)
			continue;
		buf_printf(&b, "  %s %s", v->table->columns[i].title,
			   n ? text_value(s, value / n, unit_of(v, event)) : "–");
	}
	fputs(report_text_bold(true), out);
	report_text_line(out, v->report, "", &b);
	fputs(report_text_bold(false), out);
}

static void put_place(const struct heap_view *v, const struct heap_place *place,
		      FILE *out)
{
	put_values(v, place, out);
	heap_frames_print(v->report, place->frames, place->n_frames, v->depth, out);
}

static void put_rest(const struct heap_view *v, FILE *out)
{
	const struct heap_places *h = &v->places;
	char s[TEXT_MAX], places[TEXT_MAX];

	if (h->n_found > h->all.n)
		fprintf(out, "… %s with %s\n",
			text_number(places, h->n_found - h->all.n, "more places"),
			text_pct(s, (double)(h->total - h->shown), (double)h->total));
}

static void print_places(const struct heap_view *v, FILE *out)
{
	const struct heap_table *t = v->table;
	char s[TEXT_MAX];

	fprintf(out, "\n%s: %s, by place, callers below\n\n",
		v->is_so_far && t->title_so_far ? t->title_so_far : t->title,
		text_value(s, v->places.total, unit_of(v, v->table->order)));
	vec_each(place, &v->places.all)
		put_place(v, place, out);
	put_rest(v, out);
}

static int print_whole(const struct heap_view *v, FILE *out, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < profile_n_sources(v->report->profile) && rc == 0; i++) {
		own(buf_fini) struct buf title = { 0 };

		report_text_source(v->report, i, &title);
		fprintf(out, "\n%s%s", buf_str(&title), v->table->title);
		rc = v->table->print(v, i, out, e);
	}
	return rc;
}

/* What a process has done is written when it ends. */
static bool was_lost(const struct heap_view *v)
{
	const struct profile *p = v->report->profile;
	bool was = false;

	for (size_t i = 0; i < v->report->quality.n_sources; i++)
		was |= v->report->quality.sources[i].lost_samples != 0;
	for (size_t i = 0; i < profile_n_sources(p); i++)
		was |= recording_damage(profile_source(p, i)) != NULL;
	return was;
}

/* Of the blocks that the table is of.  Where none was sampled no process tells it. */
static bool was_sampled(const struct heap_view *v)
{
	const struct profile *p = v->report->profile;

	for (size_t i = 0; i < profile_n_columns(p); i++) {
		const struct profile_column *c = profile_column(p, i);
		const struct model_event *ev =
			recording_event(profile_source(p, c->source), c->event);

		if (strcmp(c->name, v->table->order) == 0 && ev &&
		    !(ev->flags & EVENT_EXACT))
			return true;
	}
	return false;
}

static const char *what_of_nothing(const struct heap_view *v)
{
	if (was_sampled(v))
		return "None of the blocks that were sampled; of others nothing is "
		       "known.";
	if (v->table->has == HEAP_FACT_LEFT_BLOCKS &&
	    !greatest(v->report->profile, HEAP_FACT_ALLOCATIONS))
		return "Nothing was allocated.";
	return v->table->nothing;
}

/* No place has any, which may be so as places were lost. */
static void print_nothing(const struct heap_view *v, FILE *out)
{
	const struct profile *p = v->report->profile;
	bool is_known = greatest(p, HEAP_FACT_ALLOCATIONS) || !was_lost(v);

	fputc('\n', out);
	if (v->report->filter)
		report_text_nothing(v->report, out);
	else if (greatest(p, v->table->has))
		fputs("Where is not known: the places are not in the recording.\n", out);
	else if (!is_known)
		fputs("Not known: the places are not in the recording.\n", out);
	else
		fprintf(out, "%s%s\n",
			has_untold(v) ? "Of the processes that had ended: " : "",
			what_of_nothing(v));
}

int heap_view_print(const struct heap_view *v, FILE *out, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < profile_n_sources(v->report->profile); i++) {
		report_head_subject(v->report, i, out);
		heap_view_print_processes(v, i, out);
	}
	report_head_filter(v->report, out);
	if (!v->places.all.n)
		print_nothing(v, out);
	else if (v->table->print)
		rc = print_whole(v, out, e);
	else
		print_places(v, out);
	report_quality_print(v->report, out);
	return rc;
}

static void json_process(const struct heap_view *v, struct json *j, size_t source,
			 const struct heap_process *x)
{
	const struct recording *rec = profile_source(v->report->profile, source);
	const struct model_process *process = recording_process(rec, x->process);
	uint64_t time_ns, next_ns;

	json_object(j);
	json_key_str(j, "command", recording_string(rec, process->comm));
	json_key_u64(j, "pid", process->pid);
	json_key_u64(j, "source", source);
	json_key_u64(j, "process", x->process);
	/* Its last word may be there before it is said that it has ended. */
	if (!process->end_ns && x->facts[HEAP_FACT_LOOKED] >= HEAP_FACTS_VISITED &&
	    recording_has_interim(rec, &time_ns, &next_ns))
		json_key_u64(j, "as_of_ns", time_ns);
	for (int i = 0; i < HEAP_FACT_N; i++)
		json_key_u64(j, heap_facts_name((enum heap_fact)i), x->facts[i]);
	json_object_end(j);
}

/* Closes the list before. */
static void json_rows(const struct heap_view *v, struct json *j, enum heap_rows_kind kind)
{
	static const char *const keys[HEAP_ROWS_N] = { "sizes", "lifetimes", "course",
						       "cuts" };
	const char *const *names = heap_rows_names(kind);

	json_array_end(j);
	json_key(j, keys[kind]);
	json_array(j);
	for (size_t i = 0; i < profile_n_sources(v->report->profile); i++)
		vec_each(x, &v->rows[i].of[kind]) {
			json_object(j);
			json_key_u64(j, "source", i);
			if (kind == HEAP_ROWS_COURSE || kind == HEAP_ROWS_CUTS) {
				json_key_u64(j, "process", x->process);
				json_key_u64(j, "time_ns", x->time_ns);
			}
			for (unsigned k = 0; names[k]; k++)
				json_key_u64(j, names[k], x->values[k]);
			json_object_end(j);
		}
}

/* Behind the rows are lists of their own: each closes the one before, and the end of the
 * report the last. */
int heap_view_json(const struct heap_view *v, FILE *out, struct err *e)
{
	struct json j;
	int rc;

	report_json_begin(&j, v->report, "heap", out);
	vec_each(place, &v->places.all) {
		json_object(&j);
		report_json_values(&j, v->report, "exclusive", place->values);
		heap_frames_json(v->report, &j, place->frames, place->n_frames);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_key(&j, "processes");
	json_array(&j);
	for (size_t i = 0; i < profile_n_sources(v->report->profile); i++) {
		struct heap_processes processes = { 0 };

		heap_facts_load(&processes, profile_source(v->report->profile, i));
		vec_each(x, &processes.all)
			json_process(v, &j, i, x);
		heap_facts_fini(&processes);
	}
	for (int kind = 0; kind < HEAP_ROWS_N; kind++)
		json_rows(v, &j, (enum heap_rows_kind)kind);
	json_array_end(&j);
	rc = heap_timeline_view_json(v, &j, e);
	report_json_end(&j, v->report);
	return rc;
}
