/* SPDX-License-Identifier: Apache-2.0
 *
 * stack_builder - a sample's registers and memory, or pcs, as a stored stack.
 *
 * Unwinds at once, while the process' mappings are those of the sample; finds each pc's
 * image and interns the frames from the outermost inwards along the thread's last stack.
 * The tables are borrowed.
 */
#ifndef DWELL_COLLECT_STACK_BUILDER_H
#define DWELL_COLLECT_STACK_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "store/writer.h"
#include "unwind/offline.h"

#define STACK_BUILDER_DEPTH_MAX 8192

struct image_table;
struct jit_files;
struct kernel_frames;
struct roster_process;
struct roster_thread;
struct tracker_sample;

struct stack_builder {
	struct writer *writer;
	struct image_table *images;
	struct kernel_frames *kernel;
	struct jit_files *jit;
	uint32_t depth;	  /* frames of user code at most */
	bool expects_jit; /* code in memory is a compiler's */
	/* MODEL_NONE: not needed yet. */
	uint32_t unknown_image, truncated_image, own_image;
	struct unwind_frame frames[STACK_BUILDER_DEPTH_MAX];
};

/* Id in the recording of the image of a process' code that no file explains. */
uint32_t stack_builder_code_image(struct stack_builder *b, struct roster_process *p,
				  uint64_t time_ns);
/* The mapping of a pc, with what is known of its file's code; NULL: none. */
const struct unwind_map *stack_builder_map(struct stack_builder *b,
					   struct roster_process *p, uint64_t pc);
/* Id in the recording of the place. */
uint32_t stack_builder_location(struct stack_builder *b, struct roster_process *p,
				uint64_t time_ns, uint64_t pc);
/* Id in the recording of the sample's stack; 0 when nothing was known.  *ret_stop: enum
 * unwind_stop, UNWIND_N_STOPS when there was no user stack to be walked. */
uint32_t stack_builder_build(struct stack_builder *b, struct roster_thread *th,
			     const struct tracker_sample *s, unsigned *ret_stop);

#endif
