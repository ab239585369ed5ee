/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as code of two machines: a fingerprint is like itself, whole. */
#include <elf.h>
#include <stdlib.h>

#include "analyze/fingerprint.h"

static void check(unsigned machine, const uint8_t *data, size_t size)
{
	struct fingerprint f = { 0 };

	fingerprint_take(&f, machine, data, size);
	for (size_t i = 1; i < f.n_numbers; i++)
		if (f.numbers[i] <= f.numbers[i - 1])
			abort();

	struct fingerprint_likeness l = fingerprint_compare(&f, &f);

	if (l.has_code != (f.n_runs > 0) || (l.has_code && l.runs != 1) ||
	    l.n_numbers != f.n_numbers)
		abort();
	fingerprint_fini(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 65536)
		return 0;
	check(EM_X86_64, data, size);
	check(EM_AARCH64, data, size);
	return 0;
}
