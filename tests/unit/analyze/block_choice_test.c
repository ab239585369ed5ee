/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/block_choice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/block_graph.h"
#include "recording_builder.h"

static char path[64];

static int make_path(void **state unused)
{
	snprintf(path, sizeof(path), "/tmp/dwell-block_choice-%d.dwell", getpid());
	return 0;
}

static int remove_path(void **state unused)
{
	unlink(path);
	return 0;
}

/* Blocks 0 and 1 overlap; 10 and 11 run the same code, which calls what only 11 has
 * instructions of. */
static const char text[] =
	"event other unit=count period=1\n"
	"event instructions unit=count period=1 flags=exact,pc-only\n"
	"process 10 a\nprocess 11 b\nimage x /nonexistent/x\nimage y /nonexistent/y\n"
	"x+0x100 5 pid=10\nx+0x104 8 pid=10\nx+0x108 8 pid=10\n"
	"x+0x100 70 pid=11\nx+0x108 70 pid=11\ny+0x10 70 pid=11\n"
	"x+0x104 1 pid=11 event=other\n"
	"basic-block x+0x100 12 3 call 5 pid=10\n"
	"basic-block x+0x104 8 2 call 3 pid=10\n"
	"basic-block x+0x100 12 2 call 70 pid=11\n"
	"basic-block y+0x10 4 1 return 70 pid=11\n"
	"edge 0 call 5 y+0x10\nedge 1 call 3 y+0x10\nedge 2 call 70 y+0x10\n"
	"edge 3 return 70\nedge 0 returned 2 x+0x100\n";

struct chosen {
	struct profile *p;
	struct block_choice choice;
	struct block_graph graph;
};

static void chosen_fini(struct chosen *c)
{
	block_choice_fini(&c->choice);
	block_graph_fini(&c->graph);
	profile_free(c->p);
}

static void choose(struct chosen *c, const char *filter)
{
	const char *paths[] = { path };
	struct err e = { 0 };

	recording_builder_write(path, text);
	if (profile_load(paths, 1, &(struct profile_options){ .filter = filter }, &c->p,
			 &e) < 0 ||
	    block_choice_make(&c->choice, c->p, 0, &e) < 0 ||
	    block_graph_make(&c->graph, profile_source(c->p, 0), &c->choice, &e) < 0)
		fail_msg("%s", e.text);
}

static uint64_t sum_ways(const struct block_graph *g, uint32_t kind)
{
	uint64_t n = 0;

	vec_each(w, &g->ways)
		n += w->kind == kind ? w->times : 0;
	return n;
}

static void
blocks_are_chosen_by_their_begin_and_ways_by_what_goes_them(void **state unused)
{
	static const struct {
		const char *filter;
		uint64_t times[3]; /* of blocks 0 and 2, of 1, of 3 */
		uint64_t calls, returns, returned;
	} t[] = {
		{ NULL, { 75, 3, 70 }, 78, 70, 2 },
		{ "pid == 10", { 5, 3, 0 }, 8, 0, 2 },
		{ "pid == 11", { 70, 0, 70 }, 70, 70, 0 },
		{ "image == x", { 75, 3, 0 }, 78, 0, 2 },
		{ "image != x", { 0, 0, 70 }, 0, 70, 0 },
		{ "address == 0x100", { 75, 0, 0 }, 0, 0, 2 },
		{ "address == 0x104", { 0, 3, 0 }, 0, 0, 0 },
		{ "address == 0x108", { 0, 0, 0 }, 78, 0, 0 },
		{ "address == 0x108 && pid == 10", { 0, 0, 0 }, 8, 0, 0 },
		{ "weight > 6", { 70, 3, 70 }, 78, 70, 0 },
		{ "event == other", { 0, 0, 0 }, 0, 0, 0 },
		{ "pid == 12", { 0, 0, 0 }, 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(chosen_fini) struct chosen c = { 0 };

		choose(&c, t[i].filter);
		assert_int_equal(c.graph.blocks.n, 3);
		for (size_t k = 0; k < 3; k++)
			assert_int_equal(c.graph.blocks.at[k].times, t[i].times[k]);
		assert_int_equal(sum_ways(&c.graph, EDGE_CALL), t[i].calls);
		assert_int_equal(sum_ways(&c.graph, EDGE_RETURN), t[i].returns);
		assert_int_equal(sum_ways(&c.graph, EDGE_RETURNED), t[i].returned);
	}
}

static void nothing_is_chosen_where_instructions_are_not_asked_for(void **state unused)
{
	own(chosen_fini) struct chosen c = { 0 };
	const char *const events[] = { "other", NULL };
	const char *paths[] = { path };
	struct err e = { 0 };

	recording_builder_write(path, text);
	if (profile_load(paths, 1, &(struct profile_options){ .events = events }, &c.p,
			 &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(block_choice_make(&c.choice, c.p, 0, &e), ERR_USAGE);
	assert_string_equal(e.text,
			    "counted instructions are not among what is asked for");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			blocks_are_chosen_by_their_begin_and_ways_by_what_goes_them),
		cmocka_unit_test(nothing_is_chosen_where_instructions_are_not_asked_for),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
