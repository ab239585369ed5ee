/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_view - the report of dwell heap: processes, then places by one of the views.
 */
#ifndef DWELL_CMD_HEAP_VIEW_H
#define DWELL_CMD_HEAP_VIEW_H

#include <stdint.h>
#include <stdio.h>

#include "analyze/heap_facts.h"
#include "analyze/heap_places.h"
#include "analyze/heap_rows.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"
#include "cmd/report_profile.h"

#define HEAP_TABLE_COLUMNS 5

struct heap_view;

/* A view: what places are ordered by, and what is shown of each; or what else is. */
struct heap_table {
	const char *name, *title;
	const char *title_so_far; /* of processes that go on perhaps; NULL: the same */
	const char *order;	  /* event */
	const char *estimated;	  /* event, in bytes, that tells the error where blocks
				   * were sampled; NULL: every one was observed */
	const char *nothing;	  /* said when no place has any */
	enum heap_fact has;	  /* of a process that has some */
	/* Of a recording; NULL: places. */
	int (*print)(const struct heap_view *v, size_t source, FILE *out, struct err *e);
	size_t limit; /* rows where nothing is said; 0: as of places */
	struct {
		const char *title, *event;
		const char *per;       /* the event that it is divided by, or NULL */
		const char *less;      /* an event that is taken from that, or NULL */
		bool is_seldom;	       /* it is not shown of places that have none */
	} columns[HEAP_TABLE_COLUMNS]; /* the first is that of the order */
};

/* The first is what is shown without being asked for; NULL-terminated. */
extern const struct heap_table *const heap_tables[];

struct heap_view {
	const struct report *report;
	const struct heap_table *table;
	size_t limit, depth;   /* 0: all */
	uint64_t sample_bytes; /* for each block observed, at most; 0: all were */
	bool is_so_far;	       /* there are processes that go on perhaps */
	struct heap_places places;
	struct heap_rows *rows; /* of each recording */
};

must_use int heap_view_load(struct heap_view *v, struct err *e);
void heap_view_fini(struct heap_view *v);
/* Where blocks were sampled: the standard error of an estimate of that many bytes, at
 * most. */
void heap_view_put_error(const struct heap_view *v, uint64_t bytes, struct buf *b);
/* Of a recording, what was observed of each. */
void heap_view_print_processes(const struct heap_view *v, size_t source, FILE *out);
must_use int heap_view_print(const struct heap_view *v, FILE *out, struct err *e);
must_use int heap_view_json(const struct heap_view *v, FILE *out, struct err *e);

#endif
