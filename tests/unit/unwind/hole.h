/* SPDX-License-Identifier: Apache-2.0
 *
 * hole - a lot of code without unwind table that keeps frame pointers; see hole.S.
 */
#ifndef TESTS_UNIT_UNWIND_HOLE_H
#define TESTS_UNIT_UNWIND_HOLE_H

extern const char hole_steps[], hole_steps_end[], hole_returned[];

void hole_call(void (*f)(void));
void hole_step(void);

#define HOLE_N_STEPS 5

#endif
