/* SPDX-License-Identifier: Apache-2.0 */
#include "count/program.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/personality.h>

#include "bare/sys.h"
#include "count/count_output.h"
#include "count/exec_range.h"
#include "count/fatal.h"
#include "count/nest.h"
#include "count/fd_path.h"
#include "count/own_exe.h"

#define PAGE	    4096ULL
#define HEADERS_MAX 64
/* Where Linux puts programs that can be anywhere, and how far it moves them at random. */
#define PIE_BASE    0x555555554000ULL
#define RANDOM_MASK 0xfffffffULL

struct file {
	int fd;
	const char *path;
	Elf64_Ehdr head;
	Elf64_Phdr headers[HEADERS_MAX];
	uint64_t low, high; /* of its addresses */
	uint64_t bias;
	char interpreter[4096];
	char true_path[4096]; /* without links */
};

static uint64_t down(uint64_t addr)
{
	return addr & ~(PAGE - 1);
}

static uint64_t up(uint64_t addr)
{
	return down(addr + PAGE - 1);
}

static long read_at(const struct file *f, void *to, size_t bytes, uint64_t off)
{
	return sys_call(SYS_pread64, f->fd, to, bytes, off, 0, 0);
}

static void read_headers(struct file *f)
{
	Elf64_Ehdr *h = &f->head;
	size_t bytes;

	f->fd = sys_open(f->path, O_RDONLY | O_CLOEXEC, 0);
	if (f->fd < 0)
		fatal("cannot open the program");
	fd_path(f->fd, f->true_path, sizeof(f->true_path));
	if (read_at(f, h, sizeof(*h), 0) != sizeof(*h) ||
	    memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_machine != EM_X86_64 || (h->e_type != ET_EXEC && h->e_type != ET_DYN) ||
	    !h->e_phnum || h->e_phnum > HEADERS_MAX ||
	    h->e_phentsize != sizeof(Elf64_Phdr))
		fatal("not a program for this machine");
	bytes = sizeof(Elf64_Phdr) * h->e_phnum;
	if (read_at(f, f->headers, bytes, h->e_phoff) != (long)bytes)
		fatal("the program's file is cut");
}

static void read_extent(struct file *f)
{
	f->low = UINT64_MAX;
	f->high = 0;
	for (unsigned i = 0; i < f->head.e_phnum; i++) {
		const Elf64_Phdr *h = &f->headers[i];

		if (h->p_type == PT_INTERP && (h->p_filesz >= sizeof(f->interpreter) ||
					       read_at(f, f->interpreter, h->p_filesz,
						       h->p_offset) != (long)h->p_filesz))
			fatal("the program's interpreter cannot be told");
		if (h->p_type != PT_LOAD)
			continue;
		f->low = down(h->p_vaddr) < f->low ? down(h->p_vaddr) : f->low;
		f->high = up(h->p_vaddr + h->p_memsz) > f->high
				  ? up(h->p_vaddr + h->p_memsz)
				  : f->high;
	}
	if (f->low >= f->high)
		fatal("the program has nothing to load");
}

/* Address space for all of it, at once so that the parts keep their distances. */
static void take_space(struct file *f, uint64_t hint)
{
	bool is_fixed = f->head.e_type == ET_EXEC;
	uint64_t at = is_fixed ? f->low : hint;
	long p = sys_call(SYS_mmap, at, f->high - f->low, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p < 0 && p > -4096)
		fatal("no address space for the program");
	if (is_fixed && (uint64_t)p != at)
		fatal("the program's addresses are taken");
	f->bias = (uint64_t)p - f->low;
}

static int protection(const Elf64_Phdr *h)
{
	return (h->p_flags & PF_R ? PROT_READ : 0) |
	       (h->p_flags & PF_W ? PROT_WRITE : 0) | (h->p_flags & PF_X ? PROT_EXEC : 0);
}

static void map(uint64_t addr, uint64_t bytes, int prot, int flags, int fd, uint64_t off)
{
	long p = sys_call(SYS_mmap, addr, bytes, prot, MAP_PRIVATE | MAP_FIXED | flags,
			  fd, off);

	if (p < 0 && p > -4096)
		fatal("cannot map the program");
}

