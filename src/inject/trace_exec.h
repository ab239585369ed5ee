/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_exec - what a traced process executes is traced, too.
 */
#ifndef DWELL_INJECT_TRACE_EXEC_H
#define DWELL_INJECT_TRACE_EXEC_H

/* When the C library's calls cannot be looked up later. */
void trace_exec_look_up(void);

#endif
