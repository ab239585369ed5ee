/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_matches.h"

#include "base/buf.h"
#include "base/text.h"
#include "cmd/report_text.h"

#define MANY_LINES 6

static bool is_of_image(const struct profile_match *m)
{
	return m->function == MODEL_NONE;
}

static const char *old_name(const struct report *r, const struct profile_match *m)
{
	return is_of_image(m) ? m->is_image : profile_function(r->profile, m->is)->name;
}

static const char *new_name(const struct report *r, const struct profile_match *m)
{
	return is_of_image(m) ? m->image
			      : profile_function(r->profile, m->function)->name;
}

/* "prog-1.1 is taken for prog-1.0: 12 of 14 functions are called the same" */
static void put_match(const struct report *r, const struct profile_match *m,
		      const char *label, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };

	report_text_safe(&b, new_name(r, m));
	buf_puts(&b, m->is_guess ? " is guessed to be " : " is taken for ");
	report_text_safe(&b, old_name(r, m));
	buf_puts(&b, ": ");
	report_text_safe(&b, m->how);
	report_text_labelled(r, label, &b, out);
}

/* What is matched by name is told of images only: a row says of which function it is. */
static bool is_told(const struct profile_match *m)
{
	return is_of_image(m) || m->is_guess;
}

void report_matches_print(const struct report *r, FILE *out)
{
	size_t n = profile_n_matches(r->profile), told = 0, more = 0, by_name = 0;
	own(buf_fini) struct buf b = { 0 };
	char s[TEXT_MAX];

	for (size_t i = 0; i < n; i++) {
		const struct profile_match *m = profile_match(r->profile, i);

		if (!is_told(m))
			by_name++;
		else if (told == MANY_LINES)
			more++;
		else
			put_match(r, m, told++ ? "" : "matched", out);
	}
	if (more)
		buf_printf(&b, "%zu more (--json lists them)", more);
	if (by_name)
		buf_printf(&b, "%s%s moved, split or copied by the compiler",
			   b.size ? "; " : "", text_number(s, by_name, "functions"));
	if (b.size)
		report_text_labelled(r, told ? "" : "matched", &b, out);
}

void report_matches_json(struct json *j, const struct report *r)
{
	json_key(j, "matches");
	json_array(j);
	for (size_t i = 0; i < profile_n_matches(r->profile); i++) {
		const struct profile_match *m = profile_match(r->profile, i);

		json_object(j);
		json_key_str(j, "what", is_of_image(m) ? "image" : "function");
		json_key_str(j, "name", new_name(r, m));
		json_key_str(j, "is", old_name(r, m));
		json_key_str(j, "how", m->how);
		json_key_bool(j, "guess", m->is_guess);
		json_object_end(j);
	}
	json_array_end(j);
}
