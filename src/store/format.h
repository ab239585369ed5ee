/* SPDX-License-Identifier: Apache-2.0
 *
 * format - the numbers of the .dwell container, as docs/format.md specifies them.
 *
 * A file header, then blocks that are each understood by themselves.  All of this is
 * stored: never renumber, never reuse.
 */
#ifndef DWELL_STORE_FORMAT_H
#define DWELL_STORE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

#define FORMAT_MAJOR	    1 /* other: the file cannot be read */
#define FORMAT_MINOR	    0 /* higher: there may be more than this reader knows */
#define FORMAT_HEADER_BYTES 16
#define FORMAT_MAGIC_BYTES  8

/* Limits that bound what a hostile file can make a reader do. */
#define FORMAT_BLOCK_MAX  (16u << 20) /* stored and raw bytes of one block */
#define FORMAT_ROWS_MAX	  (1u << 17)  /* rows of one columnar block */
#define FORMAT_PIECE_MAX  (1u << 20)  /* raw bytes of one piece of a blob */
#define FORMAT_RESYNC_MAX (64u << 20) /* how far a reader looks for the next block */

enum format_kind {
	FORMAT_INFO = 1,
	FORMAT_STRINGS = 2,
	FORMAT_IMAGES = 3,
	FORMAT_PROCESSES = 4,
	FORMAT_THREADS = 5,
	FORMAT_EVENTS = 6,
	FORMAT_TRACE_TYPES = 7,
	FORMAT_LOCATIONS = 8,
	FORMAT_STACKS = 9,
	FORMAT_MAPPINGS = 10,
	FORMAT_INTERVALS = 11,
	FORMAT_FACTS = 12,
	FORMAT_SAMPLES = 13,
	FORMAT_TRACES = 14,
	FORMAT_BLOBS = 15,
	FORMAT_BLOB_PIECE = 16,
	FORMAT_INDEX = 17,
	FORMAT_END = 18,
	FORMAT_BASIC_BLOCKS = 19,
	FORMAT_EDGES = 20,
	FORMAT_DIRECTIONS = 21,
	FORMAT_ACCESSES = 22,
	FORMAT_ANCHORS = 23,
	FORMAT_GAUGES = 24,
	FORMAT_ANCHOR_WAYS = 25,
	FORMAT_INTERIM = 26,
	FORMAT_SUMS_MARK = 27,
	FORMAT_N_KINDS
};

enum format_flag {
	FORMAT_ZSTD = 1,	 /* the payload is one zstd frame */
	FORMAT_MUST_KNOW = 0xff, /* a reader refuses blocks with other flags of these */
};

/* Columns of the columnar blocks. */
enum format_stack_column {
	STACK_COLUMN_DISTANCE = 0,
	STACK_COLUMN_LOCATION = 1,
	/* instead of the distance: how many callers of the row before are none of this */
	STACK_COLUMN_UP = 2,
};

enum format_location_column {
	LOCATION_COLUMN_IMAGE = 0,
	LOCATION_COLUMN_FLAGS = 1,
	LOCATION_COLUMN_OFFSET = 2,
};

enum format_sample_column { /* bit numbers of enum sample_column */
			    SAMPLE_COLUMN_TIME = 0,
			    SAMPLE_COLUMN_EVENT = 1,
			    SAMPLE_COLUMN_THREAD = 2,
			    SAMPLE_COLUMN_CPU = 3,
			    SAMPLE_COLUMN_STACK = 4,
			    SAMPLE_COLUMN_COUNT = 5,
			    SAMPLE_COLUMN_WEIGHT = 6,
			    SAMPLE_N_COLUMNS,
			    /* instead of the weight: that of one count */
			    SAMPLE_COLUMN_COUNT_WEIGHT = 7,
};

enum format_trace_column {
	TRACE_COLUMN_TIME = 0,
	TRACE_COLUMN_TYPE = 1,
	TRACE_COLUMN_THREAD = 2,
	TRACE_COLUMN_CPU = 3,
	TRACE_COLUMN_STACK = 4,
	TRACE_COLUMN_VALUE = 16, /* and one more for each further value */
};

