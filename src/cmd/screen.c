/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cmd/command.h"

/* The other screen, empty, without a cursor; and back.  */
#define ENTER "\033[?1049h\033[?25l\033[0m\033[2J"
#define LEAVE "\033[0m\033[?25h\033[?1049l"

#define INPUT_MAX 64
/* What a key sends comes at once; an Escape that nothing follows is that key. */
#define KEY_PATIENCE_MS 30
#define LEAST_COLUMNS	20
#define LEAST_ROWS	4

struct screen {
	int signals;
	sigset_t old_mask;
	uint8_t input[INPUT_MAX];
	size_t n_input;
	bool has_gone; /* the terminal */
	char **shown;  /* by row; NULL: not known */
	size_t n_shown;
};

/* For who dies: signal handlers reach nothing else. */
static struct {
	struct termios before;
	volatile sig_atomic_t is_active;
} terminal;

static const int deadly[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
static const int heard[] = {
	SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH
};

bool screen_is_possible(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term &&
	       strcmp(term, "dumb") != 0;
}

static void write_out(struct screen *s, const void *data, size_t size)
{
	const char *at = data;

	while (size && !s->has_gone) {
		struct pollfd p = { .fd = STDOUT_FILENO, .events = POLLOUT };
		ssize_t n = write(STDOUT_FILENO, at, size);

		if (n < 0 && errno == EAGAIN) {
			poll(&p, 1, -1);
		} else if (n < 0 && errno != EINTR) {
			s->has_gone = true;
		} else if (n > 0) {
			at += n;
			size -= (size_t)n;
		}
	}
}

static void forget_shown(struct screen *s)
{
	for (size_t i = 0; i < s->n_shown; i++)
		free(s->shown[i]);
	free(s->shown);
	s->shown = NULL;
	s->n_shown = 0;
}

/* Entering and leaving. */

static void enter(struct screen *s)
{
	struct termios raw = terminal.before;

	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_iflag &= ~(tcflag_t)(IXON);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	terminal.is_active = true;
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
	write_out(s, ENTER, strlen(ENTER));
	forget_shown(s);
}

/* Only what a signal handler may call. */
static void leave(void)
{
	ssize_t n;

	if (!terminal.is_active)
		return;
	terminal.is_active = false;
	n = write(STDOUT_FILENO, LEAVE, strlen(LEAVE));
	(void)n;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal.before);
}

static void on_death(int signal)
{
	leave();
	raise(signal); /* the handler was for once */
}

static void handle_deaths(bool on)
{
	struct sigaction act = { .sa_flags = (int)SA_RESETHAND };

	act.sa_handler = on ? on_death : SIG_DFL;
	sigemptyset(&act.sa_mask);
	for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
		sigaction(deadly[i], &act, NULL);
}

static int take_signals(struct screen *s, struct err *e)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(heard) / sizeof(heard[0]); i++)
		sigaddset(&set, heard[i]);
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, &s->old_mask) != 0)
		return err_os(e, "cannot block signals");
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signals < 0 ? err_os(e, "cannot take signals from a descriptor") : 0;
}

int screen_open(struct screen **ret, struct err *e)
{
	struct screen *s = xcalloc(1, sizeof(*s));
	int rc;

	s->signals = -1;
	if (tcgetattr(STDIN_FILENO, &terminal.before) != 0) {
		free(s);
		return err_os(e, "cannot ask the terminal how it is set");
	}
	rc = take_signals(s, e);
	if (rc < 0) {
		free(s);
		return rc;
	}
	handle_deaths(true);
	enter(s);
	*ret = s;
	return 0;
}

void screen_close(struct screen *s)
{
	if (!s)
		return;
	leave();
	handle_deaths(false);
	forget_shown(s);
	close(s->signals);
	sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
	free(s);
}

void screen_closep(struct screen **s)
{
	screen_close(*s);
}

void screen_size(const struct screen *s unused, unsigned *ret_columns, unsigned *ret_rows)
{
	struct winsize size = { 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_col || !size.ws_row)
		size = (struct winsize){ .ws_col = 80, .ws_row = 24 };
	*ret_columns = size.ws_col < LEAST_COLUMNS ? LEAST_COLUMNS : size.ws_col;
	*ret_rows = size.ws_row < LEAST_ROWS ? LEAST_ROWS : size.ws_row;
}

/* Drawing. */

/* Of the bytes that say how to show what follows: "\033[1m". */
static size_t mark_length(const char *s)
{
	size_t n = 2;

	if (s[0] != '\033' || s[1] != '[')
		return 0;
	while (s[n] >= 0x20 && s[n] < 0x40)
		n++;
	return s[n] ? n + 1 : n;
}

/* Columns of the character at s, and its bytes. */
static size_t character(const char *s, size_t *ret_bytes)
{
	size_t n = utf8_length(s, strlen(s));
	char one[5] = "";

	*ret_bytes = n ? n : 1;
	memcpy(one, s, *ret_bytes);
	return text_width(one);
}

