/* SPDX-License-Identifier: Apache-2.0
 *
 * symbolizer - places in images to functions, files, lines and inlined call chains.
 *
 * Addresses are resolved in bulk, each distinct one once; nothing is forked; what has
 * no name says why.  Strings and functions are owned by the symbolizer and live as
 * long as it.  One thread (it may use more inside).
 */
#ifndef DWELL_SYM_SYMBOLIZER_H
#define DWELL_SYM_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"

struct symbolizer;

enum sym_image_kind { /* the same numbers as enum image_kind of the store */
		      SYM_ELF = 0,
		      SYM_KERNEL = 1,
		      SYM_MODULE = 2,
		      SYM_VDSO = 3,
		      SYM_JIT = 4,
		      SYM_ANON = 5,
		      SYM_UNKNOWN = 6,
		      SYM_TRUNCATED = 7,
		      SYM_LABEL = 8,
};

struct sym_image_ref {
	enum sym_image_kind kind;
	const char *path;      /* as the target saw it */
	const char *host_path; /* where the recorder opened it, or NULL / "" */
	const uint8_t *build_id;
	size_t build_id_size;
	uint32_t pid;	    /* JIT */
	uint32_t recording; /* number of the recording that it is in */
	uint64_t base;	    /* kernel, module */
	/* Of the file when it was recorded, 0 unknown: without build-id they tell whether
	 * it was replaced since. */
	uint64_t size_bytes, mtime_s;
};

/* A file kept inside the recording (archived image, kallsyms, JIT map, source):
 * fills *ret and returns true, or returns false.  Kinds: "elf", "debug", "alternate"
 * (dwz), "package" (.dwp), "split" (.dwo), "kallsyms", "modules", "jit-map", "jit-dump",
 * "source"; name NULL: whatever there is. */
typedef bool sym_blob_fn(void *ctx, const struct sym_image_ref *image, const char *kind,
			 const char *name, struct buf *ret);

struct sym_options {
	const char *const *debug_dirs; /* NULL-terminated; NULL: /usr/lib/debug */
	/* Where there are files of symbols by build-id, for binaries that are nowhere;
	 * NULL-terminated, or NULL. */
	const char *const *symbol_dirs;
	const char *sysroot; /* look for images below it, or NULL */
	bool no_inline, no_debuginfod, keep_mangled;
	bool is_by_tables; /* of symbols: no lines, ten times faster */
	/* Who asks for the same places again and again: what was found is kept, and
	 * images stay open until symbolizer_close_unused(). */
	bool keeps_places;
	sym_blob_fn *blob;
	void *blob_ctx;
};

enum sym_source { /* how an image's names were found, best first */
		  SYM_FROM_DEBUG_INFO,
		  SYM_FROM_SYMTAB,
		  SYM_FROM_MINI_DEBUG, /* .gnu_debugdata */
		  SYM_FROM_DYNSYM,
		  SYM_FROM_BOUNDS, /* only function bounds from .eh_frame: fn@offset */
		  SYM_FROM_KALLSYMS,
		  SYM_FROM_PERF_MAP,
		  SYM_FROM_JITDUMP,
		  SYM_FROM_NOTHING,
};

struct sym_function {
	const char *name;      /* demangled; never NULL; "[unresolved]"-like when none */
	const char *linkage;   /* as in the symbol table, or NULL */
	const char *decl_file; /* or NULL */
	uint32_t decl_line;
	uint32_t image;	      /* sym image id */
	uint64_t start, size; /* link-time address; 0 when only inlined or unknown */
	bool is_resolved;     /* false: name only describes the place */
};

struct sym_frame {
	const char *file; /* or NULL; interned: equal text, equal pointer */
	uint32_t function;
	uint32_t line, column; /* 0 unknown */
	bool is_inlined;       /* inlined into the next frame */
};

struct sym_result {
	uint32_t first_frame, n_frames; /* innermost inlined function first; n >= 1 */
	uint64_t address;		/* link-time (ELF) address of the offset */
};

