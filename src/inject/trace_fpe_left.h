/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_fpe_left - what stays behind of trace_fpe in a program that goes on without it.
 *
 * Control registers that the program has kept while exceptions were unmasked, in a
 * variable or a context, unmask them again when it puts them back.  So SIGFPE has a
 * handler that masks again what was unmasked so; whatever else raises that signal has the
 * result that it has without, be it the end or a call of the program's own handler.
 */
#ifndef DWELL_INJECT_TRACE_FPE_LEFT_H
#define DWELL_INJECT_TRACE_FPE_LEFT_H
#if defined(__x86_64__)

#include <stdint.h>

#include "bare/sys.h"
#include "wire/injected.h"

/* Nothing is observed any more of these types, nor of those in the x87 unit; allowed:
 * what the program enables itself. */
void trace_fpe_left_begin(uint32_t types, uint32_t types_x87, uint32_t allowed);
/* The action as the program has set it, where the handler is the one that stays. */
void trace_fpe_left_show(struct sys_sigaction *action);

/* Before the library is put there anew, and behind. */
struct wire_injected_left trace_fpe_left_keep(void);
void trace_fpe_left_had(struct wire_injected_left left);

#endif
#endif
