/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cmd/cfg_choice.h"
#include "cmd/cfg_graph.h"
#include "cmd/cfg_json.h"
#include "cmd/command.h"
#include "cmd/output_file.h"
#include "cmd/report_json.h"
#include "cmd/report_options.h"
#include "export/graph_writer.h"

extern const struct command cmd_cfg;

static const struct option_spec own_options[] = {
	{ .name = "format",
	  .kind = OPTION_CHOICE,
	  .arg = "NAME",
	  .choices = "dot|json|postscript|svg",
	  .default_text = "by the output file's name, else svg",
	  .text = "Scalable vector graphics, Encapsulated PostScript, the language of "
		  "Graphviz, or JSON" },
	{ .name = "json",
	  .kind = OPTION_FLAG,
	  .text = "JSON, with all that is known of blocks and ways" },
	{ .name = "output",
	  .short_name = 'o',
	  .kind = OPTION_STRING,
	  .arg = "FILE",
	  .default_text = "standard output",
	  .text = "Write to FILE" },
	{ .name = "blocks",
	  .kind = OPTION_U64,
	  .arg = "N",
	  .min = 0,
	  .max = 1000000,
	  .default_text = "100, in JSON all blocks",
	  .text = "Blocks at most, those with most time; 0: all that were executed" },
	{ .name = "lines",
	  .kind = OPTION_U64,
	  .arg = "N",
	  .min = 0,
	  .max = 1000000,
	  .default_text = "24, in JSON 0",
	  .text = "Instructions of a block at most; 0: all" },
	{ .name = "all",
	  .kind = OPTION_FLAG,
	  .text = "All blocks, also those that were never executed" },
	{ .name = "intel", .kind = OPTION_FLAG, .text = "Intel's syntax for x86" },
	OPTION_END,
};

#define DEFAULT_BLOCKS 100 /* more is no picture */
#define DEFAULT_LINES  24
#define ALL_LINES      0

static bool has_suffix(const char *path, const char *suffix)
{
	own(freep) char *whole = xasprintf(".%s", suffix);

	return text_ends(path, whole);
}

static const struct graph_writer *writer_of_suffix(const char *path)
{
	for (size_t i = 0; graph_writers[i]; i++)
		if (has_suffix(path, graph_writers[i]->suffix))
			return graph_writers[i];
	return NULL;
}

/* By the output file's name. */
static int choose_by_suffix(const char *name, const struct graph_writer **ret,
			    struct err *e)
{
	*ret = writer_of_suffix(name);
	if (*ret || has_suffix(name, "json"))
		return 0;
	return err_set(
		e, ERR_USAGE,
		"'%.100s' has the suffix of no format: .svg, .eps, .dot and .json are, "
		"or say --format",
		name);
}

static int check_json(const char *format, const char *name, struct err *e)
{
	if (format && strcmp(format, "json") != 0)
		return err_set(e, ERR_USAGE, "--json and --format %s contradict", format);
	if (!format && name && writer_of_suffix(name))
		return err_set(e, ERR_USAGE,
			       "--json and the suffix of '%.100s' contradict", name);
	return 0;
}

/* NULL: JSON. */
static int choose_writer(const struct options *o, const struct graph_writer **ret,
			 struct err *e)
{
	const char *format = options_str(o, "format"), *path = options_str(o, "output");
	const char *name = path ? strrchr(path, '/') : NULL;

	name = name ? name + 1 : path;
	*ret = NULL;
	if (options_has(o, "json"))
		return check_json(format, name, e);
	if (!format && name && strchr(name, '.'))
		return choose_by_suffix(name, ret, e);
	*ret = graph_writer_find(format ? format : "svg");
	return 0;
}

struct job {
	const struct calc_view *v;
	const struct graph_writer *writer; /* NULL: JSON */
	struct cfg_choice choice;
	unsigned n_lines;
};

/* A picture of everything is none; JSON has it. */
static void job_init(struct job *b, const struct options *o)
{
	bool all = b->v->all || (!b->writer && !options_has(o, "blocks"));

	cfg_choice_make(&b->choice, &b->v->code, all,
			(uint32_t)options_u64(o, "blocks", DEFAULT_BLOCKS));
	b->n_lines =
		(unsigned)options_u64(o, "lines", b->writer ? DEFAULT_LINES : ALL_LINES);
}

static void job_fini(struct job *b)
{
	cfg_choice_fini(&b->choice);
}

static int write_to(const struct job *b, FILE *out, struct err *e)
{
	own(graph_freep) struct graph *g = NULL;
	struct json j;

	if (b->writer) {
		g = cfg_graph_make(b->v, &b->choice, b->n_lines);
		return b->writer->write(g, out, e);
	}
	report_json_begin(&j, b->v->r, "cfg", out);
	cfg_json_print(b->v, &b->choice, b->n_lines, &j);
	report_json_end(&j, b->v->r);
	return graph_writer_finish(out, e);
}

static int write_file(const struct job *b, const char *path, struct err *e)
{
	own(fclosep) FILE *out = NULL;
	int rc;

	if (!path || strcmp(path, "-") == 0)
		return write_to(b, stdout, e);
	out = fopen(path, "we");
	if (!out)
		return err_os(e, "cannot create '%s'", path);
	rc = write_to(b, out, e);
	if (rc < 0) {
		output_file_discard(path);
		return err_in(e, rc, path);
	}
	return 0;
}

static int run(struct options *o, struct err *e)
{
	own(report_profile_close) struct report r = { 0 };
	own(calc_view_fini) struct calc_view v = { 0 };
	own(job_fini) struct job job = { .v = &v };
	struct report_function f;
	int rc = choose_writer(o, &job.writer, e);

	if (rc == 0)
		rc = report_profile_open_function(o, "cfg", &report_profile_of_code, &r,
						  &f, e);
	if (rc != 0)
		return rc;
	rc = calc_view_init(&v, &r, f.id, o, e);
	if (rc < 0)
		return rc;
	job_init(&job, o);
	rc = write_file(&job, options_str(o, "output"), e);
	if (rc < 0)
		return rc;
	if (f.others[0])
		fprintf(stderr, "dwell cfg: also matching, left out: %s\n", f.others);
	return quality_is_damaged(&r.quality) ? EXIT_ERROR : EXIT_OK;
}

static const struct option_spec *const tables[] = { own_options, report_options_ideal,
						    report_options_input, NULL };

static const struct command_example examples[] = {
	{ "dwell cfg parse time.dwell count.dwell -o parse.svg",
	  "how control flows through parse, and where its time goes" },
	{ "dwell cfg parse count.dwell --format dot | dot -Tpdf >parse.pdf",
	  "laid out by Graphviz" },
	{ "dwell cfg parse time.dwell --json", "for a picture of your own" },
	{ NULL, NULL },
};

const struct command cmd_cfg = {
	.name = "cfg",
	.usage = "[options] FUNCTION [RECORDING…]",
	.summary = "Draw a function's control flow with its time and counts",
	.description =
		"Each basic block is a box with its instructions and their samples: its "
		"area and colour are its share of the time, the size of its letters is "
		"how often it was executed. Ways between them have how often they were "
		"taken, by a recording of bbcounts, or else a range that samples tell, "
		"and the directions that they saw (--insn).\n\n"
		"The same in numbers: 'dwell calc', or --json, which has all blocks and "
		"ways, "
		"with ranges and confidence where they are estimated.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
