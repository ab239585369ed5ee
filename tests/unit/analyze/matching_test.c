/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/matching.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/grouping.h"
#include "analyze/listing.h"
#include "recording_builder.h"

static char path[64], other[64];

static int make_paths(void **state unused)
{
	snprintf(path, sizeof(path), "/tmp/dwell-matching-%d.dwell", getpid());
	snprintf(other, sizeof(other), "/tmp/dwell-matching-%d-2.dwell", getpid());
	return 0;
}

static int remove_paths(void **state unused)
{
	unlink(path);
	unlink(other);
	return 0;
}

static struct profile *load(const char *before, const char *after, bool no_guess)
{
	const char *paths[] = { path, other };
	struct profile_options o = { .is_compared = true, .no_guess = no_guess };
	struct profile *p = NULL;
	struct err e = { 0 };

	recording_builder_write(path, before);
	recording_builder_write(other, after);
	if (profile_load(paths, 2, &o, &p, &e) < 0)
		fail_msg("%s", e.text);
	return p;
}

/* "image!label A B" of every row that has something itself. */
static void put_rows(const struct profile *p, const char *by, struct buf *ret)
{
	own(grouping_freep) struct grouping *g = NULL;

	assert_int_equal(grouping_make(p, dimension_find(by), &g, NULL), 0);
	for (size_t i = 0; i < grouping_n_rows(g); i++) {
		const uint64_t *counts =
			grouping_metrics(g)->exclusive_counts + i * p->columns.n;
		struct dimension_label label;

		grouping_label(g, i, &label);
		if (counts[0] || counts[1])
			buf_printf(ret, "%s%s%s %u %u\n", label.image ? label.image : "",
				   label.image ? "!" : "", buf_str(&label.name),
				   (unsigned)counts[0], (unsigned)counts[1]);
		grouping_label_fini(&label);
	}
	buf_str(ret);
}

static void assert_row(const char *before, const char *after, bool no_guess,
		       const char *row)
{
	own(profile_freep) struct profile *p = load(before, after, no_guess);
	own(buf_fini) struct buf rows = { 0 };

	put_rows(p, "function", &rows);
	if (!strstr(buf_str(&rows), row))
		fail_msg("no row '%s' in\n%s", row, buf_str(&rows));
}

static void an_image_of_another_version_is_the_same(void **state unused)
{
	static const char before[] = "prog-1.0!main;prog-1.0!f 10\n"
				     "prog-1.0!main;libx.so.1.2!g 3\n";
	static const char after[] = "prog-1.1!main;prog-1.1!f 7\n"
				    "prog-1.1!main;libx.so.1.3!g 4\n";

	assert_row(before, after, true, "prog-1.0!f 10 7\n");
	assert_row(before, after, true, "libx.so.1.2!g 3 4\n");
}

static void an_image_of_another_name_is_guessed_by_its_functions(void **state unused)
{
	static const char before[] =
		"info command ./old\nold!a 1\nold!b 2\nold!c 3\nold!d 4\n";
	static const char after[] =
		"info command ./new\nnew!a 1\nnew!b 2\nnew!c 3\nnew!e 5\n";
	static const char foreign[] =
		"info command ./new\nnew!a 1\nnew!x 2\nnew!y 3\nnew!z 5\n";

	assert_row(before, after, false, "old!b 2 2\n");
	assert_row(before, after, true, "new!b 0 2\n");
	assert_row(before, foreign, false, "new!a 0 1\n");
}

static void a_recording_with_both_images_has_two(void **state unused)
{
	assert_row("libx.so.1!f 1\nlibx.so.2!f 2\n", "libx.so.2!f 3\n", false,
		   "libx.so.1!f 1 0\n");
	assert_row("libx.so.1!f 1\nlibx.so.2!f 2\n", "libx.so.2!f 3\n", false,
		   "libx.so.2!f 2 3\n");
}

static void clones_of_a_function_are_one_with_it(void **state unused)
{
	assert_row("f.isra.0 10\n", "f 7\n", true, "!f 10 7\n");
	assert_row("f.constprop.0 10\n", "f.constprop.1 7\n", true, "!f 10 7\n");
	assert_row("f 10\nf.cold 2\n", "f 7\n", true, "!f 12 7\n");
	assert_row("f 10\nf.part.0 2\n", "f 7\nf.part.0 1\n", true, "!f.part.0 2 1\n");
	assert_row("a::f::h0123456789abcdef 3\n", "a::f::hfedcba9876543210 4\n", true,
		   "!a::f 3 4\n");
}

