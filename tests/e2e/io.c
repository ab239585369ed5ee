/* SPDX-License-Identifier: Apache-2.0
 *
 * I/O of many kinds, as much as is known beforehand: io MODE [FILE|FOLDER].
 */
#include <err.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char bytes[1 << 17];

static int create(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

static void must(ssize_t n, ssize_t want)
{
	if (n != want)
		err(1, "%zd bytes instead of %zd", n, want);
}

static void plain(const char *path)
{
	int fd = create(path);

	for (int i = 0; i < 100; i++)
		must(write(fd, bytes, 1000), 1000);
	lseek(fd, 0, SEEK_SET);
	must(read(fd, bytes, 65536), 65536);
	must(read(fd, bytes, 65536), 100000 - 65536);
	must(read(fd, bytes, 65536), 0);
	close(fd);
}

/* The last read asks for 10 bytes more than there are. */
static void lists(const char *path)
{
	struct iovec parts[] = { { bytes, 10 }, { bytes + 10, 0 }, { bytes + 10, 90 } };
	struct iovec more[] = { { bytes, 100 }, { bytes + 100, 10 } };
	int fd = create(path);

	must(writev(fd, parts, 3), 100);
	must(pwritev(fd, parts, 1, 100), 10);
	must(pwrite(fd, bytes, 7, 110), 7);
	must(preadv(fd, parts, 3, 0), 100);
	must(pread(fd, bytes, 17, 100), 17);
	lseek(fd, 17, SEEK_SET);
	must(readv(fd, more, 2), 100);
	close(fd);
}

static void sockets(void)
{
	struct iovec parts[] = { { bytes, 10 }, { bytes + 10, 90 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	int ends[2], pipes[2], file = memfd_create("io", 0);

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 || pipe(pipes) < 0)
		err(1, "socketpair");
	must(sendmsg(ends[0], &message, 0), 100);
	must(recvmsg(ends[1], &message, 0), 100);
	must(send(ends[0], bytes, 50, 0), 50);
	must(recv(ends[1], bytes, 100, 0), 50);
	must(write(file, bytes, 3000), 3000);
	must(sendfile(ends[0], file, &(off_t){ 0 }, 3000), 3000);
	must(recv(ends[1], bytes, 3000, MSG_WAITALL), 3000);
	must(splice(file, &(loff_t){ 0 }, pipes[1], NULL, 2000, 0), 2000);
	must(read(pipes[0], bytes, 4000), 2000);
	shutdown(ends[0], SHUT_RDWR);
	must(send(ends[0], bytes, 1, MSG_NOSIGNAL), -1);
	close(ends[1]);
}

static void *write_pieces(void *arg)
{
	int fd = *(int *)arg;

	for (int i = 0; i < 2000; i++)
		must(pwrite(fd, bytes, 100, i * 100), 100);
	return NULL;
}

static void threads(const char *path)
{
	pthread_t all[8];
	int fd = create(path);

	for (int i = 0; i < 8; i++)
		if (pthread_create(&all[i], NULL, write_pieces, &fd))
			errx(1, "cannot make a thread");
	for (int i = 0; i < 8; i++)
		pthread_join(all[i], NULL);
	close(fd);
}

__attribute__((noinline)) static void writes_little(int fd)
{
	must(write(fd, bytes, 16), 16);
	must(lseek(fd, 0, SEEK_SET), 0);
}

__attribute__((noinline)) static void writes_much(int fd)
{
	must(write(fd, bytes, 4096), 4096);
	must(lseek(fd, 0, SEEK_SET), 0);
}

static void callers(const char *path)
{
	int fd = create(path);

	/* All else is done in 6 ms, before the rules for walking are there. */
	usleep(500000);
	for (int i = 0; i < 3000; i++) {
		writes_little(fd);
		writes_much(fd);
	}
	close(fd);
}

static void forever(const char *path)
{
	int fd = create(path);

	puts("here");
	fflush(stdout);
	for (;;) {
		must(pwrite(fd, bytes, 100, 0), 100);
		usleep(100);
	}
}

static void files(const char *folder)
{
	char path[4096];

	for (int i = 0; i < 3000; i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/f%d", folder, i);
		fd = create(path);
		must(write(fd, path, 10), 10);
		close(fd);
		unlink(path);
	}
}

/* As often as each is long, which nothing else is; and what has no path. */
static void missing(const char *path)
{
	char under[4096];
	int fd = create(path);

	snprintf(under, sizeof(under), "%s/under", path);
	for (size_t i = 0; i < strlen(under); i++)
		must(openat(AT_FDCWD, under, O_RDONLY), -1);
	for (size_t i = 0; i < strlen("no-such/thing"); i++)
		must(openat(fd, "no-such/thing", O_RDONLY), -1);
#ifdef SYS_open
	for (size_t i = 0; i < strlen("/no/such/old-thing"); i++)
		must(syscall(SYS_open, "/no/such/old-thing", O_RDONLY), -1);
	for (size_t i = 0; i < strlen("/no/such/new-thing/"); i++)
		must(syscall(SYS_creat, "/no/such/new-thing/", 0600), -1);
#endif
	must(openat(AT_FDCWD, "", O_RDONLY), -1);
	must(syscall(SYS_openat, AT_FDCWD, NULL, O_RDONLY), -1);
	close(fd);
}

/* Deeper than stacks are walked. */
static void descend(int depth, int fd) /* NOLINT(misc-no-recursion) */
{
	volatile char pad = (char)depth;

	if (depth)
		descend(depth - 1, fd);
	for (int i = 0; !depth && i < 100; i++)
		must(read(fd, bytes, 10), 10);
	(void)pad;
}

static void deep(const char *path)
{
	int fd = open(path, O_RDONLY);

	descend(1000, fd);
	close(fd);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *mode;
		void (*run)(const char *path);
	} modes[] = {
		{ "plain", plain },	{ "lists", lists },	{ "threads", threads },
		{ "callers", callers }, { "forever", forever }, { "files", files },
		{ "missing", missing }, { "deep", deep },
	};

	if (argc > 1 && strcmp(argv[1], "sockets") == 0) {
		sockets();
		return 0;
	}
	for (size_t i = 0; argc > 2 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(argv[1], modes[i].mode) == 0) {
			modes[i].run(argv[2]);
			return 0;
		}
	return 2;
}
