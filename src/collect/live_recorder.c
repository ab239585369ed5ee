/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/live_recorder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "collect/control.h"
#include "collect/control_lines.h"
#include "collect/session.h"
#include "host/self_cost.h"

/* What is read along is in the reader's memory, about ten times as large. */
#define FILE_BYTES_MAX (UINT64_C(16) << 20)

struct recorder {
	const struct live_settings *settings;
	const char *directory;
	int report;
	struct control *control;
	struct session_company company;
	struct session *session;
	struct session_settings session_settings;
	struct err refusal; /* of the best source */
	bool is_turning;    /* to the next file */
};

static void tell(const struct recorder *r, const char *what, const char *text)
{
	own(freep) char *line = xasprintf("%s%s\n", what, text);
	ssize_t n = write(r->report, line, strlen(line));

	(void)n; /* who does not listen any more has gone */
}

/* Answers. */

/* Why the best source did not do, without the experiment's name. */
static const char *refusal_of(const struct recorder *r)
{
	const char *why = strstr(r->refusal.text, ": ");

	return why ? why + 2 : r->refusal.text;
}

static void put_answer(const struct recorder *r, const struct session_progress *p,
		       struct buf *answer)
{
	control_lines_add_text(answer, "path", p->path);
	control_lines_add_text(answer, "how", p->how);
	control_lines_add_text(answer, "note", refusal_of(r));
	control_lines_add(answer, "opened-ns", p->start_ns);
	control_lines_add(answer, "taken-ns", p->taken_ns);
	control_lines_add(answer, "period-ns", r->session_settings.choices[0].interval);
	control_lines_add(answer, "has-processes", true);
	control_lines_add(answer, "lost", p->stats.lost);
	control_lines_add(answer, "cpu-ns", self_cost_cpu_ns());
	control_lines_add(answer, "own-bytes", self_cost_bytes());
}

static int on_request(void *ctx, const char *verb, unused const char *rest,
		      struct buf *answer, struct err *e)
{
	struct recorder *r = ctx;
	struct session_progress p;
	int rc;

	if (strcmp(verb, "recent") != 0)
		return err_set(e, ERR_USAGE, "the recorder does not know '%.40s'", verb);
	rc = session_sync(r->session, &p, e);
	if (rc < 0)
		return rc;
	put_answer(r, &p, answer);
	if (p.bytes > FILE_BYTES_MAX) {
		r->is_turning = true;
		session_end(r->session);
	}
	return 0;
}

static void serve(void *ctx, struct session *s)
{
	struct recorder *r = ctx;

	r->session = s;
	control_serve(r->control, on_request, r);
}

/* Recording. */

static int take_settings(struct recorder *r, struct err *e)
{
	const struct live_settings *x = r->settings;
	struct session_settings *s = &r->session_settings;
	int rc = experiment_find("usertime", &s->choices[0], e);

	if (rc == 0)
		rc = experiment_set_frequency(&s->choices[0], x->hz, e);
	s->n_choices = 1;
	s->kind = x->n_pids ? SCOPE_PROCESSES : SCOPE_CPUS;
	s->pids = x->pids;
	s->n_pids = x->n_pids;
	s->source = x->source;
	s->no_time = true;
	s->version = DWELL_VERSION;
	s->company = &r->company;
	return rc;
}

/* Of the whole machine, counting in the kernel costs least by far. */
static int new_session(struct recorder *r, struct session **ret, struct err *e)
{
	struct session_settings *s = &r->session_settings;
	bool is_choice = s->kind == SCOPE_CPUS && !s->source && !r->refusal.text[0];

	if (is_choice) {
		s->source = "system";
		if (session_new(s, ret, &r->refusal) == 0)
			return 0;
		s->source = NULL;
	}
	return session_new(s, ret, e);
}

/* One file; true: there is to be another. */
static int record(struct recorder *r, unsigned number, bool *ret_more, struct err *e)
{
	own(freep) char *path = xasprintf("%s/%u.dwell", r->directory, number);
	own(session_freep) struct session *s = NULL;
	struct session_outcome outcome = { 0 };
	int rc;

	r->session_settings.output = path;
	rc = new_session(r, &s, e);
	if (rc < 0)
		return rc;
	r->is_turning = false;
	if (!number)
		tell(r, "ok", "");
	rc = session_run(s, &outcome, e);
	if (rc == 0 && outcome.write_failure.code) {
		*e = outcome.write_failure;
		rc = outcome.write_failure.code;
	}
	*ret_more = r->is_turning && !outcome.was_interrupted;
	if (rc == 0 && !*ret_more && !outcome.was_interrupted)
		tell(r, "ended", "");
	/* Who reads along has it open. */
	if (*ret_more)
		unlink(path);
	return rc;
}

/* Nothing of the terminal is ours: neither its signals nor what is written to it. */
static void leave_terminal(void)
{
	own(closep) int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	for (int fd = 0; nothing >= 0 && fd <= 2; fd++)
		dup2(nothing, fd);
}

int live_recorder_run(const struct live_settings *settings, const char *directory,
		      int report)
{
	struct recorder r = { .settings = settings,
			      .directory = directory,
			      .report = report };
	own(freep) char *socket = xasprintf("%s/" LIVE_RECORDER_SOCKET, directory);
	struct err e = { 0 };
	bool has_more = true;
	int rc;

	leave_terminal();
	rc = control_listen(socket, &r.control, &e);
	if (rc == 0)
		r.company = (struct session_company){ .fd = control_fd(r.control),
						      .ctx = &r,
						      .serve = serve };
	if (rc == 0)
		rc = take_settings(&r, &e);
	for (unsigned n = 0; rc == 0 && has_more; n++)
		rc = record(&r, n, &has_more, &e);
	if (rc < 0)
		tell(&r, "error ", e.text);
	control_free(r.control);
	return rc < 0;
}

void live_recorder_remove(const char *directory)
{
	DIR *d = opendir(directory);
	const struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
	rmdir(directory);
}
