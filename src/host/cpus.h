/* SPDX-License-Identifier: Apache-2.0
 *
 * cpus - the CPUs of this machine.
 */
#ifndef DWELL_HOST_CPUS_H
#define DWELL_HOST_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"

#define CPUS_MAX 65536

struct cpus {
	VEC(uint32_t) ids; /* ascending */
};

void cpus_fini(struct cpus *c);
/* "0-3,5\n" as the kernel and --cpu write it. */
must_use int cpus_parse(struct cpus *c, const char *list, struct err *e);
/* Those that are online now. */
must_use int cpus_online(struct cpus *c, struct err *e);
/* Those that are there, online or not. */
must_use int cpus_present(struct cpus *c, struct err *e);
/* Another number after each time that the CPU came online, 0: none is told. */
uint64_t cpus_life(uint32_t id);
bool cpus_has(const struct cpus *c, uint32_t id);
/* All of the numbers are below that. */
uint32_t cpus_end(const struct cpus *c);

/* "Intel(R) Xeon(R) …", "unknown" when the kernel does not say. */
void cpus_model_name(char *s, size_t cap);
/* Which one it is, in numbers, as far as the kernel says, and features by which cores are
 * told apart: "GenuineIntel 6 143 amx_tile avx512_fp16 avx512f avx_vnni l1i:32K"; of
 * aarch64 "0x41 8 0xd0c l1i:64K". */
void cpus_processor(char *s, size_t cap);
/* The same of a file as /proc/cpuinfo is, and a directory of caches as that of a CPU. */
void cpus_processor_of(const char *path, const char *caches, char *s, size_t cap);

#endif
