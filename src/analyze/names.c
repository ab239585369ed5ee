/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

const char *names_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (path[0] == '[' || !slash || !slash[1])
		return path;
	return slash + 1;
}

/* What may follow a parameter list: " const", " &&", " [clone .cold]" … */
static bool is_qualifier(const char *s)
{
	return !*s || *s == ' ' || *s == '[';
}

/* Where the bracket that ends just before `end` was opened; `end` when nowhere. */
static size_t opening(const char *name, size_t end)
{
	int depth = 0;

	for (size_t i = end; i-- > 0;) {
		depth += name[i] == ')';
		depth -= name[i] == '(';
		if (!depth)
			return i;
	}
	return end;
}

/* The parameters are the last brackets, unless those are part of a name: the call
 * operator's, or those of an enclosing function ("f(int)::{lambda()#1}"). */
size_t names_without_parameters(const char *name)
{
	const char *last = strrchr(name, ')');
	size_t n = strlen(name);

	if (!last || !is_qualifier(last + 1))
		return n;

	size_t at = opening(name, (size_t)(last + 1 - name));
	bool is_operator = at >= 8 && strncmp(name + at - 8, "operator", 8) == 0;
	bool is_name = at == 0 || name[at - 1] == ':' || name[at - 1] == ' ';

	return is_operator || is_name ? n : at;
}

bool names_is_function(const char *have, const char *want)
{
	size_t n = strlen(want);

	return strcmp(have, want) == 0 ||
	       (names_without_parameters(have) == n && strncmp(have, want, n) == 0);
}

/* Letters beyond ASCII are of words, too. */
static bool is_in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Where the template arguments that end a name begin. */
static size_t without_arguments(const char *name, size_t n)
{
	int depth = 0;

	if (!n || name[n - 1] != '>')
		return n;
	for (size_t i = n; i-- > 0;) {
		depth += name[i] == '>' && (!i || name[i - 1] != '-');
		depth -= name[i] == '<';
		if (!depth)
			return i;
	}
	return n;
}

/* Where "operator->" begins, which may be of brackets, or the end. */
static size_t operator_at(const char *name, size_t end)
{
	static const char word[] = "operator";
	const char *last = NULL;

	for (const char *s = name; (s = strstr(s, word)) && s < name + end; s++)
		if ((s == name || !is_in_word(s[-1])) && !is_in_word(s[sizeof(word) - 1]))
			last = s;
	return last ? (size_t)(last - name) : end;
}

char *names_typed(char *dst, size_t cap, const char *name, unsigned n_scopes)
{
	size_t end = names_without_parameters(name), at = operator_at(name, end);
	int depth = 0;

	if (at == end)
		at = end = without_arguments(name, end);
	for (; at > 0; at--) {
		char c = name[at - 1];

		depth += c == '>' || c == ')' || c == '}';
		depth -= c == '<' || c == '(' || c == '{';
		if (depth <= 0 && (c == ' ' || (c == ':' && !n_scopes)))
			break;
		if (depth <= 0 && c == ':' && at > 1 && name[at - 2] == ':') {
			n_scopes--;
			at--;
		}
	}
	snprintf(dst, cap, "%.*s", (int)(end - at), name + at);
	return dst;
}

bool names_is_word(const char *have, const char *want)
{
	size_t n = strlen(want);
	const char *end = have + names_without_parameters(have);

	if (!n)
		return false;
	for (const char *at = have; (at = strstr(at, want)) && at + n <= end; at++)
		if ((at == have || !is_in_word(at[-1])) && !is_in_word(at[n]))
			return true;
	return false;
}

bool names_is_part(const char *have, const char *want)
{
	static const char ellipsis[] = "…";
	char piece[1024];

	for (;;) {
		const char *end = strstr(want, ellipsis);
		size_t n = end ? (size_t)(end - want) : strlen(want);

		if (n >= sizeof(piece))
			return false;
		memcpy(piece, want, n);
		piece[n] = '\0';
		have = strstr(have, piece);
		if (!have || !end)
			return have;
		have += n;
		want = end + sizeof(ellipsis) - 1;
	}
}

bool names_is_file(const char *have, const char *want)
{
	size_t have_n = strlen(have), want_n = strlen(want);

	if (!want_n || want_n > have_n || strcmp(have + have_n - want_n, want) != 0)
		return false;
	return have_n == want_n || want[0] == '/' || have[have_n - want_n - 1] == '/';
}

