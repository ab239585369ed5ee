/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/grouping.h"
#include "analyze/listing.h"
#include "analyze/profile.h"
#include "analyze/quality.h"
#include "recording_builder.h"

static char path[64], other[64];

static int make_paths(void **state unused)
{
	snprintf(path, sizeof(path), "/tmp/dwell-profile-%d.dwell", getpid());
	snprintf(other, sizeof(other), "/tmp/dwell-profile-%d-2.dwell", getpid());
	return 0;
}

static int remove_paths(void **state unused)
{
	unlink(path);
	unlink(other);
	return 0;
}

static const char server[] =
	"process 200 server start=1000000000 end=3000000000\n"
	"thread 200 201 worker\n"
	"event cpu-time unit=ns period=1000000 flags=sampled\n"
	"interval 0 10 early\n"
	"interval 1000000000 2000000000 first\n"
	"interval 2000000000 3000000000 second\n"
	"use event=cpu-time pid=200 tid=200 time=1000000000 step=100000000 cpu=0\n"
	"\"main;parse(char const*)\" 40\n"
	"\"main;parse(char const*);read_[k]\" 20\n"
	"use event=cpu-time pid=200 tid=201 time=2000000000 step=100000000 cpu=1\n"
	"start;libx.so!hash 30\n"
	"[truncated:5];hash 8\n"
	"[unknown]+0x10 2\n";

static struct profile *load(const char *text, const char *filter)
{
	struct profile *p = NULL;
	const char *paths[] = { path };
	struct err e = { 0 };

	recording_builder_write(path, text);
	if (profile_load(paths, 1, &(struct profile_options){ .filter = filter }, &p,
			 &e) < 0)
		fail_msg("%s", e.text);
	return p;
}

static uint64_t load_total(const char *text, const char *filter)
{
	own(profile_freep) struct profile *p = load(text, filter);

	return profile_column(p, 0)->total_count;
}

static uint64_t total(const char *filter)
{
	return load_total(server, filter);
}

