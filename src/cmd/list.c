/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/list_file.h"
#include "cmd/list_machine.h"
#include "collect/counter.h"
#include "collect/source.h"
#include "insn/machine_model.h"

extern const struct command cmd_list;

static const struct option_spec list_options[] = {
	{ .name = "json",
	  .kind = OPTION_FLAG,
	  .text = "Of a file or the machine: print JSON" },
	{ .name = "machine",
	  .kind = OPTION_FLAG,
	  .text = "What this processor takes for some instructions, beside its machine "
		  "model" },
	{ .name = "model",
	  .arg = "NAME",
	  .kind = OPTION_STRING,
	  .text = "With --machine: another model than its own" },
	OPTION_END,
};

/* The two situations in which sources differ. */
static const struct {
	const char *title;
	struct scope scope;
} situations[] = {
	{ "of a program you run:", { .kind = SCOPE_LAUNCH, .follow_children = true } },
	{ "of a running process:", { .kind = SCOPE_PROCESSES, .follow_children = true } },
	{ "of the whole machine:", { .kind = SCOPE_CPUS } },
};

static void interval_text(char *s, size_t cap, const struct experiment *x,
			  const struct source_ops *source)
{
	char min[TEXT_MAX], max[TEXT_MAX], grid[TEXT_MAX], on[TEXT_MAX];
	uint64_t least, resolution;

	source->range(x, &least, &resolution);
	if (least < x->min)
		least = x->min;
	snprintf(s, cap, "%s, from %s to %s", text_value(on, x->on, x->unit),
		 text_value(min, least, x->unit), text_value(max, x->max, x->unit));
	if (resolution > 1000) {
		size_t n = strlen(s);

		snprintf(s + n, cap - n, " in steps of %s",
			 text_value(grid, resolution, x->unit));
	}
}

/* How it is collected in a situation, or why it cannot be. */
static void situation_text(char *s, size_t cap, const struct experiment *x,
			   const struct scope *scope)
{
	struct err why = { 0 };
	const struct source_ops *source = source_choose(x, scope, &why);
	char interval[4 * TEXT_MAX];

	if (!source) {
		snprintf(s, cap, "%s", why.text);
		return;
	}
	if (x->min == x->max) { /* nothing to choose */
		snprintf(s, cap, "by %s; every one", source->how(x, 0));
		return;
	}
	if (!strcmp(x->unit, "%")) {
		snprintf(s, cap, "by %s; %llu %% of CPU time, from %llu to %llu",
			 source->how(x, 0), (unsigned long long)x->on,
			 (unsigned long long)x->min, (unsigned long long)x->max);
		return;
	}
	interval_text(interval, sizeof(interval), x, source);
	snprintf(s, cap, "by %s; every %s", source->how(x, 0), interval);
}

/* Reasons are long: filled into lines that begin below the first one's text. */
static void print_filled(const char *title, const char *text)
{
	size_t width = command_terminal()->width, at = 2 + text_width(title);
	bool begins_line = !title[0];

	printf("  %s", title);
	while (*text) {
		size_t n = strcspn(text, " ");
		own(freep) char *word = xstrndup(text, n);

		if (!begins_line && at + 1 + text_width(word) > width) {
			fputs("\n    ", stdout);
			at = 4;
		} else if (!begins_line) {
			putchar(' ');
			at++;
		}
		begins_line = false;
		fputs(word, stdout);
		at += text_width(word);
		text += n + (text[n] == ' ');
	}
	putchar('\n');
}

/* What is the same in every situation is said once. */
static void print_experiment(const struct experiment *x)
{
	enum { N = sizeof(situations) / sizeof(situations[0]) };
	char texts[N][600];
	bool is_same = true;

	printf("%s%s\n  %s\n", x->name, x->has_variants ? ", f…, s…" : "", x->summary);
	for (size_t i = 0; i < N; i++) {
		situation_text(texts[i], sizeof(texts[i]), x, &situations[i].scope);
		is_same = is_same && strcmp(texts[i], texts[0]) == 0;
	}
	if (is_same)
		print_filled("", texts[0]);
	for (size_t i = 0; i < N && !is_same; i++)
		print_filled(situations[i].title, texts[i]);
}

