/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/counting.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "collect/launch.h"
#include "host/clock.h"

struct counting {
	const struct counting_settings *settings;
	int fds[COUNTING_MAX];
	uint64_t last[COUNTING_MAX];
	uint64_t start_ns;
};

static struct counting_value read_value(int fd)
{
	struct {
		uint64_t value, enabled, running;
	} r;
	struct counting_value v = { 0 };

	if (fd < 0 || read(fd, &r, sizeof(r)) != sizeof(r))
		return v;
	v.is_counted = true;
	v.value = r.value;
	v.on_share = 1;
	if (r.enabled && r.running < r.enabled) {
		v.on_share = (double)r.running / (double)r.enabled;
		v.value = r.running ? (uint64_t)((double)r.value / v.on_share) : 0;
	}
	return v;
}

static void open_all(struct counting *c, int pid)
{
	for (size_t i = 0; i < c->settings->n_counters; i++)
		c->fds[i] = counter_open(c->settings->counters[i], pid, NULL);
}

static void report_interval(struct counting *c)
{
	struct counting_value values[COUNTING_MAX];

	for (size_t i = 0; i < c->settings->n_counters; i++) {
		values[i] = read_value(c->fds[i]);

		uint64_t now = values[i].value;

		values[i].value -= c->last[i] < now ? c->last[i] : now;
		c->last[i] = now;
	}
	c->settings->on_interval(c->settings->ctx, clock_monotonic_ns() - c->start_ns,
				 values);
}

/* Until the program ends; the terminal's interrupt is its business. */
static int wait_for_end(struct counting *c, int pid, struct err *e)
{
	own(closep) int fd = pidfd_open(pid, 0);
	uint64_t next = c->start_ns + c->settings->interval_ns;

	if (fd < 0)
		return err_os(e, "cannot watch process %d", pid);
	for (;;) {
		uint64_t now = clock_monotonic_ns(), left = next > now ? next - now : 0;
		struct timespec t = { .tv_sec = (time_t)(left / 1000000000),
				      .tv_nsec = (long)(left % 1000000000) };
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int n = ppoll(&p, 1, c->settings->interval_ns ? &t : NULL, NULL);

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return err_os(e, "cannot wait for the program");
		if (n == 0) {
			report_interval(c);
			next += c->settings->interval_ns;
		}
	}
}

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static int run_program(struct counting *c, struct launch *l, const struct launch_env *env,
		       struct counting_run *ret, struct err *e)
{
	struct rusage u;
	int rc;

	open_all(c, l->pid);
	c->start_ns = clock_monotonic_ns();
	rc = launch_go(l, c->settings->argv, env, c->settings->argv[0], e);
	if (rc < 0) {
		ret->is_exec_failure = true;
		ret->exec_errno = e ? e->os : 0;
		return rc;
	}
	rc = wait_for_end(c, l->pid, e);
	ret->wall_ns = clock_monotonic_ns() - c->start_ns;
	if (wait4(l->pid, &ret->status, 0, &u) == l->pid) {
		ret->user_ns = timeval_ns(u.ru_utime);
		ret->system_ns = timeval_ns(u.ru_stime);
	}
	if (c->settings->interval_ns)
		report_interval(c);
	return rc;
}

int counting_run(const struct counting_settings *s, struct counting_run *ret,
		 struct err *e)
{
	struct counting c = { .settings = s };
	struct launch l = { .gate = -1, .report = -1 };
	struct launch_env env;
	int rc;

	*ret = (struct counting_run){ 0 };
	memset(c.fds, -1, sizeof(c.fds));
	launch_env_init(&env);
	rc = launch_begin(&l, NULL, e);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	if (rc == 0)
		rc = run_program(&c, &l, &env, ret, e);
	for (size_t i = 0; i < s->n_counters; i++) {
		ret->values[i] = read_value(c.fds[i]);
		closep(&c.fds[i]);
	}
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	launch_abandon(&l);
	launch_env_fini(&env);
	return rc;
}
