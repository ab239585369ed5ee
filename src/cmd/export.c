/* SPDX-License-Identifier: Apache-2.0
 *
 * dwell export: a recording in another tool's format.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/output_file.h"
#include "cmd/output_folder.h"
#include "cmd/report_options.h"
#include "cmd/report_profile.h"
#include "export/exporter.h"

static const struct option_spec export_options[] = {
	{ .name = "output",
	  .short_name = 'o',
	  .kind = OPTION_STRING,
	  .arg = "FILE",
	  .default_text = "the recording's name with the format's suffix",
	  .text = "Write to FILE, for a format of several files a directory; '-' is the "
		  "standard output" },
	{ .name = "title",
	  .kind = OPTION_STRING,
	  .arg = "TEXT",
	  .default_text = "the recorded command",
	  .text = "What the profile is called, in formats that have a title" },
	OPTION_END,
};

static const struct option_spec *const options[] = { export_options, report_options_input,
						     NULL };

static void list_formats(void)
{
	static const struct table_column columns[] = {
		{ .title = "format" },
		{ .title = "suffix" },
		{ .title = "what it is", .is_elastic = true },
	};
	const struct terminal *terminal = command_terminal();
	struct table_style style = { .width = terminal->width,
				     .colour = terminal->colour };
	own(table_freep) struct table *t = table_new(columns, 3);

	for (size_t i = 0; exporters[i]; i++) {
		table_row(t);
		table_cell(t, exporters[i]->name);
		table_cellf(t, ".%s", exporters[i]->suffix);
		table_cell(t, exporters[i]->summary);
	}
	table_print(t, &style, stdout);
	puts("\nNext: dwell export flamegraph");
}

static const char *nearest_format(const char *word)
{
	const char *best = NULL;
	size_t least = strlen(word) / 2 + 1;

	for (size_t i = 0; exporters[i]; i++) {
		size_t d = text_distance(word, exporters[i]->name);

		if (d < least) {
			least = d;
			best = exporters[i]->name;
		}
	}
	return best;
}

static int no_format(const char *word, struct err *e)
{
	const char *near;
	char safe[100];

	if (report_profile_is_file(word))
		return err_set(e, ERR_USAGE,
			       "the format comes first: dwell export flamegraph %s",
			       text_printable(safe, sizeof(safe), word));
	near = strlen(word) < 50 ? nearest_format(word) : NULL;
	text_printable(safe, sizeof(safe), word);
	if (near)
		return err_set(e, ERR_USAGE, "no format '%s': did you mean '%s'?", safe,
			       near);
	return err_set(e, ERR_USAGE, "no format '%s': 'dwell export' lists them", safe);
}

/* In the current directory: the recording's may not be the user's to write. */
static char *default_output(const char *recording, const char *suffix)
{
	const char *slash = strrchr(recording, '/');
	const char *name = slash ? slash + 1 : recording;
	size_t n = strlen(name);

	if (n > 6 && strcmp(name + n - 6, ".dwell") == 0)
		n -= 6;
	return xasprintf("%.*s.%s", (int)n, name, suffix);
}

/* Formats for one event hold the first; the others are not dropped in silence. */
static void tell_left_out(const struct exporter *x, const struct profile *p)
{
	char safe[100];

	if (!x->is_one_event || profile_n_columns(p) < 2)
		return;
	text_printable(safe, sizeof(safe), profile_column(p, 0)->name);
	fprintf(stderr,
		"dwell export: %s holds one event: this is %s; choose another with "
		"--event (%zu more)\n",
		x->name, safe, profile_n_columns(p) - 1);
}

/* Files: 0 is the one at path itself. */
static void tell_written(const struct exporter *x, const struct profile *p,
			 const char *path, size_t n_files, uint64_t bytes)
{
	char size[TEXT_MAX], weight[TEXT_MAX], safe[500];

	printf("%s: %s, ", text_printable(safe, sizeof(safe), path), x->name);
	if (n_files)
		printf("%s, ", text_number(size, n_files, "files"));
	fputs(text_size(size, bytes), stdout);
	for (size_t i = 0; i < profile_n_columns(p); i++) {
		const struct profile_column *c = profile_column(p, i);

		if (i && x->is_one_event)
			break;
		if (i && !c->total_weight)
			continue;
		printf(", %s of %s", text_value(weight, c->total_weight, c->unit),
		       text_printable(safe, sizeof(safe), c->name));
	}
	putchar('\n');
}

