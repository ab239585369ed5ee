/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/io_view.h"
#include "cmd/report_options.h"

extern const struct command cmd_io;

#define DEFAULT_ROWS 20

static const struct option_spec own_options[] = {
	{ .name = "by",
	  .kind = OPTION_CHOICE,
	  .arg = "WHAT",
	  .choices = "file|call|stack|process|thread",
	  .default_text = "file",
	  .text = "What the rows are: files, pipes and sockets; system calls; stacks of "
		  "those who called; processes or threads" },
	{ .name = "sort",
	  .short_name = 's',
	  .kind = OPTION_CHOICE,
	  .arg = "KEY",
	  .choices = "time|bytes|calls|errors",
	  .default_text = "time",
	  .text = "Show the rows first that have most of it" },
	{ .name = "histogram",
	  .kind = OPTION_FLAG,
	  .text = "Show how many calls moved how many bytes, and how many took how long; "
		  "--filter chooses which" },
	{ .name = "limit",
	  .short_name = 'n',
	  .kind = OPTION_U64,
	  .arg = "N",
	  .min = 0,
	  .max = UINT32_MAX,
	  .default_text = "20, in JSON 0",
	  .text = "Print at most N rows; 0: all" },
	OPTION_END,
};

static const struct {
	const char *word, *title;
} bys[IO_ROWS_N_BYS] = {
	[IO_ROWS_BY_FILE] = { "file", "File" },
	[IO_ROWS_BY_CALL] = { "call", "Call" },
	[IO_ROWS_BY_STACK] = { "stack", "Stack" },
	[IO_ROWS_BY_PROCESS] = { "process", "Process" },
	[IO_ROWS_BY_THREAD] = { "thread", "Thread" },
};

static uint64_t time_of(const struct io_rows_sums *s)
{
	return s->ns;
}

static uint64_t bytes_of(const struct io_rows_sums *s)
{
	return s->read_bytes + s->written_bytes;
}

static uint64_t calls_of(const struct io_rows_sums *s)
{
	return s->calls;
}

static uint64_t errors_of(const struct io_rows_sums *s)
{
	return s->errors;
}

typedef uint64_t key_fn(const struct io_rows_sums *s);

static key_fn *key_of(const char *word)
{
	static const struct {
		const char *word;
		key_fn *of;
	} keys[] = {
		{ "time", time_of },
		{ "bytes", bytes_of },
		{ "calls", calls_of },
		{ "errors", errors_of },
	};

	for (size_t i = 0; word && i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i].word, word) == 0)
			return keys[i].of;
	return time_of;
}

static enum io_rows_by by_of(const char *word)
{
	for (size_t i = 0; word && i < IO_ROWS_N_BYS; i++)
		if (strcmp(bys[i].word, word) == 0)
			return (enum io_rows_by)i;
	return IO_ROWS_BY_FILE;
}

struct ordering {
	const struct io_rows *io;
	key_fn *key;
};

/* Rows that are alike are in the order of their names. */
static int compare(const void *a, const void *b, void *ctx)
{
	const struct ordering *o = ctx;
	const struct io_row *x = &o->io->rows.at[*(const size_t *)a];
	const struct io_row *y = &o->io->rows.at[*(const size_t *)b];
	uint64_t m = o->key(&x->sums), n = o->key(&y->sums);

	return m != n ? (m < n) - (m > n) : strcmp(x->name, y->name);
}

static void order(struct io_view *v, const char *word, size_t limit)
{
	struct ordering o = { .io = &v->io, .key = key_of(word) };
	size_t n = v->io.rows.n;

	v->order = xcalloc(n + 1, sizeof(*v->order));
	for (size_t i = 0; i < n; i++)
		v->order[i] = i;
	qsort_r(v->order, n, sizeof(*v->order), compare, &o);
	v->n_shown = limit && limit < n ? limit : n;
}

static void view_fini(struct io_view *v)
{
	free(v->order);
	io_rows_fini(&v->io);
	report_profile_close(&v->report);
}

static int open_view(struct io_view *v, const struct options *o, struct err *e)
{
	int rc = report_profile_open(o, options_argv(o), NULL, &v->report, e);

	if (rc < 0)
		return rc;
	v->by = by_of(options_str(o, "by"));
	v->title = bys[v->by].title;
	v->has_histogram = options_has(o, "histogram");
	rc = io_rows_make(v->report.profile, v->by, &v->io, e);
	if (rc < 0)
		return rc;
	if (!v->io.has_io)
		return err_set(e, ERR_UNSUPPORTED,
			       "%s has no I/O: record with 'dwell run -e io'",
			       v->report.paths[0]);
	order(v, options_str(o, "sort"),
	      (size_t)options_u64(o, "limit", v->report.json ? 0 : DEFAULT_ROWS));
	return 0;
}

static int run(struct options *o, struct err *e)
{
	own(view_fini) struct io_view v = { 0 };
	int rc = open_view(&v, o, e);

	if (rc < 0)
		return rc;
	if (v.report.json)
		io_json_print(&v, stdout);
	else
		io_text_print(&v, stdout);
	rc = report_profile_check_whole(&v.report, e);
	return rc < 0 ? rc : EXIT_OK;
}

static const struct option_spec *const tables[] = { own_options, report_options_input,
						    report_options_output, NULL };

static const struct command_example examples[] = {
	{ "dwell io", "of the newest recording: which files take most time" },
	{ "dwell io --by call --sort bytes a.dwell", "which calls move most" },
	{ "dwell io --by stack a.dwell", "who calls" },
	{ "dwell io --histogram --filter 'function =~ \"/var/lib\"' a.dwell",
	  "of some files, how large the pieces are" },
	{ NULL, NULL },
};

const struct command cmd_io = {
	.name = "io",
	.usage = "[options] [RECORDING…]",
	.summary = "Show which files were read and written, how, and how long it took",
	.description =
		"Of recordings by the experiment io: every system call that reads, "
		"writes, opens or closes, with the bytes that it asked for and those "
		"that it moved, its time and its errors. Pipes and sockets are files, "
		"too. Average is what a call moved that did not fail; Longest, below "
		"which power of two the longest call took. Calls that move little of an "
		"ordinary file each, though all together could be done by few, are "
		"named below. What goes from one file to another in one call "
		"(sendfile, splice, copy_file_range) counts as read from the first. "
		"What is mapped into memory is read and written without calls.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
