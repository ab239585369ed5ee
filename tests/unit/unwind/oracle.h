/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle - libunwind's answer, and ours, to the same signal context.
 *
 * Test helper, x86-64.  libunwind is slow but independent: what both say is true.
 */
#ifndef DWELL_TESTS_ORACLE_H
#define DWELL_TESTS_ORACLE_H

#include <ucontext.h>

#include "unwind/offline.h"

#define ORACLE_MAX 512

/* The pcs libunwind finds, innermost first; async-signal-safe as far as it is. */
size_t oracle_walk(const ucontext_t *uc, uint64_t pcs[ORACLE_MAX]);

struct unwind_regs oracle_regs(const ucontext_t *uc);

#endif
