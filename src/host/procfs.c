/* SPDX-License-Identifier: Apache-2.0 */
#include "host/procfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int procfs_read(const char *path, size_t max, struct buf *ret, struct err *e)
{
	own(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t left = max;

	if (fd < 0)
		return err_os(e, "cannot open '%s'", path);
	while (left) {
		size_t want = left < 65536 ? left : 65536;
		ssize_t n = read(fd, buf_reserve(ret, want), want);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_os(e, "cannot read '%s'", path);
		if (n == 0)
			return 0;
		ret->size += (size_t)n;
		left -= (size_t)n;
	}
	return 0;
}

int procfs_read_text(const char *path, char *s, size_t cap, struct err *e)
{
	own(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_os(e, "cannot open '%s'", path);

	ssize_t n = read(fd, s, cap - 1);

	if (n < 0)
		return err_os(e, "cannot read '%s'", path);
	s[n] = '\0';
	return 0;
}

int procfs_status(pid_t pid, char ret[static PROCFS_STATUS_BYTES], struct err *e)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return procfs_read_text(path, ret, PROCFS_STATUS_BYTES, e);
}

int procfs_read_i64(const char *path, int64_t *ret, struct err *e)
{
	char text[64], *end;
	int rc = procfs_read_text(path, text, sizeof(text), e);

	if (rc < 0)
		return rc;

	long long v = strtoll(text, &end, 10);

	if (end == text || (*end && *end != '\n'))
		return err_set(e, ERR_FORMAT, "'%s' holds no number", path);
	*ret = v;
	return 0;
}

static uint64_t ticks_ns(uint64_t ticks)
{
	long hz = sysconf(_SC_CLK_TCK);

	return ticks * (UINT64_C(1000000000) / (uint64_t)(hz > 0 ? hz : 100));
}

/* PF_EXITING among a task's flags: some time passes until its state is that of one that
 * has ended, and it has no memory by then. */
#define FLAG_EXITING UINT64_C(4)
/* Among the signals that wait for a task: whatever ends a process, each of its threads is
 * told by it. */
#define SIGNAL_KILL (UINT64_C(1) << (SIGKILL - 1))

/* Field numbers are those of proc(5); 3 is the first after the name. */
static void take_stat_field(struct procfs_stat *s, unsigned field, const char *text)
{
	uint64_t v = strtoull(text, NULL, 10);

	if (field == 3)
		s->state = *text;
	else if (field == 4)
		s->ppid = (uint32_t)v;
	else if (field == 9)
		s->is_ending = strchr("ZX", s->state) || v & FLAG_EXITING;
	else if (field == 14)
		s->user_ns = ticks_ns(v);
	else if (field == 15)
		s->system_ns = ticks_ns(v);
	else if (field == 22)
		s->start_ns = ticks_ns(v);
	else if (field == 31)
		s->is_killed = v & SIGNAL_KILL;
}

int procfs_parse_stat(const char *text, struct procfs_stat *ret, struct err *e)
{
	/* The name may hold anything, also ") ": the last parenthesis ends it. */
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	struct procfs_stat s = { 0 };
	unsigned field = 3;

	if (!open || !close || close < open)
		return err_set(e, ERR_FORMAT, "no process name in a stat line");

	size_t n = (size_t)(close - open - 1);

	if (n >= sizeof(s.comm))
		n = sizeof(s.comm) - 1;
	memcpy(s.comm, open + 1, n);
	for (const char *p = close + 1; *p == ' '; field++) {
		p++;
		take_stat_field(&s, field, p);
		p += strcspn(p, " \n");
	}
	if (field <= 22)
		return err_set(e, ERR_FORMAT, "a stat line ends at field %u", field);
	*ret = s;
	return 0;
}

static int read_stat(const char *path, struct procfs_stat *ret, struct err *e)
{
	char text[2048];
	int rc = procfs_read_text(path, text, sizeof(text), e);

	return rc < 0 ? rc : procfs_parse_stat(text, ret, e);
}

int procfs_stat(pid_t pid, struct procfs_stat *ret, struct err *e)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	return read_stat(path, ret, e);
}

int procfs_task_stat(pid_t pid, pid_t tid, struct procfs_stat *ret, struct err *e)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	return read_stat(path, ret, e);
}

