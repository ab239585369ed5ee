/* SPDX-License-Identifier: Apache-2.0
 *
 * row_table - all unwind rules of a file as one sorted array of 16-byte rows.
 *
 * For whoever cannot interpret call frame instructions: BPF programs look rows up in
 * kernel maps.  Everywhere a lookup gives what the interpretation of the file's tables
 * gives.  Immutable once built.
 */
#ifndef DWELL_UNWIND_ROW_TABLE_H
#define DWELL_UNWIND_ROW_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "unwind/cfa_row.h"

struct row_table;
struct unwind_image;

must_use int row_table_build(const struct unwind_image *image, struct row_table **ret,
			     struct err *e);
/* From rows of the caller's (copied), in ascending order of pc. */
must_use int row_table_new(enum unwind_arch arch, uint64_t base,
			   const struct cfa_row *rows, size_t n, struct row_table **ret,
			   struct err *e);
void row_table_free(struct row_table *t);
void row_table_freep(struct row_table **t);

enum unwind_arch row_table_arch(const struct row_table *t);
/* The rows, each in force from base + pc to the next; what is behind the last is
 * CFA_ROW_NONE. */
const struct cfa_row *row_table_rows(const struct row_table *t, size_t *ret_n);
uint64_t row_table_base(const struct row_table *t);

/* The row in force at a vaddr; never NULL. */
const struct cfa_row *row_table_find(const struct row_table *t, uint64_t vaddr);

#endif
