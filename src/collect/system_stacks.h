/* SPDX-License-Identifier: Apache-2.0
 *
 * system_stacks - stacks that the kernel's side told, as stacks of a recording.
 *
 * For one recording.  Those of one kind of process share most of their outer frames:
 * what is as in the last one needs no look-up.  The images are borrowed.
 */
#ifndef DWELL_COLLECT_SYSTEM_STACKS_H
#define DWELL_COLLECT_SYSTEM_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "store/writer.h"
#include "unwind/stop.h"
#include "wire/stack_record.h"

struct system_images;
struct system_stacks;

struct system_stacks *system_stacks_new(struct system_images *images, struct writer *w);
void system_stacks_free(struct system_stacks *s);
void system_stacks_freep(struct system_stacks **s);

/* Id in the recording; kind: a number that stacks have in common which are likely to
 * begin alike.  *ret_stop: UNWIND_N_STOPS when there is no user part. */
uint32_t system_stacks_id(struct system_stacks *s, const struct stack_record *r,
			  uint32_t kind, enum unwind_stop *ret_stop);
/* The same with labels inside of the innermost frame, the outer one first; those that are
 * "" are left out.  Of a call: our own libraries' frames, which pass it on, are too. */
uint32_t system_stacks_labelled_id(struct system_stacks *s, const struct stack_record *r,
				   const char *const *labels, size_t n_labels,
				   uint32_t kind, enum unwind_stop *ret_stop);
/* Did one of our own libraries make the call itself? */
bool system_stacks_is_own(const struct system_stacks *s, const struct stack_record *r);
/* Inside of a stack: the data that a record tells of, a variable or an address, if it is
 * one; a label; all frames of another stack. */
uint32_t system_stacks_object(struct system_stacks *s, uint32_t stack,
			      const struct stack_record *r);
uint32_t system_stacks_label(struct system_stacks *s, uint32_t stack, const char *label);
uint32_t system_stacks_append(struct system_stacks *s, uint32_t stack,
			      const struct stack_record *r);
/* The waker's frames inside of the waiter's, below one that is no code but a label. */
uint32_t system_stacks_pair_id(struct system_stacks *s, const struct stack_record *waiter,
			       const struct stack_record *waker, const char *label,
			       uint32_t kind);
/* What names need goes into the recording: maps of compilers, and the kernel's symbols
 * unless somebody else sees to these. */
must_use int system_stacks_keep_names(struct system_stacks *s, bool has_symbols,
				      struct err *e);

#endif
