/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session_signals.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/signalfd.h>

#include "base/text.h"

static bool is_end(const struct session_signals *s, int signal)
{
	if (signal == SIGTERM || signal == SIGHUP)
		return true;
	return !s->is_launched && (signal == SIGINT || signal == SIGQUIT);
}

static const struct {
	size_t at; /* in the numbers */
	enum session_signal means;
} choices[] = {
	{ offsetof(struct session_signal_numbers, toggle), SESSION_SIGNAL_TOGGLE },
	{ offsetof(struct session_signal_numbers, mark), SESSION_SIGNAL_MARK },
	{ offsetof(struct session_signal_numbers, callstack), SESSION_SIGNAL_CALLSTACK },
};

#define N_CHOSEN (sizeof(choices) / sizeof(choices[0]))

static int chosen(const struct session_signals *s, size_t i)
{
	return *(const int *)((const char *)&s->numbers + choices[i].at);
}

void session_signals_ignore(void)
{
	signal(SIGXFSZ, SIG_IGN); /* a full file is an error of write() */
	signal(SIGPIPE, SIG_IGN);
}

int session_signals_init(struct session_signals *s, bool is_launched,
			 const struct session_signal_numbers *numbers, struct err *e)
{
	static const int ours[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	sigset_t set;

	s->is_launched = is_launched;
	s->numbers = *numbers;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		sigaddset(&set, ours[i]);
	for (size_t i = 0; i < N_CHOSEN; i++)
		if (chosen(s, i))
			sigaddset(&set, chosen(s, i));
	signal(SIGCHLD, SIG_DFL); /* an inherited SIG_IGN would reap for us */
	if (sigprocmask(SIG_BLOCK, &set, &s->old_mask) != 0)
		return err_os(e, "cannot block signals");
	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->fd < 0 ? err_os(e, "cannot take signals from a descriptor") : 0;
}

void session_signals_fini(struct session_signals *s)
{
	if (s->fd < 0)
		return;
	/* What is pending has been heard. */
	while (session_signals_next(s) != SESSION_SIGNAL_NONE)
		;
	close(s->fd);
	s->fd = -1;
	sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
}

enum session_signal session_signals_next(struct session_signals *s)
{
	struct signalfd_siginfo info;

	while (read(s->fd, &info, sizeof(info)) == sizeof(info)) {
		int signal = (int)info.ssi_signo;

		for (size_t i = 0; i < N_CHOSEN; i++)
			if (signal == chosen(s, i))
				return choices[i].means;
		if (is_end(s, signal))
			return SESSION_SIGNAL_END;
	}
	return SESSION_SIGNAL_NONE;
}

int session_signals_parse(const char *name, int *ret, struct err *e)
{
	const char *base = text_starts(name, "SIG") ? name + 3 : name;
	uint64_t number;

	if (text_parse_u64(name, &number, NULL) == 0 && number > 0 && number < NSIG) {
		*ret = (int)number;
	} else {
		*ret = 0;
		for (int i = 1; i < NSIG && !*ret; i++) {
			const char *abbrev = sigabbrev_np(i);

			if (abbrev && !strcmp(abbrev, base))
				*ret = i;
		}
	}
	if (!*ret)
		return err_set(e, ERR_USAGE, "there is no signal '%.40s'", name);
	if (*ret == SIGKILL || *ret == SIGSTOP)
		return err_set(e, ERR_USAGE, "signal '%.40s' cannot be caught", name);
	return 0;
}
