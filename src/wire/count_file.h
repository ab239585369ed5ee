/* SPDX-License-Identifier: Apache-2.0
 *
 * count_file - what the counting engine leaves behind of one process.
 *
 * A sparse file that the engine maps and writes as it goes, so that all of it is there
 * whatever ends the process.  Code is kept as blocks in the order in which they were
 * translated.  Not every way between blocks has a counter: those without one form a
 * forest, so that what flows into each block and out of it tells them all.
 *
 * Where functions are chosen, a block is there once for each nest that it was executed
 * in: which of them the thread was in, one within the other.  Nest 0 is in none.  Blocks
 * and ways are of one nest; from one to another leads what enters a chosen function, as a
 * block without instructions, and a return, which leads out of all code.
 *
 * The header's numbers are written after what they number, and nothing of it but counters
 * changes afterwards.  So the child of a fork has its parent's tables as they were: what
 * they begin with stays in the parent's file, and the child's has a hole there.
 */
#ifndef DWELL_WIRE_COUNT_FILE_H
#define DWELL_WIRE_COUNT_FILE_H

#include <stdint.h>

#define COUNT_FILE_MAGIC   0x31746e756f637764ULL /* "dwcount1" */
#define COUNT_FILE_VERSION 3

/* Where things are in the file, and how many fit. */
#define COUNT_FILE_IMAGES_OFF	0x0000010000ULL
#define COUNT_FILE_IMAGES_BYTES 0x0001ff0000ULL
#define COUNT_FILE_BLOCKS_OFF	0x0002000000ULL
#define COUNT_FILE_BLOCKS_MAX	0x400000u
#define COUNT_FILE_PAIRS_OFF	0x0020000000ULL
#define COUNT_FILE_PAIRS_MAX	0x400000u
#define COUNT_FILE_RETURNS_OFF	0x0028000000ULL
#define COUNT_FILE_RETURNS_MAX	0x400000u
#define COUNT_FILE_EXTRAS_OFF	0x0030000000ULL
#define COUNT_FILE_EXTRAS_MAX	0x400000u
#define COUNT_FILE_COUNTERS_OFF 0x0040000000ULL
#define COUNT_FILE_NO_IMAGE	0xffffffffu /* as a block's: there was no room */
/* Threads have theirs one behind the other; what is before them is the engine's.  Number
 * 0 is none: there is the block whose system call the thread is in, or was in when it was
 * ended, 0: none. */
#define COUNT_FILE_CALL		0
#define COUNT_FILE_THREAD_BYTES 0x2000000ULL
#define COUNT_FILE_THREAD_SKIP	0x21000ULL
#define COUNT_FILE_THREADS_MAX	0x2800u
#define COUNT_FILE_COUNTERS_MAX 0x3f0000u
#define COUNT_FILE_BYTES                                                                 \
	(COUNT_FILE_COUNTERS_OFF + COUNT_FILE_THREADS_MAX * COUNT_FILE_THREAD_BYTES)
/* Of a file that the file system had no room for.  One without any was not begun. */
#define COUNT_FILE_FULL_BYTES 1ULL

/* More than the engine reserves of addresses, this file above all, and more of them than
 * are private memory that can be written. */
#define COUNT_FILE_LEAST_SPACE (1ULL << 39)
#define COUNT_FILE_LEAST_DATA  (1ULL << 36)

#define COUNT_FILE_NAME_BYTES	 16 /* with the final 0 */
#define COUNT_FILE_FUNCTIONS_MAX 16 /* to choose */
#define COUNT_FILE_NESTS_MAX	 128

struct count_file_nest {
	uint64_t entry;	   /* the address at which it was entered first ... */
	uint32_t image;	   /* ... and what was there, as blocks name it */
	uint16_t parent;   /* nest that it is within, a lower number */
	uint16_t function; /* by the order in which they were chosen */
};

/* Which file: names are used again, at another time. */
struct count_file_id {
	uint64_t time_ns; /* of its begin, by the clock that never goes back */
	uint32_t pid;	  /* its name ... */
	uint32_t number, part;
	uint32_t pad;
};

/* Further ones have all of their tables. */
#define COUNT_FILE_DEPTH_MAX 32

/* What is in the parent's: so much of each table, from its begin. */
struct count_file_base {
	struct count_file_id id; /* time_ns 0: it is no child's, or the parent had none */
	uint32_t images_bytes, n_blocks, n_pairs, n_returns;
};

