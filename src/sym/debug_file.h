/* SPDX-License-Identifier: Apache-2.0
 *
 * debug_file - the debug sections of one object and the units in them.
 *
 * DWARF 2 to 5, 32 and 64 bit.  A unit of a .dwo or .dwp borrows its addresses (and,
 * before DWARF 5, its ranges) from its skeleton.  Everything is checked against the
 * sections; nothing is trusted.  After debug_file_open() and debug_file_abbrevs() of
 * the units in question, reading is safe from several threads.
 */
#ifndef DWELL_SYM_DEBUG_FILE_H
#define DWELL_SYM_DEBUG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "sym/abbrev.h"
#include "sym/object.h"

enum debug_section {
	DEBUG_INFO,
	DEBUG_ABBREV,
	DEBUG_STR,
	DEBUG_LINE,
	DEBUG_LINE_STR,
	DEBUG_RANGES,
	DEBUG_RNGLISTS,
	DEBUG_ADDR,
	DEBUG_STR_OFFSETS,
	DEBUG_ARANGES,
	DEBUG_N_SECTIONS
};

struct debug_file;
struct line_files;

struct debug_unit {
	struct debug_file *file;
	uint64_t offset, end, root; /* in .debug_info: header, end, first entry */
	uint64_t abbrev_offset;
	uint64_t id; /* ties a skeleton to its split unit, 0 none */
	uint16_t version;
	bool is_partial; /* or a type unit: has no code */
	struct abbrev_sizes sizes;
	struct abbrev_table *abbrevs; /* by debug_file_abbrevs() */
	/* Of the root entry. */
	uint64_t low_pc, high_pc;
	uint64_t ranges;
	bool has_ranges, has_line, is_range_index;
	uint64_t line_offset;
	uint64_t addr_base, str_offsets_base, rnglists_base, ranges_base;
	const char *name, *directory, *split_name; /* NULL: none */
	/* Where the parts of a .dwp that belong to this unit begin. */
	uint64_t part[DEBUG_N_SECTIONS];
	struct debug_unit *skeleton; /* of a split unit */
	struct debug_unit *split;    /* of a skeleton, once found */
	bool is_split_tried;
	struct line_files *files; /* see line_files.h */
};

struct debug_file {
	struct object *object; /* borrowed, or owned when owns_object */
	bool owns_object, is_split;
	uint64_t code_start;
	struct object_bytes sections[DEBUG_N_SECTIONS];
	VEC(struct debug_unit) units; /* by offset; never grows after opening */
	struct debug_file *alternate; /* dwz, or NULL; owned */
	struct map abbrev_tables;     /* key of place and sizes -> table */
	size_t abbrev_bytes;	      /* parsed so far: tables may overlap in bad files */
};

/* alternate (NULL allowed) is taken over. */
struct debug_file *debug_file_open(struct object *o, bool owns_object,
				   struct debug_file *alternate);
/* The ".dwo" sections of an object, which is taken over. */
struct debug_file *debug_file_open_split(struct object *o);
void debug_file_free(struct debug_file *f);

/* Reads the root entry of a split unit, after its parts and skeleton are set. */
void debug_file_read_root(struct debug_unit *u);

/* The unit that contains an entry, or NULL. */
struct debug_unit *debug_file_unit(struct debug_file *f, uint64_t offset);
/* Makes unit->abbrevs; false when the file is too damaged for it. */
bool debug_file_abbrevs(struct debug_unit *u);
/* The unit's entries from an offset in .debug_info on. */
struct reader debug_file_entries(const struct debug_unit *u, uint64_t offset);
/* A terminated string of a section, or NULL. */
const char *debug_file_string(const struct debug_file *f, enum debug_section section,
			      uint64_t offset);

#endif
