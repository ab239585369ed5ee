/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session_datagram.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"

#define NOBODY ((uid_t)-1)

static socklen_t address_of(const char *name, struct sockaddr_un *ret)
{
	size_t n = strnlen(name, sizeof(ret->sun_path) - 1);

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(ret->sun_path + 1, name, n);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

/* Who sends is told to who receives. */
static int make(const struct sockaddr_un *own_name, socklen_t size, struct err *e)
{
	own(closep) int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int yes = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) != 0 ||
	    bind(fd, (const struct sockaddr *)own_name, size) != 0)
		return err_os(e, "cannot make a socket");
	return steal_fd(&fd);
}

int session_datagram_open(const char *name, struct err *e)
{
	struct sockaddr_un a;
	socklen_t size = address_of(name, &a);

	return make(&a, size, e);
}

/* Of its own name the kernel decides. */
int session_datagram_open_to(const char *name, struct err *e)
{
	struct sockaddr_un to, any = { .sun_family = AF_UNIX };
	socklen_t size = address_of(name, &to);
	own(closep) int fd = make(&any, sizeof(any.sun_family), e);

	if (fd < 0)
		return fd;
	if (connect(fd, (const struct sockaddr *)&to, size) != 0)
		return err_os(e, "cannot reach '%s'", name);
	return steal_fd(&fd);
}

static uid_t uid_of(struct msghdr *m)
{
	struct ucred who;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS)
			continue;
		memcpy(&who, CMSG_DATA(c), sizeof(who));
		return who.uid;
	}
	return NOBODY;
}

/* There is room for who it was and for nothing else. */
bool session_datagram_receive(int fd, struct session_datagram *ret)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct iovec text = { ret->text, SESSION_DATAGRAM_BYTES };
	struct msghdr m = { .msg_name = &ret->from,
			    .msg_namelen = sizeof(ret->from),
			    .msg_iov = &text,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	if (n < 0)
		return false;
	ret->from_size = m.msg_namelen;
	ret->uid = uid_of(&m);
	ret->text[n] = '\0';
	ret->is_text = !(m.msg_flags & MSG_TRUNC) && strlen(ret->text) == (size_t)n;
	return true;
}

void session_datagram_answer(int fd, const struct session_datagram *d, const char *text)
{
	if (d->from_size > sizeof(sa_family_t))
		(void)sendto(fd, text, strnlen(text, SESSION_DATAGRAM_BYTES),
			     MSG_NOSIGNAL | MSG_DONTWAIT,
			     (const struct sockaddr *)&d->from, d->from_size);
}

int session_datagram_send(int fd, const char *text, unsigned patience_ms)
{
	struct timeval t = { .tv_sec = patience_ms / 1000,
			     .tv_usec = (suseconds_t)(patience_ms % 1000) * 1000 };
	size_t n = strnlen(text, SESSION_DATAGRAM_BYTES);

	if (patience_ms && setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t)) != 0)
		return errno;
	return send(fd, text, n, MSG_NOSIGNAL | (patience_ms ? 0 : MSG_DONTWAIT)) < 0
		       ? errno
		       : 0;
}
