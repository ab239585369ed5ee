/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cmd/cfg_graph.h"
#include "cmd/command.h"
#include "cmd/output_file.h"
#include "cmd/report_options.h"
#include "export/graph_writer.h"

extern const struct command cmd_cfg;

static const struct option_spec own_options[] = {
	{ .name = "format",
	  .kind = OPTION_CHOICE,
	  .arg = "NAME",
	  .choices = "dot|postscript|svg",
	  .default_text = "by the output file's name, else svg",
	  .text = "Scalable vector graphics, Encapsulated PostScript, or the language of "
		  "Graphviz" },
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
	  .default_text = "100",
	  .text = "Blocks at most, those with most time; 0: all that were executed" },
	{ .name = "lines",
	  .kind = OPTION_U64,
	  .arg = "N",
	  .min = 0,
	  .max = 1000000,
	  .default_text = "24",
	  .text = "Instructions of a block at most; 0: all" },
	{ .name = "all",
	  .kind = OPTION_FLAG,
	  .text = "All blocks, also those that were never executed" },
	{ .name = "intel", .kind = OPTION_FLAG, .text = "Intel's syntax for x86" },
	OPTION_END,
};

#define DEFAULT_BLOCKS 100 /* more is no picture */
#define DEFAULT_LINES  24

static const struct graph_writer *writer_of_suffix(const char *path)
{
	for (size_t i = 0; graph_writers[i]; i++) {
		own(freep) char *suffix = xasprintf(".%s", graph_writers[i]->suffix);

		if (text_ends(path, suffix))
			return graph_writers[i];
	}
	return NULL;
}

static int choose_writer(const struct options *o, const struct graph_writer **ret,
			 struct err *e)
{
	const char *format = options_str(o, "format"), *path = options_str(o, "output");
	const char *name = path ? strrchr(path, '/') : NULL;

	*ret = graph_writer_find(format ? format : "svg");
	name = name ? name + 1 : path;
	if (format || !name || !strchr(name, '.'))
		return 0;
	*ret = writer_of_suffix(path);
	if (*ret)
		return 0;
	return err_set(
		e, ERR_USAGE,
		"'%.100s' has the suffix of no format: .svg, .eps and .dot are, or "
		"say --format",
		name);
}

static int write_graph(const struct graph_writer *x, const struct graph *g,
		       const char *path, struct err *e)
{
	own(fclosep) FILE *out = NULL;
	int rc;

	if (!path || strcmp(path, "-") == 0)
		return x->write(g, stdout, e);
	out = fopen(path, "we");
	if (!out)
		return err_os(e, "cannot create '%s'", path);
	rc = x->write(g, out, e);
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
	own(graph_freep) struct graph *g = NULL;
	struct report_function f;
	const struct graph_writer *writer;
	int rc = choose_writer(o, &writer, e);

	if (rc == 0)
		rc = report_profile_open_function(o, "cfg", &report_profile_of_code, &r,
						  &f, e);
	if (rc != 0)
		return rc;
	rc = calc_view_init(&v, &r, f.id, o, e);
	if (rc < 0)
		return rc;
	g = cfg_graph_make(&v, (unsigned)options_u64(o, "blocks", DEFAULT_BLOCKS),
			   (unsigned)options_u64(o, "lines", DEFAULT_LINES));
	output_file_allow_failure();
	rc = write_graph(writer, g, options_str(o, "output"), e);
	if (rc < 0)
		return rc;
	if (f.others[0])
		fprintf(stderr, "dwell cfg: also matching, not drawn: %s\n", f.others);
	return quality_is_damaged(&r.quality) ? EXIT_ERROR : EXIT_OK;
}

static const struct option_spec *const tables[] = { own_options, report_options_ideal,
						    report_options_input, NULL };

static const struct command_example examples[] = {
	{ "dwell cfg parse time.dwell count.dwell -o parse.svg",
	  "how control flows through parse, and where its time goes" },
	{ "dwell cfg parse count.dwell --format dot | dot -Tpdf >parse.pdf",
	  "laid out by Graphviz" },
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
		"The same in numbers: 'dwell calc'.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
