/* SPDX-License-Identifier: Apache-2.0
 *
 * system_numbers - the numbers of files, given again when there is need.
 *
 * The kernel's side numbers each file it meets.  When few numbers are left, those of
 * files that were met longest ago are withdrawn: from then on their files are met anew.
 * What was recorded under such a number is still on its way; when it has arrived, the
 * number's slot is offered again under another number (wire/stack_rows.h).  One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_NUMBERS_H
#define DWELL_COLLECT_SYSTEM_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

struct system_numbers;

/* Of the programs, borrowed. */
struct system_numbers_maps {
	int files, images, offers; /* maps */
	const uint32_t *n_given;   /* numbers that were given for the first time */
	const uint32_t *n_taken;
	uint32_t *n_offered;
};

struct system_numbers_settings {
	uint32_t n_spare; /* numbers are withdrawn when fewer are left; 0: by default */
	uint64_t idle_ns; /* of files not met for so long; 0: by default */
	void *ctx;	  /* of: */
	void (*forget)(void *ctx, uint32_t number); /* nothing tells of it any more */
};

must_use int system_numbers_new(const struct system_numbers_maps *maps,
				const struct system_numbers_settings *settings,
				struct system_numbers **ret, struct err *e);
void system_numbers_free(struct system_numbers *n);
void system_numbers_freep(struct system_numbers **n);

/* One of the two tables was drained, and what was in the rings before. */
void system_numbers_tick(struct system_numbers *n, uint64_t now_ns);

/* Somebody still knows of the number: before a tick, as if its file had been met. */
void system_numbers_meet(struct system_numbers *n, uint32_t number);

uint64_t system_numbers_n_again(const struct system_numbers *n); /* offered again */

#endif