struct count_file_header {
	uint64_t magic;
	uint32_t version;
	uint32_t pid, parent_pid;
	uint32_t images_bytes; /* used */
	uint32_t n_blocks, n_pairs, n_returns, n_extras;
	uint32_t n_counters;		  /* used of each thread's, 0 included */
	uint32_t n_threads;		  /* so many sets of counters there are */
	char name[COUNT_FILE_NAME_BYTES]; /* of the program, as the kernel has it */
	uint64_t n_lost;  /* entries that had no room here, children without a file */
	uint32_t n_nests; /* 0 included */
	uint32_t is_cut;  /* the file system was full: what came then is not here */
	struct count_file_nest nests[COUNT_FILE_NESTS_MAX];
	uint64_t pid_namespace; /* of the ids, by its inode; 0: not known */
	struct count_file_id id;
	struct count_file_base base;
	uint32_t n_forks; /* children that may refer to this one */
	uint32_t depth;	  /* of bases, one in the other: 0 without one */
	uint32_t is_left; /* the process went on natively: what it did then is not here */
	uint32_t pad;
};

/* Follows another one at the next multiple of 8 of this and the path's bytes.  Of no
 * size: a program that was executed and could not be followed. */
struct count_file_image {
	uint64_t start, size; /* in memory */
	uint64_t off;	      /* in the file */
	uint64_t inode;
	uint32_t device_major, device_minor;
	uint32_t path_bytes; /* with the final 0; 1: memory without a file */
	char path[];
};

/* How a block ends. */
enum count_end {
	COUNT_END_ON, /* the next begins here for another reason */
	COUNT_END_CONDITIONAL,
	COUNT_END_JUMP,
	COUNT_END_CALL,
	COUNT_END_JUMP_TO,
	COUNT_END_CALL_TO,
	COUNT_END_RETURN,
	COUNT_END_SYSCALL,
	COUNT_END_STOP, /* nothing follows */
	/* No instruction: a chosen function is entered.  On at the same address in the
	 * block's other nest. */
	COUNT_END_ENTER,
};

/* One way in, and so on through all of it unless an extra says otherwise. */
struct count_file_block {
	uint64_t addr;
	uint64_t target; /* of a direct jump, branch or call */
	uint32_t image;	 /* offset of its struct count_file_image, from the first */
	uint16_t size_bytes;
	uint16_t n_insns;
	uint8_t end; /* enum count_end */
	uint8_t nest;
	uint16_t counted_at; /* instructions from here on are behind the counter */
	/* Counters; 0: a way without one. */
	uint32_t inside;  /* of the block; 0: as its ways tell */
	uint32_t on;	  /* to the next by address */
	uint32_t to;	  /* to the target */
	uint32_t entered; /* nest */
};

/* A way of an indirect jump or call; each has a counter. */
struct count_file_pair {
	uint32_t block; /* that it leaves */
	uint32_t counter;
	uint64_t target;
};

/* A block is returned to, beside who goes there by itself. */
struct count_file_return {
	uint32_t block;
	uint32_t counter; /* 0: without */
};

/* Ways that the engine itself took, counted on the spot.  Where a thread was in a system
 * call at the end, its block was left as well. */
enum count_extra {
	COUNT_EXTRA_ENTER, /* a thread or a child begins there */
	COUNT_EXTRA_LEAVE, /* the block was not executed from there on */
};

struct count_file_extra {
	uint64_t addr;
	uint32_t block; /* that is left; of those that are entered, none */
	uint16_t kind;
	uint16_t nest;
	uint64_t n;
};

_Static_assert(COUNT_FILE_BYTES + COUNT_FILE_COUNTERS_OFF + COUNT_FILE_LEAST_DATA <=
		       COUNT_FILE_LEAST_SPACE,
	       "the file, tables of a fork's child, and data");
_Static_assert(sizeof(struct count_file_block) == 48, "no padding");
_Static_assert(sizeof(struct count_file_pair) == 16, "no padding");
_Static_assert(sizeof(struct count_file_return) == 8, "no padding");
_Static_assert(sizeof(struct count_file_extra) == 24, "no padding");
_Static_assert(sizeof(struct count_file_header) <= COUNT_FILE_IMAGES_OFF, "in front");
_Static_assert(COUNT_FILE_BLOCKS_OFF + COUNT_FILE_BLOCKS_MAX * 48ULL <=
			       COUNT_FILE_PAIRS_OFF &&
		       COUNT_FILE_PAIRS_OFF + COUNT_FILE_PAIRS_MAX * 16ULL <=
			       COUNT_FILE_RETURNS_OFF &&
		       COUNT_FILE_RETURNS_OFF + COUNT_FILE_RETURNS_MAX * 8ULL <=
			       COUNT_FILE_EXTRAS_OFF &&
		       COUNT_FILE_EXTRAS_OFF + COUNT_FILE_EXTRAS_MAX * 24ULL <=
			       COUNT_FILE_COUNTERS_OFF &&
		       COUNT_FILE_THREAD_SKIP + COUNT_FILE_COUNTERS_MAX * 8ULL <=
			       COUNT_FILE_THREAD_BYTES,
	       "each has its room");

#endif