enum format_basic_block_column {
	BASIC_BLOCK_COLUMN_PROCESS = 0,
	BASIC_BLOCK_COLUMN_LOCATION = 1,
	BASIC_BLOCK_COLUMN_SIZE = 2,
	BASIC_BLOCK_COLUMN_INSTRUCTIONS = 3,
	BASIC_BLOCK_COLUMN_END = 4,
	BASIC_BLOCK_COLUMN_TIMES = 5,
};

enum format_edge_column {
	EDGE_COLUMN_BLOCK = 0,
	EDGE_COLUMN_LOCATION = 1, /* id + 1, 0 none */
	EDGE_COLUMN_KIND = 2,
	EDGE_COLUMN_TIMES = 3,
};

enum format_anchor_column {
	ANCHOR_COLUMN_PROCESS = 0,
	ANCHOR_COLUMN_WINDOW = 1,
	ANCHOR_COLUMN_LOCATION = 2, /* id + 1, 0 none */
	ANCHOR_COLUMN_SIZE = 3,
	ANCHOR_COLUMN_TIMES = 4,
	ANCHOR_COLUMN_CPU = 5,
	ANCHOR_COLUMN_NEAR = 6,
};

enum format_anchor_way_column {
	ANCHOR_WAY_COLUMN_PROCESS = 0,
	ANCHOR_WAY_COLUMN_WINDOW = 1,
	ANCHOR_WAY_COLUMN_BEHIND = 2,
	ANCHOR_WAY_COLUMN_TO = 3, /* id + 1, 0 none */
	ANCHOR_WAY_COLUMN_TIMES = 4,
};

enum format_gauge_column {
	GAUGE_COLUMN_TIME = 0,
	GAUGE_COLUMN_PID = 1,
	GAUGE_COLUMN_WHAT = 2,
	GAUGE_COLUMN_VALUE = 3,
};

enum format_direction_column {
	DIRECTION_COLUMN_PROCESS = 0,
	DIRECTION_COLUMN_LOCATION = 1,
	DIRECTION_COLUMN_TO = 2, /* id + 1, 0 none */
	DIRECTION_COLUMN_TIMES = 3,
	DIRECTION_COLUMN_SAMPLES = 4,
	DIRECTION_COLUMN_MISSED = 5,
	DIRECTION_COLUMN_FORESEEN = 6,
};

enum format_access_column {
	ACCESS_COLUMN_PROCESS = 0,
	ACCESS_COLUMN_LOCATION = 1,
	ACCESS_COLUMN_WHAT = 2,
	ACCESS_COLUMN_VALUE = 3,
	ACCESS_COLUMN_TIMES = 4,
};

/* What a columnar block says about itself, so that nobody needs to decode it to know
 * whether it matters. */
struct format_summary {
	uint64_t n;		 /* rows */
	uint64_t from_ns, to_ns; /* of data blocks */
	uint64_t first;		 /* id of the first row of a dictionary block */
	/* Of blocks that hold one event, or the innermost frames (samples) or places
	 * (locations) of a range of images: ids + 1, 0 when nothing is said. */
	uint32_t event, first_image, last_image;
};

/* A block's place in the file, as the index has it. */
struct format_entry {
	uint64_t offset; /* of the block's header */
	uint32_t stored_size;
	uint32_t kind;		       /* enum format_kind */
	struct format_summary summary; /* zeros when found without an index */
};

void format_header_encode(uint8_t out[FORMAT_HEADER_BYTES]);
/* 0, or why this is no recording that can be read.  *ret_is_whole is false when the
 * magic is right but the checksum is not. */
must_use int format_header_check(const uint8_t *data, size_t size, int *ret_is_whole,
				 struct err *e);
const char *format_kind_name(unsigned kind);
/* Made by a code_batch. */
static inline bool format_is_code(unsigned kind)
{
	return kind >= FORMAT_BASIC_BLOCKS && kind <= FORMAT_ANCHOR_WAYS;
}
/* Of those, sums that belong to no time and to no run: databases keep them. */
static inline bool format_tells_of_instructions(unsigned kind)
{
	return kind == FORMAT_DIRECTIONS || kind == FORMAT_ACCESSES;
}

#endif
