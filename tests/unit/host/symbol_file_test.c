/* SPDX-License-Identifier: Apache-2.0 */
#include "host/symbol_file.h"

#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MOST (64 << 20)

/* A file in memory. */
struct file {
	size_t size;
	uint8_t *data;
};

static struct file load(int fd)
{
	struct file f = { 0 };
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	f.size = (size_t)st.st_size;
	f.data = malloc(f.size + 1);
	assert_int_equal(pread(fd, f.data, f.size, 0), f.size);
	return f;
}

static const Elf64_Shdr *sections(const struct file *f, size_t *n)
{
	const Elf64_Ehdr *h = (const void *)f->data;

	*n = h->e_shnum;
	assert_true(h->e_shoff + *n * sizeof(Elf64_Shdr) <= f->size);
	return (const void *)(f->data + h->e_shoff);
}

static const Elf64_Shdr *find(const struct file *f, const char *name)
{
	const Elf64_Ehdr *h = (const void *)f->data;
	size_t n;
	const Elf64_Shdr *s = sections(f, &n);

	for (size_t i = 0; i < n; i++)
		if (s[i].sh_type &&
		    strcmp((char *)f->data + s[h->e_shstrndx].sh_offset + s[i].sh_name,
			   name) == 0)
			return &s[i];
	return NULL;
}

static void assert_same(const struct file *a, const struct file *b, const char *name)
{
	const Elf64_Shdr *x = find(a, name), *y = find(b, name);

	assert_non_null(x);
	assert_non_null(y);
	assert_int_equal(x->sh_size, y->sh_size);
	assert_int_equal(x->sh_addr, y->sh_addr);
	assert_memory_equal(a->data + x->sh_offset, b->data + y->sh_offset, x->sh_size);
}

static void symbols_stay_and_code_goes(void **state)
{
	own(closep) int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	own(closep) int small = memfd_create("small", MFD_CLOEXEC);
	struct file whole, part;
	const Elf64_Ehdr *h, *g;

	(void)state;
	assert_int_equal(symbol_file_write(self, small, MOST, NULL), 0);
	whole = load(self);
	part = load(small);
	assert_same(&whole, &part, ".symtab");
	assert_same(&whole, &part, ".strtab");
	assert_same(&whole, &part, ".dynsym");
	assert_same(&whole, &part, ".note.gnu.build-id");
	assert_int_equal(find(&part, ".text")->sh_type, SHT_NOBITS);
	assert_int_equal(find(&part, ".text")->sh_addr, find(&whole, ".text")->sh_addr);
	assert_null(find(&part, ".debug_info"));
	assert_true(part.size < whole.size / 2);
	/* Places in the file mean the same. */
	h = (const void *)whole.data;
	g = (const void *)part.data;
	assert_int_equal(h->e_phnum, g->e_phnum);
	assert_memory_equal(whole.data + h->e_phoff, part.data + g->e_phoff,
			    h->e_phnum * sizeof(Elf64_Phdr));
	free(whole.data);
	free(part.data);
}

static int write_of(const void *data, size_t size, uint64_t max_bytes)
{
	own(closep) int from = memfd_create("from", MFD_CLOEXEC);
	own(closep) int to = memfd_create("to", MFD_CLOEXEC);

	assert_int_equal(write(from, data, size), size);
	return symbol_file_write(from, to, max_bytes, NULL);
}

static void what_is_no_such_file_is_refused(void **state)
{
	own(closep) int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct file f = load(self);

	(void)state;
	assert_int_equal(write_of("no ELF file at all", 18, MOST), ERR_FORMAT);
	assert_int_equal(write_of(f.data, f.size / 2, MOST), ERR_FORMAT);
	f.data[EI_CLASS] = ELFCLASS32;
	assert_int_equal(write_of(f.data, f.size, MOST), ERR_UNSUPPORTED);
	free(f.data);
}

static void sections_that_overlap_make_no_large_file(void **state)
{
	own(closep) int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct file f = load(self);
	Elf64_Ehdr *h = (void *)f.data;
	Elf64_Shdr *s = (void *)(f.data + h->e_shoff);

	(void)state;
	for (size_t i = 1; i < h->e_shnum; i++)
		if (i != h->e_shstrndx) {
			s[i].sh_type = SHT_STRTAB;
			s[i].sh_offset = 0;
			s[i].sh_size = f.size;
		}
	assert_int_equal(write_of(f.data, f.size, 3 * f.size), ERR_UNSUPPORTED);
	free(f.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_stay_and_code_goes),
		cmocka_unit_test(what_is_no_such_file_is_refused),
		cmocka_unit_test(sections_that_overlap_make_no_large_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
