/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/x86_forward.h"
#include "go_forward.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct go_forward x86 = { x86_forward, UINT16_MAX,
					       X86_FORWARD_FLAGS };

	return go_forward(&x86, data, size);
}
