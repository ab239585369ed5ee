/* SPDX-License-Identifier: Apache-2.0
 *
 * system_grace - until what BPF programs at work do is done.
 */
#ifndef DWELL_COLLECT_SYSTEM_GRACE_H
#define DWELL_COLLECT_SYSTEM_GRACE_H

/* No program runs any more that began before, whatever a hypervisor did meanwhile.  Takes
 * some milliseconds. */
void system_grace_wait(void);

#endif
