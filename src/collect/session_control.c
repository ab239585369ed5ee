/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session_control.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/own.h"
#include "collect/session_datagram.h"
#include "host/unix_names.h"

#define DEAF_NS	     UINT64_C(100000000)
#define REQUESTS_MAX 16 /* that are answered before rings are looked at again */

void session_control_open(struct session_control *c)
{
	char name[UNIX_NAMES_MAX];
	uint64_t random = 0;

	*c = (struct session_control){ .fd = -1 };
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return;
	snprintf(name, sizeof(name), SESSION_CONTROL_PREFIX "%d.%" PRIx64, getpid(),
		 random);
	c->fd = session_datagram_open(name, NULL);
}

void session_control_close(struct session_control *c)
{
	closep(&c->fd);
	c->fd = -1;
}

static bool is_deaf(const struct session_control *c, uint64_t now_ns)
{
	return c->fd < 0 || now_ns < c->deaf_until_ns;
}

size_t session_control_fds(const struct session_control *c, uint64_t now_ns,
			   struct pollfd *ret)
{
	if (is_deaf(c, now_ns))
		return 0;
	*ret = (struct pollfd){ .fd = c->fd, .events = POLLIN };
	return 1;
}

static int do_mark(const struct session_control_ops *ops, void *ctx, const char *text,
		   struct buf *lines, struct err *e)
{
	(void)lines;
	return ops->mark(ctx, *text ? text : "mark", e);
}

static int do_pause(const struct session_control_ops *ops, void *ctx, const char *text,
		    struct buf *lines, struct err *e)
{
	(void)text;
	(void)lines;
	return ops->pause(ctx, true, e);
}

static int do_resume(const struct session_control_ops *ops, void *ctx, const char *text,
		     struct buf *lines, struct err *e)
{
	(void)text;
	(void)lines;
	return ops->pause(ctx, false, e);
}

static int do_status(const struct session_control_ops *ops, void *ctx, const char *text,
		     struct buf *lines, struct err *e)
{
	(void)text;
	return ops->status(ctx, lines, e);
}

static const struct {
	const char *name;
	int (*run)(const struct session_control_ops *ops, void *ctx, const char *text,
		   struct buf *lines, struct err *e);
} verbs[] = {
	{ "mark", do_mark },
	{ "pause", do_pause },
	{ "resume", do_resume },
	{ "status", do_status },
};

static int run(const struct session_control_ops *ops, void *ctx, const char *verb,
	       const char *text, struct buf *lines, struct err *e)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(verbs[i].name, verb))
			return verbs[i].run(ops, ctx, text, lines, e);
	return err_set(e, ERR_USAGE, "a recording does not know '%.40s'", verb);
}

/* Who does not wait for it, or has no room, gets none. */
static void answer(int fd, const struct session_datagram *d, const char *first,
		   const char *text)
{
	struct buf all = { 0 };

	buf_printf(&all, "%s%s", first, text);
	session_datagram_answer(fd, d, buf_str(&all));
	buf_fini(&all);
}

/* "VERB PID TEXT"; 0: it is something else. */
static pid_t pid_of(const char *word)
{
	char *end;
	long pid = word ? strtol(word, &end, 10) : 0;

	return pid > 0 && pid <= INT32_MAX && !*end ? (pid_t)pid : 0;
}

static void serve(int fd, struct session_datagram *d,
		  const struct session_control_ops *ops, void *ctx)
{
	struct buf lines = { 0 };
	struct err e = { 0 };
	char *rest = d->text, *verb = strsep(&rest, " ");
	pid_t pid = pid_of(strsep(&rest, " "));
	int rc;

	if (!pid || !d->is_text)
		return answer(fd, d, SESSION_CONTROL_ERROR,
			      "a request is a word, a process and a short text");
	if (!ops->observes(ctx, pid))
		return answer(fd, d, SESSION_CONTROL_OTHERS, "");
	rc = run(ops, ctx, verb, rest ? rest : "", &lines, &e);
	if (rc < 0)
		answer(fd, d, SESSION_CONTROL_ERROR, e.text);
	else
		answer(fd, d, SESSION_CONTROL_OK, buf_str(&lines));
	buf_fini(&lines);
}

/* Others are deafening: nobody is heard for a while behind them, so that they do not keep
 * us from what is recorded, but as many at a time as wait, so that all have their turn.
 */
void session_control_serve(struct session_control *c, uint64_t now_ns,
			   const struct session_control_ops *ops, void *ctx)
{
	struct session_datagram d;

	if (is_deaf(c, now_ns))
		return;
	for (unsigned i = 0; i < REQUESTS_MAX; i++) {
		if (!session_datagram_receive(c->fd, &d))
			return;
		if (d.uid == 0 || d.uid == getuid()) {
			serve(c->fd, &d, ops, ctx);
			continue;
		}
		answer(c->fd, &d, SESSION_CONTROL_OTHERS, "");
		c->deaf_until_ns = now_ns + DEAF_NS;
	}
}
