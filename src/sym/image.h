/* SPDX-License-Identifier: Apache-2.0
 *
 * image - one image of a symbolizer and what its kind can do.
 *
 * Each kind is one file that exports one const struct image_ops.  An image is opened
 * at its first question; from then on source and problem are set.
 */
#ifndef DWELL_SYM_IMAGE_H
#define DWELL_SYM_IMAGE_H

#include <elf.h>

#include "base/buf.h"
#include "base/map.h"
#include "sym/function_table.h"
#include "sym/symbolizer.h"

/* What the machine that reports runs: likely what recorded, when nothing tells. */
#if defined(__aarch64__)
#define IMAGE_MACHINE_HERE EM_AARCH64
#else
#define IMAGE_MACHINE_HERE EM_X86_64
#endif

struct image_ops;

struct image {
	struct sym_image_ref ref; /* owned copies of its strings */
	uint32_t id;
	const struct image_ops *ops;
	void *state; /* of the ops */
	bool is_open;
	bool is_known; /* it was open: source and problem are set */
	enum sym_source source;
	struct buf problem; /* text, empty: none */
	const struct sym_options *options;
	struct function_table *functions;
	unsigned n_unused; /* calls of symbolizer_close_unused() since it was needed */
	struct map places; /* offset << 1 | is_return → place in kept results */
};

struct image_place {
	uint32_t first_frame, n_frames; /* 0 frames: nothing known there */
};

/* Only `open`, `close` and `resolve` are mandatory. */
struct image_ops {
	void (*open)(struct image *im);
	void (*close)(struct image *im);
	/* Link-time address of an offset of the store; NULL: the same. */
	bool (*address)(struct image *im, uint64_t offset, uint64_t *ret);
	/* Addresses ascend and are distinct; one place each. */
	void (*resolve)(struct image *im, const uint64_t *addresses, size_t n,
			struct image_place *ret);
	/* EM_… of its code, 0 unknown; NULL: as here. */
	unsigned (*machine)(struct image *im);
	/* The files that were found, wherever. */
	void (*each_file)(struct image *im, sym_file_fn *visit, void *ctx);
	/* As symbolizer_text(). */
	size_t (*text)(struct image *im, struct sym_range **ret);
	int (*code)(struct image *im, uint64_t address, size_t size, struct buf *ret,
		    struct err *e);
	int (*lines)(struct image *im, uint64_t address, size_t size,
		     struct sym_line_row **ret, size_t *ret_n, struct err *e);
	/* Enter functions whose readable name contains the text into the table. */
	void (*enter_functions)(struct image *im, const char *text);
	/* The variable that contains an address, as "queue.lock+0x28"; false: no table
	 * has one there. */
	bool (*variable)(struct image *im, uint64_t address, struct buf *ret);
	/* How many functions the symbol table has of a linkage name. */
	size_t (*count_symbols)(struct image *im, const char *name);
};

extern const struct image_ops object_image_ops; /* ELF files, the vDSO */
extern const struct image_ops kernel_image_ops; /* the kernel and its modules */
extern const struct image_ops jit_image_ops;

/* One frame without line. */
struct image_place image_plain_place(struct image *im, uint32_t function);
/* A blob of the recording; name NULL: the first of its kind. */
bool image_blob(const struct image *im, const char *kind, const char *name,
		struct buf *ret);
/* Whole text of a file that the kernel makes up (/proc) or a small one. */
bool image_read_file(const char *path, size_t max, struct buf *ret);

#endif
