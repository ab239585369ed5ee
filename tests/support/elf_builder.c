/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_builder.h"

#include <string.h>

#include "base/own.h"

void elf_builder_fini(struct elf_builder *b)
{
	vec_fini(&b->sections);
	buf_fini(&b->note);
}

uint32_t elf_builder_add(struct elf_builder *b, const struct elf_builder_section *s)
{
	*vec_push(&b->sections) = *s;
	return (uint32_t)b->sections.n;
}

void elf_builder_add_build_id(struct elf_builder *b, const void *id, size_t size)
{
	buf_u32le(&b->note, 4);
	buf_u32le(&b->note, (uint32_t)size);
	buf_u32le(&b->note, NT_GNU_BUILD_ID);
	buf_add(&b->note, "GNU", 4);
	buf_add(&b->note, id, size);
	elf_builder_add(b, &(struct elf_builder_section){ .name = ".note.gnu.build-id",
							  .type = SHT_NOTE,
							  .flags = SHF_ALLOC,
							  .data = b->note.data,
							  .size = b->note.size });
}

static void align(struct buf *out)
{
	while (out->size % 8)
		buf_u8(out, 0);
}

static Elf64_Shdr write_contents(const struct elf_builder_section *s, struct buf *names,
				 struct buf *out)
{
	Elf64_Shdr h = { .sh_name = (uint32_t)names->size,
			 .sh_type = s->type,
			 .sh_flags = s->flags,
			 .sh_addr = s->address ? s->address : out->size,
			 .sh_offset = out->size,
			 .sh_size = s->size,
			 .sh_link = s->link,
			 .sh_addralign = 8 };

	buf_add(names, s->name, strlen(s->name) + 1);
	buf_add(out, s->data, s->size);
	align(out);
	return h;
}

void elf_builder_write(const struct elf_builder *b, struct buf *ret)
{
	Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = b->type ? b->type : ET_DYN,
		.e_entry = b->entry,
		.e_machine = b->machine ? b->machine : EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (uint16_t)(b->sections.n + 2),
		.e_shstrndx = (uint16_t)(b->sections.n + 1),
	};
	Elf64_Phdr segment = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X };
	VEC(Elf64_Shdr) table = { 0 };
	own(buf_fini) struct buf names = { 0 };
	struct elf_builder_section last = { ".shstrtab", SHT_STRTAB, 0, 0, 0, NULL, 0 };

	buf_add(ret, &header, sizeof(header));
	buf_add(ret, &segment, sizeof(segment));
	buf_u8(&names, 0);
	*vec_push(&table) = (Elf64_Shdr){ 0 };
	for (size_t i = 0; i < b->sections.n; i++)
		*vec_push(&table) = write_contents(&b->sections.at[i], &names, ret);
	*vec_push(&table) = write_contents(&last, &names, ret);
	table.at[table.n - 1].sh_offset = ret->size;
	table.at[table.n - 1].sh_size = names.size;
	buf_add(ret, names.data, names.size);
	align(ret);
	header.e_shoff = ret->size;
	buf_add(ret, table.at, table.n * sizeof(*table.at));
	segment.p_filesz = segment.p_memsz = ret->size;
	memcpy(ret->data, &header, sizeof(header));
	memcpy(ret->data + sizeof(header), &segment, sizeof(segment));
	vec_fini(&table);
}
