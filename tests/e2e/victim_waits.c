/* SPDX-License-Identifier: Apache-2.0
 *
 * victim_waits - calls that wait end by the program's own signals and by no other, with
 * the result and the errno that they have alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "victim.h"

/* Nothing ever comes from these. */
static int empty_pipe[2], empty_socket[2], listening, lock_file, message_queue,
	semaphores;
static sem_t semaphore;
static const struct timespec second = { 1, 0 };

static int wait_read(void)
{
	char c;

	return (int)read(empty_pipe[0], &c, 1);
}

static int wait_nanosleep(void)
{
	return nanosleep(&second, NULL);
}

static int wait_clock_nanosleep(void)
{
	errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &second, NULL);
	return errno ? -1 : 0;
}

static int wait_select(void)
{
	struct timeval limit = { 1, 0 };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(empty_pipe[0], &set);
	return select(empty_pipe[0] + 1, &set, NULL, NULL, &limit);
}

static int wait_pselect(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(empty_pipe[0], &set);
	return pselect(empty_pipe[0] + 1, &set, NULL, NULL, &second, NULL);
}

static int wait_poll(void)
{
	struct pollfd p = { empty_pipe[0], POLLIN, 0 };

	return poll(&p, 1, 1000);
}

static int wait_ppoll(void)
{
	struct pollfd p = { empty_pipe[0], POLLIN, 0 };

	return ppoll(&p, 1, &second, NULL);
}

static int wait_epoll(void)
{
	struct epoll_event event;
	int fd = epoll_create1(EPOLL_CLOEXEC), n = epoll_wait(fd, &event, 1, 1000);
	int why = errno;

	close(fd);
	errno = why;
	return n;
}

static int wait_sigsuspend(void)
{
	sigset_t none;

	sigemptyset(&none);
	return sigsuspend(&none);
}

static int wait_sigtimedwait(void)
{
	sigset_t other;

	sigemptyset(&other);
	sigaddset(&other, SIGUSR2);
	return sigtimedwait(&other, NULL, &second);
}

static int wait_semaphore(void)
{
	return sem_wait(&semaphore);
}

static int wait_message(void)
{
	struct {
		long type;
		char text[8];
	} m;

	return (int)msgrcv(message_queue, &m, sizeof(m.text), 0, 0);
}

static int wait_semop(void)
{
	struct sembuf down = { 0, -1, 0 };

	return semop(semaphores, &down, 1);
}

static int wait_accept(void)
{
	return accept(listening, NULL, NULL);
}

static int wait_recv(void)
{
	char c;

	return (int)recv(empty_socket[0], &c, 1, 0);
}

static int wait_record_lock(void)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(lock_file, F_SETLKW, &l);
}

static int wait_child(void)
{
	return waitpid(-1, NULL, 0);
}

static const struct {
	const char *name;
	int (*wait)(void);
} waits[] = {
	{ "read", wait_read },
	{ "nanosleep", wait_nanosleep },
	{ "clock_nanosleep", wait_clock_nanosleep },
	{ "select", wait_select },
	{ "pselect", wait_pselect },
	{ "poll", wait_poll },
	{ "ppoll", wait_ppoll },
	{ "epoll_wait", wait_epoll },
	{ "pause", pause },
	{ "sigsuspend", wait_sigsuspend },
	{ "sigtimedwait", wait_sigtimedwait },
	{ "sem_wait", wait_semaphore },
	{ "msgrcv", wait_message },
	{ "semop", wait_semop },
	{ "accept", wait_accept },
	{ "recv", wait_recv },
	{ "fcntl", wait_record_lock },
	{ "waitpid", wait_child },
};

/* A child that holds the lock and does not end. */
static pid_t hold_lock(void)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int ready[2];
	pid_t pid = pipe(ready) < 0 ? -1 : fork();
	char c;

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		close(empty_pipe[1]);
		if (fcntl(lock_file, F_SETLK, &l) < 0 || write(ready[1], "x", 1) != 1)
			die("lock");
		for (;;)
			pause();
	}
	if (read(ready[0], &c, 1) != 1)
		die("child");
	return pid;
}

static pid_t prepare(void)
{
	struct sockaddr_un any = { .sun_family = AF_UNIX };

	lock_file = fileno(tmpfile());
	listening = socket(AF_UNIX, SOCK_STREAM, 0);
	message_queue = msgget(IPC_PRIVATE, 0600);
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	if (pipe(empty_pipe) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, empty_socket) < 0 ||
	    bind(listening, (void *)&any, sizeof(sa_family_t)) < 0 ||
	    listen(listening, 1) < 0 || message_queue < 0 || semaphores < 0 ||
	    sem_init(&semaphore, 0, 0) < 0)
		die("prepare");
	return hold_lock();
}

static void finish(pid_t child)
{
	msgctl(message_queue, IPC_RMID, NULL);
	semctl(semaphores, 0, IPC_RMID);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static sigjmp_buf out;

static void on_alarm(int signal)
{
	(void)signal;
	if (++n_seen == 12)
		siglongjmp(out, 1);
}

static void wait_once(size_t i, int flags)
{
	struct sigaction a = { .sa_handler = on_alarm, .sa_flags = flags };
	struct itimerval every = { { 0, 1000 }, { 0, 2000 } }, never = { 0 };

	sigaction(SIGALRM, &a, NULL);
	n_seen = -1000000; /* those before the wait do not count */
	if (sigsetjmp(out, 1)) {
		printf("%s goes on\n", waits[i].name);
	} else {
		setitimer(ITIMER_REAL, &every, NULL);
		burn(1);
		n_seen = 0;

		int n = waits[i].wait(), why = errno;

		setitimer(ITIMER_REAL, &never, NULL);
		printf("%s %d errno %d\n", waits[i].name, n, n < 0 ? why : 0);
	}
	setitimer(ITIMER_REAL, &never, NULL);
}

static void interrupted(const char *arg)
{
	pid_t child = prepare();

	(void)arg;
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		wait_once(i, 0);
		wait_once(i, 0);
		wait_once(i, SA_RESTART);
	}
	finish(child);
}

/* Short waits, entered so often that ticks land where they begin and end. */
static void uninterrupted(const char *arg)
{
	struct timespec nap = { 0, 1000 };
	struct timeval none;
	int n = 0;

	(void)arg;
	if (pipe(empty_pipe) < 0)
		die("pipe");
	for (int i = 0; i < 30000; i++) {
		struct pollfd p = { empty_pipe[0], POLLIN, 0 };

		none = (struct timeval){ 0, 0 };
		n += poll(&p, 1, i % 512 == 0) < 0;
		n += select(0, NULL, NULL, NULL, &none) < 0;
		if (i % 64 == 0)
			n += nanosleep(&nap, NULL) < 0;
	}
	printf("interrupted %d\n", n);
}

const struct deed wait_deeds[] = {
	{ "interrupted", interrupted },
	{ "uninterrupted", uninterrupted },
	{ 0 },
};
