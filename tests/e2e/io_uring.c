/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests of an io_uring, by system calls alone: io_uring MODE FILE.  Tells what came of
 * them, as the ring showed it: "write 100 0 100000", calls, errors, bytes.  77: the
 * kernel has no io_uring, or does not let us.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define N_ENTRIES 64

/* Of the ring that all use. */
static int ring;
static unsigned *sq_head, *sq_tail, *sq_flags, *sq_array, sq_mask;
static unsigned *cq_head, *cq_tail, cq_mask;
static struct io_uring_sqe *sqes;
static struct io_uring_cqe *cqes;
static unsigned n_pending;

/* No part of a page of the file, which could not be registered before Linux 6.2. */
static _Alignas(4096) char bytes[1 << 17];

/* What the ring has shown, by operation. */
static struct {
	const char *name;
	unsigned calls, errors;
	uint64_t bytes;
} told[IORING_OP_LAST] = {
	[IORING_OP_READ] = { .name = "read" },
	[IORING_OP_WRITE] = { .name = "write" },
	[IORING_OP_READV] = { .name = "readv" },
	[IORING_OP_WRITEV] = { .name = "writev" },
	[IORING_OP_READ_FIXED] = { .name = "read_fixed" },
	[IORING_OP_WRITE_FIXED] = { .name = "write_fixed" },
	[IORING_OP_FSYNC] = { .name = "fsync" },
	[IORING_OP_OPENAT] = { .name = "openat" },
	[IORING_OP_CLOSE] = { .name = "close" },
	[IORING_OP_SEND] = { .name = "send" },
	[IORING_OP_RECV] = { .name = "recv" },
	[IORING_OP_SENDMSG] = { .name = "sendmsg" },
	[IORING_OP_RECVMSG] = { .name = "recvmsg" },
	[IORING_OP_ACCEPT] = { .name = "accept" },
	[IORING_OP_CONNECT] = { .name = "connect" },
	[IORING_OP_SPLICE] = { .name = "splice" },
	[IORING_OP_FALLOCATE] = { .name = "fallocate" },
};

static void set_up(unsigned flags, unsigned cq_entries)
{
	struct io_uring_params p = { .flags = flags, .cq_entries = cq_entries };
	size_t size;
	char *sq, *cq;

	ring = (int)syscall(SYS_io_uring_setup, N_ENTRIES, &p);
	if (ring < 0 && (errno == ENOSYS || errno == EPERM))
		exit(77);
	if (ring < 0)
		err(1, "io_uring_setup");
	size = p.sq_off.array + p.sq_entries * sizeof(unsigned);
	sq = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		  IORING_OFF_SQ_RING);
	size = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
	cq = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		  IORING_OFF_CQ_RING);
	sqes = mmap(NULL, p.sq_entries * sizeof(*sqes), PROT_READ | PROT_WRITE,
		    MAP_SHARED, ring, IORING_OFF_SQES);
	if (sq == MAP_FAILED || cq == MAP_FAILED || sqes == MAP_FAILED)
		err(1, "mmap");
	sq_head = (void *)(sq + p.sq_off.head);
	sq_tail = (void *)(sq + p.sq_off.tail);
	sq_flags = (void *)(sq + p.sq_off.flags);
	sq_array = (void *)(sq + p.sq_off.array);
	sq_mask = *(unsigned *)(sq + p.sq_off.ring_mask);
	cq_head = (void *)(cq + p.cq_off.head);
	cq_tail = (void *)(cq + p.cq_off.tail);
	cq_mask = *(unsigned *)(cq + p.cq_off.ring_mask);
	cqes = (void *)(cq + p.cq_off.cqes);
}

/* The next one, which is of its operation's number. */
static struct io_uring_sqe *put(uint8_t operation, int fd, const void *at, unsigned n,
				uint64_t offset)
{
	unsigned i = *sq_tail & sq_mask;
	struct io_uring_sqe *q = &sqes[i];

	while (*sq_tail - __atomic_load_n(sq_head, __ATOMIC_ACQUIRE) > sq_mask)
		;
	memset(q, 0, sizeof(*q));
	q->opcode = operation;
	q->fd = fd;
	q->addr = (uintptr_t)at;
	q->len = n;
	q->off = offset;
	q->user_data = operation;
	sq_array[i] = i;
	__atomic_store_n(sq_tail, *sq_tail + 1, __ATOMIC_RELEASE);
	n_pending++;
	return q;
}

