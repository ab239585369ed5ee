/* SPDX-License-Identifier: Apache-2.0
 *
 * system_classes - who ran, as the recording has it: processes of one name, executable
 * and cgroup are one class, where their pids do not matter; or every thread by itself,
 * under the names that it had last.
 *
 * Recorders of one recording tell of the same ones.  One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_CLASSES_H
#define DWELL_COLLECT_SYSTEM_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"
#include "store/writer.h"
#include "wire/stack_record.h"

struct path_choice;
struct system_classes;
struct system_images;
struct tracker;

/* A recorder that tells. */
struct system_classes_teller {
	const struct system_images *images; /* that it numbers; borrowed until the end */
	bool is_by_thread;
};

struct system_classes *system_classes_new(void);
void system_classes_free(struct system_classes *c);
void system_classes_freep(struct system_classes **c);

/* Ids are of this recording from now on, until its end.  Processes that the kernel's side
 * tells apart are so only where their executable is chosen, which is borrowed; NULL: all.
 * Threads that others have told the tracker of are those; NULL: nobody does. */
void system_classes_begin(struct system_classes *c, struct writer *w,
			  const struct path_choice *chosen, struct tracker *tracker);
void system_classes_end(struct system_classes *c);

/* Before any is looked up: of what two CPUs tell, a process' end can come first, and then
 * it has no executable any more. */
void system_classes_learn(struct system_classes *c,
			  const struct system_classes_teller *teller,
			  const struct stack_record *r);
/* May others tell yet whose it is? */
bool system_classes_is_early(struct system_classes *c,
			     const struct system_classes_teller *teller,
			     const struct stack_record *r);
/* Thread id in the recording. */
uint32_t system_classes_id(struct system_classes *c,
			   const struct system_classes_teller *teller,
			   const struct stack_record *r);

#endif
