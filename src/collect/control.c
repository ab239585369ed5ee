/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/control.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "host/clock.h"

/* For a whole request, and again for a whole answer. */
#define CLIENT_PATIENCE_MS 1000
#define NS_PER_MS	   UINT64_C(1000000)
#define FOR_EVER	   UINT64_MAX
#define BACKLOG		   8
#define ANSWER_MAX	   (1u << 20)

struct control {
	char *path;
	int fd;
};

static int address_of(const char *path, struct sockaddr_un *ret, struct err *e)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(ret->sun_path))
		return err_set(e, ERR_LIMIT, "'%.60s…' is too long for a socket", path);
	strcpy(ret->sun_path, path);
	return 0;
}

static int connect_to(const struct sockaddr_un *a)
{
	own(closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)a, sizeof(*a)) != 0)
		return -1;
	return steal_fd(&fd);
}

static int make_directory(const char *path, struct err *e)
{
	own(freep) char *directory = xstrdup(path);
	char *slash = strrchr(directory, '/');

	if (!slash || slash == directory)
		return 0;
	*slash = '\0';
	if (mkdir(directory, 0700) != 0 && errno != EEXIST)
		return err_os(e, "cannot make '%s'", directory);
	return 0;
}

/* A socket may outlive who listened at it: one that was killed as it was starting a
 * process has left it to that for a moment. */
static bool is_listener_alive(int fd)
{
	struct ucred who = { 0 };
	socklen_t size = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.pid <= 0)
		return true;
	return kill(who.pid, 0) == 0 || errno != ESRCH;
}

/* Of a daemon that was killed; what is no socket is not ours to remove. */
static int remove_old(const char *path, struct err *e)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return err_set(e, ERR_USAGE, "'%s' is there and is no socket", path);
	unlink(path);
	return 0;
}

static int bind_to(int fd, const struct sockaddr_un *a, struct err *e)
{
	own(closep) int other = connect_to(a);
	mode_t mask;
	int rc;

	if (other >= 0 && is_listener_alive(other))
		return err_set(e, ERR_USAGE,
			       "a daemon listens at '%s' already: 'dwell ctl status'",
			       a->sun_path);
	rc = remove_old(a->sun_path, e);
	if (rc < 0)
		return rc;
	mask = umask(0177);
	rc = bind(fd, (const struct sockaddr *)a, sizeof(*a));
	umask(mask);
	if (rc != 0 || listen(fd, BACKLOG) != 0)
		return err_os(e, "cannot listen at '%s'", a->sun_path);
	return 0;
}

int control_listen(const char *path, struct control **ret, struct err *e)
{
	own(control_freep) struct control *c = xcalloc(1, sizeof(*c));
	struct sockaddr_un a;
	int rc = address_of(path, &a, e);

	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (rc == 0 && c->fd < 0)
		rc = err_os(e, "cannot make a socket");
	if (rc == 0)
		rc = make_directory(path, e);
	if (rc == 0)
		rc = bind_to(c->fd, &a, e);
	if (rc < 0)
		return rc;
	c->path = xstrdup(path);
	*ret = steal(&c);
	return 0;
}

void control_free(struct control *c)
{
	if (!c)
		return;
	closep(&c->fd);
	if (c->path) /* it was bound */
		unlink(c->path);
	free(c->path);
	free(c);
}

void control_freep(struct control **c)
{
	control_free(*c);
}

int control_fd(const struct control *c)
{
	return c->fd;
}

static uint64_t soon_ns(void)
{
	return clock_monotonic_ns() + CLIENT_PATIENCE_MS * NS_PER_MS;
}

static bool wait_for(int fd, short events, uint64_t deadline_ns)
{
	struct pollfd p = { .fd = fd, .events = events };
	uint64_t now_ns = clock_monotonic_ns();

	if (deadline_ns == FOR_EVER)
		return poll(&p, 1, -1) > 0;
	return now_ns < deadline_ns &&
	       poll(&p, 1, (int)((deadline_ns - now_ns) / NS_PER_MS) + 1) > 0;
}

