/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/heap_between.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

static const char *name_of(const struct recording *r, uint32_t interval)
{
	return recording_string(r, recording_interval(r, interval)->name);
}

static struct heap_bound end_of(const struct recording *r, uint32_t number)
{
	if (!number)
		return (struct heap_bound){ recording_interval(r, 0)->from_ns, 0, "" };
	return (struct heap_bound){ recording_interval(r, number - 1)->to_ns, number,
				    name_of(r, number - 1) };
}

/* Number of the first or the last interval that is called so; 0: none is. */
static uint32_t find_name(const struct recording *r, const char *text, bool is_last)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < recording_n_intervals(r) && (is_last || !found); i++)
		if (strcmp(name_of(r, i), text) == 0)
			found = i + 1;
	return found;
}

static int find_bound(const struct recording *r, const char *text, bool is_last,
		      struct heap_bound *ret, struct err *e)
{
	uint64_t number = *text ? find_name(r, text, is_last) : 0;
	uint32_t n = recording_n_intervals(r);
	char s[TEXT_MAX];

	if (!number && strcmp(text, "end") == 0)
		number = n;
	else if (!number && strcmp(text, "start") != 0 &&
		 (text_parse_u64(text, &number, NULL) < 0 || number > n))
		return err_set(e, ERR_USAGE,
			       "'%s' is no mark of %s, nor %s%s "
			       "('dwell global' lists them)",
			       text, recording_path(r),
			       n == 1 ? "its only interval" : "one of its ",
			       n == 1 ? "" : text_number(s, n, "intervals"));
	*ret = end_of(r, (uint32_t)number);
	return 0;
}

/* What has ended by itself is all before, cut or not. */
static bool has_ended(const struct recording *r, uint32_t process, uint64_t time_ns)
{
	const struct model_process *p = recording_process(r, process);

	return p && p->end_ns && p->end_ns <= time_ns;
}

/* The row of a process that begins the section in which intervals ended then without
 * being cut; NULL: its sums are cut then, or nothing happened. */
static const struct heap_row *find_uncut(const struct recording *r,
					 const struct heap_rows *rows, uint64_t time_ns)
{
	vec_each(x, &rows->of[HEAP_ROWS_CUTS]) {
		const struct heap_row *next = x + 1;
		bool is_last = next == rows->of[HEAP_ROWS_CUTS].at +
					       rows->of[HEAP_ROWS_CUTS].n ||
			       next->process != x->process;

		if (x->values[2] && x->time_ns < time_ns &&
		    (is_last ? !has_ended(r, x->process, time_ns)
			     : next->time_ns > time_ns))
			return x;
	}
	return NULL;
}

/* Those next to it at which the sums of all processes are cut. */
static uint32_t cut_before(const struct recording *r, const struct heap_rows *rows,
			   uint32_t number)
{
	while (number && find_uncut(r, rows, end_of(r, number).time_ns))
		number--;
	return number;
}

static uint32_t cut_behind(const struct recording *r, const struct heap_rows *rows,
			   uint32_t number)
{
	uint32_t n = recording_n_intervals(r);

	while (number < n && find_uncut(r, rows, end_of(r, number).time_ns))
		number++;
	return number;
}

static int check_cut(const struct recording *r, const struct heap_rows *rows,
		     const struct heap_bound *b, struct err *e)
{
	const struct model_interval *last =
		recording_interval(r, recording_n_intervals(r) - 1);

	if (b->time_ns >= last->to_ns || !find_uncut(r, rows, b->time_ns))
		return 0;
	return err_set(e, ERR_UNSUPPORTED,
		       "sums of this heap, of many places, are not cut at the end of "
		       "interval %u: take %u or %u, or marks",
		       b->number, cut_before(r, rows, b->number),
		       cut_behind(r, rows, b->number));
}

int heap_between_find(const struct recording *r, const struct heap_rows *rows,
		      const char *text, struct heap_between *ret, struct err *e)
{
	own(freep) char *from = xstrdup(text);
	char *comma = strrchr(from, ',');
	struct heap_between b;
	int rc;

	if (!comma)
		return err_set(e, ERR_USAGE,
			       "--between wants two marks or numbers of intervals, as in "
			       "warm,done");
	*comma = '\0';
	if (!recording_n_intervals(r))
		return err_set(e, ERR_UNSUPPORTED, "%s has no intervals",
			       recording_path(r));
	if (!rows->of[HEAP_ROWS_CUTS].n)
		return err_set(e, ERR_UNSUPPORTED,
			       "%s has no heap that is cut at marks: it was recorded by "
			       "an older dwell",
			       recording_path(r));
	rc = find_bound(r, from, false, &b.from, e);
	if (rc == 0)
		rc = find_bound(r, comma + 1, true, &b.to, e);
	if (rc == 0 && b.from.time_ns >= b.to.time_ns)
		rc = err_set(e, ERR_USAGE, "'%s' is not before '%s'", from, comma + 1);
	if (rc == 0)
		rc = check_cut(r, rows, &b.from, e);
	if (rc == 0)
		rc = check_cut(r, rows, &b.to, e);
	if (rc == 0)
		*ret = b;
	return rc;
}

struct heap_held heap_between_held(const struct heap_rows *rows,
				   const struct heap_process *process, uint64_t time_ns)
{
	vec_each(x, &rows->of[HEAP_ROWS_CUTS])
		if (x->process == process->process && x->time_ns >= time_ns)
			return (struct heap_held){ x->values[0], x->values[1] };
	return (struct heap_held){ process->facts[HEAP_FACT_LEFT],
				   process->facts[HEAP_FACT_LEFT_BLOCKS] };
}
