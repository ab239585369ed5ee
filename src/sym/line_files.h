/* SPDX-License-Identifier: Apache-2.0
 *
 * line_files - the header of a unit's line number program: its directories and files,
 * and the parameters of the program.
 *
 * Owned by the unit.  Versions 2 to 5.
 */
#ifndef DWELL_SYM_LINE_FILES_H
#define DWELL_SYM_LINE_FILES_H

#include "base/buf.h"
#include "sym/debug_file.h"

struct line_file {
	const char *name;
	uint64_t directory;
	uint64_t memo;
};

struct line_files {
	const struct debug_unit *unit;
	uint16_t version;
	uint8_t min_length, max_ops, line_range, opcode_base;
	int8_t line_base;
	uint8_t operand_counts[256];
	struct abbrev_sizes sizes;
	VEC(const char *) directories;
	VEC(struct line_file) files;
	const uint8_t *program, *program_end;
	struct buf path; /* the last one that was asked */
};

/* Reads the header, once; NULL when the unit has none or it is damaged. */
struct line_files *line_files_open(struct debug_unit *u);
void line_files_free(struct line_files *f);
/* Path of a file number as the unit counts them: absolute if anything tells where,
 * without "." and ".." parts.  Valid until the next call; NULL: no such file. */
const char *line_files_path(struct line_files *f, uint64_t index, size_t *ret_n);
/* A place for the caller to remember what it made of a file, 0 at first. */
uint64_t *line_files_memo(struct line_files *f, uint64_t index);

#endif
