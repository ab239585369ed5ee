/* SPDX-License-Identifier: Apache-2.0
 *
 * arm_blur - what aarch64's other instructions may change of what is known: the system's,
 * and those of vectors.
 *
 * Freestanding.
 */
#ifndef DWELL_DECODE_ARM_BLUR_H
#define DWELL_DECODE_ARM_BLUR_H

#include "decode/arm_machine.h"

arm_execute_fn arm_blur_system;
arm_execute_fn arm_blur_vector;	  /* also floating point */
arm_execute_fn arm_blur_scalable; /* vectors of any length */

#endif
