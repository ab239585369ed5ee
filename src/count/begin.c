/* SPDX-License-Identifier: Apache-2.0
 * The engine's own start, from the kernel:
 *	PREFIX FLAGS PATH NAME -- are its first arguments, the program's follow. */
#include <asm/prctl.h>
#include <elf.h>
#include <string.h>
#include <sys/prctl.h>

#include "bare/sys.h"
#include "count/context.h"
#include "count/count_output.h"
#include "count/engine.h"
#include "count/engine_file.h"
#include "count/exec_range.h"
#include "count/fatal.h"
#include "count/follow.h"
#include "count/memory_limit.h"
#include "count/nest.h"
#include "count/own_exe.h"
#include "count/place.h"
#include "count/program.h"
#include "count/program_memory.h"
#include "count/relocate.h"
#include "count/signals.h"
#include "count/translate.h"
#include "wire/count_flags.h"

__attribute__((visibility("hidden"))) void begin(uint64_t *sp, const Elf64_Dyn *dynamic,
						 uint64_t base);
__attribute__((visibility("hidden"))) _Noreturn void crossing_enter(struct context *c,
								    const void *code);

extern bool crossing_has_wrgsbase __attribute__((visibility("hidden")));

#ifndef HWCAP2_FSGSBASE
#define HWCAP2_FSGSBASE 2
#endif

#define FD_DIRECTORY "/dev/fd/"

struct start {
	uint64_t *sp; /* as the program is to find it */
	Elf64_auxv_t *aux;
	const char *file, *flags, *path, *name;
};

/* The kernel's own stack, without the engine's arguments. */
static void take_arguments(struct start *s, uint64_t *sp)
{
	uint64_t n = sp[0];
	uint64_t *p = sp + 1 + n + 1;

	if (n <= FOLLOW_WORDS)
		fatal("usage: PREFIX FLAGS PATH NAME -- ARGUMENT...");
	s->file = (const char *)sp[2];
	s->flags = (const char *)sp[3];
	s->path = (const char *)sp[4];
	s->name = (const char *)sp[5];
	while (*p++)
		;
	s->aux = (Elf64_auxv_t *)p;
	s->sp = sp + FOLLOW_WORDS;
	s->sp[0] = n - FOLLOW_WORDS;
}

static bool has_flag(const struct start *s, char flag)
{
	for (const char *c = s->flags; *c && *c != COUNT_FLAGS_FUNCTIONS; c++)
		if (*c == flag)
			return true;
	return false;
}

static uint64_t *auxiliary(const struct start *s, uint64_t type)
{
	static uint64_t none;

	for (Elf64_auxv_t *a = s->aux; a->a_type != AT_NULL; a++)
		if (a->a_type == type)
			return &a->a_un.a_val;
	none = 0;
	return &none;
}

static void tell_program(const struct start *s, const struct program *p)
{
	*auxiliary(s, AT_PHDR) = p->headers;
	*auxiliary(s, AT_PHNUM) = p->n_headers;
	*auxiliary(s, AT_ENTRY) = p->own_entry;
	*auxiliary(s, AT_BASE) = p->interpreter_base;
	*auxiliary(s, AT_EXECFN) = (uint64_t)s->name;
}

/* As /proc shows it.  Kernels that cannot leave the engine's own there. */
static void tell_kernel(const struct start *s, const struct program *p)
{
	const char *const *args = (const char *const *)s->sp + 1;
	uint64_t n = s->sp[0];
	Elf64_auxv_t *end = s->aux;
	struct prctl_mm_map map = {
		.start_code = p->code_start,
		.end_code = p->code_end,
		.start_data = p->data_start,
		.end_data = p->data_end,
		.start_brk = p->break_start,
		.brk = p->break_start,
		.start_stack = (uint64_t)s->sp,
		.arg_start = (uint64_t)args[0],
		.arg_end = (uint64_t)(args[n - 1] + strlen(args[n - 1]) + 1),
		.exe_fd = (uint32_t)-1,
	};
	const char *const *environment = args + n + 1;

	while (end->a_type != AT_NULL)
		end++;
	map.env_start = map.env_end = map.arg_end;
	for (; *environment; environment++)
		map.env_end = (uint64_t)(*environment + strlen(*environment) + 1);
	map.auxv = (void *)s->aux;
	map.auxv_size = (uint32_t)((char *)(end + 1) - (char *)s->aux);
	sys_call(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0, 0);
}

