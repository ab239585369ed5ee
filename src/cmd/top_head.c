/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/top_head.h"

#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/report_text.h"
#include "host/clock.h"

/* A line of what fits, in order of importance. */
struct line {
	struct buf text;
	const char *between;
	unsigned width;
};

static void put(struct line *l, const char *piece)
{
	size_t gap = l->text.size ? text_width(l->between) : 0;

	if (text_width(buf_str(&l->text)) + gap + text_width(piece) > l->width)
		return;
	buf_puts(&l->text, l->text.size ? l->between : "");
	buf_puts(&l->text, piece);
}

__attribute__((format(printf, 2, 3))) static void putf(struct line *l, const char *fmt,
						       ...)
{
	char piece[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(piece, sizeof(piece), fmt, ap);
	va_end(ap);
	put(l, piece);
}

static void end_line(struct line *l, FILE *out)
{
	fprintf(out, "%s\n", buf_str(&l->text));
	buf_fini(&l->text);
}

static uint64_t wall_ns(const struct top_view *v)
{
	return v->span.to_ns > v->span.from_ns ? v->span.to_ns - v->span.from_ns : 1;
}

/* What the clock on the wall said at a moment of the monotonic one. */
static void clock_of(uint64_t monotonic_ns, char s[16])
{
	uint64_t ago_ns = clock_monotonic_ns() - monotonic_ns;
	time_t then = (time_t)((clock_read_ns(CLOCK_REALTIME) - ago_ns) / 1000000000);
	struct tm tm;

	strftime(s, 16, "%H:%M:%S", localtime_r(&then, &tm));
}

static void put_title(const struct top_view *v, bool is_paused, FILE *out)
{
	struct line l = { .between = "  ", .width = v->width };
	char host[65] = "", at[16], since[16], span[TEXT_MAX];

	gethostname(host, sizeof(host) - 1);
	clock_of(v->span.to_ns, at);
	clock_of(v->span.from_ns, since);
	put(&l, "dwell top");
	put(&l, at);
	putf(&l, "by %s", v->choice.by->name);
	text_duration(span, wall_ns(v));
	if (top_view_windows[v->choice.window].ns == TOP_FEED_ALL)
		putf(&l, "since %s, %s", since, span);
	else
		putf(&l, "the last %s", span);
	if (top_feed_is_over(v->feed))
		put(&l, "ENDED");
	else if (is_paused)
		put(&l, "PAUSED");
	put(&l, host);
	fputs(report_text_bold(true), out);
	fputs(buf_str(&l.text), out);
	fprintf(out, "%s\n", report_text_bold(false));
	buf_fini(&l.text);
}

/* "busy 87.3 % of 2 CPUs: user 71.2 %, kernel 16.1 %, idle 12.7 %". */
static void put_cpus(const struct top_view *v, FILE *out)
{
	double whole = (double)wall_ns(v) * (v->subject ? 1 : v->n_cpus);
	double busy = (double)(v->user_ns + v->kernel_ns);
	struct line l = { .between = ", ", .width = v->width };
	char s[TEXT_MAX], user[TEXT_MAX], cpus[TEXT_MAX];

	text_pct(s, busy, whole);
	text_number(cpus, v->n_cpus, "CPUs");
	text_pct(user, (double)v->user_ns, whole);
	if (v->subject)
		putf(&l, "%s: %s of a CPU: user %s", v->subject, s, user);
	else if (v->choice.filter[0])
		putf(&l, "chosen %s of %s: user %s", s, cpus, user);
	else
		putf(&l, "busy %s of %s: user %s", s, cpus, user);
	putf(&l, "kernel %s", text_pct(s, (double)v->kernel_ns, whole));
	if (!v->subject && !v->choice.filter[0])
		putf(&l, "idle %s", text_pct(s, busy < whole ? whole - busy : 0, whole));
	end_line(&l, out);
}

static void put_data(const struct top_view *v, FILE *out)
{
	const struct live_state *state = top_feed_state(v->feed);
	double wall = (double)wall_ns(v), seconds = wall / 1e9;
	struct line l = { .between = ", ", .width = v->width };
	char s[TEXT_MAX], t[TEXT_MAX];

	putf(&l, "%s (%s/s)", text_number(s, v->n_samples, "samples"),
	     text_count(t, (uint64_t)((double)v->n_samples / seconds + 0.5)));
	putf(&l, "%s lost", v->span.lost ? text_count(s, v->span.lost) : "none");
	putf(&l, "watching takes %s of a CPU",
	     text_pct(s, (double)(v->span.cpu_ns + v->span.self_ns), wall));
	putf(&l, "the recorder %s of it", text_pct(s, (double)v->span.cpu_ns, wall));
	if (state->period_ns)
		putf(&l, "one each %s", text_duration(s, state->period_ns));
	if (v->truncated_ns)
		putf(&l, "stacks cut in %s of the time",
		     text_pct(s, (double)v->truncated_ns,
			      (double)(v->user_ns + v->kernel_ns)));
	if (state->how[0])
		put(&l, state->how);
	else
		put(&l, "from the daemon");
	end_line(&l, out);
}

void top_head_print(const struct top_view *v, bool is_paused, FILE *out)
{
	const struct live_state *state = top_feed_state(v->feed);
	struct buf b = { 0 };

	put_title(v, is_paused, out);
	put_cpus(v, out);
	put_data(v, out);
	if (state->note[0]) {
		buf_puts(&b, "perf, not BPF: ");
		report_text_safe(&b, state->note);
		report_text_line(out, &v->report, "", &b);
	}
	if (v->choice.filter[0]) {
		buf_puts(&b, "only where ");
		report_text_safe(&b, v->choice.filter);
		report_text_line(out, &v->report, "", &b);
	}
	buf_fini(&b);
}
