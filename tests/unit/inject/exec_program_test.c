/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "inject/exec_program.h"

#if defined(__x86_64__)
#define OURS   EM_X86_64
#define OTHERS EM_AARCH64
#else
#define OURS   EM_AARCH64
#define OTHERS EM_X86_64
#endif

static char directory[] = "/tmp/dwell-exec-program-XXXXXX";

static void write_file(const char *name, const void *bytes, size_t size)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

static void write_program(const char *name, unsigned class, unsigned machine,
			  uint32_t second)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr phdrs[2];
	} elf = { .header = { .e_ident = ELFMAG,
			      .e_machine = (Elf64_Half)machine,
			      .e_phoff = sizeof(Elf64_Ehdr),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = 2 },
		  .phdrs = { { .p_type = PT_LOAD }, { .p_type = second } } };

	elf.header.e_ident[EI_CLASS] = (unsigned char)class;
	write_file(name, &elf, sizeof(elf));
}

static void set_mode(const char *name, mode_t mode)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	assert_int_equal(chmod(path, mode), 0);
}

static bool is_dynamic(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return exec_program_at(AT_FDCWD, path);
}

static void libraries_are_loaded_into_what_has_a_dynamic_linker(void **state)
{
	char script[256];

	(void)state;
	write_program("dynamic", ELFCLASS64, OURS, PT_INTERP);
	write_program("static", ELFCLASS64, OURS, PT_LOAD);
	write_program("small", ELFCLASS32, OURS, PT_INTERP);
	write_program("other", ELFCLASS64, OTHERS, PT_INTERP);
	snprintf(script, sizeof(script), "#!%s/dynamic\n", directory);
	write_file("script", script, strlen(script));
	write_file("text", "hello", 5);
	write_file("cut", ELFMAG, SELFMAG);
	write_file("empty", "", 0);
	assert_true(is_dynamic("dynamic"));
	assert_false(is_dynamic("static"));
	assert_false(is_dynamic("small"));
	assert_false(is_dynamic("other"));
	assert_true(is_dynamic("script"));
	assert_false(is_dynamic("text"));
	assert_false(is_dynamic("cut"));
	assert_false(is_dynamic("empty"));
	assert_false(is_dynamic("none"));
	write_program("setid", ELFCLASS64, OURS, PT_INTERP);
	set_mode("setid", 04755);
	assert_false(is_dynamic("setid"));
	assert_false(is_dynamic(""));
	assert_true(exec_program_at(AT_FDCWD, "/proc/self/exe"));
	assert_false(exec_program_at(AT_FDCWD, NULL));
}

static void write_script(const char *name, const char *interpreter, const char *rest)
{
	char text[128];

	snprintf(text, sizeof(text), "#!%s/%s%s", directory, interpreter, rest);
	write_file(name, text, strlen(text));
}

static void a_script_is_what_it_is_run_by(void **state)
{
	(void)state;
	write_program("dynamic", ELFCLASS64, OURS, PT_INTERP);
	write_program("static", ELFCLASS64, OURS, PT_LOAD);
	write_script("by-dynamic", "dynamic", " -x\nrest");
	write_script("by-static", "static", "\n");
	write_script("by-none", "none", "\n");
	write_script("by-script", "by-dynamic", "");
	write_script("by-script-by-static", "by-static", "\t");
	write_script("by-itself", "by-itself", "\n");
	write_file("by-nothing", "#! \n", 4);
	assert_true(is_dynamic("by-dynamic"));
	assert_false(is_dynamic("by-static"));
	assert_false(is_dynamic("by-none"));
	assert_true(is_dynamic("by-script"));
	assert_false(is_dynamic("by-script-by-static"));
	assert_false(is_dynamic("by-itself"));
	assert_false(is_dynamic("by-nothing"));
}

static void a_pipe_is_not_waited_for(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/pipe", directory);
	assert_int_equal(mkfifo(path, 0700), 0);
	assert_false(is_dynamic("pipe"));
}

