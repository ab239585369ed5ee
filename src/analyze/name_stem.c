/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/name_stem.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

#define RUST_HASH 16 /* hexadecimal digits */

/* What gcc and clang put behind a dot; a number may follow each. */
static const char *const suffixes[] = { "isra",	      "constprop", "part",
					"cold",	      "lto_priv",  "llvm",
					"localalias", "unlikely",  "hot" };

static bool is_suffix(const char *word, size_t n)
{
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (strlen(suffixes[i]) == n && strncmp(word, suffixes[i], n) == 0)
			return true;
	return false;
}

static bool is_number(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isdigit((unsigned char)s[i]))
			return false;
	return n > 0;
}

/* Where ".isra.0" begins that ends at n; n when nothing of the kind does. */
static size_t without_suffix(const char *s, size_t n)
{
	size_t end = n, dot = n;

	for (;;) {
		while (dot > 0 && s[dot - 1] != '.')
			dot--;
		if (dot < 2)
			return n;
		if (is_suffix(s + dot, end - dot))
			return dot - 1;
		if (end != n || !is_number(s + dot, end - dot))
			return n;
		end = dot = dot - 1;
	}
}

static size_t without_suffixes(const char *s, size_t n)
{
	for (size_t shorter; (shorter = without_suffix(s, n)) < n;)
		n = shorter;
	return n;
}

/* As the demangler says it: "f(int) [clone .isra.0] [clone .cold]". */
static size_t without_clones(const char *s, size_t n)
{
	static const char opening[] = " [clone ";

	while (n && s[n - 1] == ']') {
		size_t at = n - 1;

		while (at > 0 && strncmp(s + at, opening, sizeof(opening) - 1) != 0)
			at--;
		if (!at)
			break;
		n = at;
	}
	return n;
}

static bool is_hash(const char *s)
{
	for (size_t i = 0; i < RUST_HASH; i++)
		if (!isxdigit((unsigned char)s[i]))
			return false;
	return true;
}

/* "::h" and the hash, demangled; "17h", the hash and "E" in a linkage name. */
static size_t without_rust_hash(const char *s, size_t n)
{
	if (n > RUST_HASH + 3 && strncmp(s + n - RUST_HASH - 3, "::h", 3) == 0 &&
	    is_hash(s + n - RUST_HASH))
		return n - RUST_HASH - 3;
	if (n > RUST_HASH + 4 && s[n - 1] == 'E' && strncmp(s, "_ZN", 3) == 0 &&
	    strncmp(s + n - RUST_HASH - 4, "17h", 3) == 0 &&
	    is_hash(s + n - RUST_HASH - 1))
		return n - RUST_HASH - 4;
	return n;
}

void name_stem_function(const char *name, struct buf *ret)
{
	size_t n = without_clones(name, strlen(name));

	n = without_suffixes(name, n);
	buf_add(ret, name, without_rust_hash(name, n));
}

void name_stem_image(const char *name, struct buf *ret)
{
	for (const char *s = name; *s; s++) {
		if (!isdigit((unsigned char)*s)) {
			buf_u8(ret, (uint8_t)*s);
			continue;
		}
		while (isdigit((unsigned char)s[1]) ||
		       (s[1] == '.' && isdigit((unsigned char)s[2])))
			s++;
		buf_u8(ret, '#');
	}
}
