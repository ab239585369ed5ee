/* SPDX-License-Identifier: Apache-2.0
 *
 * code_map - pieces of code that replace each other: what a JIT compiler reports.
 *
 * Pieces are added in the order of time; where two overlap the later one holds.  Fill,
 * finish, then look up.  Names are borrowed.
 */
#ifndef DWELL_SYM_CODE_MAP_H
#define DWELL_SYM_CODE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct code_map;

struct code_piece {
	uint64_t start, size;
	const char *name;
	uint64_t user; /* the caller's */
};

struct code_map *code_map_new(void);
void code_map_free(struct code_map *m);
void code_map_freep(struct code_map **m);

/* Pieces of no size, or that wrap around, are ignored. */
void code_map_add(struct code_map *m, const struct code_piece *piece);
void code_map_finish(struct code_map *m);

const struct code_piece *code_map_find(const struct code_map *m, uint64_t address);
size_t code_map_count(const struct code_map *m);
const struct code_piece *code_map_at(const struct code_map *m, size_t i);

#endif
