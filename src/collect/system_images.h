/* SPDX-License-Identifier: Apache-2.0
 *
 * system_images - the files that the kernel's side met, by the numbers it gave them.
 *
 * Each is opened at once, while the process that maps it is there: what it is called and
 * who it is stays known, and its unwind rows are loaded.  One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_IMAGES_H
#define DWELL_COLLECT_SYSTEM_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"
#include "collect/own_library.h"
#include "store/writer.h"
#include "wire/stack_record.h"

struct system_images;
struct symbol_store;
struct system_notes;
struct system_rows;

struct system_images *system_images_new(struct system_rows *rows);
void system_images_free(struct system_images *s);
void system_images_freep(struct system_images **s);

/* The kernel's side met it, or wants its rows again. */
void system_images_meet(struct system_images *s, const struct stack_record_image *r);

/* The symbols of what is met from now on are kept there, which is borrowed. */
void system_images_keep_symbols(struct system_images *s, struct symbol_store *symbols);

/* What is known of files stays known there, which is borrowed; and so is what is there.
 */
void system_images_keep_notes(struct system_images *s, struct system_notes *notes);

/* Load the rows of one that wants them, which takes up to a second; false: none does. */
bool system_images_load(struct system_images *s);
/* Some wants rows that are not there yet. */
bool system_images_wants_rows(const struct system_images *s);
/* Readable when there are rows that were compiled beside; -1: there will be none. */
int system_images_fd(const struct system_images *s);

/* Its number becomes another file's. */
void system_images_forget(struct system_images *s, uint32_t image);

/* Ids are of this recording from now on. */
void system_images_begin(struct system_images *s, struct writer *w);
/* Id in the recording. */
uint32_t system_images_id(struct system_images *s, uint32_t image);
/* Where the kernel starts it, as an offset in the file; 0: unknown. */
uint64_t system_images_entry(const struct system_images *s, uint32_t image);
/* Where data was linked to be that is at, or behind, an offset in the file; false: that
 * is nothing that it loads. */
bool system_images_data(const struct system_images *s, uint32_t image, uint64_t offset,
			uint64_t *ret_linked);
/* The path, NULL: not known. */
const char *system_images_path(const struct system_images *s, uint32_t image);

/* Is it a library of ours, which is loaded into programs? NONE where that is not known.
 */
enum own_library_code system_images_whose(const struct system_images *s, uint32_t image);

/* Images that were gone before they could be opened. */
uint32_t system_images_n_gone(const struct system_images *s);

#endif
