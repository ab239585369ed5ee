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

/* What is kept at hand for a thread (inject/trace_local.h). */
struct trace_fpe_mine {
	struct trace_fpe_event *event;
	uint32_t allowed; /* types that the program unmasked */
	bool has_allowed; /* else as its creator */
	bool is_shown, is_stepping, has_left;
	bool is_busy; /* in a handler of ours, and in none of the program's within */
};

/* When the runtime has begun: in this thread, and those that it makes. */
void trace_fpe_begin(void);
/* Exceptions of these types are observed in threads that unmask what of them is returned,
 * *ret_x87 in the x87 unit. */
uint32_t trace_fpe_observe(uint32_t types, uint32_t *ret_x87);
/* The process ends. */
void trace_fpe_end(void);
/* No thread is about to use what there is of memory. */
void trace_fpe_unmap(void);
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
	uint32_t mxcsr, shown_mxcsr; /* of the context; what the handler saw */
	uint16_t control, shown_control;
	bool is_armed, is_shown, is_stepping, is_busy;
};

void trace_fpe_enter_handler(struct trace_fpe_interrupted *ret, void *context);
void trace_fpe_leave_handler(const struct trace_fpe_interrupted *i, void *context);

/* In a process that ran already, whose threads stand. */

/* What a thread had unmasked that was there before. */
void trace_fpe_had(struct trace_fpe_mine *mine, uint32_t allowed);
/* And threads that are made later, as long as none unmasks anything. */
void trace_fpe_will_have(uint32_t allowed);
/* What the program had unmasked there, as it is to have. */
uint32_t trace_fpe_has(const struct trace_fpe_mine *mine);
/* From now on each thread masks again what it raises, and nothing is told. */
void trace_fpe_fade(void);
/* May that thread, which stands at pc, still go on in or by something of ours that
 * unmasks? */
bool trace_fpe_is_busy(const struct trace_fpe_mine *mine, uintptr_t pc);
/* No thread has unmasked anything for us: the signals are the program's. */
void trace_fpe_forget(void);

#endif
