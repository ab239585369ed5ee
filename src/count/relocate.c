/* SPDX-License-Identifier: Apache-2.0 */
#include "count/relocate.h"

#include <stddef.h>

void relocate(const Elf64_Dyn *dynamic, uint64_t base)
{
	const Elf64_Rela *r = NULL;
	uint64_t bytes = 0;

	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		if (dynamic->d_tag == DT_RELA)
			r = (const Elf64_Rela *)(base + dynamic->d_un.d_ptr);
		if (dynamic->d_tag == DT_RELASZ)
			bytes = dynamic->d_un.d_val;
	}
	for (; bytes; bytes -= sizeof(*r), r++)
		*(uint64_t *)(base + r->r_offset) = base + (uint64_t)r->r_addend;
}