int procfs_parse_stolen_ns(const char *text, uint64_t *ret, struct err *e)
{
	unsigned long long ticks;

	if (sscanf(text, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1)
		return err_set(e, ERR_FORMAT, "no stolen time in a line of all CPUs");
	*ret = ticks_ns(ticks);
	return 0;
}

int procfs_stolen_ns(uint64_t *ret, struct err *e)
{
	char text[256]; /* all CPUs are the first line */
	int rc = procfs_read_text("/proc/stat", text, sizeof(text), e);

	return rc < 0 ? rc : procfs_parse_stolen_ns(text, ret, e);
}

void procfs_ids_fini(struct procfs_ids *ids)
{
	vec_fini(&ids->ids);
}

static void closedirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

static int list_ids(const char *path, struct procfs_ids *ret, struct err *e)
{
	own(closedirp) DIR *d = opendir(path);

	if (!d)
		return err_os(e, "cannot list '%s'", path);
	vec_clear(&ret->ids);
	for (struct dirent *x = readdir(d); x; x = readdir(d))
		if (isdigit((unsigned char)x->d_name[0]))
			*vec_push(&ret->ids) = (pid_t)strtol(x->d_name, NULL, 10);
	return 0;
}

int procfs_processes(struct procfs_ids *ret, struct err *e)
{
	return list_ids("/proc", ret, e);
}

/* Move the children of `parent` from the pairs of all to ret. */
static void take_children(struct procfs_ids *pids, struct procfs_ids *parents,
			  pid_t parent, struct procfs_ids *ret)
{
	for (size_t i = 0; i < pids->ids.n; i++) {
		if (parents->ids.at[i] != parent)
			continue;
		*vec_push(&ret->ids) = pids->ids.at[i];
		parents->ids.at[i] = -1; /* whatever the ids are, once is enough */
	}
}

int procfs_descendants(pid_t pid, struct procfs_ids *ret, struct err *e)
{
	struct procfs_ids pids = { 0 }, parents = { 0 };
	struct procfs_stat stat;
	int rc = procfs_processes(&pids, e);

	for (size_t i = 0; i < pids.ids.n; i++) {
		bool is_there = procfs_stat(pids.ids.at[i], &stat, NULL) == 0 &&
				!(stat.is_ending && procfs_has_ended(pids.ids.at[i]));

		*vec_push(&parents.ids) = is_there ? (pid_t)stat.ppid : -1;
	}
	vec_clear(&ret->ids);
	if (rc == 0)
		take_children(&pids, &parents, pid, ret);
	for (size_t i = 0; i < ret->ids.n; i++)
		take_children(&pids, &parents, ret->ids.at[i], ret);
	procfs_ids_fini(&pids);
	procfs_ids_fini(&parents);
	return rc;
}

int procfs_tasks(pid_t pid, struct procfs_ids *ret, struct err *e)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return list_ids(path, ret, e);
}

static bool are_all_over(pid_t pid, bool or_killed)
{
	own(procfs_ids_fini) struct procfs_ids tids = { 0 };
	struct procfs_stat stat;

	if (procfs_tasks(pid, &tids, NULL) < 0)
		return true;
	vec_each(tid, &tids.ids)
		if (procfs_task_stat(pid, *tid, &stat, NULL) == 0 && !stat.is_ending &&
		    !(or_killed && stat.is_killed))
			return false;
	return true;
}

bool procfs_has_ended(pid_t pid)
{
	return are_all_over(pid, false);
}

bool procfs_is_ending(pid_t pid)
{
	return are_all_over(pid, true);
}

int procfs_process_of(pid_t tid, pid_t *ret, struct err *e)
{
	char path[64], text[4096];

	snprintf(path, sizeof(path), "/proc/%d/status", tid);

	int rc = procfs_read_text(path, text, sizeof(text), e);

	if (rc < 0)
		return rc;

	const char *line = strstr(text, "\nTgid:");

	if (!line)
		return err_set(e, ERR_FORMAT, "'%s' has no Tgid", path);
	*ret = (pid_t)strtol(line + 6, NULL, 10);
	return 0;
}

bool procfs_is_process(pid_t id)
{
	pid_t pid;

	return procfs_process_of(id, &pid, NULL) == 0 && pid == id;
}

int procfs_cmdline(pid_t pid, char *s, size_t cap, struct err *e)
{
	char path[64];
	own(closep) int fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_os(e, "cannot open '%s'", path);

	ssize_t n = read(fd, s, cap - 1);

	if (n < 0)
		return err_os(e, "cannot read '%s'", path);
	while (n > 0 && s[n - 1] == '\0')
		n--;
	s[n] = '\0';
	for (ssize_t i = 0; i < n; i++)
		if (s[i] == '\0')
			s[i] = ' ';
	return 0;
}

int procfs_exe(pid_t pid, char *s, size_t cap, struct err *e)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);

	ssize_t n = readlink(path, s, cap - 1);

	if (n < 0)
		return err_os(e, "cannot read link '%s'", path);
	s[n] = '\0';
	return 0;
}
