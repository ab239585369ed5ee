/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/exec_program.h"

#include <elf.h>
#include <string.h>
#include <sys/stat.h>

#include "bare/sys.h"
#include "inject/held_file.h"

#define PATH_BYTES  4096
#define N_PHDRS_MAX 64
#define SCRIPT	    "#!"
/* As the kernel has it: of a script's first line, and scripts that are run by others. */
#define SCRIPT_BYTES  256
#define N_SCRIPTS_MAX 5
#define USUAL	      "/bin:/usr/bin" /* as C libraries have it */

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

static bool read_at(int fd, void *to, size_t size, uint64_t off)
{
	return sys_call(SYS_pread64, fd, to, size, off, 0, 0) == (long)size;
}

static bool has_interpreter(int fd, const Elf64_Ehdr *h)
{
	Elf64_Phdr p;

	for (unsigned i = 0; i < h->e_phnum && i < N_PHDRS_MAX; i++) {
		if (!read_at(fd, &p, sizeof(p), h->e_phoff + i * sizeof(p)))
			return false;
		if (p.p_type == PT_INTERP)
			return true;
	}
	return false;
}

/* With another user's rights, which its dynamic linker keeps from libraries of others. */
static bool is_setid(int fd)
{
	struct stat st = { 0 };

	return sys_call(SYS_fstat, fd, &st, 0, 0, 0, 0) == 0 &&
	       st.st_mode & (S_ISUID | S_ISGID);
}

static int look(int directory_fd, const char *path, unsigned n_scripts);

/* The program that is executed for a script may be one itself. */
static bool is_run_by_dynamic(int script, unsigned n_scripts)
{
	char line[SCRIPT_BYTES] = "";
	char *path = line;
	size_t n = 0;

	if (sys_call(SYS_pread64, script, line, sizeof(line) - 1, sizeof(SCRIPT) - 1, 0,
		     0) < 0)
		return false;
	while (*path == ' ' || *path == '\t')
		path++;
	while (path[n] && path[n] != ' ' && path[n] != '\t' && path[n] != '\n')
		n++;
	path[n] = 0;
	return n && n_scripts && look(AT_FDCWD, path, n_scripts - 1) > 0;
}

static bool is_dynamic(int fd, unsigned n_scripts)
{
	Elf64_Ehdr h;
	char mark[sizeof(SCRIPT) - 1];

	if (!read_at(fd, mark, sizeof(mark), 0) || is_setid(fd))
		return false;
	if (memcmp(mark, SCRIPT, sizeof(mark)) == 0)
		return is_run_by_dynamic(fd, n_scripts);
	return read_at(fd, &h, sizeof(h), 0) && memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 &&
	       h.e_ident[EI_CLASS] == ELFCLASS64 && h.e_machine == MACHINE &&
	       h.e_phentsize == sizeof(Elf64_Phdr) && has_interpreter(fd, &h);
}

/* 1: it can be executed, and a library be loaded into it; 0: not the latter; negative: it
 * is not there.  A fifo is not waited for. */
static int look(int directory_fd, const char *path, unsigned n_scripts)
{
	int held = held_file_at(directory_fd, path), fd;
	bool is;

	if (held != HELD_FILE_NONE)
		return held >= 0 && is_dynamic(held, n_scripts);
	fd = (int)sys_call(SYS_openat, directory_fd, path,
			   O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0, 0, 0);
	if (fd < 0)
		return fd;
	is = is_dynamic(fd, n_scripts);
	sys_close(fd);
	return is;
}

bool exec_program_is_dynamic(int fd)
{
	return is_dynamic(fd, N_SCRIPTS_MAX);
}

bool exec_program_at(int directory_fd, const char *path)
{
	return path && look(directory_fd, path, N_SCRIPTS_MAX) > 0;
}

/* Where the next entry of a list begins; NULL: that was the last. */
static const char *join(const char *list, const char *name, char ret[PATH_BYTES])
{
	size_t n_name = strlen(name), n = 0;

	while (list[n] && list[n] != ':')
		n++;
	ret[0] = 0;
	if (n + n_name + 2 <= PATH_BYTES) {
		memcpy(ret, list, n);
		ret[n] = '/';
		memcpy(ret + n + (n != 0), name, n_name + 1);
	}
	return list[n] ? list + n + 1 : NULL;
}

bool exec_program_named(const char *name, const char *list)
{
	char path[PATH_BYTES];
	int is = -1;

	if (!name)
		return false;
	for (const char *at = name; *at; at++)
		if (*at == '/')
			return exec_program_at(AT_FDCWD, name);
	for (list = list ? list : USUAL; list && is < 0;) {
		list = join(list, name, path);
		is = look(AT_FDCWD, path, N_SCRIPTS_MAX);
	}
	return is > 0;
}
