/* SPDX-License-Identifier: Apache-2.0
 *
 * arch_call - where an interrupted context stands with regard to a system call.
 */
#ifndef DWELL_INJECT_ARCH_CALL_H
#define DWELL_INJECT_ARCH_CALL_H

enum arch_call {
	ARCH_CALL_NONE,
	ARCH_CALL_INTERRUPTED, /* just behind a system call that failed with EINTR */
	ARCH_CALL_AGAIN,       /* set back to make an interrupted one again */
};

#endif
