/* SPDX-License-Identifier: Apache-2.0
 *
 * exporter - a profile in another tool's format.
 *
 * Each format is one file that exports one const struct, and one line in
 * exporters.def; no format name appears anywhere else.
 */
#ifndef DWELL_EXPORT_EXPORTER_H
#define DWELL_EXPORT_EXPORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analyze/profile.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"

struct quality;

struct export_options {
	size_t column;	   /* the event, for formats that hold one */
	bool has_column;   /* false: all events where the format can, else the first */
	const char *title; /* or NULL */
	const struct quality *quality; /* what the profile lacks, or NULL */
};

/* Where a format of several files writes them. */
struct export_sink {
	/* A new file; the caller closes it.  The name holds no slash. */
	int (*open)(struct export_sink *s, const char *name, FILE **ret, struct err *e);
	/* What is in none of the files and why: a line for the user. */
	void (*leave_out)(struct export_sink *s, const char *text);
	/* What to know of what is in them: the same. */
	void (*tell)(struct export_sink *s, const char *text);
};

/* Has one of write and write_files. */
struct exporter {
	const char *name, *suffix, *mime, *summary;
	bool is_binary;
	bool is_one_event; /* a file holds one event */
	bool is_exact; /* samples are not enough: the event counts every instruction */
	/* Writes to out and leaves it open.  A profile without columns is written as
	 * an empty file of the format. */
	int (*write)(const struct profile *p, const struct export_options *o, FILE *out,
		     struct err *e);
	/* For a format of several files, whose names are its own; without columns there
	 * is none. */
	int (*write_files)(const struct profile *p, const struct export_options *o,
			   struct export_sink *sink, struct err *e);
};

/* NULL-terminated, in the order of exporters.def. */
extern const struct exporter *const exporters[];

const struct exporter *exporter_find(const char *name); /* NULL: none */

/* Why the format cannot tell this. */
must_use int exporter_check(const struct exporter *x, const struct profile *p,
			    const struct export_options *o, struct err *e);
/* The columns that a format for several events writes: [*first, *first + n). */
size_t exporter_columns(const struct profile *p, const struct export_options *o,
			size_t *first);
/* The event's name, with the recording's when another recording has that event too. */
const char *exporter_column_label(const struct profile *p, size_t column,
				  struct buf *text);
/* The title asked for, else what was recorded. */
const char *exporter_title(const struct profile *p, const struct export_options *o);
/* What a failed write to the stream becomes; 0 when none failed. */
must_use int exporter_finish(FILE *out, struct err *e);

#endif
