/* SPDX-License-Identifier: Apache-2.0
 *
 * stack_rows - unwind rules of files as the kernel's side looks them up.
 *
 * Code is cut into blocks of 4 KB of its file.  An image's index has a word per block:
 * where, in which page, the block's rows start.  A row is the low bits of the first pc
 * that it covers and the number of its rule; the first row of a block covers its start.
 * Equal rules of all images are one entry of the table of rules.  A block of more rows
 * than a page holds is split: its word says where the words of its parts are.
 *
 * Freestanding; shared with BPF programs.
 */
#ifndef DWELL_WIRE_STACK_ROWS_H
#define DWELL_WIRE_STACK_ROWS_H

#include <stdint.h>

#define STACK_ROWS_BLOCK_SHIFT 12
#define STACK_ROWS_BLOCK_BYTES (1u << STACK_ROWS_BLOCK_SHIFT)
#define STACK_ROWS_PAGE_WORDS  1024 /* of 32 bits */
#define STACK_ROWS_POOL_PAGES  256  /* pages are had in pools */
#define STACK_ROWS_POOLS_MAX   256
#define STACK_ROWS_IMAGES_MAX  16384
#define STACK_ROWS_RULES_MAX   65536
#define STACK_ROWS_N_SAVES     8

#define STACK_ROWS_PART_SHIFT 9 /* a row a byte fits a page */
#define STACK_ROWS_PARTS      (1u << (STACK_ROWS_BLOCK_SHIFT - STACK_ROWS_PART_SHIFT))
#define STACK_ROWS_PART(offset)                                                          \
	((uint32_t)((offset) >> STACK_ROWS_PART_SHIFT) & (STACK_ROWS_PARTS - 1))

/* An index word: page << 16 | first word in it, which is the number of rows, and the
 * rows are behind it.  0: the image has no rules for the block. */
#define STACK_ROWS_ENTRY(page, first) ((uint32_t)(page) << 16 | (uint32_t)(first))
/* In an index word: at that place are STACK_ROWS_PARTS such words, one of each part. */
#define STACK_ROWS_SPLIT 0x8000u
/* A row: rule << 16 | pc % block. */
#define STACK_ROWS_ROW(rule, pc)                                                         \
	((uint32_t)(rule) << 16 | ((pc) & (STACK_ROWS_BLOCK_BYTES - 1)))

/* The same as enum cfa_row_kind, and what is known of code without a row. */
enum stack_rule_kind {
	STACK_RULE_NONE = 0, /* no rule: hand-written code that does not tell */
	STACK_RULE_CFA = 1,
	STACK_RULE_BASE = 2,
	STACK_RULE_INDIRECT = 3,
	STACK_RULE_PLT = 4,
	STACK_RULE_SIGNAL = 5,
	STACK_RULE_END = 6,
	STACK_RULE_COMPLEX = 7,
	STACK_RULE_FRAME = 8, /* code that keeps frame pointers */
};

/* In save[], x86-64: where a frame that may land elsewhere has the register that hands an
 * exception over; or, where save[0] is STACK_RULE_SAME, the register with the return
 * address, as in reg. */
#define STACK_RULE_EXTRA 7

#define STACK_RULE_SAME 127
#define STACK_RULE_LOST 126

/* Registers of rules: the stack pointer, those that rows can tell the save slots of (by
 * their place in save[]), and, from STACK_RULE_OTHER on, DWARF's numbers. */
#define STACK_RULE_SP	 0
#define STACK_RULE_FP	 1
#define STACK_RULE_OTHER 16

struct stack_rule {
	int32_t offset;
	uint8_t kind; /* enum stack_rule_kind */
	uint8_t reg;
	int8_t save[STACK_ROWS_N_SAVES]; /* [0] return address, [1] frame pointer */
	uint8_t zero[2];
};

_Static_assert(sizeof(struct stack_rule) == 16, "layout");

enum stack_image_state {
	STACK_IMAGE_NEW = 0,	   /* its rules are wanted when it is first met */
	STACK_IMAGE_REQUESTED = 1, /* ... and were asked for */
	STACK_IMAGE_READY = 2,
	STACK_IMAGE_NO_ROWS = 3, /* no file, or not one of code: frame pointers */
};

/* Files have numbers; each has a slot, where its image is.  When a slot is given to
 * another file, that has another number: who still remembers the old one finds that the
 * slot's generation is not the number's. */
#define STACK_ROWS_GENERATIONS	      63
#define STACK_ROWS_NUMBERS_MAX	      (STACK_ROWS_GENERATIONS * STACK_ROWS_IMAGES_MAX)
#define STACK_ROWS_SLOT(number)	      ((uint32_t)(number) % STACK_ROWS_IMAGES_MAX)
#define STACK_ROWS_GENERATION(number) ((uint32_t)(number) / STACK_ROWS_IMAGES_MAX)

/* Are processes of that executable told apart?  0: nobody has looked at it. */
#define STACK_ROWS_VERDICT(number, is_apart) ((uint64_t)(number) << 2 | 2 | (is_apart))

/* Since each of its readers looked last. */
#define STACK_IMAGE_IS_USED 1u /* its rows */
#define STACK_IMAGE_IS_MET  2u /* its number */

struct stack_image {
	uint32_t state;	     /* enum stack_image_state */
	uint32_t index_page; /* of first_block; 1024 words a page */
	uint32_t first_block, n_blocks;
	uint32_t is_used; /* STACK_IMAGE_IS_… */
	uint16_t generation;
	uint16_t n_pages;  /* the index and what is behind it */
	uint64_t data_end; /* in the file, as if that held all of its data; 0: unknown, or
			    * it has none */
};

/* What tells a file from all others. */
struct stack_rows_file {
	uint64_t inode;
	uint32_t device, generation;
};

_Static_assert(sizeof(struct stack_image) == 32, "layout");

#endif