static void enter(unsigned n_submit, unsigned n_wait)
{
	unsigned flags = n_wait ? IORING_ENTER_GETEVENTS : 0;

	if (__atomic_load_n(sq_flags, __ATOMIC_ACQUIRE) & IORING_SQ_NEED_WAKEUP)
		flags |= IORING_ENTER_SQ_WAKEUP;
	while (syscall(SYS_io_uring_enter, ring, n_submit, n_wait, flags, NULL, 0) < 0)
		if (errno != EINTR)
			err(1, "io_uring_enter");
}

static int take(void)
{
	unsigned head = *cq_head;
	struct io_uring_cqe *c;
	int result;

	while (head == __atomic_load_n(cq_tail, __ATOMIC_ACQUIRE))
		enter(0, 1);
	c = &cqes[head & cq_mask];
	result = c->res;
	told[c->user_data].calls++;
	if (result < 0)
		told[c->user_data].errors++;
	else
		told[c->user_data].bytes += (unsigned)result;
	__atomic_store_n(cq_head, head + 1, __ATOMIC_RELEASE);
	return result;
}

/* Submit what was put, and wait for so many. */
__attribute__((noinline)) static void finish(unsigned n)
{
	enter(n_pending, n);
	n_pending = 0;
	for (unsigned i = 0; i < n; i++)
		take();
}

static void must(int64_t n, int64_t want)
{
	if (n != want)
		errx(1, "%jd instead of %jd", (intmax_t)n, (intmax_t)want);
}

static int one(uint8_t operation, int fd, const void *at, unsigned n, uint64_t offset)
{
	put(operation, fd, at, n, offset);
	enter(1, 1);
	n_pending = 0;
	return take();
}

static int create(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

static void write_file(int fd, uint8_t flags)
{
	for (unsigned i = 0; i < 100; i++) {
		put(IORING_OP_WRITE, fd, bytes, 1000, i * 1000)->flags = flags;
		if (i % 20 == 19)
			finish(20);
	}
}

static void plain(const char *path)
{
	struct iovec parts[] = { { bytes, 10 }, { bytes + 10, 0 }, { bytes + 10, 90 } };
	struct iovec all = { bytes, sizeof(bytes) };
	int fd;

	set_up(0, 0);
	fd = create(path);
	write_file(fd, 0);
	must(one(IORING_OP_READ, fd, bytes, 65536, 0), 65536);
	must(one(IORING_OP_READ, fd, bytes, 65536, 65536), 100000 - 65536);
	must(one(IORING_OP_READ, fd, bytes, 65536, 100000), 0);
	must(one(IORING_OP_WRITEV, fd, parts, 3, 0), 100);
	must(one(IORING_OP_READV, fd, parts, 3, 0), 100);
	must(one(IORING_OP_FALLOCATE, fd, NULL, 0, 0), -EINVAL);
	must(one(IORING_OP_FSYNC, fd, NULL, 0, 0), 0);
	must((int)syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &all, 1),
	     0);
	must(one(IORING_OP_WRITE_FIXED, fd, bytes, 5000, 0), 5000);
	must(one(IORING_OP_READ_FIXED, fd, bytes, 5000, 0), 5000);
	must(one(IORING_OP_READ, 99, bytes, 10, 0), -EBADF);
	must(one(IORING_OP_CLOSE, fd, NULL, 0, 0), 0);
}

/* By their places in the ring's own table. */
static void registered(const char *path)
{
	int fds[3] = { -1, -1, -1 };

	set_up(0, 0);
	fds[2] = create(path);
	must((int)syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, fds, 3), 0);
	close(fds[2]);
	write_file(2, IOSQE_FIXED_FILE);
	put(IORING_OP_WRITE, 1, bytes, 10, 0)->flags = IOSQE_FIXED_FILE;
	finish(1);
	must(told[IORING_OP_WRITE].errors, 1);
}

/* The kernel's thread submits. */
static void polled(const char *path)
{
	set_up(IORING_SETUP_SQPOLL, 0);
	write_file(create(path), 0);
}

/* The second of each pair is not done, for the first fails. */
static void linked(const char *path)
{
	int fd = create(path);

	set_up(0, 0);
	for (unsigned i = 0; i < 10; i++) {
		put(IORING_OP_READ, 99, bytes, 10, 0)->flags = IOSQE_IO_LINK;
		put(IORING_OP_WRITE, fd, bytes, 10, 0);
		finish(2);
	}
	must(told[IORING_OP_WRITE].errors, 10);
}

