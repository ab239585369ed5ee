/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/timer_prospect.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/procfs.h"

#define TRIES 30000 /* of a millisecond */

/* What the dynamic linker finds there is a pipe, from which it does not read before
 * somebody writes: until then it has come no further. */
static struct timer_directory meeting = { .path = "/tmp/timer_prospect_test.XXXXXX" };
static char pipe_path[WIRE_SAMPLER_DIRECTORY_MAX + 8];
static char ours[256], elsewhere[256], no_preload[256];
static char others[] = "LD_PRELOAD=/dev/shm/dwell-2-abcdef/$PLATFORM/library.so";

static int set_up(void **state)
{
	(void)state;
	meeting.owner = geteuid();
	assert_non_null(mkdtemp(meeting.path));
	snprintf(pipe_path, sizeof(pipe_path), "%s/pipe", meeting.path);
	assert_int_equal(mkfifo(pipe_path, 0600), 0);
	snprintf(ours, sizeof(ours), "LD_PRELOAD=%s", pipe_path);
	/* As it is called in a container, and here by chance. */
	snprintf(elsewhere, sizeof(elsewhere), "LD_PRELOAD=/proc/self/root%s", pipe_path);
	snprintf(no_preload, sizeof(no_preload), "DWELL=%s", meeting.path);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(pipe_path);
	return rmdir(meeting.path);
}

static pid_t run_program(const char *path, uid_t uid, char *variable)
{
	static char name[] = "sleep", seconds[] = "100";
	char *words[] = { name, seconds, NULL }, *variables[] = { variable, NULL };
	pid_t pid = fork();

	if (pid == 0) {
		if (setresuid(uid, uid, uid) < 0)
			_exit(1);
		close(STDERR_FILENO); /* where it is told that the library is not there */
		execve(path, words, variables);
		_exit(1);
	}
	return pid;
}

static pid_t run_as(uid_t uid, char *variable)
{
	return run_program("/bin/sleep", uid, variable);
}

static pid_t run_with(char *variable)
{
	return run_as(geteuid(), variable);
}

/* It may not have begun yet. */
static void await(pid_t pid, bool want)
{
	int left = TRIES;

	while (timer_prospect(pid, &meeting) != want && --left)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	assert_int_not_equal(left, 0);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void what_the_environment_says_is_to_come(void **state)
{
	static const struct {
		char *variable;
		bool want;
	} t[] = {
		{ ours, true },	       { elsewhere, true }, { others, false },
		{ no_preload, false }, { NULL, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		pid_t pid = run_with(t[i].variable);

		await(pid, t[i].want);
		end(pid);
	}
}

static void what_could_not_be_loaded_does_not_come(void **state)
{
	pid_t pid = run_with(ours);
	int fd;

	(void)state;
	await(pid, true);
	fd = open(pipe_path, O_WRONLY); /* when it reads there */
	assert_true(fd >= 0);
	close(fd); /* and finds nothing */
	await(pid, false);
	assert_int_equal(kill(pid, 0), 0);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	end(pid);
}

static bool has_begun(pid_t pid)
{
	char path[64], text[1 << 14];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	return procfs_read_text(path, text, sizeof(text), NULL) == 0 &&
	       strstr(text, "/program") && strstr(text, "/libc.so.");
}

/* The program itself stands for the library that is loaded from there. */
static void who_has_loaded_it_and_says_so_no_more_is_to_come(void **state)
{
	char path[256], copy[512], told[256];
	int left = TRIES;
	pid_t pid;

	(void)state;
	snprintf(path, sizeof(path), "%s/program", meeting.path);
	snprintf(copy, sizeof(copy), "cp /bin/sleep %s", path);
	snprintf(told, sizeof(told), "DWELL_TRACER=%s", meeting.path);
	assert_int_equal(system(copy), 0);
	pid = run_program(path, geteuid(), told);
	while (!has_begun(pid) && --left)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	assert_true(timer_prospect(pid, &meeting));
	end(pid);
	unlink(path);
}

/* Root may be anybody, if there is anybody else; who is not root is tried as himself. */
static uid_t some_user(void)
{
	uid_t uid = geteuid() ? geteuid() : 65534;
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(setresuid(uid, uid, uid) < 0);
	waitpid(pid, &status, 0);
	return status == 0 ? uid : 0;
}

static void another_user_may_not_meet_us(void **state)
{
	struct timer_directory theirs = meeting;
	uid_t uid = some_user();
	pid_t pid;

	(void)state;
	if (!uid)
		skip();
	assert_int_equal(chmod(meeting.path, 0711), 0);
	assert_int_equal(chmod(pipe_path, 0644), 0);
	pid = run_as(uid, ours);
	meeting.owner = uid;
	await(pid, true);
	theirs.owner = uid - 1;
	assert_false(timer_prospect(pid, &theirs));
	meeting.owner = geteuid();
	end(pid);
}

static void nothing_comes_of_who_is_gone_or_meets_nobody(void **state)
{
	static const struct timer_directory none = { .path = "" };
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_false(timer_prospect(pid, &meeting));
	assert_false(timer_prospect(getpid(), &none));
	assert_false(timer_prospect(getpid(), NULL));
}

static void the_c_library_has_two_names(void **state)
{
	static const struct {
		const char *path;
		bool want;
	} t[] = {
		{ "/usr/lib/x86_64-linux-gnu/libc.so.6", true },
		{ "/lib/x86_64-linux-gnu/libc-2.31.so", true },
		{ "/usr/lib/x86_64-linux-gnu/libcap.so.2", false },
		{ "/usr/lib/x86_64-linux-gnu/libc-client.so.2007e", false },
		{ "/opt/program-libc-2.31/run", false },
		{ "[vdso]", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_int_equal(timer_prospect_is_c_library(t[i].path), t[i].want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_environment_says_is_to_come),
		cmocka_unit_test(what_could_not_be_loaded_does_not_come),
		cmocka_unit_test(who_has_loaded_it_and_says_so_no_more_is_to_come),
		cmocka_unit_test(another_user_may_not_meet_us),
		cmocka_unit_test(nothing_comes_of_who_is_gone_or_meets_nobody),
		cmocka_unit_test(the_c_library_has_two_names),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
