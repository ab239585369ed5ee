/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_new - C++'s operators that take memory and give it back.
 *
 * Those of the C++ library are made of malloc and free, which are observed.  Allocators
 * that take the place of malloc have some of their own, which are observed here.
 */
#ifndef DWELL_INJECT_TRACE_NEW_H
#define DWELL_INJECT_TRACE_NEW_H

/* Lead those of an allocator to ours; in a process that ran already the recorder does. */
void trace_new_begin(void);

#endif
