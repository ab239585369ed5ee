/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/live.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "collect/control.h"
#include "collect/control_lines.h"
#include "collect/live_recorder.h"

/* Keys wait meanwhile. */
#define PATIENCE_MS 10000
#define REPORT_MAX  1024
/* How long what a recorder that has gone told last may take. */
#define REPORT_PATIENCE_MS 2000

struct live {
	char *socket;
	/* Of a recorder of our own; NULL, 0 and -1: it is the daemon. */
	char *directory;
	pid_t child;
	int report;
	bool has_ended;
};

static struct live *new_live(void)
{
	struct live *l = xcalloc(1, sizeof(*l));

	l->report = -1;
	return l;
}

int live_join(const char *socket, struct live **ret, struct err *e)
{
	own(live_freep) struct live *l = new_live();
	struct live_state state;
	int rc;

	l->socket = xstrdup(socket);
	rc = live_ask(l, &state, e);
	if (rc < 0)
		return rc;
	*ret = steal(&l);
	return 0;
}

/* The recorder. */

static int make_directory(struct live *l, struct err *e)
{
	const char *parent = getenv("TMPDIR");
	own(freep) char *path =
		xasprintf("%s/dwell-live-XXXXXX", parent && *parent ? parent : "/tmp");

	if (!mkdtemp(path))
		return err_os(e, "cannot make '%s'", path);
	l->directory = steal(&path);
	l->socket = xasprintf("%s/" LIVE_RECORDER_SOCKET, l->directory);
	return 0;
}

static _Noreturn void be_recorder(const struct live_settings *settings,
				  const char *directory, int report, pid_t parent)
{
	int code = 1;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() == parent)
		code = live_recorder_run(settings, directory, report);
	if (getppid() != parent) /* nobody else will */
		live_recorder_remove(directory);
	_exit(code);
}

static int start_recorder(struct live *l, const struct live_settings *settings,
			  struct err *e)
{
	pid_t parent = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return err_os(e, "cannot make a pipe");
	fflush(NULL);
	l->child = fork();
	if (l->child == 0)
		be_recorder(settings, l->directory, ends[1], parent);
	close(ends[1]);
	l->report = ends[0];
	if (l->child < 0) {
		l->child = 0;
		return err_os(e, "cannot start a recorder");
	}
	return 0;
}

/* The next lines that the recorder told; false: none come any more, or not in time. */
static bool read_report(struct live *l, int patience_ms, char text[REPORT_MAX])
{
	struct pollfd p = { .fd = l->report, .events = POLLIN };
	ssize_t n = 0;

	if (poll(&p, 1, patience_ms) > 0)
		n = read(l->report, text, REPORT_MAX - 1);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* What became of a recorder that does not answer any more. */
static int explain(struct live *l, int rc, struct err *e)
{
	char text[REPORT_MAX];
	const char *error;

	if (!l->child || !read_report(l, REPORT_PATIENCE_MS, text))
		return rc;
	l->has_ended = strstr(text, "ended\n") != NULL;
	error = strstr(text, "error ");
	if (l->has_ended)
		return err_set(e, ERR_OS, "the process has ended");
	if (!error)
		return rc;
	error += strlen("error ");
	return err_set(e, ERR_UNSUPPORTED, "%.*s", (int)strcspn(error, "\n"), error);
}

int live_start(const struct live_settings *settings, struct live **ret, struct err *e)
{
	own(live_freep) struct live *l = new_live();
	char text[REPORT_MAX];
	int rc = make_directory(l, e);

	if (rc == 0)
		rc = start_recorder(l, settings, e);
	if (rc < 0)
		return rc;
	if (!read_report(l, -1, text))
		return err_set(e, ERR_OS, "the recorder ended at once");
	if (!text_starts(text, "ok\n"))
		return err_set(e, ERR_UNSUPPORTED, "%.*s", (int)strcspn(text, "\n"),
			       text_starts(text, "error ") ? text + 6 : text);
	*ret = steal(&l);
	return 0;
}

void live_free(struct live *l)
{
	if (!l)
		return;
	/* Its files are not wanted: no reason to let it close them. */
	if (l->child) {
		kill(l->child, SIGKILL);
		waitpid(l->child, NULL, 0);
	}
	if (l->directory)
		live_recorder_remove(l->directory);
	closep(&l->report);
	free(l->directory);
	free(l->socket);
	free(l);
}

void live_freep(struct live **l)
{
	live_free(*l);
}

/* Asking. */

static void read_state(const char *lines, struct live_state *ret)
{
	control_lines_text(lines, "path", ret->path, sizeof(ret->path));
	control_lines_text(lines, "how", ret->how, sizeof(ret->how));
	control_lines_text(lines, "note", ret->note, sizeof(ret->note));
	ret->opened_ns = control_lines_number(lines, "opened-ns");
	ret->taken_ns = control_lines_number(lines, "taken-ns");
	ret->period_ns = control_lines_number(lines, "period-ns");
	ret->lost = control_lines_number(lines, "lost");
	ret->cpu_ns = control_lines_number(lines, "cpu-ns");
	ret->own_bytes = control_lines_number(lines, "own-bytes");
	ret->has_processes = control_lines_number(lines, "has-processes");
}

int live_ask(struct live *l, struct live_state *ret, struct err *e)
{
	struct buf answer = { 0 };
	int rc = control_ask(l->socket, "recent", PATIENCE_MS, &answer, e);

	if (rc == 0)
		read_state(buf_str(&answer), ret);
	buf_fini(&answer);
	return rc < 0 ? explain(l, rc, e) : 0;
}

bool live_has_ended(const struct live *l)
{
	return l->has_ended;
}