static void print_sources(void)
{
	puts("\nSources, in order of preference");
	for (size_t i = 0; sources[i]; i++)
		printf("  %-10s %s\n", sources[i]->name, sources[i]->summary);
}

static void print_models(void)
{
	static const struct table_column columns[] = {
		{ .title = "Machine model" },
		{ .title = "For ideal time (dwell report --model NAME)",
		  .is_elastic = true },
	};
	struct table_style style = { .width = command_terminal()->width,
				     .colour = command_terminal()->colour };
	own(table_freep) struct table *t = table_new(columns, 2);

	for (size_t i = 0; i < machine_model_count(); i++) {
		table_row(t);
		table_cell(t, machine_model_at(i)->name);
		table_cell(t, machine_model_at(i)->summary);
	}
	putchar('\n');
	table_print(t, &style, stdout);
}

static void print_counters(void)
{
	static const struct table_column columns[] = {
		{ .title = "Counter" },
		{ .title = "Here" },
		{ .title = "What it counts, or why it is not here", .is_elastic = true },
	};
	struct table_style style = { .width = command_terminal()->width,
				     .colour = command_terminal()->colour };
	own(table_freep) struct table *t = table_new(columns, 3);

	for (const struct counter *c = counters; c->name; c++) {
		struct err why = { 0 };
		bool is_here = counter_probe(c, &why) == 0;

		table_row(t);
		table_cell(t, c->name);
		table_cell(t, is_here ? "yes" : "no");
		table_cell(t, is_here ? c->description : why.text);
	}
	puts("\nCounters (dwell count -e NAME; run, attach and daemon sample by them)\n");
	table_print(t, &style, stdout);
}

static int run_list(struct options *o, struct err *e)
{
	if (options_has(o, "machine") && !options_argc(o))
		return list_machine_print(options_str(o, "model"), options_has(o, "json"),
					  e);
	if (options_has(o, "machine") || options_has(o, "model"))
		return err_set(e, ERR_USAGE,
			       "--model is for --machine, which is not for files");
	if (options_argc(o))
		return list_file_print(options_argv(o)[0], options_argv(o) + 1,
				       options_argc(o) - 1, options_has(o, "json"), e);
	if (options_has(o, "json"))
		return err_set(e, ERR_USAGE,
			       "--json is for what a file has, or --machine: name one");
	puts("Experiments (dwell run -e NAME, dwell attach -e NAME; f… samples ten "
	     "times\n"
	     "as often, s… a tenth)\n");
	for (size_t i = 0; experiments[i]; i++)
		print_experiment(experiments[i]);
	print_sources();
	print_counters();
	print_models();
	return EXIT_OK;
}

const struct command cmd_list = {
	.name = "list",
	.usage = "[options] [FILE [PATTERN…]]",
	.summary = "Show what can be measured here, or probed in a file",
	.description =
		"For each experiment: how it is collected on this machine for this user, "
		"its usual interval and the range that -i takes. What is unavailable is "
		"shown with the reason and with what to do about it.\n\n"
		"Of a FILE, which is a path or the name of a program: the probes that it "
		"has (USDT), at how many places and with which arguments (u64 is a "
		"number "
		"of 64 bits, i32 one of 32 bits with a sign, ? none that can be summed), "
		"and the functions that its symbols or those of its debug file name, "
		"with "
		"their sizes. A PATTERN is a part of a name, or one with * and ?, of a "
		"whole name; any of several may fit.\n\n"
		"With --machine: how many cycles small loops of known instructions take "
		"on this core, beside what the machine model has for them that "
		"recordings made here take. What differs by more than a quarter is "
		"marked: another process used the core, or the model is of another "
		"processor.",
	.options = (const struct option_spec *const[]){ list_options, NULL },
	.examples =
		(const struct command_example[]){
			{ "dwell list", "all there is" },
			{ "dwell list --machine", "is the machine model right?" },
			{ "dwell list python3 'python:*'", "the probes of Python" },
			{ "dwell list /lib/x86_64-linux-gnu/libc.so.6 malloc",
			  "functions for trigger:uprobe" },
			{ NULL, NULL } },
	.group = "record",
	.run = run_list,
};
