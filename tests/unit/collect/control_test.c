/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/control.h"
#include "host/clock.h"
#include "scratch_directory.h"

/* A client's patience is a second; slow machines may double that. */
#define SOON_NS	   UINT64_C(4000000000)
#define LARGE	   (4u << 20)
#define TRICKLE_NS 100000000

/* What was asked for last, and how it is answered. */
struct asked {
	unsigned n;
	char verb[32], rest[CONTROL_REQUEST_MAX];
	size_t answer_bytes;
	bool fails;
};

static int note(void *ctx, const char *verb, const char *rest, struct buf *answer,
		struct err *e)
{
	struct asked *a = ctx;

	a->n++;
	snprintf(a->verb, sizeof(a->verb), "%s", verb);
	snprintf(a->rest, sizeof(a->rest), "%s", rest);
	if (a->fails)
		return err_set(e, ERR_OS, "the disk is full");
	for (size_t i = 0; i < a->answer_bytes; i++)
		buf_u8(answer, 'x');
	return 0;
}

static char *socket_path(void)
{
	return xasprintf("%s/socket", scratch_directory_path);
}

static struct control *listen_there(void)
{
	own(freep) char *path = socket_path();
	struct control *c = NULL;
	struct err e = { 0 };

	if (control_listen(path, &c, &e) < 0)
		fail_msg("%s", e.text);
	return c;
}

static int connect_there(void)
{
	own(freep) char *path = socket_path();
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

/* Bytes as they are, and what is answered; the connection ends. */
static void say(struct control *c, struct asked *a, const void *bytes, size_t size,
		char answer[256])
{
	own(closep) int fd = connect_there();
	ssize_t n, at = 0;

	assert_int_equal(write(fd, bytes, size), size);
	control_serve(c, note, a);
	while ((n = read(fd, answer + at, 255 - (size_t)at)) > 0)
		at += n;
	answer[at] = '\0';
}

static void a_line_is_a_verb_and_the_rest(void **state)
{
	static const struct {
		const char *line, *verb, *rest;
	} t[] = { { "flush\n", "flush", "" },
		  { "label a b  c\n", "label", "a b  c" },
		  { "label \n", "label", "" },
		  { "\n", "", "" },
		  { " x\n", "", "x" },
		  { "flush\nquit\n", "flush", "" },
		  { "\xff\x01\x7f \x80\n", "\xff\x01\x7f", "\x80" } };
	own(control_freep) struct control *c = listen_there();

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct asked a = { 0 };
		char answer[256];

		say(c, &a, t[i].line, strlen(t[i].line), answer);
		assert_int_equal(a.n, 1);
		assert_string_equal(a.verb, t[i].verb);
		assert_string_equal(a.rest, t[i].rest);
		assert_string_equal(answer, "ok\n");
	}
}

static void what_is_no_line_of_text_is_refused(void **state)
{
	own(control_freep) struct control *c = listen_there();
	char bytes[2 * CONTROL_REQUEST_MAX], answer[256];
	struct asked a = { 0 };

	(void)state;
	memset(bytes, 'a', sizeof(bytes));
	for (size_t n = CONTROL_REQUEST_MAX; n <= sizeof(bytes);
	     n += CONTROL_REQUEST_MAX) {
		say(c, &a, bytes, n, answer);
		assert_true(text_starts(answer, "error a request is one line"));
	}
	say(c, &a, "quit\0x\n", 7, answer);
	assert_true(text_starts(answer, "error a request is text"));
	say(c, &a, "\0\n", 2, answer);
	assert_true(text_starts(answer, "error a request is text"));
	assert_int_equal(a.n, 0);
}

static void the_longest_line_is_taken(void **state)
{
	own(control_freep) struct control *c = listen_there();
	char bytes[CONTROL_REQUEST_MAX], answer[256];
	struct asked a = { 0 };

	(void)state;
	memset(bytes, 'a', sizeof(bytes));
	memcpy(bytes, "label ", 6);
	bytes[sizeof(bytes) - 1] = '\n';
	say(c, &a, bytes, sizeof(bytes), answer);
	assert_int_equal(a.n, 1);
	assert_int_equal(strlen(a.rest), sizeof(bytes) - 7);
}

static void a_failure_is_the_answer(void **state)
{
	own(control_freep) struct control *c = listen_there();
	struct asked a = { .fails = true };
	char answer[256];

	(void)state;
	say(c, &a, "flush\n", 6, answer);
	assert_string_equal(answer, "error the disk is full\n");
}

static void who_leaves_in_the_middle_of_a_line_asked_nothing(void **state)
{
	own(control_freep) struct control *c = listen_there();
	struct asked a = { 0 };
	int fd = connect_there();

	(void)state;
	assert_int_equal(write(fd, "qui", 3), 3);
	close(fd);
	control_serve(c, note, &a);
	assert_int_equal(a.n, 0);
}

static void who_leaves_before_the_answer_does_no_harm(void **state)
{
	own(control_freep) struct control *c = listen_there();
	struct asked a = { .answer_bytes = LARGE };
	int fd = connect_there();

	(void)state;
	assert_int_equal(write(fd, "status\n", 7), 7);
	close(fd);
	control_serve(c, note, &a);
	assert_int_equal(a.n, 1);
}