struct symbolizer *symbolizer_new(const struct sym_options *options);
void symbolizer_free(struct symbolizer *s);
void symbolizer_freep(struct symbolizer **s);

/* Same image (see image_ref.h), same id. */
uint32_t symbolizer_image(struct symbolizer *s, const struct sym_image_ref *ref);
/* offsets as in the store's locations; is_return[i]: look up the call before it. */
void symbolizer_resolve(struct symbolizer *s, uint32_t image, const uint64_t *offsets,
			const bool *is_return, size_t n, struct sym_result *ret);
/* The variable at a link-time address, as one frame: "queue", "queue+0x28", or
 * "[server+0x4a40]" where no table names it. */
void symbolizer_variable(struct symbolizer *s, uint32_t image, uint64_t address,
			 struct sym_result *ret);
/* Give back what the files of all images take in memory.  Functions and frames stay; an
 * image that is asked for more is opened again. */
void symbolizer_close_images(struct symbolizer *s);
/* The same for images that nothing new was asked of since the last dozen calls, and for
 * those whose names change while they run. */
void symbolizer_close_unused(struct symbolizer *s);

const struct sym_function *symbolizer_function(const struct symbolizer *s, uint32_t id);
uint32_t symbolizer_n_functions(const struct symbolizer *s);
const struct sym_frame *symbolizer_frame(const struct symbolizer *s, uint32_t i);

/* Quality of an image, for the reports' last lines. */
enum sym_source symbolizer_image_source(struct symbolizer *s, uint32_t image);
/* EM_… of <elf.h>: whose instructions the code of the image is. */
unsigned symbolizer_machine(struct symbolizer *s, uint32_t image);
const char *symbolizer_image_path(const struct symbolizer *s, uint32_t image);
/* Why names or lines are missing and what to do ("build-id differs from the file",
 * "no debug information: install libc6-dbg or set DEBUGINFOD_URLS"), or NULL. */
const char *symbolizer_image_problem(struct symbolizer *s, uint32_t image);

/* Every file on disk that the names and lines of an image may come from, but what is
 * kept inside the recording already: by kind and name sym_blob_fn asks for it again.
 * For archives. */
typedef void sym_file_fn(void *ctx, const char *kind, const char *name, const char *path);

void symbolizer_each_file(struct symbolizer *s, uint32_t image, sym_file_fn *visit,
			  void *ctx);

/* Where the code of a file is, in link-time addresses. */
struct sym_range {
	uint64_t start, end;
};

/* Its executable segments in the order of their addresses, without those that overlap one
 * before; 0: the file is not at hand (symbolizer_image_problem), or has no code. */
size_t symbolizer_text(struct symbolizer *s, uint32_t image, struct sym_range **ret);

/* For annotate: the function's bytes and its line rows, by link-time address. */
struct sym_line_row {
	uint64_t address, end;
	const char *file;
	uint32_t line, column;
};

must_use int symbolizer_code(struct symbolizer *s, uint32_t image, uint64_t address,
			     size_t size, struct buf *ret, struct err *e);
must_use int symbolizer_lines(struct symbolizer *s, uint32_t image, uint64_t address,
			      size_t size, struct sym_line_row **ret, size_t *ret_n,
			      struct err *e);
/* Text of a source file (archived, as recorded, or below source_dirs). */
must_use int symbolizer_source(struct symbolizer *s, uint32_t image, const char *file,
			       struct buf *ret, struct err *e);
/* Functions that the linker knows by a name; 0 also where its table is not at hand. */
size_t symbolizer_count_symbols(struct symbolizer *s, uint32_t image, const char *name);
/* Functions whose demangled name equals or, if none does, contains the text. */
size_t symbolizer_find_functions(struct symbolizer *s, uint32_t image, const char *text,
				 uint32_t *ret_ids, size_t max);

#endif