static const char *last_part(const char *path)
{
	const char *part = path;

	for (; *path; path++)
		if (*path == '/')
			part = path + 1;
	return part;
}

static bool is_number(const char *text)
{
	while (*text >= '0' && *text <= '9')
		text++;
	return !*text;
}

/* What was executed by its descriptor alone is called as the file is, since Linux 6.14.
 */
static void tell_name(const struct start *s)
{
	const char *name = last_part(s->name), *file = own_exe_of("/proc/self/exe");
	char own[COUNT_FILE_NAME_BYTES] = { 0 };
	unsigned n = 0;

	if (is_number(name) && name - s->name == sizeof(FD_DIRECTORY) - 1 &&
	    memcmp(s->name, FD_DIRECTORY, sizeof(FD_DIRECTORY) - 1) == 0 && file)
		name = last_part(file);
	/* up to what /proc says of files that are gone */
	for (; n < sizeof(own) - 1 && name[n] && strcmp(name + n, " (deleted)") != 0; n++)
		own[n] = name[n];
	sys_call(SYS_prctl, PR_SET_NAME, own, 0, 0, 0, 0);
	count_output_name(own);
}

/* Its code is the kernel's, in memory. */
static void add_vdso(uint64_t base)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)base;
	const Elf64_Phdr *h = (const Elf64_Phdr *)(base + head->e_phoff);

	for (unsigned i = 0; i < head->e_phnum; i++)
		if (h[i].p_type == PT_LOAD) {
			uint64_t bytes = (h[i].p_memsz + 4095) & ~4095ULL;
			struct count_file_image image = { .start = base, .size = bytes };

			exec_range_add((struct exec_range){
				.start = base,
				.end = base + bytes,
				.image = count_output_add_image(&image, "[vdso]"),
				.is_exec = true,
			});
		}
}

/* The descriptor that the path ends with. */
static void close_file(const char *path)
{
	const char *at = path + strlen(path);
	int fd = 0;

	while (at[-1] >= '0' && at[-1] <= '9')
		at--;
	while (*at)
		fd = fd * 10 + (*at++ - '0');
	sys_close(fd);
}

void begin(uint64_t *sp, const Elf64_Dyn *dynamic, uint64_t base)
{
	struct start s = { 0 };
	struct program p;
	struct context *c;
	uint64_t random = 0;
	const void *code;

	relocate(dynamic, base);
	take_arguments(&s, sp);
	if (sys_call(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0) > 0)
		program_memory_believe();
	follow_init(s.file, s.flags);
	engine_file_init();
	memory_limit_begin(has_flag(&s, COUNT_FLAG_RAISED));
	count_output_create(s.file,
			    has_flag(&s, FOLLOW_FLAG) || has_flag(&s, FOLLOW_FLAG_FD));
	engine_init();
	engine.counts_all = has_flag(&s, COUNT_FLAG_ALL);
	engine.turns_soon = has_flag(&s, COUNT_FLAG_SOON);
	engine.is_strict = has_flag(&s, COUNT_FLAG_STRICT);
	nest_choose(s.flags);
	memcpy(&random, (const void *)(*auxiliary(&s, AT_RANDOM) + 8), 8);
	program_load(&p, s.path, random);
	if (has_flag(&s, FOLLOW_FLAG_FD))
		close_file(s.path);
	tell_program(&s, &p);
	tell_kernel(&s, &p);
	tell_name(&s);
	if (*auxiliary(&s, AT_SYSINFO_EHDR))
		add_vdso(*auxiliary(&s, AT_SYSINFO_EHDR));
	crossing_has_wrgsbase = *auxiliary(&s, AT_HWCAP2) & HWCAP2_FSGSBASE;
	c = context_take();
	c->regs[4] = (uint64_t)s.sp;
	c->flags = 0x202;
	c->tid = (uint32_t)sys_gettid();
	sys_call(SYS_arch_prctl, ARCH_SET_GS, c, 0, 0, 0, 0);
	signals_init(c);
	count_output_add_extra(COUNT_EXTRA_ENTER, p.entry, 0, 0, 1);
	code = translate(place_at(0, p.entry));
	crossing_enter(c, code);
}
