/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cmd/command.h"
#include "cmd/report_options.h"
#include "cmd/report_value.h"
#include "cmd/tree_view.h"

#define DEFAULT_MIN_PCT 1.0
#define DEFAULT_DEPTH	60

static const struct option_spec own_options[] = {
	{ .name = "bottom-up",
	  .short_name = 'b',
	  .kind = OPTION_FLAG,
	  .text = "From the functions where time was spent up to their callers" },
	{ .name = "depth",
	  .kind = OPTION_U64,
	  .arg = "N",
	  .default_text = "60",
	  .text = "At most N levels; 0: all" },
	{ .name = "min",
	  .kind = OPTION_STRING,
	  .arg = "PCT",
	  .default_text = "1 %",
	  .text = "Open only what has at least PCT percent; the rest is one line" },
	OPTION_END,
};

static int take_limits(const struct options *o, struct calltree_options *to,
		       struct err *e)
{
	double pct = DEFAULT_MIN_PCT;
	const char *min = options_str(o, "min");
	int rc = min ? report_value_parse_pct(min, &pct, e) : 0;

	to->min_share = pct / 100;
	to->max_depth = (unsigned)options_u64(o, "depth", DEFAULT_DEPTH);
	to->bottom_up = options_has(o, "bottom-up");
	return rc;
}

static int run(struct options *o, struct err *e)
{
	char *const *operands = options_argv(o);
	bool has_function = operands[0] && !report_profile_is_file(operands[0]);
	own(report_profile_close) struct report r = { 0 };
	struct calltree_options tree = { 0 };
	struct tree_view v = { .r = &r };
	struct report_function f = { .id = MODEL_NONE };
	int rc = report_profile_open(o, operands + has_function, NULL, &r, e);

	if (rc == 0)
		rc = take_limits(o, &tree, e);
	if (rc == 0 && has_function)
		rc = report_profile_find_function(&r, operands[0], &f, e);
	if (rc < 0)
		return rc;
	if (has_function)
		report_profile_show_events_of(&r, f.id);
	tree.function = f.id;
	tree.column = r.sort_column;
	tree_view_build(&v, &tree);
	if (r.json)
		tree_view_json(&v, stdout);
	else
		tree_view_print(&v, f.others, stdout);
	calltree_fini(&v.tree);
	return quality_is_damaged(&r.quality) ? EXIT_ERROR : EXIT_OK;
}

static const struct option_spec *const tables[] = { own_options, report_options_input,
						    report_options_output, NULL };

static const struct command_example examples[] = {
	{ "dwell tree", "calling contexts from main down" },
	{ "dwell tree --bottom-up", "from the hot functions up to who called them" },
	{ "dwell tree parse --min 5%", "what parse spends its time on" },
	{ NULL, NULL },
};

const struct command cmd_tree = {
	.name = "tree",
	.usage = "[options] [FUNCTION] [RECORDING…]",
	.summary = "Show calling contexts, top-down or bottom-up",
	.description =
		"Prints the stacks merged by function, heaviest branch first. With "
		"FUNCTION only stacks through it are shown, from its outermost call down "
		"or, bottom-up, from its innermost call up. A call that leads nowhere "
		"else "
		"is not indented, and a function that calls itself is one line that "
		"tells "
		"how deep it went.\n\n"
		"An operand that ends in .dwell, or that has a slash and exists, is a "
		"recording.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
