/* SPDX-License-Identifier: Apache-2.0 */
#include "export/graph_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/own.h"

static char *write_as(const char *name, const struct graph *g)
{
	const struct graph_writer *w = graph_writer_find(name);
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(w);
	assert_int_equal(w->write(g, out, NULL), 0);
	fclose(out);
	return text;
}

static struct graph *make_loop(const char *title, const char *line)
{
	struct graph *g = graph_new();

	graph_set_titles(g, title, "all of it");
	graph_add_foot(g, "nothing was lost");
	graph_add_node(g, GRAPH_NODE_ENTRY, "entry");
	graph_add_node(g, GRAPH_NODE_BLOCK, title);
	graph_add_line(g, line, "1,000");
	graph_add_line(g, "jne", NULL);
	graph_set_note(g, "a note");
	graph_set_weight(g, 0.5, 1000);
	graph_add_way(g, 0, 1, GRAPH_WAY_ON, "1", 0);
	graph_add_way(g, 1, 1, GRAPH_WAY_UNKNOWN, "999", 1);
	return g;
}

static void assert_holds(const char *text, const char *const *parts)
{
	for (; *parts; parts++)
		if (!strstr(text, *parts))
			fail_msg("'%s' is missing in:\n%s", *parts, text);
}

static void formats_are_found_by_name(unused void **state)
{
	for (size_t i = 0; graph_writers[i]; i++) {
		assert_ptr_equal(graph_writer_find(graph_writers[i]->name),
				 graph_writers[i]);
		assert_true(*graph_writers[i]->suffix && *graph_writers[i]->summary);
	}
	assert_null(graph_writer_find("png"));
}

static void svg_holds_all_that_the_graph_does(unused void **state)
{
	static const char *const parts[] = {
		"<svg xmlns=\"http://www.w3.org/2000/svg\"",
		"prefers-color-scheme:dark",
		"<title>main</title>",
		"<title>main\n50.0 % of the time\na note</title>",
		"<title>main → main\nunknown: 999</title>",
		">add $1,%rax</text>",
		"text-anchor=\"end\">1,000</text>",
		"<text class=\"l\"",
		">a note</text>",
		"class=\"n h6\"",
		">nothing was lost</text>",
		"</svg>\n",
		NULL,
	};
	own(graph_freep) struct graph *g = make_loop("main", "add $1,%rax");
	own(freep) char *text = write_as("svg", g);

	assert_holds(text, parts);
}

static void svg_escapes_what_xml_acts_upon(unused void **state)
{
	static const char *const parts[] = {
		">operator&lt;&lt;(&amp;&quot;x&quot;)]]&gt;</text>",
		">a\\x1b\\xff?ü</text>",
		NULL,
	};
	own(graph_freep) struct graph *g =
		make_loop("operator<<(&\"x\")]]>", "a\x1b\xff\xef\xbf\xbf\xc3\xbc");
	own(freep) char *text = write_as("svg", g);

	assert_holds(text, parts);
}

static void postscript_holds_all_that_the_graph_does(unused void **state)
{
	static const char *const parts[] = {
		"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 24 24 ",
		"(main) 0 ",
		"(add $1,%rax) 0 ",
		"(1,000) 1 ",
		" TL\n",
		"[5 5] 0 setdash",
		"showpage\n%%EOF\n",
		NULL,
	};
	own(graph_freep) struct graph *g = make_loop("main", "add $1,%rax");
	own(freep) char *text = write_as("postscript", g);

	assert_holds(text, parts);
}

static void postscript_escapes_what_strings_act_upon(unused void **state)
{
	static const char *const parts[] = {
		"%%Title: (f\\(int\\)\\\\)\n",
		"(f\\(int\\)\\\\) 0 ",
		"(\\374 ? ... -> \\251\\221) 0 ",
		NULL,
	};
	own(graph_freep) struct graph *g = make_loop("f(int)\\", "ü 中 … → '`");
	own(freep) char *text = write_as("postscript", g);

	assert_holds(text, parts);
}

