/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_load.h"

#include <elf.h>
#include <string.h>

#define PAGE 4096ULL

static uint64_t down(uint64_t x)
{
	return x & -PAGE;
}

static uint64_t up(uint64_t x)
{
	return down(x + PAGE - 1);
}

static int damaged(struct err *e)
{
	return err_set(e, ERR_FORMAT, "the counting engine is damaged");
}

static int add_part(const uint8_t *program, size_t size, const Elf64_Phdr *h,
		    struct count_load *to, struct err *e)
{
	struct count_load_part *p = &to->parts[to->n_parts];

	if (to->n_parts == COUNT_LOAD_PARTS_MAX || h->p_filesz > h->p_memsz ||
	    h->p_offset > size || h->p_filesz > size - h->p_offset ||
	    h->p_vaddr > INT32_MAX || h->p_memsz > INT32_MAX)
		return damaged(e);
	*p = (struct count_load_part){
		.off = down(h->p_vaddr),
		.bytes = up(h->p_vaddr + h->p_memsz) - down(h->p_vaddr),
		.at = h->p_vaddr,
		.data = program + h->p_offset,
		.data_bytes = h->p_filesz,
		.is_exec = h->p_flags & PF_X,
	};
	to->n_parts++;
	if (p->off + p->bytes > to->bytes)
		to->bytes = p->off + p->bytes;
	return 0;
}

int count_load_parse(const uint8_t *program, size_t size, struct count_load *ret,
		     struct err *e)
{
	struct count_load l = { 0 };
	Elf64_Ehdr head;

	if (size < sizeof(head))
		return damaged(e);
	memcpy(&head, program, sizeof(head));
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_type != ET_DYN ||
	    head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phoff > size ||
	    head.e_phnum > (size - head.e_phoff) / sizeof(Elf64_Phdr))
		return damaged(e);
	for (unsigned i = 0; i < head.e_phnum; i++) {
		Elf64_Phdr h;
		int rc;

		memcpy(&h, program + head.e_phoff + i * sizeof(h), sizeof(h));
		if (h.p_type != PT_LOAD)
			continue;
		rc = add_part(program, size, &h, &l, e);
		if (rc < 0)
			return rc;
	}
	l.entry = head.e_entry;
	if (l.entry >= l.bytes)
		return damaged(e);
	*ret = l;
	return 0;
}
