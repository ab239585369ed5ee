/* SPDX-License-Identifier: Apache-2.0
 *
 * arch - the few things that are spelled differently on each CPU.
 *
 * Each arch_*.h provides:
 *	arch_syscall()		the bare system call, -errno on failure
 *	arch_thread_pointer()	distinct for each thread of a process
 *	arch_restorer		what sigreturn needs, if ARCH_HAS_RESTORER
 *	arch_pc(), arch_sp()	of an interrupted context
 *	arch_interrupted()	the number of the system call that the context has just
 *				left with EINTR, or -1 when it did not or cannot be told
 *	arch_call_again()	let that context make the call once more
 */
#ifndef DWELL_INJECT_ARCH_H
#define DWELL_INJECT_ARCH_H

#include <ucontext.h>

#if defined(__x86_64__)
#include "inject/arch_x86_64.h"
#elif defined(__aarch64__)
#include "inject/arch_aarch64.h"
#else
#error "no inject/arch_*.h for this CPU"
#endif

#endif