/* What is wider than high is turned, and either way a page's margins are kept. */
static void postscript_fits_a_page(unused void **state)
{
	for (size_t n_nodes = 1; n_nodes < 200; n_nodes += 33) {
		own(graph_freep) struct graph *g = graph_new();
		int left, low, right, high;

		for (uint32_t i = 0; i < n_nodes; i++) {
			graph_add_node(g, GRAPH_NODE_BLOCK, "a block with a long name");
			if (i && n_nodes % 2)
				graph_add_way(g, i - 1, i, GRAPH_WAY_ON, NULL, 0);
		}

		own(freep) char *text = write_as("postscript", g);
		const char *box = strstr(text, "%%BoundingBox:");

		assert_non_null(box);
		assert_int_equal(sscanf(box, "%%%%BoundingBox: %d %d %d %d", &left, &low,
					&right, &high),
				 4);
		assert_true(left == 24 && low == 24);
		assert_true(right > left && right <= 571);
		assert_true(high > low && high <= 768);
	}
}

static void dot_is_what_graphviz_reads(unused void **state)
{
	static const char *const parts[] = {
		"digraph cfg {\n",
		"label=\"a\\\"b\\\\c &amp; d\\nall of it\\nnothing was lost\";\n",
		"n0 [label=\"entry\\l\", ",
		"n1 [label=\"a\\\"b\\\\c &amp; d\\l1,000  {x|y}\\l       jne\\la "
		"note\\l\", ",
		"n0 -> n1 [style=solid, penwidth=1.0, color=\"#444c56\", label=\"1\"",
		"n1 -> n1 [style=dashed, penwidth=4.0, ",
		"];\n}\n",
		NULL,
	};
	own(graph_freep) struct graph *g = make_loop("a\"b\\c & d", "{x|y}");
	own(freep) char *text = write_as("dot", g);

	assert_holds(text, parts);
}

static void long_texts_are_cut_at_a_character(unused void **state)
{
	own(graph_freep) struct graph *g = graph_new();
	char text[3 * GRAPH_MAX_COLUMNS + 1];
	size_t n;

	for (size_t i = 0; i + 2 < sizeof(text); i += 2)
		memcpy(&text[i], "\xc3\xbc", 3);
	graph_add_node(g, GRAPH_NODE_BLOCK, text);
	n = strlen(g->nodes.at[0].title);
	assert_true(n > 3 && n < sizeof(text) - 1);
	assert_string_equal(g->nodes.at[0].title + n - 5, "\xc3\xbc…");
}

static void what_is_no_share_weighs_nothing(unused void **state)
{
	own(graph_freep) struct graph *g = graph_new();

	graph_add_node(g, GRAPH_NODE_BLOCK, NULL);
	graph_set_weight(g, -1, 0.0 / 0.0);
	assert_true(g->nodes.at[0].weight == 0 && g->nodes.at[0].frequency == 0);
	graph_set_weight(g, 7, 1.0 / 0.0);
	assert_true(g->nodes.at[0].weight == 1 && g->nodes.at[0].frequency > 1e300);
}

static void empty_graphs_can_be_written(unused void **state)
{
	own(graph_freep) struct graph *g = graph_new();

	for (size_t i = 0; graph_writers[i]; i++) {
		own(freep) char *text = write_as(graph_writers[i]->name, g);

		assert_true(strlen(text) > 0);
	}
}

static void a_full_disk_is_an_error(unused void **state)
{
	own(graph_freep) struct graph *g = make_loop("main", "nop");

	for (size_t i = 0; graph_writers[i]; i++) {
		own(fclosep) FILE *out = fopen("/dev/full", "w");
		struct err e = { 0 };

		assert_non_null(out);
		assert_int_equal(graph_writers[i]->write(g, out, &e), ERR_OS);
		assert_non_null(strstr(e.text, "No space left"));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_are_found_by_name),
		cmocka_unit_test(svg_holds_all_that_the_graph_does),
		cmocka_unit_test(svg_escapes_what_xml_acts_upon),
		cmocka_unit_test(postscript_holds_all_that_the_graph_does),
		cmocka_unit_test(postscript_escapes_what_strings_act_upon),
		cmocka_unit_test(postscript_fits_a_page),
		cmocka_unit_test(dot_is_what_graphviz_reads),
		cmocka_unit_test(long_texts_are_cut_at_a_character),
		cmocka_unit_test(what_is_no_share_weighs_nothing),
		cmocka_unit_test(empty_graphs_can_be_written),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