static void a_name_is_looked_for_where_a_shell_does(void **state)
{
	char path[256], name[256];

	(void)state;
	snprintf(path, sizeof(path), "/there/is/none:%s", directory);
	assert_true(exec_program_named("dynamic", path));
	assert_false(exec_program_named("static", path));
	assert_false(exec_program_named("none", path));
	assert_false(exec_program_named("dynamic", "/there/is/none:"));
	assert_false(exec_program_named(NULL, path));
	assert_int_equal(exec_program_named("sh", NULL),
			 exec_program_at(AT_FDCWD, "/bin/sh"));
	snprintf(name, sizeof(name), "%s/dynamic", directory);
	assert_true(exec_program_named(name, "/there/is/none"));
	assert_int_equal(chdir(directory), 0);
	assert_true(exec_program_named("dynamic", "/there/is/none:")); /* "" is here */
	assert_int_equal(chdir("/"), 0);
}

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command);
}

/* As another process sees it. */
static bool is_locked(const char *path)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		struct flock lock = { .l_type = F_WRLCK };
		int fd = open(path, O_RDWR | O_CLOEXEC);

		_exit(fd < 0 || fcntl(fd, F_GETLK, &lock) < 0 ? 2
							      : lock.l_type != F_UNLCK);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return WEXITSTATUS(status);
}

static void record_locks_of_programs_and_scripts_stay(void **state)
{
	static const struct {
		const char *locked, *executed;
		bool is;
	} cases[] = {
		{ "locked", "locked", true },
		{ "locked", "locked-link", true },
		{ "locked-static", "locked-static", false },
		{ "locked", "locked-script", true },
		{ "locked-script", "locked-script", true },
		{ "locked", "other", true },
	};
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1 };
	char path[128], link_path[128], script[256];

	(void)state;
	write_program("locked", ELFCLASS64, OURS, PT_INTERP);
	write_program("other", ELFCLASS64, OURS, PT_INTERP);
	write_program("locked-static", ELFCLASS64, OURS, PT_LOAD);
	snprintf(script, sizeof(script), "#!%s/locked\n", directory);
	write_file("locked-script", script, strlen(script));
	snprintf(path, sizeof(path), "%s/locked", directory);
	snprintf(link_path, sizeof(link_path), "%s/locked-link", directory);
	assert_int_equal(symlink(path, link_path), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/%s", directory, cases[i].locked);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		assert_int_equal(fcntl(fd, F_SETLK, &lock), 0);
		assert_int_equal(lseek(fd, 3, SEEK_SET), 3);
		assert_int_equal(is_dynamic(cases[i].executed), cases[i].is);
		assert_true(is_locked(path));
		assert_int_equal(lseek(fd, 0, SEEK_CUR), 3);
		close(fd);
		assert_false(is_locked(path));
	}
}

static void what_is_only_written_to_is_not_opened_for_it(void **state)
{
	struct flock lock = { .l_type = F_WRLCK, .l_len = 1 };
	char path[128];
	int fd;

	(void)state;
	write_program("written", ELFCLASS64, OURS, PT_INTERP);
	snprintf(path, sizeof(path), "%s/written", directory);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(fcntl(fd, F_SETLK, &lock), 0);
	assert_false(is_dynamic("written"));
	assert_true(is_locked(path));
	close(fd);
	assert_true(is_dynamic("written"));
}

static void descriptors_are_as_many_as_before(void **state)
{
	int lowest = dup(0);

	(void)state;
	close(lowest);
	assert_true(is_dynamic("other"));
	assert_int_equal(dup(0), lowest);
	close(lowest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(record_locks_of_programs_and_scripts_stay),
		cmocka_unit_test(what_is_only_written_to_is_not_opened_for_it),
		cmocka_unit_test(descriptors_are_as_many_as_before),
		cmocka_unit_test(libraries_are_loaded_into_what_has_a_dynamic_linker),
		cmocka_unit_test(a_script_is_what_it_is_run_by),
		cmocka_unit_test(a_pipe_is_not_waited_for),
		cmocka_unit_test(a_name_is_looked_for_where_a_shell_does),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
