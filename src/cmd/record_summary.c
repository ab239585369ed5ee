/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/record_summary.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>

#include "base/text.h"
#include "cmd/record_next.h"
#include "collect/experiment.h"

/* "143 samples and 1,000 events": a sample stands for others, an event was met itself. */
static void print_taken(const struct session_outcome *o, FILE *out)
{
	uint64_t events = o->stats.events, samples = o->stats.samples - events;
	char n[TEXT_MAX];

	if (samples || !events)
		fputs(text_number(n, samples, "samples"), out);
	if (samples && events)
		fputs(" and ", out);
	if (events)
		fputs(text_number(n, events, "events"), out);
}

/* "1.43 s of CPU sampled, 1.44 s by the kernel's account" */
static void print_time(const struct session_outcome *o, FILE *out)
{
	char sampled[TEXT_MAX], counted[TEXT_MAX];
	uint64_t account =
		o->has_rusage ? o->user_ns + o->system_ns : o->stats.counted_cpu_ns;

	if (!o->stats.cpu_ns && !account)
		return;
	if (!o->stats.cpu_ns) { /* nothing that was recorded samples it */
		fprintf(out, ", %s of CPU time by the kernel's account",
			text_duration(counted, account));
		return;
	}
	fprintf(out, ", %s of CPU time", text_duration(sampled, o->stats.cpu_ns));
	if (account)
		fprintf(out, " (%s by the kernel's account)",
			text_duration(counted, account));
}

/* Why there is nothing, and what would give something. */
static void print_nothing(const struct session_settings *x, FILE *out)
{
	bool is_time = false;

	for (size_t i = 0; i < x->n_choices; i++)
		is_time |= !strcmp(x->choices[i].experiment->unit, "ns");
	if (!is_time)
		fputs("dwell: no sample was taken: none of it happened meanwhile\n", out);
	else if (x->kind == SCOPE_LAUNCH)
		fputs("dwell: no sample was taken: the program used less CPU time than "
		      "one interval; try a shorter one (-i 100us)\n",
		      out);
	else
		fputs("dwell: no sample was taken: there was less CPU time than one "
		      "interval; -e totaltime tells where threads wait\n",
		      out);
}

void record_summary_print_failure(const struct session_outcome *o, FILE *out)
{
	char after[TEXT_MAX];

	if (o->write_failure.code)
		fprintf(out, "dwell: the recording ends early, after %s: %s\n",
			text_duration(after, o->write_failure_ns), o->write_failure.text);
}

static void print_losses(const struct session_outcome *o, FILE *out)
{
	char n[TEXT_MAX], share[TEXT_MAX];

	if (o->stats.lost)
		fprintf(out,
			"dwell: lost %s: the recorder was too slow; try a "
			"longer interval (-i)\n",
			text_number(n, o->stats.lost, "records"));
	if (o->stats.throttled)
		fprintf(out,
			"dwell: the kernel throttled sampling %s (see "
			"kernel.perf_event_max_sample_rate)\n",
			text_number(n, o->stats.throttled, "times"));
	if (o->stats.is_user_only)
		fputs("dwell: time in the kernel is not in it: 'sysctl "
		      "kernel.perf_event_paranoid=1' as root would allow it\n",
		      out);
	if (o->n_truncated)
		fprintf(out, "dwell: %s (%s) %s cut short\n",
			text_number(n, o->n_truncated, "stacks"),
			text_pct(share, (double)o->n_truncated, (double)o->n_stacks),
			o->n_truncated == 1 ? "is" : "are");
	if (o->stats.trouble.code)
		fprintf(out, "dwell: %s\n", o->stats.trouble.text);
	record_summary_print_failure(o, out);
}

/* The recording ends with the program, what it left behind does not. */
static void print_running(const struct session_outcome *o, FILE *out)
{
	char n[TEXT_MAX];

	if (o->n_running == 1)
		fprintf(out,
			"dwell: a process it started goes on without being recorded: "
			"dwell attach -p %u\n",
			o->running_pid);
	else if (o->n_running)
		fprintf(out,
			"dwell: %s processes it started go on without being recorded, "
			"one "
			"of them is %u\n",
			text_count(n, o->n_running), o->running_pid);
}

/* As a shell says it: not of what users or readers of a pipe end. */
static void print_signal(const struct session_outcome *o, FILE *out)
{
	int signal = WIFSIGNALED(o->status) ? WTERMSIG(o->status) : 0;

	if (o->was_launched && signal && signal != SIGINT && signal != SIGPIPE)
		fprintf(out, "dwell: the program was ended by signal %d: %s\n", signal,
			strsignal(signal));
}

void record_summary_print(const struct session_settings *x,
			  const struct session_outcome *o, FILE *out)
{
	char path[PATH_MAX + 64], bytes[TEXT_MAX], wall[TEXT_MAX];

	text_printable(path, sizeof(path), o->path);
	print_signal(o, out);
	fprintf(out, "dwell: %s: ", path);
	print_taken(o, out);
	print_time(o, out);
	fprintf(out, " in %s, %s\n", text_duration(wall, o->wall_ns),
		text_size(bytes, o->bytes));
	print_losses(o, out);
	if (!o->stats.samples)
		print_nothing(x, out);
	if (!o->was_launched && x->kind == SCOPE_LAUNCH)
		fputs("dwell: the program goes on without being recorded\n", out);
	print_running(o, out);
	if (o->jit_refusal)
		fprintf(out, "dwell: --jit: %s\n", o->jit_refusal);
	record_next_print(x, o, path, out);
}
