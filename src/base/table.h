/* SPDX-License-Identifier: Apache-2.0
 *
 * table - rows and columns printed for a terminal of a given width.
 *
 * Numbers are right-aligned, elastic columns take what is left, the widest giving way
 * first, and are cut in the middle with an ellipsis.  Cells are copied and made
 * printable.  Colour only when asked for.  A separator row prints a rule.
 */
#ifndef DWELL_BASE_TABLE_H
#define DWELL_BASE_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum table_align { TABLE_LEFT, TABLE_RIGHT };

struct table_column {
	const char *title; /* "\n" splits it over two header lines */
	enum table_align align;
	bool is_elastic;
	unsigned min_width; /* of an elastic one: when it must give way; 0: the usual */
};

struct table_style {
	unsigned width; /* columns of the terminal; 0: unlimited */
	bool colour;
	bool no_header;
};

struct table;

struct table *table_new(const struct table_column *columns, unsigned n);
void table_free(struct table *t);
void table_freep(struct table **t);
void table_row(struct table *t); /* begin the next row */
void table_cell(struct table *t, const char *text);
void table_cellf(struct table *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void table_strong(struct table *t); /* the row just begun is shown bold */
/* The last cell of the row just begun goes on in lines that begin with `lead`, as wide as
 * what it begins with itself, instead of being cut.  Borrowed. */
void table_continue(struct table *t, const char *lead);
/* Text below the row, from a column on to the width, in as many lines as it takes. */
void table_note(struct table *t, unsigned column, const char *text);
void table_rule(struct table *t);
void table_print(const struct table *t, const struct table_style *style, FILE *out);

#endif
