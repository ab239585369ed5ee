/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session_ask.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "base/vec.h"
#include "collect/session_control.h"
#include "collect/session_datagram.h"
#include "host/clock.h"
#include "host/unix_names.h"

#define RECORDINGS_MAX 512 /* descriptors are few */
#define NS_PER_MS      UINT64_C(1000000)
#define LOOK_MS	       100 /* so often: has it ended before it answered? */

struct asked {
	char name[UNIX_NAMES_MAX];
	int fd; /* -1: nothing is to be expected of it (any more) */
	bool is_told;
};

struct asking {
	uint64_t deadline_ns;
	VEC(struct asked) all;
	size_t n_done, n_failed, n_silent;
	struct err first;
	session_ask_fn *fn;
	void *ctx;
};

static void add(void *ctx, const char *name)
{
	struct asking *a = ctx;
	struct asked *x = vec_push(&a->all);

	strcpy(x->name, name);
	x->fd = -1;
}

static unsigned left_ms(const struct asking *a)
{
	uint64_t now_ns = clock_monotonic_ns();

	return now_ns < a->deadline_ns
		       ? (unsigned)((a->deadline_ns - now_ns) / NS_PER_MS) + 1
		       : 0;
}

static void give_up(struct asked *x)
{
	closep(&x->fd);
	x->fd = -1;
}

/* One that has gone meanwhile has nothing to say. */
static void tell(struct asked *x, const char *request, unsigned patience_ms)
{
	int rc = session_datagram_send(x->fd, request, patience_ms);

	x->is_told = rc == 0;
	if (rc && rc != EAGAIN)
		give_up(x);
}

/* First those that have room for a request, then those that have to be waited for. */
static void tell_all(struct asking *a, const char *request)
{
	vec_each(x, &a->all) {
		x->fd = session_datagram_open_to(x->name, NULL);
		if (x->fd >= 0)
			tell(x, request, 0);
	}
	vec_each(x, &a->all)
		if (x->fd >= 0 && !x->is_told && left_ms(a))
			tell(x, request, left_ms(a));
}

static void take(struct asking *a, const char *text)
{
	if (text_starts(text, SESSION_CONTROL_OK)) {
		a->n_done++;
		a->fn(a->ctx, text + strlen(SESSION_CONTROL_OK));
	} else if (text_starts(text, SESSION_CONTROL_ERROR) && !a->n_failed++) {
		err_set(&a->first, ERR_OS, "%s", text + strlen(SESSION_CONTROL_ERROR));
	}
}

static bool is_gone(const struct asked *x)
{
	own(closep) int fd = session_datagram_open_to(x->name, NULL);

	return fd < 0;
}

/* False: there will be no answer. */
static bool wait_for(const struct asking *a, const struct asked *x)
{
	struct pollfd p = { .fd = x->fd, .events = POLLIN };
	unsigned left;

	do {
		left = left_ms(a);
		if (poll(&p, 1, (int)(left < LOOK_MS ? left : LOOK_MS)) > 0)
			return true;
	} while (left && !is_gone(x));
	return poll(&p, 1, 0) > 0;
}

/* Anybody may call a socket as recorders do. */
static void hear(struct asking *a, struct asked *x)
{
	struct session_datagram d;

	if (!x->is_told || !wait_for(a, x) || !session_datagram_receive(x->fd, &d)) {
		a->n_silent += !is_gone(x);
		return;
	}
	if (d.is_text && (d.uid == getuid() || d.uid == 0 || getuid() == 0))
		take(a, d.text);
}

static int outcome(const struct asking *a, pid_t pid, struct err *e)
{
	if (a->n_done)
		return 0;
	if (a->n_failed)
		return err_set(e, ERR_OS, "%s", a->first.text);
	if (a->n_silent)
		return err_set(e, ERR_OS,
			       "no recording says that it observes process %d, but some "
			       "do not answer",
			       pid);
	return err_set(e, ERR_USAGE,
		       "no recording of yours observes process %d: 'dwell run' and "
		       "'dwell attach' make one",
		       pid);
}

int session_ask(pid_t pid, const char *verb, const char *text, unsigned patience_ms,
		session_ask_fn *fn, void *ctx, struct err *e)
{
	struct asking a = { .fn = fn, .ctx = ctx };
	own(freep) char *request = xasprintf("%s %d %s", verb, pid, text);
	int rc = unix_names_each(SESSION_CONTROL_PREFIX, RECORDINGS_MAX, add, &a, e);

	a.deadline_ns = clock_monotonic_ns() + patience_ms * NS_PER_MS;
	if (rc == 0)
		tell_all(&a, request);
	vec_each(x, &a.all) {
		if (x->fd >= 0)
			hear(&a, x);
		give_up(x);
	}
	if (rc == 0)
		rc = outcome(&a, pid, e);
	vec_fini(&a.all);
	return rc;
}
