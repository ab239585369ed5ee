/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/segment_job.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/segment_maker.h"
#include "host/self_cost.h"

#define TRIES	   3
#define REPORT_MAX 65536
#define SECOND_NS  UINT64_C(1000000000)

struct segment_job {
	struct segment_job_settings settings;
	pid_t pid; /* 0: none */
	int pipe;  /* what it has to say */
	bool is_urgent;
	unsigned n_tries;
	struct buf report;
	struct segment_job_counts counts;
	uint64_t cpu_ns; /* when it was asked last whether it is busy */
};

struct segment_job *segment_job_new(const struct segment_job_settings *settings)
{
	struct segment_job *j = xcalloc(1, sizeof(*j));

	j->settings = *settings;
	j->pipe = -1;
	return j;
}

static void reap(struct segment_job *j, int *ret_status)
{
	while (waitpid(j->pid, ret_status, 0) < 0 && errno == EINTR)
		;
	closep(&j->pipe);
	j->pipe = -1;
	j->pid = 0;
}

void segment_job_free(struct segment_job *j)
{
	int status;

	if (!j)
		return;
	if (j->pid) {
		kill(j->pid, SIGKILL);
		reap(j, &status);
	}
	buf_fini(&j->report);
	free(j);
}

void segment_job_freep(struct segment_job **j)
{
	segment_job_free(*j);
}

struct segment_job_span segment_job_span(uint64_t now_ns, uint64_t lasted_ns)
{
	struct segment_job_span s = { .to_s = (int64_t)(now_ns / SECOND_NS) };

	if (lasted_ns < now_ns)
		s.from_s = (int64_t)((now_ns - lasted_ns) / SECOND_NS);
	if (s.to_s <= s.from_s)
		s.to_s = s.from_s + 1;
	return s;
}

int segment_job_put(const char *directory, const char *path, int64_t from_s, int64_t to_s,
		    struct err *e)
{
	own(freep) char *waiting = segment_maker_waiting(directory, from_s, to_s);

	/* Of the same seconds there may be one that waits already. */
	while (access(waiting, F_OK) == 0) {
		free(waiting);
		waiting = segment_maker_waiting(directory, from_s, ++to_s);
	}
	if (rename(path, waiting) != 0)
		return err_os(e, "cannot rename '%s'", path);
	return 0;
}

/* In the child from here on. */

