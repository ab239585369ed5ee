/* SPDX-License-Identifier: Apache-2.0 */
/* Latencies, ports and parts are those of LLVM's model of it (AArch64SchedNeoverseN1.td
 * of LLVM 19, Apache-2.0 with LLVM exception), as llvm-mca prints them; widths and the
 * window are of the maker's optimisation guide and manual.  How many may wait is not
 * published: as many as are under way.  Neither are forwarding through memory, atomic
 * operations and fences, which are what is usual. */
#include <elf.h>

#include "insn/machine_model.h"

enum {
	B = 1 << 0,  /* branches */
	S0 = 1 << 1, /* integers */
	S1 = 1 << 2,
	M = 1 << 3,  /* the same, and products */
	L0 = 1 << 4, /* addresses of loads and stores */
	L1 = 1 << 5,
	D0 = 1 << 6, /* data of stores */
	D1 = 1 << 7,
	V0 = 1 << 8, /* vectors */
	V1 = 1 << 9,
	LOCKED = 1 << 10, /* no port: one atomic operation after the other */
	I = S0 | S1 | M,
	L = L0 | L1,
	V = V0 | V1,
};

const struct machine_model machine_model_neoverse_n1 = {
	.name = "neoverse-n1",
	.summary = "Arm Neoverse N1 (Graviton 2, Ampere Altra)",
	.machine = EM_AARCH64,
	.dispatch_width = 4,
	.retire_width = 8,
	.window = 128,
	.waiting = 128,
	.taken_width = 1,
	.call_distance = 1,
	.load_latency = 4,
	.vector_load_latency = 5,
	.l2_latency = 11,
	.l2_lines = 4096,
	.l2_pages = 1280,
	.forward_latency = 4,
	.vector_forward_latency = 5,
	.vector_bytes = 16,
	.divider_bytes = 16,
	.load_bytes = 8,
	.vector_load_bytes = 16,
	.store_bytes = 8,
	.vector_store_bytes = 8,
	.load_ports = L,
	.vector_load_ports = L,
	.store_address_ports = L,
	.store_data_ports = D0 | D1,
	.vector_store_data_ports = V,
	.costs = {
		[OPERATION_MOVE] = { 1, { { I, 1 } } },
		[OPERATION_EXTEND] = { 1, { { I, 1 } } },
		[OPERATION_ADD] = { 1, { { I, 1 } } },
		[OPERATION_LOGIC] = { 1, { { I, 1 } } },
		[OPERATION_ADD_CARRY] = { 1, { { I, 1 } } },
		[OPERATION_LEA] = { 1, { { I, 1 } } },
		[OPERATION_LEA_COMPLEX] = { 1, { { M, 2 } } },
		[OPERATION_SHIFT] = { 1, { { I, 1 } } },
		[OPERATION_SHIFT_DOUBLE] = { 2, { { I, 1 }, { M, 2 } } },
		[OPERATION_BIT_SCAN] = { 1, { { I, 1 } } },
		[OPERATION_BIT_FIELD] = { 1, { { I, 1 } } },
		[OPERATION_BIT_DEPOSIT] = { 1, { { M, 2 } } },
		[OPERATION_CHECKSUM] = { 1, { { M, 2 } } },
		[OPERATION_SWAP_BYTES] = { 1, { { I, 1 } } },
		[OPERATION_CONDITIONAL_MOVE] = { 1, { { I, 1 } } },
		[OPERATION_SET] = { 1, { { I, 1 } } },
		[OPERATION_MULTIPLY] = { 1, { { M, 2 } } },
		[OPERATION_MULTIPLY_WIDE] = { 1, { { M, 4, 3 } } },
		[OPERATION_DIVIDE_32] = { 1, { { M, 12, 5 } } },
		[OPERATION_DIVIDE_64] = { 1, { { M, 20, 5 } } },
		[OPERATION_JUMP] = { 1, { { B, 1 } } },
		[OPERATION_BRANCH] = { 1, { { B, 1 } } },
		[OPERATION_JUMP_INDIRECT] = { 1, { { B, 1 } } },
		[OPERATION_CALL] = { 1, { { B, 1 } } },
		[OPERATION_CALL_INDIRECT] = { 1, { { B, 1 } } },
		[OPERATION_RETURN] = { 1, { { B, 1 } } },
		[OPERATION_ATOMIC] = { 2, { { LOCKED, 6, 4 } } },
		[OPERATION_FENCE] = { 1, { { LOCKED, 10, 10 } } },
		[OPERATION_SYSTEM] = { 20, { { LOCKED, 60, 60 } } },
		[OPERATION_SERIALIZE] = { 10, { { LOCKED, 30, 30 } } },
		[OPERATION_VECTOR_MOVE] = { 1, { { V, 2 } } },
		[OPERATION_FP_ADD] = { 1, { { V, 2 } } },
		[OPERATION_FP_EXTREME] = { 1, { { V, 2 } } },
		[OPERATION_FP_MULTIPLY] = { 1, { { V, 3 } } },
		[OPERATION_FP_FUSED] = { 1, { { V, 4 } } },
		[OPERATION_FP_DIVIDE_SINGLE] = { 1, { { V0, 10, 7 } } },
		[OPERATION_FP_DIVIDE_DOUBLE] = { 1, { { V0, 15, 7 } } },
		[OPERATION_FP_ROOT_SINGLE] = { 1, { { V0, 10, 7 } } },
		[OPERATION_FP_ROOT_DOUBLE] = { 1, { { V0, 17, 7 } } },
		[OPERATION_FP_RECIPROCAL] = { 1, { { V0, 4, 2 } } },
		[OPERATION_FP_COMPARE] = { 1, { { V0, 2 } } },
		[OPERATION_FP_ROUND] = { 1, { { V0, 3 } } },
		[OPERATION_CONVERT] = { 1, { { V0, 3 } } },
		[OPERATION_CONVERT_TO_GENERAL] = { 2, { { V0, 3 }, { V1, 1 } } },
		[OPERATION_CONVERT_FROM_GENERAL] = { 2, { { M, 3 }, { V0, 3 } } },
		[OPERATION_VECTOR_LOGIC] = { 1, { { V, 2 } } },
		[OPERATION_VECTOR_ADD] = { 1, { { V, 2 } } },
		[OPERATION_VECTOR_SHIFT] = { 1, { { V1, 2 } } },
		[OPERATION_VECTOR_MULTIPLY] = { 1, { { V0, 4 } } },
		[OPERATION_VECTOR_MULTIPLY_32] = { 1, { { V0, 5, 2 } } },
		[OPERATION_VECTOR_BLEND] = { 1, { { V, 2 } } },
		[OPERATION_SHUFFLE] = { 1, { { V, 2 } } },
		[OPERATION_SHUFFLE_BYTES] = { 1, { { V, 2 } } },
		[OPERATION_VECTOR_TO_GENERAL] = { 1, { { V1, 2 } } },
		[OPERATION_GENERAL_TO_VECTOR] = { 1, { { M, 3 } } },
		[OPERATION_VECTOR_EXTRACT] = { 1, { { V1, 2 } } },
		[OPERATION_VECTOR_INSERT] = { 2, { { M, 3 }, { V, 2 } } },
		[OPERATION_VECTOR_HORIZONTAL] = { 1, { { V1, 3 } } },
		[OPERATION_FP_HORIZONTAL] = { 2, { { V1, 3 }, { V1, 3 } } },
		[OPERATION_AES] = { 1, { { V0, 2 } } },
		[OPERATION_CARRYLESS] = { 1, { { V0, 2 } } },
		[OPERATION_SHA] = { 1, { { V0, 4 } } },
		[OPERATION_MASK] = { 1, { { M, 2 } } },
		[OPERATION_GATHER] = { 8, { { L, 9, 4 } } },
		[OPERATION_MICROCODE] = { 4, { { M, 8, 4 } } },
		[OPERATION_OTHER] = { 1, { { I, 1 } } },
	},
	.processors = {
		{ "0x41", 8, 0xd0c, 0xd0c },
		{ "0x41", 8, 0xd0b, 0xd0b }, /* Cortex-A76, of which it was made */
	},
};
