/* SPDX-License-Identifier: Apache-2.0
 *
 * operation_aarch64 - operations of aarch64, from what their encoding tells.
 */
#ifndef DWELL_INSN_OPERATION_AARCH64_H
#define DWELL_INSN_OPERATION_AARCH64_H

#include "insn/operation.h"

/* The four bytes at code; false: no instruction. */
bool operation_aarch64_describe(const uint8_t *code, uint64_t address,
				struct operation *ret);
const char *operation_aarch64_mnemonic(uint16_t id);

#endif
