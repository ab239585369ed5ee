/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_fpe_threads - exceptions observed in a process that ran already, while all its
 * threads stand: what is kept for each of them is told by the recorder, and told to it.
 */
#ifndef DWELL_INJECT_TRACE_FPE_THREADS_H
#define DWELL_INJECT_TRACE_FPE_THREADS_H

#include <stdbool.h>

/* From now on, in the threads that are in the list. */
void trace_fpe_threads_arm(void);
/* Not any more; false: some thread is busy, and was told to make an end of it. */
bool trace_fpe_threads_disarm(void);

#endif