/* As much of the line as there are columns; what stands out does so across them all. */
static void put_line(struct buf *b, const char *line, unsigned columns, bool stands_out)
{
	size_t used = 0, bytes;

	buf_puts(b, stands_out ? "\033[7m" : "");
	while (*line) {
		size_t mark = mark_length(line), width;

		if (mark) {
			buf_add(b, line, stands_out ? 0 : mark);
			line += mark;
			continue;
		}
		width = character(line, &bytes);
		if (used + width > columns)
			break;
		buf_add(b, line, bytes);
		used += width;
		line += bytes;
	}
	if (stands_out)
		buf_printf(b, "%*s", (int)(columns - used), "");
	buf_puts(b, used < columns ? "\033[0m\033[K" : "\033[0m");
}

static void draw_row(struct screen *s, struct buf *b, size_t row, const char *line,
		     unsigned columns, bool stands_out)
{
	struct buf text = { 0 };

	put_line(&text, line, columns, stands_out);
	if (!s->shown[row] || strcmp(s->shown[row], buf_str(&text)) != 0) {
		buf_printf(b, "\033[%zu;1H%s", row + 1, buf_str(&text));
		free(s->shown[row]);
		s->shown[row] = xstrdup(buf_str(&text));
	}
	buf_fini(&text);
}

static void put_cursor(struct buf *b, const struct screen_picture *p, unsigned columns)
{
	size_t column;

	if (p->prompt >= p->n) {
		buf_puts(b, "\033[?25l");
		return;
	}
	column = text_width(p->lines[p->prompt]) + 1;
	buf_printf(b, "\033[%zu;%zuH\033[?25h", p->prompt + 1,
		   column < columns ? column : columns);
}

void screen_draw(struct screen *s, const struct screen_picture *p)
{
	unsigned columns, rows;
	struct buf b = { 0 };

	screen_size(s, &columns, &rows);
	if (s->n_shown != rows) {
		forget_shown(s);
		s->shown = xcalloc(rows, sizeof(*s->shown));
		s->n_shown = rows;
	}
	for (size_t i = 0; i < rows; i++)
		draw_row(s, &b, i, i < p->n ? p->lines[i] : "", columns,
			 i == p->selected);
	put_cursor(&b, p, columns);
	write_out(s, b.data, b.size);
	buf_fini(&b);
}

/* Waiting. */

/* Stopped by the terminal's key: the shell gets the terminal as it was. */
static void stop_here(struct screen *s)
{
	sigset_t set;

	leave();
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	/* Going on. */
	sigprocmask(SIG_BLOCK, &set, NULL);
	enter(s);
}

static enum screen_event take_signal(struct screen *s)
{
	struct signalfd_siginfo info;

	if (read(s->signals, &info, sizeof(info)) != sizeof(info))
		return SCREEN_TIMEOUT;
	switch (info.ssi_signo) {
	case SIGTSTP:
		stop_here(s);
		return SCREEN_CHANGED;
	case SIGCONT: /* after a stop that we did not hear of */
		leave();
		enter(s);
		return SCREEN_CHANGED;
	case SIGWINCH:
		forget_shown(s);
		write_out(s, "\033[2J", 4);
		return SCREEN_CHANGED;
	default:
		return SCREEN_OVER;
	}
}

static void read_input(struct screen *s)
{
	ssize_t n = read(STDIN_FILENO, s->input + s->n_input, INPUT_MAX - s->n_input);

	if (n > 0)
		s->n_input += (size_t)n;
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		s->has_gone = true;
}

/* The next key of what has come; false: there is none in it. */
static bool take_key(struct screen *s, bool is_all, uint32_t *ret)
{
	size_t n;

	do {
		n = key_decode(s->input, s->n_input, is_all, ret);
		s->n_input -= n;
		memmove(s->input, s->input + n, s->n_input);
	} while (n && *ret == KEY_NONE);
	return n > 0;
}

static enum screen_event look(struct screen *s, struct timespec timeout, uint32_t *ret)
{
	struct pollfd fds[] = { { .fd = s->signals, .events = POLLIN },
				{ .fd = STDIN_FILENO, .events = POLLIN } };
	int n = ppoll(fds, 2, &timeout, NULL);

	if (n < 0 && errno != EINTR)
		return SCREEN_OVER;
	if (n > 0 && fds[0].revents)
		return take_signal(s);
	if (n > 0 && fds[1].revents)
		read_input(s);
	if (take_key(s, n == 0, ret))
		return SCREEN_KEY;
	return s->has_gone ? SCREEN_OVER : SCREEN_TIMEOUT;
}

enum screen_event screen_wait(struct screen *s, uint64_t timeout_ns, uint32_t *ret_key)
{
	struct timespec brief = { .tv_nsec = KEY_PATIENCE_MS * 1000000L };
	struct timespec whole = { .tv_sec = (time_t)(timeout_ns / 1000000000),
				  .tv_nsec = (long)(timeout_ns % 1000000000) };

	if (s->has_gone)
		return SCREEN_OVER;
	if (take_key(s, false, ret_key))
		return SCREEN_KEY;
	if (s->n_input)
		return look(s, brief, ret_key);
	return look(s, whole, ret_key);
}
