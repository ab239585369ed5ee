/* SPDX-License-Identifier: Apache-2.0
 *
 * arm_integer - what aarch64's instructions between general registers do.
 *
 * Freestanding.
 */
#ifndef DWELL_DECODE_ARM_INTEGER_H
#define DWELL_DECODE_ARM_INTEGER_H

#include "decode/arm_machine.h"

arm_execute_fn arm_integer_immediate;
arm_execute_fn arm_integer_register;

#endif
