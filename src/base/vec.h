/* SPDX-License-Identifier: Apache-2.0
 *
 * vec - a growable typed array.
 *
 *	VEC(struct frame) frames = { 0 };
 *	*vec_push(&frames) = (struct frame){ ... };
 *	vec_each(f, &frames) use(f);
 *	vec_fini(&frames);
 *
 * Pushing may move the elements; keep indices, not pointers.
 */
#ifndef DWELL_BASE_VEC_H
#define DWELL_BASE_VEC_H

#include <stddef.h>
#include <stdlib.h>

#define VEC(type)                                                                        \
	struct {                                                                         \
		type *at;                                                                \
		size_t n, cap;                                                           \
	}

/* Makes room for one more and returns where it goes; used by the macros. */
void *vec_grow(void *at, size_t *cap, size_t need, size_t size);

#define vec_reserve(v, count)                                                            \
	((v)->at = (count) > (v)->cap ? vec_grow((v)->at, &(v)->cap, (count),            \
						 sizeof(__typeof__(*(v)->at)))           \
				      : (v)->at)
/* A pointer to one more, zeroed element. */
#define vec_push(v)                                                                      \
	({                                                                               \
		vec_reserve((v), (v)->n + 1);                                            \
		(v)->at[(v)->n] = (__typeof__(*(v)->at)){ 0 };                           \
		&(v)->at[(v)->n++];                                                      \
	})
#define vec_each(p, v)                                                                   \
	for (__typeof__((v)->at + 0) p = (v)->at; (v)->n && p < (v)->at + (v)->n; p++)
#define vec_clear(v) ((v)->n = 0)
#define vec_fini(v)                                                                      \
	do {                                                                             \
		free((v)->at);                                                           \
		(v)->at = NULL;                                                          \
		(v)->n = (v)->cap = 0;                                                   \
	} while (0)

#endif
