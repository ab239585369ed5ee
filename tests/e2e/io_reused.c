/* SPDX-License-Identifier: Apache-2.0
 *
 * Descriptors whose numbers become other files': io_reused DIRECTORY.  For each way in
 * which that happens WAY-before gets 100 bytes, and WAY-behind 7.  Prints the ports of
 * sockets, of which the first one is sent 30 bytes, the second one 500, and a third one,
 * where there is a way to close what it is accepted as unseen, 7.
 */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *directory;
static char path_before[4096], path_behind[4096];

/* In pieces, so that the descriptor is known by the second one. */
static void put(int fd, size_t n)
{
	static const char bytes[64];

	while (n) {
		size_t piece = n > 50 ? 50 : n > 1 ? n / 2 : 1;

		if (write(fd, bytes, piece) != (ssize_t)piece)
			err(1, "write");
		n -= piece;
	}
}

static int open_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

static void by_close(int fd)
{
	close(fd);
	open_file(path_behind);
}

static void by_dup2(int fd)
{
	int other = open_file(path_behind);

	dup2(other, fd);
	close(other);
}

static void by_dup3(int fd)
{
	int other = open_file(path_behind);

	dup3(other, fd, O_CLOEXEC);
	close(other);
}

static void by_range(int fd)
{
	close_range((unsigned)fd, (unsigned)fd, 0);
	open_file(path_behind);
}

static void by_number(int fd)
{
	syscall(SYS_close, fd);
	syscall(SYS_openat, AT_FDCWD, path_behind, O_WRONLY | O_CREAT, 0600);
}

/* Nobody who wraps calls sees that, but it is noticed in time. */
#ifdef __x86_64__
static long call(long nr, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return ret;
}

static void by_itself(int fd)
{
	call(SYS_close, fd, 0, 0, 0);
	call(SYS_openat, AT_FDCWD, (long)path_behind, O_WRONLY | O_CREAT, 0600);
	usleep(5000);
}

/* What is closed so is seen to be another's by the call that returns its number. */
static void by_dup(int fd)
{
	int other = open_file(path_behind);

	call(SYS_close, fd, 0, 0, 0);
	if (dup(other) != fd)
		errx(1, "dup");
	close(other);
}
#endif