/* The file's last page ends in zeros where the memory goes on. */
static void map_part(struct file *f, const Elf64_Phdr *h)
{
	uint64_t start = down(h->p_vaddr) + f->bias;
	uint64_t file_end = h->p_vaddr + h->p_filesz + f->bias;
	uint64_t end = h->p_vaddr + h->p_memsz + f->bias;

	if (h->p_filesz)
		map(start, up(file_end) - start, protection(h), 0, f->fd,
		    down(h->p_offset));
	if (end > file_end && h->p_filesz && (h->p_flags & PF_W))
		memset((void *)file_end, 0, up(file_end) - file_end);
	if (!h->p_filesz)
		map(start, up(end) - start, protection(h), MAP_ANONYMOUS, -1, 0);
	else if (up(end) > up(file_end))
		map(up(file_end), up(end) - up(file_end), protection(h), MAP_ANONYMOUS,
		    -1, 0);
}

static void note_code(const struct file *f, const Elf64_Phdr *h)
{
	uint64_t start = down(h->p_vaddr) + f->bias;
	uint64_t end = up(h->p_vaddr + h->p_filesz) + f->bias;
	struct count_file_image image = { .start = start,
					  .size = end - start,
					  .off = down(h->p_offset) };
	uint32_t number = count_output_add_image(&image, f->true_path);

	exec_range_add((struct exec_range){
		.start = start,
		.end = end,
		.image = number,
		.is_exec = true,
		.is_writable = h->p_flags & PF_W,
	});
	nest_add_code(f->fd, NULL, &image, number);
}

static void load(struct file *f, uint64_t hint)
{
	read_headers(f);
	read_extent(f);
	take_space(f, hint);
	for (unsigned i = 0; i < f->head.e_phnum; i++) {
		if (f->headers[i].p_type != PT_LOAD)
			continue;
		map_part(f, &f->headers[i]);
		if (f->headers[i].p_flags & PF_X)
			note_code(f, &f->headers[i]);
	}
	sys_close(f->fd);
}

static void tell_headers(struct program *p, const struct file *f)
{
	p->n_headers = f->head.e_phnum;
	for (unsigned i = 0; i < f->head.e_phnum; i++) {
		const Elf64_Phdr *h = &f->headers[i];

		if (h->p_type == PT_LOAD && f->head.e_phoff >= h->p_offset &&
		    f->head.e_phoff < h->p_offset + h->p_filesz)
			p->headers = h->p_vaddr + f->head.e_phoff - h->p_offset + f->bias;
	}
}

static void tell_extent(struct program *p, const struct file *f)
{
	p->code_start = p->data_start = UINT64_MAX;
	for (unsigned i = 0; i < f->head.e_phnum; i++) {
		const Elf64_Phdr *h = &f->headers[i];
		uint64_t start = h->p_vaddr + f->bias;
		uint64_t end = start + h->p_filesz;
		bool is_code = h->p_flags & PF_X;
		uint64_t *first = is_code ? &p->code_start : &p->data_start;
		uint64_t *last = is_code ? &p->code_end : &p->data_end;

		if (h->p_type != PT_LOAD)
			continue;
		*first = start < *first ? start : *first;
		*last = end > *last ? end : *last;
	}
	p->break_start = f->high + f->bias;
}

void program_load(struct program *p, const char *path, uint64_t random)
{
	static struct file program, interpreter;

	*p = (struct program){ 0 };
	program.path = path;
	if (sys_call(SYS_personality, -1, 0, 0, 0, 0, 0) & ADDR_NO_RANDOMIZE)
		random = 0;
	load(&program, PIE_BASE + (random & RANDOM_MASK) * PAGE);
	own_exe_set(program.true_path);
	p->own_entry = p->entry = program.head.e_entry + program.bias;
	tell_headers(p, &program);
	tell_extent(p, &program);
	if (!program.interpreter[0])
		return;
	interpreter.path = program.interpreter;
	load(&interpreter, 0);
	p->entry = interpreter.head.e_entry + interpreter.bias;
	p->interpreter_base = interpreter.bias;
}
