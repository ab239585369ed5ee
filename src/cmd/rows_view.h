/* SPDX-License-Identifier: Apache-2.0
 *
 * rows_view - the report of an experiment as rows of one table.
 *
 * A command says in const tables what its rows are by, what they are ordered by and which
 * columns they have, and computes them; what is left is the same for all: order, limit
 * and totals, and texts (rows_text.c) and JSON (rows_json.c) of the same columns.
 */
#ifndef DWELL_CMD_ROWS_VIEW_H
#define DWELL_CMD_ROWS_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/vec.h"
#include "cmd/report_profile.h"

struct rows_view;

struct rows_word {
	struct buf text;
	unsigned depth;	   /* of what it is in, in a text */
	const char *after; /* it, in a text */
};

typedef uint64_t rows_number_fn(const struct rows_view *v, const void *row);

/* A number, unless it is one of the others. */
struct rows_column {
	const char *title;	/* in a text; NULL: it is in JSON alone */
	const char *key;	/* in JSON; NULL: it follows from the others */
	size_t at;		/* of a number or steps in a row */
	rows_number_fn *number; /* NULL: it is at that place */
	const char *unit;	/* NULL: the view's */
	bool is_name; /* what the row is; its title may be that of the kind of rows */
	void (*word)(const struct rows_view *v, const void *row, struct rows_word *ret);
	/* In a line above the row, which is left out where no column has any: what this
	 * row and the next ones are of. */
	void (*above)(const struct rows_view *v, const void *row, struct rows_word *ret);
	unsigned share; /* of the width, of names and words that may be cut */
	bool is_text;	/* it is cut at its end, not shortened as a name */
	bool is_steps;	/* struct power_steps: a histogram of the total in a text */
	/* In a text. */
	bool (*is_shown)(const struct rows_view *v, const struct rows_column *c);
	/* Keys and values of its own. */
	void (*json)(const struct rows_view *v, const void *row, struct json *j);
};

/* A word of --by. */
struct rows_by {
	const char *word, *title; /* title NULL: that of the name's column */
	unsigned key;		  /* what rows are ordered by, unless it is asked for */
};

/* A word of --sort.  The more the earlier. */
struct rows_key {
	const char *word;
	size_t at;
	rows_number_fn *number; /* NULL: at that place */
};

/* Rows that have a table of their own. */
struct rows_part {
	const char *title; /* NULL: none */
	const void *total; /* a row, or NULL where the kind has none */
	size_t first, n;   /* rows in their order */
};

struct rows_kind {
	const char *name;	   /* of the experiment */
	const char *subject;	   /* what its recordings have: "I/O" */
	const struct rows_by *bys; /* the first without --by; ended by one without word */
	/* Those alike are in the order of the first; ended likewise.  NULL: rows are in
	 * their order. */
	const struct rows_key *keys;
	const struct rows_column *columns; /* ended by one without title, key and json */
	const char *counted;		   /* in steps: "calls" */
	const char *nothing;		   /* instead of rows; NULL: the usual */
	bool has_total;			   /* parts have one, and the head none */
	/* Fills of, rows and parts. */
	int (*load)(struct rows_view *v, struct err *e);
	const char *(*row_name)(const struct rows_view *v, const void *row);
	/* Instead of the order by keys; NULL: there is none. */
	int (*compare)(const struct rows_view *v, const void *x, const void *y);
	/* All may be NULL: below a row, below all, lists behind that of the rows. */
	void (*note)(const struct rows_view *v, const void *row, struct buf *b);
	void (*text_below)(const struct rows_view *v, FILE *out);
	void (*json_behind)(const struct rows_view *v, struct json *j);
	/* By the profile's columns; NULL: they are the profile's. */
	const uint64_t *(*totals)(const struct rows_view *v);
};

struct rows_view {
	struct report report;
	const struct rows_kind *kind;
	void *of;    /* the command's own */
	unsigned by; /* index of the kind's */
	const struct rows_key *key;
	const char *unit; /* of numbers that have no other */
	const char *rows;
	size_t n, size; /* of each in bytes */
	size_t *order;
	VEC(struct rows_part) parts; /* none: there is nothing to show */
	size_t limit;		     /* rows of each part; 0: all */
	bool has_histogram;
};

extern const struct option_spec rows_view_options[];

/* The whole command: options, rows, a text or JSON, the error if not all was readable. */
must_use int rows_view_run(const struct rows_kind *kind, void *of,
			   const struct options *o, struct err *e);

/* For load().  The recordings have nothing of it: an error. */
must_use int rows_view_missing(const struct rows_view *v, struct err *e);
/* Takes rows, which are the command's, and puts them in order. */
void rows_view_take(struct rows_view *v, const void *rows, size_t n, size_t size);
/* The next n of them have a table; none if they have nothing. */
void rows_view_part(struct rows_view *v, const char *title, const void *total, size_t n);

/* Row i in the order. */
const void *rows_view_row(const struct rows_view *v, size_t i);
uint64_t rows_view_number(const struct rows_view *v, const struct rows_column *c,
			  const void *row);
/* Order by keys, then names. */
int rows_view_compare(const struct rows_view *v, const void *x, const void *y);
/* How many rows of a part are shown. */
size_t rows_view_shown(const struct rows_view *v, const struct rows_part *p);
bool rows_view_is_end(const struct rows_column *c);

void rows_text_print(const struct rows_view *v, FILE *out);
void rows_json_print(const struct rows_view *v, FILE *out);

#endif