/* Its own copy of the descriptors is another's; the number goes on to be this one. */
static void by_vfork(int fd)
{
	int other = open_file(path_behind);
	pid_t pid = vfork();

	if (pid == 0) {
		dup2(other, fd);
		put(fd, 7);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	close(other);
}

/* Closes nothing. */
static int unshare_by_range(void)
{
	return close_range(~0U, ~0U, CLOSE_RANGE_UNSHARE);
}

static int unshare_by_name(void)
{
	return unshare(CLONE_FILES);
}

static int (*unshare_files)(void);

static void *unshared(void *arg)
{
	int fd = *(int *)arg;

	if (unshare_files() < 0)
		err(1, "unshare");
	by_dup2(fd);
	put(fd, 7);
	return NULL;
}

static void unshare_by(int (*by)(void), int fd)
{
	unshare_files = by;
	pthread_t thread;

	if (pthread_create(&thread, NULL, unshared, &fd) != 0)
		errx(1, "no thread");
	pthread_join(thread, NULL);
}

static void by_unshare(int fd)
{
	unshare_by(unshare_by_name, fd);
}

static void by_unshare_range(int fd)
{
	unshare_by(unshare_by_range, fd);
}

static void replace(const char *way, void (*by)(int fd), size_t goes_on)
{
	int fd;

	snprintf(path_before, sizeof(path_before), "%s/%s-before", directory, way);
	snprintf(path_behind, sizeof(path_behind), "%s/%s-behind", directory, way);
	fd = open_file(path_before);
	put(fd, 100 - goes_on);
	by(fd);
	put(fd, goes_on ? goes_on : 7);
	close(fd);
}

/* What the C library opens and closes by itself. */
static void replace_stream(const char *way, FILE *by(FILE *f))
{
	FILE *f;

	snprintf(path_before, sizeof(path_before), "%s/%s-before", directory, way);
	snprintf(path_behind, sizeof(path_behind), "%s/%s-behind", directory, way);
	f = fopen(path_before, "w");
	put(fileno(f), 100);
	f = by(f);
	put(fileno(f), 7);
	fclose(f);
}

static FILE *by_fclose(FILE *f)
{
	fclose(f);
	return fopen(path_behind, "w");
}

static FILE *by_freopen(FILE *f)
{
	return freopen(path_behind, "w", f);
}

static int listener(struct sockaddr_in *ret, int type)
{
	int fd = socket(AF_INET, type, 0);
	socklen_t size = sizeof(*ret);

	*ret = (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (bind(fd, (struct sockaddr *)ret, size) < 0 ||
	    getsockname(fd, (struct sockaddr *)ret, &size) < 0)
		err(1, "bind");
	return fd;
}

/* One socket, first of one connection and then of another. */
static void reconnect(void)
{
	struct sockaddr_in first, second;
	int fds[] = { listener(&first, SOCK_DGRAM), listener(&second, SOCK_DGRAM),
		      socket(AF_INET, SOCK_DGRAM, 0) };

	connect(fds[2], (struct sockaddr *)&first, sizeof(first));
	put(fds[2], 30);
	connect(fds[2], (struct sockaddr *)&second, sizeof(second));
	put(fds[2], 500);
	printf("%d %d\n", ntohs(first.sin_port), ntohs(second.sin_port));
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}

#ifdef __x86_64__
/* It is closed unseen, and what it is then gets the 7 bytes. */
static void replace_by(const char *way, int by(int listening), int listening)
{
	int fd;

	snprintf(path_before, sizeof(path_before), "%s/%s-before", directory, way);
	fd = open_file(path_before);
	put(fd, 100);
	call(SYS_close, fd, 0, 0, 0);
	if (by(listening) != fd)
		errx(1, "%s", way);
	put(fd, 7);
	close(fd);
}

static int by_accept(int listening)
{
	return accept(listening, NULL, NULL);
}

static int by_socketpair(int listening)
{
	int pair[2] = { -1, -1 };

	(void)listening;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		err(1, "socketpair");
	return pair[0];
}

static void accept_one(void)
{
	struct sockaddr_in address;
	socklen_t size = sizeof(address);
	int listening = listener(&address, SOCK_STREAM);
	int peer = socket(AF_INET, SOCK_STREAM, 0);

	if (listen(listening, 1) < 0 ||
	    connect(peer, (struct sockaddr *)&address, size) < 0 ||
	    getsockname(peer, (struct sockaddr *)&address, &size) < 0)
		err(1, "connect");
	replace_by("accept", by_accept, listening);
	printf("%d\n", ntohs(address.sin_port));
	close(peer);
	close(listening);
}
#endif

/* Nothing is kept of descriptors from then on: one process for each of these ways. */
static void replace_in_child(const char *way, void (*by)(int fd), size_t goes_on)
{
	pid_t pid = fork();

	if (pid == 0) {
		replace(way, by, goes_on);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*by)(int fd);
		size_t goes_on;
	} ways[] = {
		{ "close", by_close, 0 },   { "dup2", by_dup2, 0 },
		{ "dup3", by_dup3, 0 },	    { "range", by_range, 0 },
		{ "number", by_number, 0 },
#ifdef __x86_64__
		{ "itself", by_itself, 0 }, { "dup", by_dup, 0 },
#endif
		{ "vfork", by_vfork, 40 },  { "unshare", by_unshare, 40 },
	};

	if (argc != 2)
		return 2;
	directory = argv[1];
	replace_stream("fclose", by_fclose);
	replace_stream("freopen", by_freopen);
	reconnect();
#ifdef __x86_64__
	accept_one();
	replace_by("pair", by_socketpair, -1);
#endif
	replace_in_child("unshare-range", by_unshare_range, 40);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		replace(ways[i].name, ways[i].by, ways[i].goes_on);
	return 0;
}
