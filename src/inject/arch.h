/* SPDX-License-Identifier: Apache-2.0
 *
 * arch - the few things that are spelled differently on each CPU.
 *
 * Each arch_*.h provides:
 *	arch_thread_pointer()	distinct for each thread of a process
 *	arch_restorer		what sigreturn needs, if ARCH_HAS_RESTORER
 *	arch_pc(), arch_sp()	of an interrupted context
 *	arch_call_on()		call a function on another stack, given its upper end
 *	arch_call()		where an interrupted context stands
 *	arch_call_number()	of ARCH_CALL_INTERRUPTED; -1 when it cannot be told
 *	arch_call_again()	an interrupted call is made once more
 *	arch_call_fail()	a call about to be made again fails with EINTR
 */
#ifndef DWELL_INJECT_ARCH_H
#define DWELL_INJECT_ARCH_H

#include <ucontext.h>

#include "inject/arch_call.h"
#if defined(__x86_64__)
#include "inject/arch_x86_64.h"
#elif defined(__aarch64__)
#include "inject/arch_aarch64.h"
#else
#error "no inject/arch_*.h for this CPU"
#endif

#endif