static void who_says_nothing_holds_nobody_up(void **state)
{
	own(control_freep) struct control *c = listen_there();
	own(closep) int silent = connect_there();
	own(closep) int fd = connect_there();
	uint64_t begin_ns = clock_monotonic_ns();
	struct asked a = { 0 };

	(void)state;
	(void)silent;
	assert_int_equal(write(fd, "flush\n", 6), 6);
	control_serve(c, note, &a);
	assert_int_equal(a.n, 1);
	assert_true(clock_monotonic_ns() - begin_ns < SOON_NS);
}

/* A child that writes or reads a byte now and then, for longer than anyone waits. */
static pid_t trickle(int fd, bool is_writing)
{
	pid_t pid = fork();
	struct timespec pause = { .tv_nsec = TRICKLE_NS };
	char byte = 'a';

	if (pid)
		return pid;
	for (int i = 0; i < 200; i++) {
		ssize_t n = is_writing ? write(fd, &byte, 1) : read(fd, &byte, 1);

		if (n <= 0)
			break;
		nanosleep(&pause, NULL);
	}
	_exit(0);
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void who_writes_a_byte_now_and_then_is_left_alone(void **state)
{
	own(control_freep) struct control *c = listen_there();
	own(closep) int fd = connect_there();
	uint64_t begin_ns = clock_monotonic_ns();
	pid_t pid = trickle(fd, true);
	struct asked a = { 0 };

	(void)state;
	control_serve(c, note, &a);
	assert_int_equal(a.n, 0);
	assert_true(clock_monotonic_ns() - begin_ns < SOON_NS);
	end_child(pid);
}

static void who_reads_a_byte_now_and_then_is_left_alone(void **state)
{
	own(control_freep) struct control *c = listen_there();
	own(closep) int fd = connect_there();
	uint64_t begin_ns = clock_monotonic_ns();
	struct asked a = { .answer_bytes = LARGE };
	pid_t pid;

	(void)state;
	assert_int_equal(write(fd, "status\n", 7), 7);
	pid = trickle(fd, false);
	control_serve(c, note, &a);
	assert_int_equal(a.n, 1);
	assert_true(clock_monotonic_ns() - begin_ns < SOON_NS);
	end_child(pid);
}

/* A child asks: 0 when it is told that the daemon has ended. */
static pid_t ask_in_vain(struct control *c)
{
	own(freep) char *path = socket_path();
	struct buf answer = { 0 };
	struct err e = { 0 };
	pid_t pid = fork();
	int rc;

	if (pid)
		return pid;
	close(control_fd(c)); /* nobody listens here */
	rc = control_ask(path, "status", 60000, &answer, &e);
	_exit(rc < 0 && strstr(e.text, "ended before it answered") ? 0 : 1);
}

static void a_daemon_that_dies_is_told_as_that(void **state)
{
	struct control *c = listen_there();
	pid_t pid = ask_in_vain(c);
	struct pollfd p = { .fd = control_fd(c), .events = POLLIN };
	int status;

	(void)state;
	assert_int_equal(poll(&p, 1, 60000), 1);
	control_free(c);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void what_is_no_socket_is_not_replaced(void **state)
{
	own(freep) char *path = socket_path();
	struct control *c = NULL;
	struct stat st;
	struct err e = { 0 };
	FILE *f = fopen(path, "w");

	(void)state;
	assert_non_null(f);
	fclose(f);
	assert_int_equal(control_listen(path, &c, &e), ERR_USAGE);
	assert_non_null(strstr(e.text, "no socket"));
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
}

static void one_that_nobody_listens_at_is_replaced(void **state)
{
	own(freep) char *path = socket_path();
	own(closep) int left = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct control *c, *other = NULL;
	struct stat st;
	struct err e = { 0 };

	(void)state;
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	assert_int_equal(bind(left, (struct sockaddr *)&at, sizeof(at)), 0);
	c = listen_there();
	assert_int_equal(control_listen(path, &other, &e), ERR_USAGE);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	control_free(c);
	assert_int_not_equal(stat(path, &st), 0);
}

/* A process that listens, has a child, which ends with the pipe, and is gone. */
static void listen_and_leave_it_to_a_child(const int pipe_fds[2])
{
	char byte;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		listen_there();
		if (fork() == 0) {
			close(pipe_fds[1]);
			status = (int)read(pipe_fds[0], &byte, 1);
			_exit(status);
		}
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void one_that_a_killed_ones_child_still_has_is_replaced(void **state)
{
	struct control *c;
	int pipe_fds[2];

	(void)state;
	assert_int_equal(pipe(pipe_fds), 0);
	listen_and_leave_it_to_a_child(pipe_fds);
	c = listen_there();
	control_free(c);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

#define TEST(name)                                                                       \
	cmocka_unit_test_setup_teardown(name, scratch_directory_make,                    \
					scratch_directory_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_line_is_a_verb_and_the_rest),
		TEST(what_is_no_line_of_text_is_refused),
		TEST(the_longest_line_is_taken),
		TEST(a_failure_is_the_answer),
		TEST(who_leaves_in_the_middle_of_a_line_asked_nothing),
		TEST(who_leaves_before_the_answer_does_no_harm),
		TEST(who_says_nothing_holds_nobody_up),
		TEST(who_writes_a_byte_now_and_then_is_left_alone),
		TEST(who_reads_a_byte_now_and_then_is_left_alone),
		TEST(a_daemon_that_dies_is_told_as_that),
		TEST(what_is_no_socket_is_not_replaced),
		TEST(one_that_nobody_listens_at_is_replaced),
		TEST(one_that_a_killed_ones_child_still_has_is_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
