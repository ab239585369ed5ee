/* SPDX-License-Identifier: Apache-2.0
 *
 * names - function and image names as people write them.
 */
#ifndef DWELL_ANALYZE_NAMES_H
#define DWELL_ANALYZE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The last component of a path; a name in brackets is kept whole. */
const char *names_base(const char *path);
/* Bytes of a demangled name without its parameter list: "ns::f<int>(long)" gives the
 * length of "ns::f<int>". */
size_t names_without_parameters(const char *name);
/* The last part of a demangled name as somebody would type it who wants `n_scopes` of its
 * scopes: of "void ns::Box<int>::f<long>(long)" 0 is "f", 1 is "Box<int>::f". */
char *names_typed(char *dst, size_t cap, const char *name, unsigned n_scopes);
/* `want` is the whole name, or the whole name without parameters. */
bool names_is_function(const char *have, const char *want);
/* `want` stands in the name, before its parameters, as a word: between no letters, digits
 * or underscores.  "f" in "f [eval]:1:11" and "ns::f<int>", not in "free". */
bool names_is_word(const char *have, const char *want);
/* `want` is a part of the name; an ellipsis in it stands for anything, so that a name
 * that was shortened for a table finds the whole one. */
bool names_is_part(const char *have, const char *want);
/* `want` is the path or its last components. */
bool names_is_file(const char *have, const char *want);
/* Fit a demangled name into `width` columns: parameters go first, then template
 * arguments from the innermost out, then the middle.  Writes at most cap bytes. */
char *names_shorten(char *dst, size_t cap, const char *name, size_t width);
/* The same for other text, which is read from its start. */
char *names_cut_end(char *dst, size_t cap, const char *text, size_t width);

#endif
