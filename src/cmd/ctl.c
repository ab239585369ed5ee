/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/ctl_recording.h"
#include "cmd/late_status.h"
#include "collect/control.h"
#include "collect/control_lines.h"
#include "collect/trigger.h"

#define PATIENCE_MS 10000
#define WIDTH	    80
#define INDENT	    12

extern const struct command cmd_ctl;

static const struct option_spec ctl_options[] = {
	{ .name = "socket",
	  .kind = OPTION_STRING,
	  .arg = "PATH",
	  .default_text = CONTROL_SOCKET,
	  .text = "The daemon's socket" },
	{ .name = "json", .kind = OPTION_FLAG, .text = "Print JSON" },
	OPTION_END,
};

static bool is_text(const char *key)
{
	static const char *const texts[] = { "apart",	     "how",    "label",
					     "late-at",	     "notice", "removed",
					     "trouble-text", "unkept" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!strcmp(key, texts[i]))
			return true;
	return strncmp(key, "probe-", 6) == 0;
}

static void print_json(const char *lines)
{
	struct json j;

	json_init(&j, stdout);
	json_object(&j);
	for (const char *at = lines; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		size_t name = strcspn(at, "="), line = strcspn(at, "\n");
		own(freep) char *key = NULL;

		if (name >= line)
			continue;
		key = strndup(at, name);
		json_key(&j, key);
		if (is_text(key))
			json_strn(&j, at + name + 1, line - name - 1);
		else
			json_u64(&j, strtoull(at + name + 1, NULL, 10));
	}
	json_object_end(&j);
	putchar('\n');
}

/* Wrapped at spaces, below itself. */
static void print_text(const char *label, const char *text)
{
	printf("%-*s", INDENT, label);
	while (strlen(text) > WIDTH - INDENT) {
		size_t n = WIDTH - INDENT;

		while (n && text[n] != ' ')
			n--;
		if (!n)
			break;
		printf("%.*s\n%*s", (int)n, text, INDENT, "");
		text += n + 1;
	}
	puts(text);
}

/* The clock's period, where that alone is sampled. */
static void print_samples(const char *s, uint64_t n)
{
	uint64_t period_ns = control_lines_number(s, "period-ns");
	char samples[32], period[32];

	printf("samples     %s", text_count(samples, n));
	if (period_ns)
		printf(", one each %s of a CPU that is not idle",
		       text_duration(period, period_ns));
	putchar('\n');
}

/* Of place i of the user's choice, counted from 1; "": there are no more. */
static uint64_t probe_of(const char *s, unsigned i, char *ret_name, size_t cap)
{
	char key[32];

	snprintf(key, sizeof(key), "probe-%u", i);
	control_lines_text(s, key, ret_name, cap);
	snprintf(key, sizeof(key), "met-%u", i);
	return control_lines_number(s, key);
}

static uint64_t waits_calls_and_probes(const char *s)
{
	uint64_t n = control_lines_number(s, "calls") + control_lines_number(s, "waits");
	char name[512];

	for (unsigned i = 1; i <= TRIGGER_MAX; i++)
		n += probe_of(s, i, name, sizeof(name));
	return n;
}

static bool has_beside(const char *s)
{
	return control_lines_number(s, "states") || control_lines_number(s, "waits") ||
	       control_lines_has(s, "calls") || control_lines_has(s, "probe-1");
}

/* What is recorded of all threads, beside what is sampled. */
static void print_beside(const char *s)
{
	char count[TEXT_MAX], name[512];
	uint64_t states = control_lines_number(s, "states");
	uint64_t waits = control_lines_number(s, "waits");

	if (states)
		printf("states      %s of threads that ended\n",
		       text_count(count, states));
	if (waits)
		printf("waits       %s of threads for each other\n",
		       text_count(count, waits));
	if (control_lines_has(s, "calls"))
		printf("calls       %s of the system that returned\n",
		       text_count(count, control_lines_number(s, "calls")));
	for (unsigned i = 1; i <= TRIGGER_MAX; i++) {
		uint64_t n = probe_of(s, i, name, sizeof(name));

		if (*name)
			printf("met         %s %s\n", text_number(count, n, "times"),
			       name);
	}
}

