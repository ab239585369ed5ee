/* SPDX-License-Identifier: Apache-2.0
 *
 * report_profile - a report command's options turned into a loaded profile.
 *
 * A command prints its rows between the head and the quality (report_text.h) or inside
 * the frame (report_json.h).
 */
#ifndef DWELL_CMD_REPORT_PROFILE_H
#define DWELL_CMD_REPORT_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/profile.h"
#include "analyze/quality.h"
#include "analyze/ranking.h"
#include "cmd/option.h"

struct report_database;

/* What a command's rows may be ordered by, and which of them are shown. */
struct report_rows {
	const char *const *orders; /* keys of --sort, NULL-terminated; the first is what
				    * is done without; NULL: --limit and the like are the
				    * command's own */
	size_t limit;	  /* rows in a text; JSON has all, unless --limit is given */
	double min_pct;	  /* --min in a text */
	bool is_compared; /* what is the same in several recordings is matched */
	bool is_of_code;  /* --model and --clock are for what the command computes of
			   * instructions: no column of ideal time, no calls */
	bool has_code;	  /* they are for that, too: counts need not be there */
	const char *experiment; /* whose events they are; NULL: all */
};

/* For what is_of_code and has no rows. */
extern const struct report_rows report_profile_of_code;

struct report {
	struct profile *profile;
	struct quality quality;
	struct sym_options sym;
	const char **events, **debug_dirs, **paths; /* NULL-terminated */
	size_t n_paths;
	char *newest;			  /* the file found when none was named */
	struct report_database *database; /* parts of databases among them, or NULL */
	const char *filter;
	bool json;
	unsigned width;

	/* The columns that tables have, those with nothing in them, those that are a part
	 * of another and unasked detail left out. */
	size_t *shown, n_shown;
	bool leaves_events_out; /* the function in question has nothing of them */

	/* of report_options_rows */
	struct ranking_options ranking; /* total is the command's to set */
	size_t sort_column;		/* without --sort the first that is shown */
	unsigned order;			/* index of report_rows.orders */
	bool has_order;			/* it was asked for */
	size_t n_late_rows;		/* the command's to set: no time for their code */
};

/* files: NULL-terminated, may be empty; rows: NULL for what has none. */
must_use int report_profile_open(const struct options *o, char *const *files,
				 const struct report_rows *rows, struct report *ret,
				 struct err *e);
void report_profile_close(struct report *r);

/* What was written is what could be read: an error that tells what could not.  Else 0,
 * which is EXIT_OK. */
must_use int report_profile_check_whole(const struct report *r, struct err *e);

/* Is it detail that nobody has asked for? */
bool report_profile_is_aside(const struct report *r, size_t column);

/* How often code was executed is in a recording, but not among the events chosen. */
bool report_profile_leaves_counts_out(const struct report *r);

/* --clock in GHz, if it is given. */
must_use int report_profile_clock(const struct options *o, double *ret, struct err *e);

/* Whether an operand names a recording rather than a function. */
bool report_profile_is_file(const char *operand);
/* The function meant by a name. */
struct report_function {
	uint32_t id;
	char others[400]; /* one line: what else matched, "" for nothing */
};

/* Of the columns that are shown those that are not empty beside it. */
void report_profile_show_events_of(struct report *r, uint32_t function);
must_use int report_profile_find_function(const struct report *r, const char *name,
					  struct report_function *ret, struct err *e);
/* report_profile_open() for a command about one function: its operands are that and the
 * recordings. */
must_use int report_profile_open_function(const struct options *o, const char *command,
					  const struct report_rows *rows,
					  struct report *ret, struct report_function *f,
					  struct err *e);

#endif
