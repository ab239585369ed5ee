/* SPDX-License-Identifier: Apache-2.0
 *
 * core_clock - how fast this core runs now.
 */
#ifndef DWELL_HOST_CORE_CLOCK_H
#define DWELL_HOST_CORE_CLOCK_H

/* In MHz, by counting how many additions one after the other fit into a time; takes some
 * tenths of a millisecond. */
unsigned core_clock_measure(void);

#endif