static _Noreturn void become_maker(const struct segment_job *j, pid_t parent, int report)
{
	const struct segment_job_settings *s = &j->settings;
	char lock[16], keep[32], keep_size[32];
	const char *argv[] = { "dwell",	      s->command, "--db", s->database, "--host",
			       s->host,	      "--lock",	  lock,	  "--keep",    keep,
			       "--keep-size", keep_size,  NULL };

	snprintf(lock, sizeof(lock), "%d", s->lock);
	snprintf(keep, sizeof(keep), "%" PRId64, s->retention.max_age_s);
	snprintf(keep_size, sizeof(keep_size), "%" PRIu64, s->retention.max_bytes);
	/* It must not write when the next daemon does; and what it leaves half done, that
	 * one finds. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent &&
	    dup2(report, STDOUT_FILENO) >= 0 && fcntl(s->lock, F_SETFD, 0) == 0) {
		setpriority(PRIO_PROCESS, 0, j->is_urgent ? 0 : SEGMENT_MAKER_NICE);
		execv("/proc/self/exe", (char *const *)argv);
	}
	_exit(127);
}

/* In the daemon. */

static int spawn(struct segment_job *j, struct err *e)
{
	pid_t parent = getpid();
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		return err_os(e, "cannot make a pipe");
	j->pid = fork();
	if (j->pid == 0)
		become_maker(j, parent, fds[1]);
	close(fds[1]);
	if (j->pid < 0) {
		j->pid = 0;
		close(fds[0]);
		return err_os(e, "cannot start a process");
	}
	j->pipe = fds[0];
	fcntl(j->pipe, F_SETFL, O_NONBLOCK);
	j->n_tries++;
	j->counts.started++;
	j->cpu_ns = 0;
	buf_clear(&j->report);
	return 0;
}

int segment_job_start(struct segment_job *j, bool is_urgent, struct err *e)
{
	if (j->pid)
		return 0;
	j->is_urgent = is_urgent;
	j->n_tries = 0;
	return spawn(j, e);
}

pid_t segment_job_pid(const struct segment_job *j)
{
	return j->pid;
}

int segment_job_fd(const struct segment_job *j)
{
	return j->pipe;
}

/* False: it has more to say. */
static bool read_report(struct segment_job *j)
{
	char piece[4096];
	ssize_t n;

	while ((n = read(j->pipe, piece, sizeof(piece))) > 0)
		if (j->report.size < REPORT_MAX)
			buf_add(&j->report, piece, (size_t)n);
	return n == 0 || (errno != EAGAIN && errno != EINTR);
}

static int failure(int status, const char *error, struct err *e)
{
	if (error) /* also of one that went on with the rest */
		return err_set(e, ERR_OS, "%.*s", (int)strcspn(error, "\n"), error);
	if (WIFSIGNALED(status))
		return err_set(e, ERR_OS,
			       "what makes segments was killed by signal %d; it is tried "
			       "again later",
			       WTERMSIG(status));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return err_set(e, ERR_OS, "what makes segments ended with code %d",
		       WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/* What its lines say. */
static int take_report(struct segment_job *j, int status, struct err *e)
{
	const char *error = NULL;

	buf_u8(&j->report, 0);
	for (const char *at = (const char *)j->report.data; *at;) {
		if (text_starts(at, SEGMENT_MAKER_MADE "\n"))
			j->counts.segments++;
		else if (text_starts(at, SEGMENT_MAKER_ERROR " "))
			error = at + strlen(SEGMENT_MAKER_ERROR " ");
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	return failure(status, error, e);
}

static bool has_line(const struct buf *b, const char *line)
{
	const char *at = (const char *)b->data;
	size_t n = strlen(line);

	for (const char *end = at + b->size; at && at < end;) {
		const char *next = memchr(at, '\n', (size_t)(end - at));

		if (!next)
			return false;
		if ((size_t)(next - at) == n && memcmp(at, line, n) == 0)
			return true;
		at = next + 1;
	}
	return false;
}

bool segment_job_has_added(struct segment_job *j)
{
	if (!j->pid)
		return false;
	read_report(j);
	return has_line(&j->report, SEGMENT_MAKER_ADDED);
}

void segment_job_interrupt(struct segment_job *j)
{
	int status;

	if (!j->pid)
		return;
	j->counts.ended += !segment_job_has_added(j);
	kill(j->pid, SIGKILL);
	read_report(j); /* the segments that it made count */
	reap(j, &status);
	take_report(j, status, NULL);
}

bool segment_job_poll(struct segment_job *j, int *ret_rc, struct err *e)
{
	int status = 0;

	if (!j->pid || !read_report(j))
		return false;
	reap(j, &status);
	*ret_rc = take_report(j, status, e);
	j->counts.killed += WIFSIGNALED(status);
	j->counts.failed += *ret_rc < 0 && !WIFSIGNALED(status);
	if (*ret_rc == 0 || !WIFSIGNALED(status) || j->n_tries >= TRIES)
		return true;
	*ret_rc = spawn(j, e);
	return *ret_rc < 0;
}

void segment_job_hurry(struct segment_job *j)
{
	/* Where it may not it takes longer. */
	if (j->pid)
		setpriority(PRIO_PROCESS, (id_t)j->pid, 0);
}

bool segment_job_is_busy(struct segment_job *j)
{
	uint64_t was_ns = j->cpu_ns;

	if (!j->pid)
		return false;
	j->cpu_ns = self_cost_cpu_ns_of(j->pid);
	return j->cpu_ns > was_ns;
}

const struct segment_job_counts *segment_job_counts(const struct segment_job *j)
{
	return &j->counts;
}
