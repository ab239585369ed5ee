/* SPDX-License-Identifier: Apache-2.0
 *
 * arm_access - what aarch64's loads and stores do.
 *
 * What is in vector registers is never known.  Freestanding.
 */
#ifndef DWELL_DECODE_ARM_ACCESS_H
#define DWELL_DECODE_ARM_ACCESS_H

#include "decode/arm_machine.h"

arm_execute_fn arm_access;

#endif
