/* SPDX-License-Identifier: Apache-2.0
 *
 * count_output - the engine's side of wire/count_file.h.
 */
#ifndef DWELL_COUNT_COUNT_OUTPUT_H
#define DWELL_COUNT_COUNT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/count_file.h"

/* Creates the process's file, PREFIX.PID.N; when that fails ends the process, unless what
 * is counted may be lost. */
void count_output_create(const char *prefix, bool may_be_lost);

/* What the program is called, without directories. */
void count_output_name(const char *name);

/* Around a fork: in the child what was counted is the parent's, the code is both's. kept:
 * the thread's part, where the engine's stack is. */
void count_output_before_fork(struct count_file_header *now);
void count_output_fail_to_fork(void);
void count_output_after_fork(const struct count_file_header *before, uint8_t *kept);

/* What was counted stays where it is, and another file is begun: nobody counts meanwhile.
 * Each image that code is still in is told again, by each. */
void count_output_turn(void (*each)(uint32_t (*tell)(uint32_t image)));
bool count_output_has_room(bool is_small);

/* Nobody counts for some time, and then what is counted is as if the file had been begun
 * anew, but for the code, which is known.  False: it cannot be so. */
bool count_output_can_go_on(void);
void count_output_again(void);

/* The process was to be ended, as it touched memory of a file that has no room (SIGBUS).
 * True: it was this one, which has what was counted until now, and all else is lost. */
bool count_output_survive(uint64_t addr);

/* A further thread's part of the file: COUNT_FILE_THREAD_BYTES in memory. */
void *count_output_add_thread(void);

/* What has no room. */
void count_output_add_lost(void);

/* The process goes on natively, and nothing else comes. */
void count_output_tell_left(void);

/* Of a mapping; path may be NULL.  Returns what blocks name it by. */
uint32_t count_output_add_image(const struct count_file_image *image, const char *path);

/* NULL: there was no room to tell it. */
const struct count_file_image *count_output_image(uint32_t number);

/* Their numbers.  A block is filled in before it is published, one at a time. */
uint32_t count_output_add_block(struct count_file_block **ret);
void count_output_publish_block(void);
void count_output_add_nest(const struct count_file_nest *n);
const struct count_file_block *count_output_block(uint32_t number);
uint32_t count_output_add_counter(void);
void count_output_add_pair(uint32_t block, uint64_t target, uint32_t counter);
void count_output_add_return(uint32_t block, uint32_t counter);
/* nest: where the thread is, if it is in no block. */
void count_output_add_extra(enum count_extra kind, uint64_t addr, uint32_t block,
			    uint32_t nest, int64_t n);

#endif
