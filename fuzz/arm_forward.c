/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/arm_forward.h"
#include "go_forward.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct go_forward arm = { arm_forward, UINT32_MAX,
					       ARM_FORWARD_FLAGS };

	return go_forward(&arm, data, size);
}
