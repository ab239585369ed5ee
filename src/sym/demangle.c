/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

/* The longest names seen in real C++ are some ten thousand characters.  The library
 * needs stack in proportion to the input (about 80 bytes per character), so the limit
 * keeps a hostile name inside any thread's stack. */
#define INPUT_MAX 16384
/* Substitutions can double with every few characters. */
#define OUTPUT_MAX (64 * 1024)

struct output {
	struct buf *text;
	jmp_buf full;
};

/* The library goes on expanding whatever its callback does, for hours if the name was
 * made for that; it holds no memory in this mode, so leaving it by force is safe. */
static void take(const char *piece, size_t n, void *ctx)
{
	struct output *out = ctx;

	if (n > OUTPUT_MAX - out->text->size)
		longjmp(out->full, 1);
	buf_add(out->text, piece, n);
}

static bool is_cplusplus(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 || strncmp(name, "___Z", 4) == 0;
}

/* Legacy Rust names are valid C++ names that end in a hash: Rust goes first. */
static bool is_legacy_rust(const char *name, size_t n)
{
	return n > 20 && strncmp(name, "_ZN", 3) == 0 && strstr(name, "17h");
}

static bool is_printable(const struct buf *text)
{
	for (size_t i = 0; i < text->size; i++)
		if (text->data[i] < 0x20 || text->data[i] == 0x7f)
			return false;
	return text->size > 0;
}

static bool demangle_rust(const char *name, struct output *out)
{
	return rust_demangle_callback(name, 0, take, out);
}

static bool demangle_cplusplus(const char *name, struct output *out)
{
	return cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_ANSI, take, out);
}

static bool run(bool (*demangle)(const char *, struct output *), const char *name,
		struct buf *ret)
{
	struct output out = { .text = ret };

	buf_clear(ret);
	return setjmp(out.full) == 0 && demangle(name, &out) && is_printable(ret);
}

bool demangle_name(const char *name, struct buf *ret)
{
	size_t n = strnlen(name, INPUT_MAX + 1);
	bool is_rust = strncmp(name, "_R", 2) == 0 || is_legacy_rust(name, n);

	if (n <= INPUT_MAX &&
	    ((is_rust && run(demangle_rust, name, ret)) ||
	     (is_cplusplus(name) && run(demangle_cplusplus, name, ret))))
		return true;
	buf_clear(ret);
	return false;
}