static int write_stdout(const struct exporter *x, const struct profile *p,
			const struct export_options *o, struct err *e)
{
	if (!x->write)
		return err_set(e, ERR_USAGE,
			       "%s is several files: give a directory with -o", x->name);
	if (x->is_binary && isatty(STDOUT_FILENO))
		return err_set(e, ERR_USAGE,
			       "%s is binary and the standard output is a terminal: "
			       "use -o FILE or redirect it",
			       x->name);
	return x->write(p, o, stdout, e);
}

static int write_file(const struct exporter *x, const struct profile *p,
		      const struct export_options *o, const char *path, struct err *e)
{
	own(fclosep) FILE *out = fopen(path, "we");
	struct stat st;
	int rc;

	if (!out)
		return err_os(e, "cannot create '%s'", path);
	rc = x->write(p, o, out, e);
	if (rc < 0) {
		output_file_discard(path);
		return err_in(e, rc, path);
	}
	if (stat(path, &st) == 0)
		tell_written(x, p, path, 0, (uint64_t)st.st_size);
	return 0;
}

static void tell_files(const struct exporter *x, const struct profile *p,
		       const struct output_folder *f)
{
	char safe[500];

	vec_each(line, &f->left_out)
		fprintf(stderr, "dwell export: left out: %s\n",
			text_printable(safe, sizeof(safe), *line));
	vec_each(line, &f->told)
		fprintf(stderr, "dwell export: %s\n",
			text_printable(safe, sizeof(safe), *line));
	if (f->files.n)
		tell_written(x, p, f->path, f->files.n, output_folder_bytes(f));
}

static int write_folder(const struct exporter *x, const struct profile *p,
			const struct export_options *o, const char *path, struct err *e)
{
	own(output_folder_fini) struct output_folder f;
	int rc;

	output_folder_init(&f, path);
	rc = x->write_files(p, o, &f.sink, e);
	if (rc < 0) {
		output_folder_discard(&f);
		return rc;
	}
	tell_files(x, p, &f);
	if (!f.files.n)
		return err_set(e, ERR_UNSUPPORTED, "there is nothing to write as %s",
			       x->name);
	return 0;
}

static int write_format(const struct exporter *x, const struct options *o,
			const struct report *r, struct err *e)
{
	const char *path = options_str(o, "output");
	own(freep) char *otherwise = default_output(r->paths[0], x->suffix);
	struct export_options how = { .title = options_str(o, "title"),
				      .quality = &r->quality };

	int rc = exporter_check(x, r->profile, &how, e);

	if (rc < 0)
		return rc;
	tell_left_out(x, r->profile);
	if (path && strcmp(path, "-") == 0)
		return write_stdout(x, r->profile, &how, e);
	return (x->write ? write_file : write_folder)(x, r->profile, &how,
						      path ? path : otherwise, e);
}

static int export_run(struct options *o, struct err *e)
{
	own(report_profile_close) struct report r = { 0 };
	char *const *words = options_argv(o);
	const struct exporter *x;
	int rc;

	if (options_argc(o) == 0) {
		list_formats();
		return EXIT_OK;
	}
	x = exporter_find(words[0]);
	if (!x)
		return no_format(words[0], e);
	if ((rc = report_profile_open(o, words + 1, NULL, &r, e)) < 0 ||
	    (rc = write_format(x, o, &r, e)) < 0)
		return rc;
	return report_profile_check_whole(&r, e);
}

static const struct command_example examples[] = {
	{ "dwell export", "list the formats" },
	{ "dwell export flamegraph", "a page of the newest recording for the browser" },
	{ "dwell export pprof a.dwell -o a.pb.gz", "for 'go tool pprof a.pb.gz'" },
	{ "dwell export pixie -o counts a.dwell",
	  "how often each basic block was executed, a pair of files per image" },
	{ "dwell export pixie -o estimates time.dwell",
	  "the same as samples of CPU time tell, with the range of each" },
	{ "dwell export folded --event cpu-time -o - a.dwell | flamegraph.pl > a.svg",
	  "for a tool that reads from a pipe" },
	{ NULL, NULL },
};

const struct command cmd_export = {
	.name = "export",
	.usage = "[options] [FORMAT [FILE…]]",
	.summary = "Write a recording in another tool's format",
	.description =
		"Writes the samples of one or more recordings (the newest one when no "
		"file is named) in a format that other tools read. Without a FORMAT it "
		"lists the formats. Totals are those of 'dwell report' with the same "
		"--event and --filter.\n\n"
		"What a browser loads is kept small: flamegraph and, for long "
		"recordings, speedscope merge what is below a share that they name; "
		"chrome says how many samples it left out; the other formats hold "
		"everything.",
	.options = options,
	.examples = examples,
	.group = "report",
	.run = export_run,
};
