/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_tracee.h"

#include <errno.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/count_late.h"
#include "host/procfs.h"

#define TRIES	30000
#define NAP_NS	1000000
#define LONG_S	100000
#define N_STOPS 3

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
}

/* Calls that wait for what does not come.  Each in a process of its own, which makes
 * ready what it needs, and says that it waits by the first word. */
static volatile sig_atomic_t *is_waiting, *n_handled;

static const struct timespec long_time = { .tv_sec = LONG_S };
#define CANNOT (-1000)

static void say(void)
{
	*is_waiting = 1;
}

static long wait_epoll(void)
{
	struct epoll_event e;
	int fd = epoll_create1(0);

	say();
	return epoll_wait(fd, &e, 1, -1);
}

static long wait_epoll_masked(void)
{
	struct epoll_event e;
	sigset_t none;
	int fd = epoll_create1(0);

	sigemptyset(&none);
	say();
	return epoll_pwait(fd, &e, 1, LONG_S * 1000, &none);
}

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

static long wait_epoll_ns(void)
{
	struct epoll_event e;
	int fd = epoll_create1(0);

	if (syscall(SYS_epoll_pwait2, -1, &e, 1, &long_time, NULL, 0) < 0 &&
	    errno == ENOSYS)
		return CANNOT;
	say();
	return syscall(SYS_epoll_pwait2, fd, &e, 1, &long_time, NULL, 0);
}

static long wait_poll(void)
{
	say();
	return poll(NULL, 0, LONG_S * 1000);
}

static long wait_ppoll(void)
{
	say();
	return ppoll(NULL, 0, &long_time, NULL);
}

static long wait_select(void)
{
	say();
	return select(0, NULL, NULL, NULL, &(struct timeval){ .tv_sec = LONG_S });
}

static long wait_sleep(void)
{
	say();
	return nanosleep(&long_time, NULL);
}

static long wait_pause(void)
{
	say();
	return pause();
}

static long wait_futex(void)
{
	static uint32_t word;

	say();
	return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &long_time, NULL, 0);
}

static long wait_signal(void)
{
	sigset_t other;

	sigemptyset(&other);
	sigaddset(&other, SIGUSR2);
	sigprocmask(SIG_BLOCK, &other, NULL);
	say();
	return sigtimedwait(&other, NULL, &long_time);
}

static long wait_inotify(void)
{
	char bytes[256];
	int fd = inotify_init1(0);

	say();
	return read(fd, bytes, sizeof(bytes));
}

static long wait_inotify_pieces(void)
{
	char bytes[256];
	struct iovec piece = { bytes, sizeof(bytes) };
	int fd = inotify_init1(0);

	say();
	return readv(fd, &piece, 1);
}

static long wait_semaphore(void)
{
	struct sembuf take = { .sem_op = -1 };
	int id = semget(IPC_PRIVATE, 1, 0600);
	long rc;

	if (id < 0)
		return CANNOT;
	say();
	rc = semtimedop(id, &take, 1, &long_time);
	semctl(id, 0, IPC_RMID);
	return rc;
}

/* With a time, which makes it say EINTR. */
static int timed_socket(int domain)
{
	const struct timeval time = { .tv_sec = LONG_S };
	int fds[2];

	if (domain == AF_UNIX)
		socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
	else
		fds[0] = socket(AF_UNIX, SOCK_STREAM, 0);
	setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
	return fds[0];
}

static long wait_socket(void)
{
	char byte;
	int fd = timed_socket(AF_UNIX);

	say();
	return recv(fd, &byte, 1, 0);
}

static long wait_socket_message(void)
{
	char byte;
	struct iovec piece = { &byte, 1 };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
	int fd = timed_socket(AF_UNIX);

	say();
	return recvmsg(fd, &message, 0);
}

static long wait_socket_messages(void)
{
	char byte;
	struct iovec piece = { &byte, 1 };
	struct mmsghdr message = { .msg_hdr = { .msg_iov = &piece, .msg_iovlen = 1 } };
	int fd = timed_socket(AF_UNIX);

	say();
	return recvmmsg(fd, &message, 1, 0, NULL);
}