/* What a line of the status says, in words. */
static void print_rate(const char *s)
{
	char running[32], lost[32], label[CONTROL_REQUEST_MAX], how[300];
	uint64_t n = control_lines_number(s, "samples"),
		 l = control_lines_number(s, "lost");

	printf("running     %s, pid %" PRIu64 ", epoch %" PRIu64,
	       text_duration(running, control_lines_number(s, "running-ns")),
	       control_lines_number(s, "pid"), control_lines_number(s, "epoch"));
	control_lines_text(s, "label", label, sizeof(label));
	printf("%s%s\n", *label ? ": " : "", label);
	control_lines_text(s, "how", how, sizeof(how));
	print_text("source", how);
	if (n || !has_beside(s))
		print_samples(s, n);
	print_beside(s);
	control_lines_text(s, "apart", how, sizeof(how));
	if (*how)
		print_text("told apart", how);
	if (control_lines_number(s, "paused"))
		printf("            paused: none are taken until 'dwell ctl resume'\n");
	printf("lost        %s\n", l ? text_count(lost, l) : "nothing");
}

/* Where the kernel does not count, none of it is known. */
static void print_notice(const char *s)
{
	char notice[512];

	control_lines_text(s, "notice", notice, sizeof(notice));
	if (*notice)
		print_text("note", notice);
}

/* What a killed daemon left to this one, and what this one would leave. */
static void print_keeping(const char *s)
{
	char gap[32], samples[TEXT_MAX], lost[32], text[512];
	uint64_t n_lost = control_lines_number(s, "gap-lost");
	uint64_t n = control_lines_number(s, "gap-samples");

	if (control_lines_number(s, "taken-over")) {
		printf("taken over  from a daemon that was killed, after %s:\n"
		       "            ",
		       text_duration(gap, control_lines_number(s, "gap-ns")));
		if (n || !control_lines_number(s, "gap-summed"))
			printf("%s meanwhile, ", text_number(samples, n, "samples"));
		printf("%s lost\n", n_lost ? text_count(lost, n_lost) : "nothing");
		if (control_lines_number(s, "gap-ended"))
			printf("            then the kernel stopped by itself, as nobody "
			       "came\n");
	}
	control_lines_text(s, "removed", text, sizeof(text));
	if (*text)
		print_text("removed", text);
	control_lines_text(s, "unkept", text, sizeof(text));
	if (!*text)
		return;
	print_text("if killed", "what the kernel holds is lost:");
	print_text("", text);
}

static void print_hits(const char *s, uint64_t n)
{
	char hits[32], evicted[32];

	printf("counted     %s in the kernel's tables; of the rest %s left them early\n",
	       text_pct(hits, (double)control_lines_number(s, "hits"), (double)n),
	       text_pct(evicted, (double)control_lines_number(s, "evicted"),
			(double)(n - control_lines_number(s, "hits"))));
}

static void print_counting(const char *s)
{
	char unwalked[32], images[32], gone[32];
	uint64_t n = control_lines_number(s, "samples");

	if (n)
		print_hits(s, n);
	n += control_lines_number(s, "states") + waits_calls_and_probes(s);
	printf("stacks      %s met code whose unwind table was not loaded yet\n",
	       text_pct(unwalked, (double)control_lines_number(s, "not-loaded"),
			(double)n));
	printf("images      %s with unwind tables, %s gone before they could be opened\n",
	       text_count(images, control_lines_number(s, "images")),
	       text_count(gone, control_lines_number(s, "images-gone")));
	if (control_lines_number(s, "images-unnumbered"))
		printf("            there were more at a time than can be told apart: "
		       "their code counts\n            as of no file\n");
}