/* Replace the contents of template brackets deeper than `depth` by an ellipsis. */
static void elide_templates(char *dst, size_t cap, const char *src, int depth)
{
	size_t n = 0;
	int at = 0;

	for (const char *s = src; *s && n + 8 < cap; s++) {
		bool opens = *s == '<' && s[1] != '<' && s[1] != '=' &&
			     (s < src + 8 || strncmp(s - 8, "operator", 8) != 0);
		bool closes = *s == '>' && at > 0 && s[-1] != '-';

		if (closes)
			at--;
		if (at <= depth)
			dst[n++] = *s;
		if (opens && at++ == depth) {
			memcpy(dst + n, "…", 3);
			n += 3;
		}
	}
	dst[n] = '\0';
}

static bool fits(const char *s, size_t width)
{
	return text_width(s) <= width;
}

/* Bytes of the first `columns` characters. */
static size_t bytes_of(const char *s, size_t columns)
{
	size_t i = 0;

	while (s[i] && columns--) {
		i++;
		while (((unsigned char)s[i] & 0xc0) == 0x80)
			i++;
	}
	return i;
}

/* Keep a third of the beginning and two thirds of the end, or of that as many columns as
 * are to stay whole: the end names the function, the beginning its home. */
static void cut_middle(char *dst, size_t cap, const char *src, size_t width, size_t whole)
{
	size_t columns = text_width(src), room = width ? width - 1 : 0;
	size_t least = room < whole ? room : whole;
	size_t head = width > 3 ? room / 3 : 0;
	size_t tail = room - head > least ? room - head : least;
	size_t head_bytes = bytes_of(src, room - tail);
	size_t tail_at = bytes_of(src, columns - tail);

	snprintf(dst, cap, "%.*s…%s", (int)head_bytes, src, src + tail_at);
}

/* What tells which one it is, of a path the file, of a connection the peer: "/file.so",
 * "->10.0.0.2:80"; NULL: it is none. */
static const char *telling_end(const char *src)
{
	if (*src == '/')
		return strrchr(src, '/');
	return text_starts(src, "TCP ") || text_starts(src, "UDP ") ? strstr(src, "->")
								    : NULL;
}

/* "libpython3.11.so.1.0": the end is what says least. */
static bool is_library(const char *name)
{
	return strstr(name, ".so") && !strpbrk(name, ": </");
}

static void cut_end(char *dst, size_t cap, const char *src, size_t width)
{
	snprintf(dst, cap, "%.*s…", (int)bytes_of(src, width ? width - 1 : 0), src);
}

/* Where the last scope operator outside brackets begins that leaves `width`; NULL when
 * none does. */
static const char *outer_scope(const char *src, size_t width)
{
	int depth = 0;

	for (const char *s = src; *s; s++) {
		depth += *s == '(' || *s == '<' || *s == '{';
		depth -= *s == ')' || *s == '}' || (*s == '>' && s > src && s[-1] != '-');
		if (depth == 0 && s > src && s[0] == ':' && s[1] == ':' && fits(s, width))
			return s;
	}
	return NULL;
}

/* "…::Parser::next": whole inner scopes, unless that leaves much room unused. */
static void cut_scopes(char *dst, size_t cap, const char *src, size_t width)
{
	size_t columns = text_width(src), room = width > 1 ? width - 1 : 0;
	const char *scope = outer_scope(src, room);

	if (!scope || text_width(scope) * 3 < room * 2)
		scope = src + bytes_of(src, columns - room);
	snprintf(dst, cap, "…%s", scope);
}

/* What stands in brackets is no function but a remark, which reads from its start. */
static void cut(char *dst, size_t cap, const char *src, size_t width)
{
	const char *end = telling_end(src);

	if (end)
		cut_middle(dst, cap, src, width, text_width(end));
	else if (is_library(src) || src[0] == '[')
		cut_end(dst, cap, src, width);
	else if (strstr(src, "::"))
		cut_scopes(dst, cap, src, width);
	else
		cut_middle(dst, cap, src, width, 0);
}

char *names_cut_end(char *dst, size_t cap, const char *text, size_t width)
{
	char shown[1024];

	text_printable(shown, sizeof(shown), text);
	if (fits(shown, width))
		snprintf(dst, cap, "%s", shown);
	else
		cut_end(dst, cap, shown, width);
	return dst;
}

char *names_shorten(char *dst, size_t cap, const char *name, size_t width)
{
	char work[1024], shown[1024];

	text_printable(shown, sizeof(shown), name);
	snprintf(dst, cap, "%s", shown);
	if (fits(dst, width))
		return dst;
	shown[names_without_parameters(shown)] = '\0';
	snprintf(dst, cap, "%s", shown);
	for (int depth = 2; depth >= 0 && !fits(dst, width); depth--) {
		elide_templates(work, sizeof(work), shown, depth);
		snprintf(dst, cap, "%s", work);
	}
	if (fits(dst, width))
		return dst;
	snprintf(work, sizeof(work), "%s", dst);
	cut(dst, cap, work, width);
	return dst;
}
