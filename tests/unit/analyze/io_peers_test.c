/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/io_peers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyze/listing.h"
#include "analyze/profile.h"
#include "base/mem.h"
#include "recording_builder.h"

#define PATH	   "io_peers_test.dwell"
#define OTHER_PATH "io_peers_test.other.dwell"

#define SERVER "TCP *->10.0.0.2:80"
#define FIRST  "TCP 10.0.0.1:4001->10.0.0.2:80"
#define SECOND "TCP 10.0.0.1:4002->10.0.0.2:80"
#define ALONE  "TCP 10.0.0.1:4009->10.0.0.7:443"

static const char head[] =
	"event io-calls unit=count period=1 experiment=io flags=exact\n"
	"process 10 a\nprocess 11 b\n"
	"image read \"[syscall read]\" kind=label\n"
	"image first \"" FIRST "\" kind=label\nimage second \"" SECOND "\" kind=label\n"
	"image alone \"" ALONE "\" kind=label\nimage path \"/tmp/a->b\" kind=label\n";

static const char both[] =
	"use pid=10 event=io-calls\n"
	"main;read+0;first+0 1\nmain;read+0;alone+0 4\nmain;read+0;path+0 8\n"
	"use pid=11 event=io-calls\nmain;read+0;second+0 2\n";

static void write_to(const char *path, const char *samples)
{
	char text[4096];

	snprintf(text, sizeof(text), "%s%s", head, samples);
	recording_builder_write(path, text);
}

static struct profile *load(const struct profile_options *o, size_t n)
{
	const char *const paths[] = { PATH, OTHER_PATH };
	struct profile *p = NULL;
	struct err e = { 0 };

	assert_int_equal(profile_load(paths, n, o, &p, &e), 0);
	for (size_t i = 0; i < n; i++)
		unlink(paths[i]);
	return p;
}

static struct profile *load_chosen(const char *filter)
{
	const struct profile_options o = { .filter = filter };

	write_to(PATH, both);
	return load(&o, 1);
}

struct of_name {
	const struct profile *p;
	const char *name;
	uint64_t n;
};

static int add_stack(void *ctx, const struct profile_stack *s, struct err *e)
{
	struct of_name *o = ctx;

	(void)e;
	for (size_t i = 0; i < profile_n_columns(o->p); i++)
		if (!strcmp(profile_function(o->p, s->frames[s->n - 1].function)->name,
			    o->name))
			o->n += s->weights[i];
	return 0;
}

static int add_sample(void *ctx, const struct profile_sample *s, struct err *e)
{
	struct of_name *o = ctx;

	(void)e;
	if (!strcmp(profile_function(o->p, s->frames[s->n_frames - 1].function)->name,
		    o->name))
		o->n += s->weight;
	return 0;
}

/* Calls whose innermost function is called so, by stacks and by samples. */
static uint64_t calls_of(const struct profile *p, const char *name)
{
	struct of_name stacks = { p, name, 0 }, samples = { p, name, 0 };

	assert_int_equal(profile_each_stack(p, add_stack, &stacks, NULL), 0);
	assert_int_equal(profile_each_sample(p, add_sample, &samples, NULL), 0);
	assert_int_equal(stacks.n, samples.n);
	return stacks.n;
}

static void connections_of_a_server_are_one_function(void **state)
{
	own(profile_freep) struct profile *p = load_chosen(NULL);

	(void)state;
	assert_int_equal(calls_of(p, SERVER), 3);
	assert_int_equal(calls_of(p, FIRST), 0);
	assert_int_equal(calls_of(p, SECOND), 0);
	assert_int_equal(calls_of(p, ALONE), 4);
	assert_int_equal(calls_of(p, "/tmp/a->b"), 8);
}

static void one_that_alone_is_chosen_keeps_its_name(void **state)
{
	own(profile_freep) struct profile *p = load_chosen("pid == 11");

	(void)state;
	assert_int_equal(calls_of(p, SECOND), 2);
	assert_int_equal(calls_of(p, SERVER), 0);
}

static void filters_know_connections_by_their_name_and_that_of_all(void **state)
{
	static const struct {
		const char *filter, *name;
		uint64_t n;
	} t[] = {
		{ "function == '" SERVER "'", SERVER, 3 },
		{ "function == '" FIRST "'", FIRST, 1 },
		{ "function != '" FIRST "'", SECOND, 2 },
		{ "leaf =~ '4002'", SECOND, 2 },
		{ "leaf =~ '400[12]'", SERVER, 3 },
		{ "function != '" SERVER "'", ALONE, 4 },
		{ "function == 'TCP 10.0.0.1:4001->10.0.0.2:*'", FIRST, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(profile_freep) struct profile *p = load_chosen(t[i].filter);

		assert_int_equal(calls_of(p, t[i].name), t[i].n);
	}
}

static void what_is_joined_is_meant_by_either_name(void **state)
{
	static const char *const names[] = { SERVER, FIRST, SECOND, "10.0.0.2:80" };
	own(profile_freep) struct profile *p = load_chosen(NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		own(freep) uint32_t *found = NULL;

		assert_int_equal(listing_find(p, names[i], &found), 1);
		assert_string_equal(profile_function(p, found[0])->name, SERVER);
	}
}

/* Each has one, by another port: it is the same server. */
static void recordings_that_are_compared_have_a_server_in_common(void **state)
{
	const struct profile_options o = { .is_compared = true };
	own(profile_freep) struct profile *p = NULL;

	(void)state;
	write_to(PATH, "use pid=10 event=io-calls\nmain;read+0;first+0 1\n");
	write_to(OTHER_PATH, "use pid=10 event=io-calls\nmain;read+0;second+0 2\n");
	p = load(&o, 2);
	assert_int_equal(calls_of(p, SERVER), 3);
	assert_int_equal(profile_n_matches(p), 0);
}

static void a_name_of_all_is_one_of_both_kinds(void **state)
{
	static const struct {
		const char *peer, *connection;
		bool has;
	} t[] = {
		{ SERVER, FIRST, true },
		{ "TCP 10.0.0.2:80->10.0.0.1:*", "TCP 10.0.0.2:80->10.0.0.1:9", true },
		{ "UDP [::1]:53->[fe80::1]:*", "UDP [::1]:53->[fe80::1]:999", true },
		{ SERVER, ALONE, false },
		{ SERVER, "UDP 10.0.0.1:4001->10.0.0.2:80", false },
		{ SERVER, SERVER, true },
		{ FIRST, FIRST, false }, /* equal, but no name of all */
		{ "TCP *->b", "/tmp/a->b", false },
		{ "*", "TCP 10.0.0.2:80", false },
		{ "", FIRST, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_int_equal(io_peers_has(t[i].peer, t[i].connection), t[i].has);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connections_of_a_server_are_one_function),
		cmocka_unit_test(one_that_alone_is_chosen_keeps_its_name),
		cmocka_unit_test(filters_know_connections_by_their_name_and_that_of_all),
		cmocka_unit_test(what_is_joined_is_meant_by_either_name),
		cmocka_unit_test(recordings_that_are_compared_have_a_server_in_common),
		cmocka_unit_test(a_name_of_all_is_one_of_both_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