static void print_cost(const char *s)
{
	char cpu[32], rss[32], kernel[32];
	uint64_t running = control_lines_number(s, "running-ns");

	printf("own cost    %s of a CPU in user space; memory %s, %s in the kernel\n",
	       text_pct(cpu, (double)control_lines_number(s, "cpu-ns"), (double)running),
	       text_size(rss, control_lines_number(s, "own-bytes")),
	       text_size(kernel, control_lines_number(s, "kernel-bytes")));
	printf("            the kernel's rings were looked at every %s at least\n",
	       text_duration(cpu, control_lines_number(s, "longest-gap-ns")));
	if (control_lines_number(s, "segment-peak-bytes"))
		printf("            making a segment took %s at most\n",
		       text_size(rss, control_lines_number(s, "segment-peak-bytes")));
	if (control_lines_number(s, "sample-ns-median"))
		printf("            in the kernel half of the samples take %s or less,\n"
		       "            nine tenths %s\n",
		       text_duration(cpu, control_lines_number(s, "sample-ns-median")),
		       text_duration(rss, control_lines_number(s, "sample-ns-p90")));
	if (control_lines_number(s, "hit-ns-mean"))
		printf("            counting takes %s where the stack is in the table, "
		       "else %s\n",
		       text_duration(cpu, control_lines_number(s, "hit-ns-mean")),
		       text_duration(rss, control_lines_number(s, "miss-ns-mean")));
}

/* What could not be written, or cannot be now. */
static void print_trouble(const char *s)
{
	char lasted[32], ago[32], size[32], text[512];
	uint64_t most = control_lines_number(s, "trouble-bytes");

	if (!control_lines_number(s, "troubles"))
		return;
	text_duration(lasted, control_lines_number(s, "trouble-ns"));
	control_lines_text(s, "trouble-text", text, sizeof(text));
	if (control_lines_number(s, "trouble"))
		printf("trouble     for %s:\n", lasted);
	else
		printf("trouble     none now; the last, of %s, ended %s ago:\n", lasted,
		       text_duration(ago, control_lines_number(s, "trouble-ago-ns")));
	print_text("", text);
	if (control_lines_number(s, "waiting-bytes"))
		printf("            %s of what was taken waits in memory\n",
		       text_size(size, control_lines_number(s, "waiting-bytes")));
	else if (most)
		printf("            %s of what was taken waited in memory meanwhile\n",
		       text_size(size, most));
}

/* What makes segments is worth a line when it does not do so. */
static void print_makers(const char *s)
{
	uint64_t failed = control_lines_number(s, "makers-failed"),
		 killed = control_lines_number(s, "makers-killed"),
		 ended = control_lines_number(s, "makers-ended");
	char makers[TEXT_MAX];

	if (failed || killed || ended)
		printf("            of %s that made segments %" PRIu64
		       " failed,\n            %" PRIu64 " were killed, %" PRIu64
		       " hung\n",
		       text_number(makers, control_lines_number(s, "makers"),
				   "processes"),
		       failed, killed, ended);
}

static void print_growth(const char *s)
{
	char now[TEXT_MAX], grown[TEXT_MAX], week[TEXT_MAX];
	uint64_t running = control_lines_number(s, "running-ns"),
		 by = control_lines_number(s, "grown-bytes"),
		 damaged = control_lines_number(s, "damaged");
	double weeks = (double)running / (7 * 86400e9);

	printf("database    %s, %s more since the start",
	       text_size(now, control_lines_number(s, "database-bytes")),
	       text_size(grown, by));
	if (running > UINT64_C(60000000000) && by)
		printf("; a week like this, not merged, makes %s",
		       text_size(week, (uint64_t)((double)by / weeks)));
	printf("\n");
	if (control_lines_number(s, "symbols-bytes"))
		printf("            beside it %s of symbols\n",
		       text_size(now, control_lines_number(s, "symbols-bytes")));
	if (control_lines_number(s, "failures"))
		printf("            writing failed %s\n",
		       text_number(now, control_lines_number(s, "failures"), "times"));
	print_makers(s);
	if (damaged)
		printf("            %s %s kept beside the epochs, as *.damaged\n",
		       text_number(now, damaged, "damaged recordings"),
		       damaged == 1 ? "is" : "are");
}