/* There is no room. */
static long wait_sending(void)
{
	static const char bytes[4096];
	const struct timeval time = { .tv_sec = LONG_S };
	int fds[2];

	socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
	while (send(fds[0], bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	setsockopt(fds[0], SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
	say();
	return send(fds[0], bytes, sizeof(bytes), 0);
}

static long wait_sending_messages(void)
{
	static char bytes[4096];
	struct iovec piece = { bytes, sizeof(bytes) };
	struct mmsghdr message = { .msg_hdr = { .msg_iov = &piece, .msg_iovlen = 1 } };
	const struct timeval time = { .tv_sec = LONG_S };
	int fds[2];

	socketpair(AF_UNIX, SOCK_DGRAM, 0, fds);
	while (sendmmsg(fds[0], &message, 1, MSG_DONTWAIT) > 0)
		;
	setsockopt(fds[0], SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
	say();
	return sendmmsg(fds[0], &message, 1, 0);
}

static long wait_accept(void)
{
	/* A name of the kernel's choice. */
	const struct sockaddr_un any = { .sun_family = AF_UNIX };
	int fd = timed_socket(AF_UNSPEC);

	if (bind(fd, (const struct sockaddr *)&any, sizeof(any.sun_family)) < 0 ||
	    listen(fd, 1) < 0)
		return CANNOT;
	say();
	return accept(fd, NULL, NULL);
}

static long wait_aio(void)
{
	aio_context_t context = 0;
	struct io_event event;
	struct timespec time = long_time;

	if (syscall(SYS_io_setup, 1, &context) < 0)
		return CANNOT;
	say();
	return syscall(SYS_io_getevents, context, 1L, 1L, &event, &time);
}

static long wait_uring(void)
{
	struct io_uring_params p = { 0 };
	long fd = syscall(SYS_io_uring_setup, 1, &p);

	if (fd < 0)
		return CANNOT;
	say();
	return syscall(SYS_io_uring_enter, fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}

typedef long wait_fn(void);

static const struct {
	const char *name;
	wait_fn *wait;
} calls[] = {
	{ "epoll_wait", wait_epoll },
	{ "epoll_pwait", wait_epoll_masked },
	{ "epoll_pwait2", wait_epoll_ns },
	{ "poll", wait_poll },
	{ "ppoll", wait_ppoll },
	{ "select", wait_select },
	{ "nanosleep", wait_sleep },
	{ "pause", wait_pause },
	{ "futex", wait_futex },
	{ "rt_sigtimedwait", wait_signal },
	{ "read of inotify", wait_inotify },
	{ "readv of inotify", wait_inotify_pieces },
	{ "semtimedop", wait_semaphore },
	{ "recvfrom", wait_socket },
	{ "recvmsg", wait_socket_message },
	{ "recvmmsg", wait_socket_messages },
	{ "sendto", wait_sending },
	{ "sendmmsg", wait_sending_messages },
	{ "accept", wait_accept },
	{ "io_getevents", wait_aio },
	{ "io_uring_enter", wait_uring },
};

#define N_CALLS (sizeof(calls) / sizeof(calls[0]))

struct answer {
	long rc;
	int error, n_handled;
};

struct child {
	const char *name;
	pid_t pid;
	int answers;
};

static void handle(int number)
{
	(void)number;
	++*n_handled;
}

static void be_child(wait_fn *wait, int to)
{
	const struct sigaction action = { .sa_handler = handle };
	struct answer a = { 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGUSR1, &action, NULL);
	a.rc = wait();
	a.error = errno;
	a.n_handled = *n_handled;
	if (write(to, &a, sizeof(a)) != sizeof(a))
		_exit(1);
	for (;;)
		pause();
}

static bool has_answered(const struct child *c)
{
	struct pollfd fd = { .fd = c->answers, .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

/* Within its call, or behind the answer. */
static void wait_until_it_waits(const struct child *c)
{
	struct procfs_stat stat = { 0 };

	for (int i = 0; i < TRIES; i++) {
		if ((*is_waiting || has_answered(c)) &&
		    procfs_stat(c->pid, &stat, NULL) == 0 && stat.state == 'S')
			return;
		nap();
	}
	fail_msg("%s: it does not wait", c->name);
}

static void begin(size_t call, struct child *ret)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	*is_waiting = *n_handled = 0;
	*ret = (struct child){ calls[call].name, fork(), fds[0] };
	assert_true(ret->pid >= 0);
	if (!ret->pid)
		be_child(calls[call].wait, fds[1]);
	close(fds[1]);
	wait_until_it_waits(ret);
}

/* It waits still, until a handler comes. */
static void check_that_it_waits(const struct child *c, const char *who)
{
	struct answer a = { 0 };

	wait_until_it_waits(c);
	if (has_answered(c)) {
		assert_int_equal(read(c->answers, &a, sizeof(a)), sizeof(a));
		if (a.rc != CANNOT)
			fail_msg("%s, %s: %ld, %s", c->name, who, a.rc,
				 strerror(a.error));
		return;
	}
	while (!has_answered(c)) {
		kill(c->pid, SIGUSR1);
		nap();
	}
	assert_int_equal(read(c->answers, &a, sizeof(a)), sizeof(a));
	assert_int_equal(a.rc, -1);
	assert_int_equal(a.error, EINTR);
	assert_true(a.n_handled > 0);
}

static void end(const struct child *c)
{
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	close(c->answers);
}

static void who_waits_goes_on_waiting_when_it_has_stood(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_CALLS; i++) {
		struct child c;

		begin(i, &c);
		for (int k = 0; k < N_STOPS && !has_answered(&c); k++) {
			struct count_tracees t = { .pid = c.pid };

			assert_int_equal(count_tracees_stop(&t, NULL), 0);
			count_tracees_fini(&t);
			wait_until_it_waits(&c);
		}
		check_that_it_waits(&c, "stopped");
		end(&c);
	}
}

static void who_was_told_to_stop_and_may_go_goes_on_waiting(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_CALLS; i++) {
		struct child c;

		begin(i, &c);
		for (int k = 0; k < N_STOPS && !has_answered(&c); k++) {
			struct count_tracees t = { .pid = c.pid };
			size_t n;

			assert_int_equal(count_tracees_seize(&t, &n, NULL), 0);
			count_tracees_fini(&t);
			wait_until_it_waits(&c);
		}
		check_that_it_waits(&c, "told to");
		end(&c);
	}
}

/* On this CPU, which it has when we do not. */
static void tell_until_it_is_late(const struct child *c)
{
	for (int i = 0; i < TRIES && !count_late_are_any(); i++) {
		struct count_tracees t = { .pid = c->pid, .limit_ns = 1 };
		size_t n;

		wait_until_it_waits(c);
		assert_int_equal(count_tracees_seize(&t, &n, NULL), 0);
		count_tracees_fini(&t);
	}
	assert_true(count_late_are_any());
}

/* On a machine with much to do that is not soon. */
static void await_late(void)
{
	for (int i = 0; i < TRIES && count_late_are_any(); i++) {
		count_late_await();
		nap();
	}
	assert_false(count_late_are_any());
}

static void who_stops_late_goes_on_waiting(void **state)
{
	cpu_set_t before, one;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	for (size_t i = 0; i < N_CALLS; i++) {
		struct child c;

		begin(i, &c);
		if (!has_answered(&c)) {
			tell_until_it_is_late(&c);
			/* It is interrupted, and has something that comes first. */
			if (i % 2)
				kill(c.pid, SIGCHLD);
			await_late();
		}
		check_that_it_waits(&c, "late");
		end(&c);
	}
	sched_setaffinity(0, sizeof(before), &before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_waits_goes_on_waiting_when_it_has_stood),
		cmocka_unit_test(who_was_told_to_stop_and_may_go_goes_on_waiting),
		cmocka_unit_test(who_stops_late_goes_on_waiting),
	};

	is_waiting = mmap(NULL, sizeof(*is_waiting) * 2, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (is_waiting == MAP_FAILED)
		return 1;
	n_handled = is_waiting + 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