static void every_field_of_the_filter_selects(void **state unused)
{
	static const struct {
		const char *filter;
		uint64_t want;
	} t[] = {
		{ NULL, 100 },
		{ "thread == worker", 40 },
		{ "thread == 201", 40 },
		{ "tid != 201", 60 },
		{ "process == server", 100 },
		{ "pid == 1", 0 },
		{ "command =~ ^serv", 100 },
		{ "cpu == 1", 40 },
		{ "cpu < 1", 60 },
		{ "event == cpu-time", 100 },
		{ "time < 1s", 60 },
		{ "time in 1s..1050ms", 30 },
		{ "time in 1s..", 40 },
		{ "interval == first", 60 },
		{ "interval == 3", 40 },
		{ "interval != second", 60 },
		{ "function == parse", 60 },
		{ "function == 'parse(char const*)'", 60 },
		{ "function != parse", 40 },
		{ "leaf == parse", 40 },
		{ "leaf == read && function == main", 20 },
		{ "image == libx.so", 30 },
		{ "mode == kernel", 20 },
		{ "mode == user", 80 },
		{ "weight >= 30000000", 70 },
		{ "function =~ '^par' || thread == worker", 100 },
		{ "!(function =~ '^par') && !(leaf == hash)", 2 },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		if (total(t[i].filter) != t[i].want)
			fail_msg("%s: %llu, not %llu", t[i].filter,
				 (unsigned long long)total(t[i].filter),
				 (unsigned long long)t[i].want);
}

static uint64_t row_value(const struct profile *p, const char *by, const char *name)
{
	own(grouping_freep) struct grouping *g = NULL;
	uint64_t value = UINT64_MAX;

	assert_int_equal(grouping_make(p, dimension_find(by), &g, NULL), 0);
	for (size_t i = 0; i < grouping_n_rows(g); i++) {
		const struct metrics *m = grouping_metrics(g);
		struct dimension_label label;

		grouping_label(g, i, &label);
		if (strcmp(buf_str(&label.name), name) == 0)
			value = m->exclusive[i * m->n_columns];
		grouping_label_fini(&label);
	}
	return value;
}

static void every_dimension_gives_the_sums(void **state unused)
{
	static const struct {
		const char *by, *name;
		uint64_t want;
	} t[] = {
		{ "function", "parse(char const*)", 40 },
		{ "image", "[kernel]", 20 },
		{ "image", "libx.so", 30 },
		{ "thread", "worker  tid 201  of server pid 200", 40 },
		{ "process", "server  pid 200", 100 },
		{ "command", "server", 100 },
		{ "cpu", "cpu 0", 60 },
		{ "interval", "3  second", 40 },
		{ "interval", "2  first", 60 },
		{ "event", "cpu-time", 100 },
		{ "mode", "kernel", 20 },
		{ "stack", "read < parse(char const*) < main", 20 },
	};
	own(profile_freep) struct profile *p = load(server, NULL);

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		if (row_value(p, t[i].by, t[i].name) != t[i].want * 1000000)
			fail_msg("%s %s: %llu", t[i].by, t[i].name,
				 (unsigned long long)row_value(p, t[i].by, t[i].name));
}

static void quality_tells_what_is_cut_off_and_what_has_no_name(void **state unused)
{
	own(profile_freep) struct profile *p = load(server, NULL);
	struct quality q;

	quality_measure(&q, p);
	assert_int_equal(q.columns[0].total, 100000000);
	assert_int_equal(q.columns[0].truncated, 8000000);
	assert_int_equal(q.columns[0].truncated_by[UNWIND_STACK_SHORT], 8000000);
	assert_int_equal(q.columns[0].unresolved, 2000000);
	assert_int_equal(q.n_images, 1);
	assert_string_equal(q.images[0].image, "[unknown]");
	assert_false(quality_is_damaged(&q));
	assert_false(quality_is_complete(&q));
	quality_fini(&q);
}

static bool is_complete(const char *spec)
{
	own(profile_freep) struct profile *p = load(spec, NULL);
	struct quality q;

	quality_measure(&q, p);

	bool is = quality_is_complete(&q);

	quality_fini(&q);
	return is;
}

static void what_was_not_seen_is_not_complete(void **state)
{
	(void)state;
	assert_true(is_complete("main;work 10\n"));
	assert_true(is_complete("main;work 10\nfact loss throttled 0\n"));
	assert_false(is_complete("main;work 10\nfact loss lost-samples 1\n"));
	assert_false(is_complete("main;work 10\nfact loss not-followed 1\n"));
	assert_false(is_complete("main;work 10\nfact loss processes-without-ring 1\n"));
	assert_false(is_complete("main;work 10\nfact loss kernel-not-observed 1\n"));
	assert_false(is_complete("main;work 10\nfact loss of-tomorrow 1\n"));
	assert_true(is_complete("main;work 10\nfact loss of-tomorrow 0\n"));
	assert_true(is_complete("main;work 10\nfact loss truncated-stacks 1\n"));
	assert_false(is_complete("main;work 10\nunfinished\n"));
}

struct samples {
	uint64_t n, weight, last_ns;
	size_t deepest;
};

static int count_sample(void *ctx, const struct profile_sample *s, struct err *e unused)
{
	struct samples *to = ctx;

	to->n += s->count;
	to->weight += s->weight;
	to->last_ns = s->time_ns;
	to->deepest = s->n_frames > to->deepest ? s->n_frames : to->deepest;
	assert_non_null(s->thread);
	assert_int_equal(s->process->pid, 200);
	return 0;
}

static int count_stack(void *ctx, const struct profile_stack *s, struct err *e unused)
{
	struct samples *to = ctx;

	to->n += s->counts[0];
	to->weight += s->weights[0];
	to->deepest = s->n > to->deepest ? s->n : to->deepest;
	return 0;
}

static int stop_at_third(void *ctx, const struct profile_sample *s unused,
			 struct err *e unused)
{
	return ++*(int *)ctx == 3;
}

static void the_samples_end_when_the_callback_has_enough(void **state unused)
{
	own(profile_freep) struct profile *p = load(server, NULL);
	int n = 0;

	assert_int_equal(profile_each_sample(p, stop_at_third, &n, NULL), 0);
	assert_int_equal(n, 3);
}

struct followed {
	struct profile_frame frames[16];
	size_t n, n_kept;
};

static int follow_path(void *ctx, const struct profile_stack *s, struct err *e unused)
{
	struct followed *f = ctx;

	assert_true(s->n <= 16 && s->n_same <= s->n && s->n_same <= f->n);
	f->n_kept += s->n_same;
	memcpy(f->frames + s->n_same, s->frames + s->n_same,
	       (s->n - s->n_same) * sizeof(*s->frames));
	f->n = s->n;
	assert_memory_equal(f->frames, s->frames, s->n * sizeof(*s->frames));
	return 0;
}

static void a_stack_tells_what_it_shares_with_the_one_before(void **state unused)
{
	own(profile_freep) struct profile *p = load(server, NULL);
	struct followed f = { 0 };

	assert_int_equal(profile_each_stack(p, follow_path, &f, NULL), 0);
	assert_true(f.n_kept > 0);
}

static void stacks_and_samples_add_up_to_the_total(void **state unused)
{
	own(profile_freep) struct profile *p = load(server, "thread != worker");
	struct samples samples = { 0 }, stacks = { 0 };

	assert_int_equal(profile_each_sample(p, count_sample, &samples, NULL), 0);
	assert_int_equal(profile_each_stack(p, count_stack, &stacks, NULL), 0);
	assert_int_equal(samples.n, 60);
	assert_int_equal(samples.weight, 60000000);
	assert_int_equal(samples.deepest, 3);
	assert_int_equal(samples.last_ns, 1100000000);
	assert_int_equal(stacks.n, 60);
	assert_int_equal(stacks.weight, 60000000);
	assert_int_equal(stacks.deepest, 3);
}

static void two_recordings_share_functions_of_one_name(void **state unused)
{
	const char *paths[] = { path, other };
	own(profile_freep) struct profile *p = NULL;
	size_t n = 0;

	recording_builder_write(path, "process 1 a\nmain;f 10\n");
	recording_builder_write(other, "process 9 a\nmain;x 5\nmain;f 7\n");
	assert_int_equal(profile_load(paths, 2, NULL, &p, NULL), 0);
	assert_int_equal(profile_n_sources(p), 2);
	assert_int_equal(profile_n_columns(p), 2);
	for (uint32_t i = 0; i < profile_n_functions(p); i++)
		n += strcmp(profile_function(p, i)->name, "f") == 0;
	assert_int_equal(n, 1);
	assert_int_equal(profile_column(p, 0)->total_count, 10);
	assert_int_equal(profile_column(p, 1)->total_count, 12);
}

static uint64_t function_column(const struct profile *p, const char *name, size_t column)
{
	own(grouping_freep) struct grouping *g = NULL;
	uint64_t sum = 0;

	assert_int_equal(grouping_make(p, dimension_find("function"), &g, NULL), 0);
	for (size_t i = 0; i < grouping_n_rows(g); i++) {
		const struct metrics *m = grouping_metrics(g);
		struct dimension_label label;

		grouping_label(g, i, &label);
		if (strcmp(buf_str(&label.name), name) == 0)
			sum += m->exclusive[i * m->n_columns + column];
		grouping_label_fini(&label);
	}
	return sum;
}

/* A recording keeps the names of its own samples only, and in containers programs have
 * the same pid each time. */
static void each_recording_has_the_names_that_it_keeps(void **state unused)
{
	const char *paths[] = { path, other };
	own(profile_freep) struct profile *p = NULL;

	recording_builder_write(path, "process 7 node\nuse pid=7 tid=7\n"
				      "main;old 3\nmain;read_[k] 4\n");
	recording_builder_write(other, "process 7 node\nuse pid=7 tid=7\n"
				       "start;new 5\nstart;write_[k] 6\n");
	assert_int_equal(profile_load(paths, 2, NULL, &p, NULL), 0);
	assert_int_equal(function_column(p, "old", 0), 3000000);
	assert_int_equal(function_column(p, "read", 0), 4000000);
	assert_int_equal(function_column(p, "old", 1), 0);
	assert_int_equal(function_column(p, "read", 1), 0);
	assert_int_equal(function_column(p, "new", 1), 5000000);
	assert_int_equal(function_column(p, "write", 1), 6000000);
}

/* As static functions of C are: one in the other is no recursion. */
static void
functions_of_one_image_that_are_called_the_same_stay_apart(void **state unused)
{
	static const char both[] =
		"image k [kernel] kind=kernel base=0xffffffff81000000\n"
		"function k show 0x1000 0x100\n"
		"function k show 0x2000 0x100\n"
		"main;k+0x1010 3\nmain;k+0x1010;k+0x2010 4\n";
	const char *paths[] = { path, other };
	own(profile_freep) struct profile *p = NULL;
	uint32_t ids[4], n = 0;

	recording_builder_write(path, both);
	recording_builder_write(other, both);
	assert_int_equal(profile_load(paths, 2, NULL, &p, NULL), 0);
	for (uint32_t i = 0; i < profile_n_functions(p); i++)
		if (strcmp(profile_function(p, i)->name, "show") == 0 && n < 4)
			ids[n++] = i;
	assert_int_equal(n, 2); /* in two recordings the same two */
	assert_string_equal(profile_function(p, ids[0])->label,
			    "show (0xffffffff81001000)");
	assert_int_equal(load_total(both, "function == show"), 7);
	assert_int_equal(load_total(both, "leaf == 'show (0xffffffff81002000)'"), 4);
	for (size_t column = 0; column < 2; column++) {
		assert_int_equal(function_column(p, "show (0xffffffff81001000)", column),
				 3000000);
		assert_int_equal(function_column(p, "show (0xffffffff81002000)", column),
				 4000000);
	}
}

/* Another build has another code: its addresses mean nothing in this one. */
static void a_listing_has_the_addresses_of_one_build(void **state unused)
{
	const char *paths[] = { path, other };
	own(profile_freep) struct profile *p = NULL;
	own(freep) uint32_t *ids = NULL;
	struct listing l;

	recording_builder_write(path, "image x /nowhere/two build-id=aa01\n"
				      "main;x+0x10 3\n");
	recording_builder_write(other, "image x /nowhere/two build-id=bb02\n"
				       "main;x+0x20 5\n");
	assert_int_equal(profile_load(paths, 2, NULL, &p, NULL), 0);
	assert_int_equal(listing_find(p, "[two]", &ids), 1);
	listing_make(&l, p, ids[0]);
	assert_int_equal(l.instructions.n, 1);
	assert_int_equal(l.instructions.rows[0].address, 0x10);
	assert_int_equal(l.instructions.rows[0].exclusive[0], 3000000);
	assert_int_equal(l.instructions.rows[0].exclusive[1], 0);
	assert_false(l.has_other_build[0]);
	assert_true(l.has_other_build[1]);
	listing_fini(&l);
}

/* One build in two places is one image, called by the place of which more was seen. */
static void copies_of_a_file_have_the_name_of_the_one_most_seen(void **state unused)
{
	own(profile_freep) struct profile *p =
		load("image copy /a/copy build-id=aa01\n"
		     "image usual /usr/bin/usual build-id=aa01\n"
		     "copy+0x10! 5\n"
		     "usual+0x10! 1\n"
		     "usual+0x20! 1\n",
		     NULL);

	assert_int_equal(profile_column(p, 0)->total_count, 7);
	assert_true(profile_n_functions(p) > 0);
	for (uint32_t i = 0; i < profile_n_functions(p); i++) {
		assert_string_equal(profile_function(p, i)->image, "usual");
		assert_string_equal(profile_function(p, i)->image_path, "/usr/bin/usual");
	}
}

static void the_names_of_modules_are_kept_among_the_kernels(void **state unused)
{
	own(profile_freep) struct profile *p =
		load("image k [kernel] kind=kernel base=0xffffffff81000000\n"
		     "image m [nosuch] kind=module base=0xffffffffc0000000\n"
		     "blob kallsyms kallsyms image=k "
		     "text=\"ffffffffc0000100 t of_module [nosuch]\"\n"
		     "main;m+0x120 7\n",
		     NULL);

	assert_int_equal(function_column(p, "of_module", 0), 7000000);
}

/* As of a database's segments, which are added up before they are read. */
static void the_names_that_several_recordings_kept_are_put_together(void **state unused)
{
	own(profile_freep) struct profile *p =
		load("image k [kernel] kind=kernel base=0xffffffff81000000\n"
		     "blob kallsyms kallsyms image=k "
		     "text=\"ffffffff81000100 t one\"\n"
		     "blob kallsyms kallsyms image=k "
		     "text=\"ffffffff81000200 t two\"\n"
		     "main;k+0x120 7\n"
		     "main;k+0x220 5\n",
		     NULL);

	assert_int_equal(function_column(p, "one", 0), 7000000);
	assert_int_equal(function_column(p, "two", 0), 5000000);
}

static void of_several_functions_the_one_meant_comes_first(void **state unused)
{
	own(profile_freep) struct profile *p = load("\"main;free\" 50\n"
						    "\"main;f [eval]:1:11;of\" 90\n"
						    "\"main;f [eval]:1:11\" 3\n"
						    "\"main;f [eval]:2:7\" 4\n"
						    "\"main;exactly\" 1\n"
						    "\"main;exactly [eval]:3:1\" 9\n",
						    NULL);
	static const struct {
		const char *name, *first;
		size_t n;
	} t[] = {
		/* By its own samples, though the other one has more with its callees'. */
		{ "f", "f [eval]:2:7", 2 },
		{ "fr", "free", 1 },
		{ "ree", "free", 1 },
		{ "exactly", "exactly", 1 },
		{ "exac", "exactly [eval]:3:1", 2 },
		{ "o", "of", 1 },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(freep) uint32_t *ids = NULL;

		assert_int_equal(listing_find(p, t[i].name, &ids), t[i].n);
		assert_string_equal(profile_function(p, ids[0])->name, t[i].first);
	}
}

static void a_function_is_found_by_what_people_call_it(void **state unused)
{
	own(profile_freep) struct profile *p = load(server, NULL);
	static const struct {
		const char *name, *found;
		size_t n;
	} t[] = {
		{ "parse", "parse(char const*)", 1 },
		{ "parse(char const*)", "parse(char const*)", 1 },
		{ "pars", "parse(char const*)", 1 },
		{ "mai", "main", 1 },
		{ "a", "main", 4 },
		{ "nowhere", NULL, 0 },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(freep) uint32_t *ids = NULL;

		if (!t[i].n) {
			assert_int_equal(listing_find(p, t[i].name, &ids), 0);
			continue;
		}
		assert_true(listing_find(p, t[i].name, &ids) >= t[i].n);
		if (t[i].n == 1)
			assert_string_equal(profile_function(p, ids[0])->name,
					    t[i].found);
	}
}

static void a_missing_event_names_those_there_are(void **state unused)
{
	const char *paths[] = { path }, *events[] = { "cycles", NULL };
	own(profile_freep) struct profile *p = NULL;
	struct err e = { 0 };

	recording_builder_write(path, "main 1\n");
	assert_int_equal(profile_load(paths, 1,
				      &(struct profile_options){ .events = events }, &p,
				      &e),
			 ERR_USAGE);
	assert_string_equal(e.text,
			    "no event 'cycles' in the recording: it has cpu-time");
}

/* The sum over all rows of a dimension in one column. */
static uint64_t row_column(const struct profile *p, const char *by, size_t column)
{
	own(grouping_freep) struct grouping *g = NULL;
	const struct metrics *m;
	struct err e = { 0 };
	uint64_t sum = 0;

	assert_int_equal(grouping_make(p, dimension_find(by), &g, &e), 0);
	m = grouping_metrics(g);
	for (size_t i = 0; i < m->n_rows; i++)
		sum += m->exclusive[i * m->n_columns + column];
	return sum;
}

/* The columns that a choice of events gives: "name=weight" each. */
static void assert_columns(const char *const *events, const char *want)
{
	const char *paths[] = { path };
	own(profile_freep) struct profile *p = NULL;
	char have[300] = "";
	struct err e = { 0 };

	if (profile_load(paths, 1, &(struct profile_options){ .events = events }, &p,
			 &e) < 0)
		fail_msg("%s", e.text);
	for (size_t i = 0, n = 0; i < profile_n_columns(p); i++)
		n += (size_t)snprintf(
			have + n, sizeof(have) - n, "%s=%llu ",
			profile_column(p, i)->name,
			(unsigned long long)profile_column(p, i)->total_weight);
	assert_string_equal(have, want);
	if (profile_column(p, 0)->event == MODEL_NONE)
		assert_int_equal(row_column(p, "thread", 0), 75);
}

static void the_parts_of_a_whole_add_up_to_a_column(void **state unused)
{
	static const char *const alone[] = { "total-time", NULL };
	static const char *const part[] = { "blocked", NULL };
	static const char *const both[] = { "cpu", "total-time", NULL };

	recording_builder_write(
		path,
		"event faults unit=count period=1 experiment=faults\n"
		"event cpu unit=ns period=1 experiment=totaltime\n"
		"event blocked unit=ns period=1 experiment=totaltime\n"
		"main;f 30 event=cpu\nmain;g 45 event=blocked\nmain 3 event=faults\n");
	assert_columns(NULL, "faults=3 total-time=75 cpu=30 blocked=45 ");
	assert_columns(alone, "total-time=75 ");
	assert_columns(part, "blocked=45 ");
	assert_columns(both, "total-time=75 cpu=30 blocked=45 ");
}

static uint64_t live_total(struct recording *r, struct symbolizer *s, size_t first_block,
			   const char *filter)
{
	own(profile_freep) struct profile *p = NULL;
	struct profile_live live = { .recording = r,
				     .symbolizer = s,
				     .first_block = first_block };
	struct profile_options o = { .filter = filter };
	struct err e = { 0 };

	if (profile_load_live(&live, &o, &p, &e) < 0)
		fail_msg("%s", e.text);
	return profile_column(p, 0)->total_count;
}

static void a_live_profile_begins_at_a_block(void **state unused)
{
	own(symbolizer_freep) struct symbolizer *s =
		symbolizer_new(&(struct sym_options){ .keeps_places = true });
	own(recording_freep) struct recording *r = NULL;

	recording_builder_write(path, "main;a 3\nflush\nmain;b 5\nmain;a 1\nflush\n"
				      "main;c 7\nunfinished\n");
	assert_int_equal(recording_open(path, &r, NULL), 0);
	assert_int_equal(live_total(r, s, 0, NULL), 16);
	assert_int_equal(live_total(r, s, 1, NULL), 13);
	assert_int_equal(live_total(r, s, 1, "mode == user"), 13);
	assert_int_equal(live_total(r, s, 2, NULL), 7);
	assert_int_equal(live_total(r, s, 3, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_of_the_filter_selects),
		cmocka_unit_test(every_dimension_gives_the_sums),
		cmocka_unit_test(quality_tells_what_is_cut_off_and_what_has_no_name),
		cmocka_unit_test(what_was_not_seen_is_not_complete),
		cmocka_unit_test(stacks_and_samples_add_up_to_the_total),
		cmocka_unit_test(the_samples_end_when_the_callback_has_enough),
		cmocka_unit_test(a_stack_tells_what_it_shares_with_the_one_before),
		cmocka_unit_test(two_recordings_share_functions_of_one_name),
		cmocka_unit_test(each_recording_has_the_names_that_it_keeps),
		cmocka_unit_test(
			functions_of_one_image_that_are_called_the_same_stay_apart),
		cmocka_unit_test(a_listing_has_the_addresses_of_one_build),
		cmocka_unit_test(copies_of_a_file_have_the_name_of_the_one_most_seen),
		cmocka_unit_test(the_names_of_modules_are_kept_among_the_kernels),
		cmocka_unit_test(the_names_that_several_recordings_kept_are_put_together),
		cmocka_unit_test(of_several_functions_the_one_meant_comes_first),
		cmocka_unit_test(a_function_is_found_by_what_people_call_it),
		cmocka_unit_test(a_missing_event_names_those_there_are),
		cmocka_unit_test(the_parts_of_a_whole_add_up_to_a_column),
		cmocka_unit_test(a_live_profile_begins_at_a_block),
	};

	return cmocka_run_group_tests(tests, make_paths, remove_paths);
}
