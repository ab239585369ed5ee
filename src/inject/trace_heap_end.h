/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_heap_end - has the recorder look through the program, before it ends, for what
 * still points to its blocks.
 *
 * Once, by whoever ends the program, who waits as long as the recorder shows that it is
 * at work.  A program that is killed, or a forked child, is not looked through.
 */
#ifndef DWELL_INJECT_TRACE_HEAP_END_H
#define DWELL_INJECT_TRACE_HEAP_END_H

/* Before the program leaves by a way that runs no handlers. */
void trace_heap_end(void);
/* A block was not told of: what it points to would seem lost. */
void trace_heap_end_unknown(void);

#endif