/* Who calls it and whom it calls, and how large it is, are the same. */
static void a_renamed_function_is_guessed_by_its_surroundings(void **state unused)
{
	static const char before[] = "main;run;old_name 10\nmain;run;old_name;leaf 20\n"
				     "main;run;side 5\n";
	static const char after[] = "main;run;new_name 8\nmain;run;new_name;leaf 21\n"
				    "main;run;side 5\n";

	assert_row(before, after, false, "!old_name ≈ new_name 10 8\n");
	assert_row(before, after, true, "!old_name 10 0\n");
	assert_row(before, after, true, "!new_name 0 8\n");
}

/* One kernel has both, though only one was sampled in each. */
static void functions_of_one_build_are_never_guessed(void **state unused)
{
	static const char before[] =
		"main;sys_[k];old_[k] 10\nmain;sys_[k];old_[k];end_[k] 9\n";
	static const char after[] =
		"main;sys_[k];new_[k] 10\nmain;sys_[k];new_[k];end_[k] 9\n";

	assert_row(before, after, false, "[kernel]!old 10 0\n");
	assert_row(before, after, false, "[kernel]!new 0 10\n");
}

static void two_that_are_alike_are_not_guessed(void **state unused)
{
	static const char before[] = "main;old_name 10\nmain;gone 10\n";
	static const char after[] = "main;new_name 8\nmain;come 9\n";

	assert_row(before, after, false, "!old_name 10 0\n");
	assert_row(before, after, false, "!come 0 9\n");
}

static void a_match_is_found_by_either_name(void **state unused)
{
	own(profile_freep) struct profile *p =
		load("main;run;old_name 10\nmain;run;old_name;leaf 20\n",
		     "main;run;new_name 8\nmain;run;new_name;leaf 21\n", false);
	own(freep) uint32_t *by_old = NULL, *by_new = NULL;

	assert_int_equal(listing_find(p, "old_name", &by_old), 1);
	assert_int_equal(listing_find(p, "new_name", &by_new), 1);
	assert_int_equal(by_old[0], by_new[0]);
	assert_int_equal(profile_n_matches(p), 1);
	assert_true(profile_match(p, 0)->is_guess);
	assert_non_null(strstr(profile_match(p, 0)->how, "callers and callees"));
}

static void assert_images(const char *before, const char *after, const char *row)
{
	own(profile_freep) struct profile *p = load(before, after, false);
	own(buf_fini) struct buf rows = { 0 };

	put_rows(p, "image", &rows);
	if (!strstr(buf_str(&rows), row))
		fail_msg("no row '%s' in\n%s", row, buf_str(&rows));
}

/* In one recording they are two; in two, one of each may be the same program. */
static void directories_tell_images_of_one_name_apart(void **state unused)
{
	static const char both[] = "image a /opt/a/libx.so build-id=aa\n"
				   "image b /opt/b/libx.so build-id=bb\n"
				   "a+0x10 3\nb+0x10 4\n";
	static const char one[] = "image c /new/prog build-id=cc\nc+0x10 3\n";
	static const char same[] = "image d /old/prog build-id=dd\nd+0x10 2\n";

	assert_images(both, both, "a/libx.so 3 3\n");
	assert_images(both, both, "b/libx.so 4 4\n");
	assert_images(one, same, "prog 3 2\n");
}

static void one_recording_is_left_alone(void **state unused)
{
	const char *paths[] = { path };
	struct profile_options o = { .is_compared = true };
	own(profile_freep) struct profile *p = NULL;

	recording_builder_write(path, "f 1\nf.cold 2\n");
	assert_int_equal(profile_load(paths, 1, &o, &p, NULL), 0);
	assert_int_equal(profile_n_matches(p), 0);
	assert_int_equal(profile_n_functions(p), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_image_of_another_version_is_the_same),
		cmocka_unit_test(an_image_of_another_name_is_guessed_by_its_functions),
		cmocka_unit_test(a_recording_with_both_images_has_two),
		cmocka_unit_test(clones_of_a_function_are_one_with_it),
		cmocka_unit_test(a_renamed_function_is_guessed_by_its_surroundings),
		cmocka_unit_test(functions_of_one_build_are_never_guessed),
		cmocka_unit_test(two_that_are_alike_are_not_guessed),
		cmocka_unit_test(a_match_is_found_by_either_name),
		cmocka_unit_test(directories_tell_images_of_one_name_apart),
		cmocka_unit_test(one_recording_is_left_alone),
	};

	return cmocka_run_group_tests(tests, make_paths, remove_paths);
}
