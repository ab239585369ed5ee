/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"

#define EXIT_NOT_RUN 127

int launch_user_find(const char *name, struct launch_user *ret, struct launch_env *env,
		     struct err *e)
{
	errno = 0;

	const struct passwd *p = getpwnam(name);

	if (!p && errno)
		return err_os(e, "cannot look up user '%.60s'", name);
	if (!p)
		return err_set(e, ERR_USAGE, "there is no user '%.60s'", name);
	if (geteuid() != 0 && p->pw_uid != geteuid())
		return err_set(e, ERR_USAGE,
			       "only root can run a program as '%.60s': use sudo", name);
	snprintf(ret->name, sizeof(ret->name), "%s", p->pw_name);
	ret->uid = p->pw_uid;
	ret->gid = p->pw_gid;
	launch_env_set(env, "HOME", p->pw_dir);
	launch_env_set(env, "USER", p->pw_name);
	launch_env_set(env, "LOGNAME", p->pw_name);
	launch_env_set(env, "SHELL", p->pw_shell);
	return 0;
}

/* In the child from here on. */

static bool read_all(int fd, struct buf *ret)
{
	for (;;) {
		ssize_t n = read(fd, buf_reserve(ret, 65536), 65536);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0 && ret->size;
		ret->size += (size_t)n;
	}
}

/* What came through the gate: the number of words, the words, and "NAME=value\0…". */
struct words {
	VEC(char *) argv;
	VEC(char *) vars;
};

static void take_words(struct buf *block, struct words *ret)
{
	char *at = (char *)block->data, *end = at + block->size;
	unsigned long n = strtoul(at, NULL, 10);

	for (at += strlen(at) + 1; at < end; at += strlen(at) + 1)
		if (ret->argv.n < n)
			*vec_push(&ret->argv) = at;
		else
			*vec_push(&ret->vars) = at;
	*vec_push(&ret->argv) = NULL;
	*vec_push(&ret->vars) = NULL;
}

static bool become(const struct launch_user *user)
{
	return initgroups(user->name, user->gid) == 0 && setgid(user->gid) == 0 &&
	       setuid(user->uid) == 0;
}

static _Noreturn void run_child(int gate, int report, const struct launch_user *user)
{
	struct buf block = { 0 };
	struct words words = { 0 };

	if (!read_all(gate, &block))
		_exit(EXIT_NOT_RUN); /* given up */
	take_words(&block, &words);
	environ = words.vars.at;
	if (!user || become(user))
		execvp(words.argv.at[0], words.argv.at);

	int os = errno;
	ssize_t n = write(report, &os, sizeof(os));

	_exit(n == sizeof(os) ? EXIT_NOT_RUN : EXIT_NOT_RUN - 1);
}

/* In the recorder. */

/* Descriptors 0 to 2 may be closed: what we open must not become the program's. */
static int make_pipe(int fds[2], struct err *e)
{
	int low[2];

	if (pipe2(low, O_CLOEXEC) != 0)
		return err_os(e, "cannot make a pipe");
	for (int i = 0; i < 2; i++) {
		fds[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 100);
		if (fds[i] < 0)
			fds[i] = low[i];
		else
			close(low[i]);
	}
	return 0;
}

int launch_begin(struct launch *l, const struct launch_user *user, struct err *e)
{
	int gate[2] = { -1, -1 }, report[2] = { -1, -1 };
	int rc = make_pipe(gate, e);

	if (rc == 0)
		rc = make_pipe(report, e);
	if (rc == 0) {
		l->pid = fork();
		if (l->pid == 0) {
			close(gate[1]);
			close(report[0]);
			run_child(gate[0], report[1], user);
		}
		if (l->pid < 0)
			rc = err_os(e, "cannot fork");
	}
	closep(&gate[0]);
	closep(&report[1]);
	if (rc < 0) {
		closep(&gate[1]);
		closep(&report[0]);
		return rc;
	}
	l->gate = gate[1];
	l->report = report[0];
	return 0;
}

static bool write_all(int fd, const char *s, size_t n)
{
	while (n) {
		ssize_t done = write(fd, s, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return false;
		s += done;
		n -= (size_t)done;
	}
	return true;
}

static bool send_words(int gate, char *const *argv, const struct launch_env *env)
{
	own(buf_fini) struct buf block = { 0 };
	unsigned n = 0;

	while (argv[n])
		n++;
	buf_printf(&block, "%u", n);
	buf_u8(&block, 0);
	for (unsigned i = 0; i < n; i++)
		buf_add(&block, argv[i], strlen(argv[i]) + 1);
	for (size_t i = 0; i < env->vars.n; i++)
		buf_add(&block, env->vars.at[i], strlen(env->vars.at[i]) + 1);
	return write_all(gate, (const char *)block.data, block.size);
}

int launch_go(struct launch *l, char *const *argv, const struct launch_env *env,
	      const char *name, struct err *e)
{
	bool is_sent = send_words(l->gate, argv, env);
	int os = 0;

	close(l->gate);
	l->gate = -1;

	ssize_t n = is_sent ? read(l->report, &os, sizeof(os)) : -1;

	close(l->report);
	l->report = -1;
	if (n == 0)
		return 0;
	waitpid(l->pid, NULL, 0);
	if (n != sizeof(os))
		return err_set(e, ERR_OS, "cannot run '%.200s': it ended before its exec",
			       name);
	errno = os;
	return err_os(e, "cannot run '%.200s'", name);
}

void launch_abandon(struct launch *l)
{
	if (l->gate < 0)
		return;
	close(l->gate);
	close(l->report);
	l->gate = l->report = -1;
	waitpid(l->pid, NULL, 0);
}
