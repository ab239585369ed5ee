/* SPDX-License-Identifier: Apache-2.0
 *
 * system_apart - tells the kernel's side of which executables processes are told apart.
 *
 * One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_APART_H
#define DWELL_COLLECT_SYSTEM_APART_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

struct path_choice;
struct system_apart;

/* How many the map has to hold where there is a choice, 1: where there is none. */
uint32_t system_apart_n_entries(const struct path_choice *chosen);

/* The choice is borrowed; NULL: there is none, and *ret is NULL. */
must_use int system_apart_new(int map, const struct path_choice *chosen,
			      struct system_apart **ret, struct err *e);
void system_apart_free(struct system_apart *a);
void system_apart_freep(struct system_apart **a);

/* An image was met, by that path; NULL: it is not known. */
void system_apart_decide(struct system_apart *a, uint32_t image, const char *path);

#endif