/* The ring does not show those that succeed. */
static void silent(const char *path)
{
	int fd = create(path);

	set_up(0, 0);
	for (unsigned i = 0; i < 10; i++) {
		put(IORING_OP_WRITE, fd, bytes, 10, 0)->flags = IOSQE_CQE_SKIP_SUCCESS;
		put(IORING_OP_READ, fd, bytes, 10, 0);
		finish(1);
	}
	told[IORING_OP_WRITE].calls += 10;
	put(IORING_OP_FSYNC, 99, NULL, 0, 0)->flags = IOSQE_CQE_SKIP_SUCCESS;
	finish(1);
}

/* Those that succeed are as if they were gone: the next one is in their place. */
static void replaced(const char *path)
{
	int fd = create(path);

	set_up(0, 0);
	for (unsigned i = 0; i < 20; i++) {
		put(IORING_OP_WRITE, fd, bytes, 10, 0)->flags = IOSQE_CQE_SKIP_SUCCESS;
		finish(0);
		usleep(1000);
		put(IORING_OP_NOP, -1, NULL, 0, 0);
		finish(1);
	}
	told[IORING_OP_WRITE].calls = 20;
}

/* More than the ring has room for; of some nothing is observed. */
static void crowd(const char *path, unsigned others_each)
{
	unsigned n_all = 0, n_writes = 0;
	int fd = create(path);

	set_up(IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP, N_ENTRIES);
	while (n_writes < 5 * N_ENTRIES) {
		if (n_all++ % (others_each + 1))
			put(IORING_OP_NOP, -1, NULL, 0, 0);
		else
			put(IORING_OP_WRITE, fd, bytes, 100, n_writes++ * 100);
		if (n_pending == N_ENTRIES || n_writes == 5 * N_ENTRIES)
			finish(0);
	}
	while (n_all--)
		take();
}

static void crowded(const char *path)
{
	crowd(path, 0);
}

static void mixed(const char *path)
{
	crowd(path, 2);
}

static void opens(const char *path)
{
	char missing[4096];

	snprintf(missing, sizeof(missing), "%s-missing", path);
	close(create(path));
	set_up(0, 0);
	for (int i = 0; i < 7; i++)
		must(one(IORING_OP_OPENAT, AT_FDCWD, missing, 0, 0), -ENOENT);
	for (int i = 0; i < 5; i++) {
		int fd = one(IORING_OP_OPENAT, AT_FDCWD, path, 0, 0);

		if (fd < 0)
			errx(1, "not opened");
		must(one(IORING_OP_CLOSE, fd, NULL, 0, 0), 0);
	}
	told[IORING_OP_OPENAT].bytes = 0;
}

