/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_fpe - observes floating-point exceptions, and divisions of integers that fail.
 *
 * Exceptions of the types that are asked for are unmasked, and the SIGFPE of each is
 * taken here: the instruction is made again with the exceptions masked, so that it has
 * the result that it always has, and flags are left as it leaves them.  The program is
 * shown the masks and the handlers that it chose, and where it chose to be stopped it is.
 */
#ifndef DWELL_INJECT_TRACE_FPE_H
#define DWELL_INJECT_TRACE_FPE_H

#include <stdbool.h>
#include <stdint.h>

/* Instead of what was raised, while the instruction is still to be made again. */
#define TRACE_FPE_NOT_YET 0x80000000u

/* The last instruction of a thread that raised something. */
struct trace_fpe_event {
	uint32_t raised; /* by it, when it was made again; or TRACE_FPE_NOT_YET */
	uint32_t armed;	 /* MXCSR for behind it, to which its flags are added */
	uint64_t stack;	 /* id */
	uint32_t likely; /* what the recorder was told of it; 0: nothing is open */
	bool has_flags;	 /* the two tell which the thread had behind it */
	uint32_t kept;	 /* flags that it must still be given back; 0: none */
};

/* When the runtime has begun. */
void trace_fpe_begin(void);
/* The process ends. */
void trace_fpe_end(void);
/* Tell the recorder where it was told wrong. */
void trace_fpe_settle(struct trace_fpe_event *event);
/* This thread is not to be observed any more. */
void trace_fpe_leave(void);
/* What the program asked for by name: types, in the function whose frame this is. */
void trace_fpe_asked(unsigned types, const uint64_t *frame);

/* Around a call that reads or changes what the program thinks is there. */
void trace_fpe_show(void);
void trace_fpe_hide(void);

/* Around a handler of a signal of the program's. */
struct trace_fpe_interrupted {
	struct trace_fpe_event event;
	uint32_t allowed;
	bool is_armed, is_shown, is_stepping;
};

void trace_fpe_enter_handler(struct trace_fpe_interrupted *ret);
void trace_fpe_leave_handler(const struct trace_fpe_interrupted *i);

#endif
