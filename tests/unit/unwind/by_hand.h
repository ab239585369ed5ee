/* SPDX-License-Identifier: Apache-2.0
 *
 * by_hand - functions without unwind table, as people write them; see by_hand.S.
 */
#ifndef TESTS_UNIT_UNWIND_BY_HAND_H
#define TESTS_UNIT_UNWIND_BY_HAND_H

extern const char by_hand_start[], by_hand_end[], by_hand_returned[];

void by_hand_help(void);
void by_hand_1(void);
void by_hand_2(void);
void by_hand_3(void);
void by_hand_4(void);
void by_hand_5(void);
void by_hand_6(void);
void by_hand_7(void);
void by_hand_8(void);
void by_hand_9(void);
void by_hand_10(void);
/* Calls f with a trap at each instruction. */
void by_hand_step(void (*f)(void));

#endif
