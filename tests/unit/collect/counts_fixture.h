/* SPDX-License-Identifier: Apache-2.0
 *
 * counts_fixture - counts of the kernel that are written into a recording, and read
 * again.
 */
#ifndef DWELL_TESTS_COUNTS_FIXTURE_H
#define DWELL_TESTS_COUNTS_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/system_counts.h"
#include "collect/system_images.h"
#include "store/recording.h"

struct path_choice;

#define PERIOD_NS 1000
#define EXE	  7
#define OTHER_EXE 8
#define MAIN	  ((uint64_t)EXE << STACK_RECORD_IMAGE_SHIFT | STACK_RECORD_EXACT | 0x1000)

/* Counts on their way into a recording; then what it holds. */
struct counts_fixture {
	char path[64];
	struct system_images *images;
	struct system_counts *counts;
	struct writer *writer;
	struct recording *recording;
	struct sample_block samples;
};

void counts_fixture_set_up_choosing(struct counts_fixture *f, bool is_kept,
				    const struct path_choice *chosen);
/* Every thread by itself, of keys that are kept; or neither. */
void counts_fixture_set_up_as(struct counts_fixture *f, bool is_kept);
void counts_fixture_set_up(struct counts_fixture *f);
uint32_t counts_fixture_event_of(struct counts_fixture *f, const char *name);
/* Samples counted so far are in f->samples from now on. */
void counts_fixture_finish(struct counts_fixture *f);
void counts_fixture_tear_down(struct counts_fixture *f);

/* A process that runs main() of its executable. */
struct stack_record counts_fixture_running(uint64_t key, uint32_t pid);
/* Its main thread, by itself. */
struct stack_record counts_fixture_thread_at(uint64_t key, uint64_t time_ns,
					     const char *name, uint32_t exe);
void counts_fixture_count(struct counts_fixture *f, const struct stack_record *r,
			  uint32_t n);

#endif
