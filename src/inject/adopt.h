/* SPDX-License-Identifier: Apache-2.0
 *
 * adopt - threads that no hook has seen: made by clone or inside the C library.
 *
 * Done from the signal handler of a known thread when the recorder, who counts the
 * threads in /proc and sees that the program has not restricted its system calls,
 * asks for it.
 */
#ifndef DWELL_INJECT_ADOPT_H
#define DWELL_INJECT_ADOPT_H

void adopt_threads(void);

#endif
