/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_range - memory with code of the program, and what may change it.
 *
 * All of it under the engine's lock.
 */
#ifndef DWELL_COUNT_EXEC_RANGE_H
#define DWELL_COUNT_EXEC_RANGE_H

#include <stdbool.h>
#include <stdint.h>

struct exec_range {
	uint64_t start, end;
	uint32_t image;	  /* as blocks name it */
	bool is_exec;	  /* at present; else it was */
	bool is_writable; /* at the same time */
	bool may_change;  /* it is no file's, or one's that can be written, or was
			     writable itself */
};

/* Executable from now on, in place of what was there. */
void exec_range_add(struct exec_range r);

/* Not the program's code any more; false: it never was. */
bool exec_range_remove(uint64_t start, uint64_t end);

/* What is known of in there has other rights from now on; false: nothing is. */
bool exec_range_protect(uint64_t start, uint64_t end, bool is_exec, bool is_writable);

/* Code there, all that goes with it included, may change from now on; false: there is
 * none of which that was not known. */
bool exec_range_expect_change(uint64_t start, uint64_t end, struct exec_range *ret);

/* All of them, each to be told what it is called from now on. */
void exec_range_rename(uint32_t (*name)(uint32_t image));

unsigned exec_range_number(void);
/* Nothing is known any more of the others. */
void exec_range_sift(bool (*is_as_it_was)(const struct exec_range *r));

/* The first piece of which nothing is known. */
bool exec_range_gap(uint64_t start, uint64_t end, struct exec_range *ret);

/* NULL: it never was the program's code. */
const struct exec_range *exec_range_known(uint64_t addr);

/* NULL: nothing there can be executed. */
const struct exec_range *exec_range_find(uint64_t addr);

/* Up to where it goes on without a gap, in others behind it. */
uint64_t exec_range_reach(const struct exec_range *r);

#endif