static void sockets(const char *path)
{
	struct iovec parts[] = { { bytes, 10 }, { bytes + 10, 90 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	int ends[2], pipes[2], file = create(path);

	set_up(0, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 || pipe(pipes) < 0)
		err(1, "socketpair");
	must(one(IORING_OP_SENDMSG, ends[0], &message, 1, 0), 100);
	must(one(IORING_OP_RECVMSG, ends[1], &message, 1, 0), 100);
	must(one(IORING_OP_SEND, ends[0], bytes, 50, 0), 50);
	must(one(IORING_OP_RECV, ends[1], bytes, 100, 0), 50);
	must(write(file, bytes, 3000), 3000);
	put(IORING_OP_SPLICE, pipes[1], NULL, 2000, (uint64_t)-1)->splice_fd_in = file;
	sqes[(*sq_tail - 1) & sq_mask].splice_off_in = 0;
	finish(1);
	must((int64_t)told[IORING_OP_SPLICE].bytes, 2000);
}

/* One request accepts and one receives, as often as there is something. */
static void shots(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX }; /* it gets a name */
	int server = socket(AF_UNIX, SOCK_STREAM, 0), clients[5], ends[2];
	socklen_t size = sizeof(at);
	struct io_uring_sqe *q;

	(void)path;
	set_up(0, 0);
	if (bind(server, (void *)&at, sizeof(at.sun_family)) < 0 ||
	    listen(server, 10) < 0 || getsockname(server, (void *)&at, &size) < 0)
		err(1, "server");
	put(IORING_OP_ACCEPT, server, NULL, 0, 0)->ioprio = IORING_ACCEPT_MULTISHOT;
	finish(0);
	for (int i = 0; i < 5; i++) {
		clients[i] = socket(AF_UNIX, SOCK_STREAM, 0);
		if (connect(clients[i], (void *)&at, size) < 0)
			err(1, "connect");
		if (take() < 0)
			exit(77);
	}
	told[IORING_OP_ACCEPT].bytes = 0;
	put(IORING_OP_ASYNC_CANCEL, -1, (void *)IORING_OP_ACCEPT, 0, 0);
	finish(2);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		err(1, "socketpair");
	put(IORING_OP_PROVIDE_BUFFERS, 50, bytes, 1000, 0)->buf_group = 1;
	sqes[(*sq_tail - 1) & sq_mask].user_data = 0;
	finish(1);
	q = put(IORING_OP_RECV, ends[0], NULL, 0, 0);
	q->ioprio = IORING_RECV_MULTISHOT;
	q->flags = IOSQE_BUFFER_SELECT;
	q->buf_group = 1;
	finish(0);
	for (int i = 0; i < 20; i++) {
		must(write(ends[1], bytes, 30), 30);
		if (take() < 0)
			exit(77);
	}
	close(ends[1]);
	must(take(), 0);
}

/* It waits for half a second. */
static void late(const char *path)
{
	int pipes[2];

	(void)path;
	set_up(0, 0);
	if (pipe(pipes) < 0)
		err(1, "pipe");
	put(IORING_OP_READ, pipes[0], bytes, 100, 0);
	finish(0);
	usleep(500000);
	must(write(pipes[1], bytes, 10), 10);
	must(take(), 10);
}

/* Nobody writes to it. */
static void forever(const char *path)
{
	int pipes[2];

	(void)path;
	set_up(0, 0);
	if (pipe(pipes) < 0)
		err(1, "pipe");
	put(IORING_OP_READ, pipes[0], bytes, 100, 0);
	finish(0);
	usleep(500000);
}

/* Says so, and waits for a line. */
static void step(void)
{
	char line[8];

	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		errx(1, "nobody goes on");
}

/* A step before a pause, and one in it. */
static void paused(const char *path)
{
	int pipes[2];

	(void)path;
	set_up(0, 0);
	if (pipe(pipes) < 0)
		err(1, "pipe");
	put(IORING_OP_READ, pipes[0], bytes, 100, 0);
	finish(0);
	step();
	usleep(500000);
	step();
	must(write(pipes[1], bytes, 10), 10);
	must(take(), 10);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

#define N_FLIGHT 16

/* All wait at the same time, and are given what they wait for in another order than that
 * in which they were submitted.  Of each is told when it was about to be submitted and
 * was, when it was about to be given something and had been taken. */
static void flight(const char *path)
{
	uint64_t times[N_FLIGHT][4];
	int pipes[N_FLIGHT][2];

	(void)path;
	set_up(0, 0);
	for (int i = 0; i < N_FLIGHT; i++) {
		if (pipe(pipes[i]) < 0)
			err(1, "pipe");
		times[i][0] = now_ns();
		put(IORING_OP_READ, pipes[i][0], bytes, 100, 0);
		finish(0);
		times[i][1] = now_ns();
		usleep(1000);
	}
	for (int n = 0; n < N_FLIGHT; n++) {
		int i = n * 7 % N_FLIGHT;

		usleep(1000);
		times[i][2] = now_ns();
		must(write(pipes[i][1], bytes, (size_t)i + 1), i + 1);
		must(take(), i + 1);
		times[i][3] = now_ns();
	}
	for (int i = 0; i < N_FLIGHT; i++)
		printf("flight %ju %ju %ju %ju\n", (uintmax_t)times[i][0],
		       (uintmax_t)times[i][1], (uintmax_t)times[i][2],
		       (uintmax_t)times[i][3]);
}

static void tell(void)
{
	for (unsigned i = 1; i < IORING_OP_LAST; i++)
		if (told[i].calls && told[i].name)
			printf("%s %u %u %ju\n", told[i].name, told[i].calls,
			       told[i].errors, (uintmax_t)told[i].bytes);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *mode;
		void (*run)(const char *path);
	} modes[] = {
		{ "plain", plain },	{ "registered", registered },
		{ "polled", polled },	{ "linked", linked },
		{ "silent", silent },	{ "crowded", crowded },
		{ "opens", opens },	{ "sockets", sockets },
		{ "shots", shots },	{ "late", late },
		{ "forever", forever }, { "replaced", replaced },
		{ "mixed", mixed },	{ "paused", paused },
		{ "flight", flight },
	};

	for (size_t i = 0; argc > 2 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(argv[1], modes[i].mode) == 0) {
			modes[i].run(argv[2]);
			tell();
			return 0;
		}
	return 2;
}
