/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_resume - go on where a signal has interrupted a thread, from its handler, without
 * the kernel's way back.
 *
 * For handlers of instructions' signals that block all others and have called nothing of
 * the program's.  The registers come back from the signal's frame, the mask by a call
 * that is made on the interrupted stack, below its red zone: whatever signal comes then
 * finds an ordinary context, and nothing of the handler on the alternate stack.
 */
#ifndef DWELL_INJECT_TRACE_RESUME_H
#define DWELL_INJECT_TRACE_RESUME_H
#if defined(__x86_64__)

#include <ucontext.h>

/* Bytes below the interrupted stack pointer that are written to. */
#define TRACE_RESUME_BYTES 272

/* Returns where the kernel does something else beside, which is then to be asked: for a
 * step, a shadow stack, an alternate stack that disarms itself, unusual flags, segments
 * or rights to memory, or a frame without extended state. */
void trace_resume(const ucontext_t *context);

#endif
#endif
