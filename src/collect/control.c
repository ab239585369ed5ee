/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/control.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"

#define CLIENT_PATIENCE_MS 1000
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

static int bind_to(int fd, const struct sockaddr_un *a, struct err *e)
{
	own(closep) int other = connect_to(a);
	mode_t mask;
	int rc;

	if (other >= 0)
		return err_set(e, ERR_USAGE,
			       "a daemon listens at '%s' already: 'dwell ctl status'",
			       a->sun_path);
	unlink(a->sun_path);
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

/* A line, without its end; false when none comes in time. */
static bool read_line(int fd, char line[CONTROL_REQUEST_MAX])
{
	size_t n = 0;

	while (n < CONTROL_REQUEST_MAX - 1) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t got;

		if (poll(&p, 1, CLIENT_PATIENCE_MS) <= 0)
			return false;
		got = read(fd, line + n, CONTROL_REQUEST_MAX - 1 - n);
		if (got <= 0)
			return false;
		n += (size_t)got;
		line[n] = '\0';
		if (memchr(line, '\n', n)) {
			line[strcspn(line, "\n")] = '\0';
			return true;
		}
	}
	return false;
}

static void write_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size) {
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
	const char *verb;

	if (!read_line(fd, line))
		return;
	verb = strsep(&rest, " ");
	buf_puts(&answer, "ok\n");
	if (fn(ctx, verb, rest ? rest : "", &answer, &e) < 0) {
		buf_clear(&answer);
		buf_printf(&answer, "error %s\n", e.text);
	}
	write_all(fd, answer.data, answer.size);
	buf_fini(&answer);
}

void control_serve(struct control *c, control_fn *fn, void *ctx)
{
	struct timeval patience = { .tv_sec = CLIENT_PATIENCE_MS / 1000 };

	for (;;) {
		own(closep) int fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0)
			return;
		/* One that does not read its answer must not hold the daemon up. */
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
		answer_client(fd, fn, ctx);
	}
}

static int read_answer(int fd, struct buf *answer, struct err *e)
{
	char piece[4096];
	ssize_t n;

	while ((n = read(fd, piece, sizeof(piece))) > 0 && answer->size < ANSWER_MAX)
		buf_add(answer, piece, (size_t)n);
	if (n < 0)
		return err_os(e, "cannot read the daemon's answer");
	buf_u8(answer, 0);
	return 0;
}

int control_ask(const char *path, const char *request, struct buf *answer, struct err *e)
{
	struct buf all = { 0 };
	struct sockaddr_un a;
	int rc = address_of(path, &a, e);
	own(closep) int fd = rc == 0 ? connect_to(&a) : -1;

	if (rc < 0)
		return rc;
	if (fd < 0)
		return err_os(e, "no daemon at '%s'", path);
	write_all(fd, request, strlen(request));
	write_all(fd, "\n", 1);
	rc = read_answer(fd, &all, e);
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