/* Until a line ends or there is no room for more of it; 0 bytes: nothing came in time. */
static size_t read_line(int fd, char line[CONTROL_REQUEST_MAX])
{
	uint64_t deadline_ns = soon_ns();
	size_t n = 0;

	while (n < CONTROL_REQUEST_MAX && !memchr(line, '\n', n)) {
		ssize_t got;

		if (!wait_for(fd, POLLIN, deadline_ns))
			return 0;
		got = read(fd, line + n, CONTROL_REQUEST_MAX - n);
		if (got <= 0)
			return 0;
		n += (size_t)got;
	}
	return n;
}

/* As a string, without its end. */
static int take_request(char line[CONTROL_REQUEST_MAX], size_t n, struct err *e)
{
	char *end = memchr(line, '\n', n);

	if (!end)
		return err_set(e, ERR_USAGE,
			       "a request is one line of less than %d bytes",
			       CONTROL_REQUEST_MAX);
	*end = '\0';
	if (strlen(line) != (size_t)(end - line))
		return err_set(e, ERR_USAGE, "a request is text");
	return 0;
}

static void write_all(int fd, const void *data, size_t size, uint64_t deadline_ns)
{
	const char *at = data;

	while (size && wait_for(fd, POLLOUT, deadline_ns)) {
		ssize_t n = send(fd, at, size, MSG_NOSIGNAL);

		if (n <= 0)
			return;
		at += n;
		size -= (size_t)n;
	}
}

static void answer_client(int fd, control_fn *fn, void *ctx)
{
	char line[CONTROL_REQUEST_MAX], *rest = line;
	struct buf answer = { 0 };
	struct err e = { 0 };
	size_t n = read_line(fd, line);
	int rc;

	if (!n)
		return;
	buf_puts(&answer, "ok\n");
	rc = take_request(line, n, &e);
	if (rc == 0) {
		const char *verb = strsep(&rest, " ");

		rc = fn(ctx, verb, rest ? rest : "", &answer, &e);
	}
	if (rc < 0) {
		buf_clear(&answer);
		buf_printf(&answer, "error %s\n", e.text);
	}
	write_all(fd, answer.data, answer.size, soon_ns());
	buf_fini(&answer);
}

void control_serve(struct control *c, control_fn *fn, void *ctx)
{
	for (;;) {
		own(closep) int fd =
			accept4(c->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;
		answer_client(fd, fn, ctx);
	}
}

static int read_answer(int fd, struct buf *answer, uint64_t deadline_ns, struct err *e)
{
	char piece[4096];
	ssize_t n = 1;

	while (n > 0 && answer->size < ANSWER_MAX) {
		if (!wait_for(fd, POLLIN, deadline_ns))
			return err_set(e, ERR_OS, "the daemon is too busy to answer");
		n = read(fd, piece, sizeof(piece));
		buf_add(answer, piece, n > 0 ? (size_t)n : 0);
	}
	/* Killed, it has no time to say so. */
	if ((n < 0 && errno == ECONNRESET) || (n == 0 && !answer->size))
		return err_set(
			e, ERR_OS,
			"the daemon ended before it answered; what it was asked for "
			"may be done or not");
	if (n < 0)
		return err_os(e, "cannot read the daemon's answer");
	buf_u8(answer, 0);
	return 0;
}

int control_ask(const char *path, const char *request, unsigned patience_ms,
		struct buf *answer, struct err *e)
{
	uint64_t deadline_ns =
		patience_ms ? clock_monotonic_ns() + patience_ms * NS_PER_MS : FOR_EVER;
	struct buf all = { 0 };
	struct sockaddr_un a;
	int rc = address_of(path, &a, e);
	own(closep) int fd = rc == 0 ? connect_to(&a) : -1;

	if (rc < 0)
		return rc;
	if (fd < 0)
		return err_os(e, "no daemon at '%s'", path);
	write_all(fd, request, strlen(request), deadline_ns);
	write_all(fd, "\n", 1, deadline_ns);
	rc = read_answer(fd, &all, deadline_ns, e);
	if (rc == 0 && text_starts((char *)all.data, "ok\n")) {
		buf_puts(answer, (char *)all.data + 3);
	} else if (rc == 0) {
		char *text = (char *)all.data;

		text[strcspn(text, "\n")] = '\0';
		rc = err_set(e, ERR_OS, "%s",
			     text_starts(text, "error ") ? text + 6
							 : "the daemon did not answer");
	}
	buf_fini(&all);
	return rc;
}
