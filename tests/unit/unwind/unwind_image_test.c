/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>

#include "unwind/unwind_image.h"

#define CODE	    0x1000
#define CODE_END    0x1100
#define SECTION_OFF 512

/* .debug_frame: at CODE the CFA is rsp + 8. */
static const uint8_t frame[48] = {
	/* CIE */ 20,
	0,
	0,
	0,
	0xff,
	0xff,
	0xff,
	0xff,
	1,
	0,
	1,
	0x78,
	16,
	0x0c,
	7,
	8,
	0x90,
	1,
	0,
	0,
	0,
	0,
	0,
	0,
	/* FDE */ 20,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0x10,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	1,
	0,
	0,
	0,
	0,
	0,
	0,
};

struct file {
	_Alignas(8) uint8_t bytes[4096];
	size_t size;
};

/* An ELF file of one section. */
static void make_file(struct file *f, const char *name, uint64_t flags, const void *bytes,
		      size_t size)
{
	Elf64_Ehdr *eh = (Elf64_Ehdr *)f->bytes;
	Elf64_Phdr *ph = (Elf64_Phdr *)(eh + 1);
	Elf64_Shdr *sh = (Elf64_Shdr *)(ph + 1);
	char *names = (char *)(sh + 2);

	memset(f, 0, sizeof(*f));
	memcpy(eh->e_ident, ELFMAG, SELFMAG);
	eh->e_ident[EI_CLASS] = ELFCLASS64;
	eh->e_ident[EI_DATA] = ELFDATA2LSB;
	eh->e_machine = EM_X86_64;
	eh->e_phoff = sizeof(*eh);
	eh->e_phentsize = sizeof(*ph);
	eh->e_phnum = 1;
	eh->e_shoff = sizeof(*eh) + sizeof(*ph);
	eh->e_shentsize = sizeof(*sh);
	eh->e_shnum = 2;
	*ph = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_X, .p_filesz = 1 << 16 };
	strcpy(names + 1, name);
	sh[0] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
			      .sh_offset = (uint64_t)(names - (char *)f->bytes),
			      .sh_size = strlen(name) + 2 };
	sh[1] = (Elf64_Shdr){ .sh_name = 1,
			      .sh_type = SHT_PROGBITS,
			      .sh_flags = flags,
			      .sh_offset = SECTION_OFF,
			      .sh_size = size };
	memcpy(f->bytes + SECTION_OFF, bytes, size);
	f->size = SECTION_OFF + size;
}

static void check(const struct file *f, bool has_table)
{
	own(unwind_image_freep) struct unwind_image *image = NULL;

	assert_int_equal(unwind_image_over(f->bytes, f->size, "x", &image, NULL), 0);
	assert_int_equal(unwind_image_has_table(image), has_table);
	assert_int_equal(unwind_image_row(image, CODE + 5)->kind,
			 has_table ? CFA_ROW_CFA : CFA_ROW_NONE);
	assert_int_equal(unwind_image_row(image, CODE_END)->kind, CFA_ROW_NONE);
}

static size_t pack(uint8_t *ret, size_t cap, uint32_t type, uint64_t promised)
{
	Elf64_Chdr ch = { .ch_type = type, .ch_size = promised, .ch_addralign = 1 };
	uLongf size = cap - sizeof(ch);

	memcpy(ret, &ch, sizeof(ch));
	assert_int_equal(compress(ret + sizeof(ch), &size, frame, sizeof(frame)), Z_OK);
	return sizeof(ch) + size;
}

static void a_debug_frame_is_read(void **state)
{
	struct file f;

	(void)state;
	make_file(&f, ".debug_frame", 0, frame, sizeof(frame));
	check(&f, true);
}

static void a_compressed_debug_frame_is_read(void **state)
{
	uint8_t packed[256];
	struct file f;
	size_t n = pack(packed, sizeof(packed), ELFCOMPRESS_ZLIB, sizeof(frame));

	(void)state;
	make_file(&f, ".debug_frame", SHF_COMPRESSED, packed, n);
	check(&f, true);
}

static void what_lies_about_its_size_is_left_out(void **state)
{
	static const struct {
		uint32_t type;
		uint64_t promised;
	} lies[] = { { ELFCOMPRESS_ZLIB, UINT64_C(1) << 40 },
		     { ELFCOMPRESS_ZLIB, 1u << 29 },
		     { ELFCOMPRESS_ZLIB, sizeof(frame) + 1 },
		     { ELFCOMPRESS_ZLIB, 0 },
		     { 77, sizeof(frame) } };
	uint8_t packed[256];
	struct file f;

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		size_t n = pack(packed, sizeof(packed), lies[i].type, lies[i].promised);

		make_file(&f, ".debug_frame", SHF_COMPRESSED, packed, n);
		check(&f, false);
	}
	make_file(&f, ".debug_frame", SHF_COMPRESSED, packed, 10);
	check(&f, false);
}

static void the_table_of_an_embedded_debug_file_is_read(void **state)
{
	uint8_t packed[4096];
	struct file inner, f;
	size_t n = 0;

	(void)state;
	make_file(&inner, ".debug_frame", 0, frame, sizeof(frame));
	assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, inner.bytes,
						 inner.size, packed, &n, sizeof(packed)),
			 LZMA_OK);
	make_file(&f, ".gnu_debugdata", 0, packed, n);
	check(&f, true);
	make_file(&f, ".gnu_debugdata", 0, packed, n / 2);
	check(&f, false);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_debug_frame_is_read),
		cmocka_unit_test(a_compressed_debug_frame_is_read),
		cmocka_unit_test(what_lies_about_its_size_is_left_out),
		cmocka_unit_test(the_table_of_an_embedded_debug_file_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
