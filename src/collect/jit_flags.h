/* SPDX-License-Identifier: Apache-2.0
 *
 * jit_flags - what run-time compilers must be told to name their code.
 */
#ifndef DWELL_COLLECT_JIT_FLAGS_H
#define DWELL_COLLECT_JIT_FLAGS_H

struct launch_env;

/* Adds to what the variables already say. */
void jit_flags_set(struct launch_env *env);
/* Why the flags do nothing for the run-time compiler at this path; NULL when they do, or
 * when it is none. */
const char *jit_flags_refusal(const char *path);

#endif