static void print_status(const char *s)
{
	print_rate(s);
	print_notice(s);
	print_keeping(s);
	if (control_lines_has(s, "hits"))
		print_counting(s);
	print_cost(s);
	late_status_print(s, stdout);
	print_growth(s);
	print_trouble(s);
}

/* The words of the command line as one line. */
static int join(const struct options *o, struct buf *ret, struct err *e)
{
	for (int i = 0; i < options_argc(o); i++)
		buf_printf(ret, "%s%s", i ? " " : "", options_argv(o)[i]);
	buf_u8(ret, 0);
	if (strchr((char *)ret->data, '\n') || ret->size > CONTROL_REQUEST_MAX - 2)
		return err_set(e, ERR_USAGE, "a label is one short line");
	return 0;
}

/* What is answered at once, by a daemon that is at work. */
static unsigned patience_ms(const struct options *o)
{
	static const char *const quick[] = { "status", "pause", "resume" };

	for (size_t i = 0; i < sizeof(quick) / sizeof(quick[0]); i++)
		if (strcmp(options_argv(o)[0], quick[i]) == 0)
			return PATIENCE_MS;
	return 0;
}

static int ask(const struct options *o, struct buf *request, struct buf *answer,
	       struct err *e)
{
	const char *socket = options_str(o, "socket");
	int rc = join(o, request, e);

	if (rc == 0)
		rc = control_ask(socket ? socket : CONTROL_SOCKET, (char *)request->data,
				 patience_ms(o), answer, e);
	buf_u8(answer, 0);
	return rc;
}

static bool is_verb(const char *word)
{
	static const char *const verbs[] = { "epoch", "flush",	"label", "pause",
					     "quit",  "resume", "status" };

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(word, verbs[i]))
			return true;
	return false;
}

static int run_ctl(struct options *o, struct err *e)
{
	struct buf request = { 0 }, answer = { 0 };
	int rc;

	if (ctl_recording_is_meant(o)) {
		rc = ctl_recording_run(o, e);
		return rc < 0 ? rc : EXIT_OK;
	}
	if (!options_argc(o) || !is_verb(options_argv(o)[0]))
		return err_set(
			e, ERR_USAGE,
			"say what to do: status, flush, epoch [LABEL], label TEXT, "
			"pause, resume or quit; mark PID [NAME]; status, pause or resume "
			"PID");
	rc = ask(o, &request, &answer, e);
	if (rc == 0 && answer.size > 1 && options_has(o, "json"))
		print_json((char *)answer.data);
	else if (rc == 0 && answer.size > 1)
		print_status((char *)answer.data);
	buf_fini(&request);
	buf_fini(&answer);
	return rc < 0 ? rc : EXIT_OK;
}

const struct command cmd_ctl = {
	.name = "ctl",
	.usage = "[options] VERB [PID|TEXT]",
	.summary = "Ask the daemon or a recording, or tell it what to do",
	.description =
		"status: rates, losses, memory, what the daemon itself costs and how its "
		"database grows.\n\n"
		"flush: what was taken is in the database when the command returns.\n\n"
		"epoch [TEXT]: the same, and a new epoch of that label begins. label "
		"TEXT: "
		"names the epoch.\n\n"
		"pause: no samples are taken until resume.\n\n"
		"quit: flush, and end the daemon.\n\n"
		"mark PID [NAME]: ends an interval, and calls it so, in the recordings "
		"of "
		"'dwell run' and 'dwell attach' that observe the process; PID may also "
		"be "
		"that of the recorder. See dwell-global(1): --filter 'mark == NAME'. "
		"status PID, pause PID and resume PID ask and tell these recordings, "
		"too; "
		"only recordings that were begun with --pause, --delay or --toggle can "
		"be paused. Only root and the user who records are heard.",
	.options = (const struct option_spec *const[]){ ctl_options, NULL },
	.examples =
		(const struct command_example[]){
			{ "dwell ctl status", "is it well?" },
			{ "dwell ctl epoch release-2.1", "what follows is told apart" },
			{ "dwell ctl mark 4242 warm",
			  "what process 4242 has done so far is the interval 'warm'" },
			{ NULL, NULL } },
	.group = "record",
	.run = run_ctl,
};
