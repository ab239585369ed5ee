/* SPDX-License-Identifier: Apache-2.0
 *
 * count_calls - the system calls that the counting engine makes by itself, with the
 * arguments that filters of calls (seccomp) may look at.
 *
 * The engine asks before a program forbids itself some (count/call_needs), a recorder
 * before it brings the engine to one that has (collect/count_seccomp).
 */
#ifndef DWELL_WIRE_COUNT_CALLS_H
#define DWELL_WIRE_COUNT_CALLS_H

#include <asm/prctl.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE /* kernel 5.14 */
#define MADV_POPULATE_WRITE 23
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif

/* What the program may go on doing, and the engine has to make calls for. */
enum {
	COUNT_CALLS_OF_ALL = 1,
	COUNT_CALLS_OF_THREADS = 2,
	COUNT_CALLS_OF_CHILDREN = 4,
	COUNT_CALLS_OF_PROGRAMS = 8, /* that it executes */
	COUNT_CALLS_OF_NEW = COUNT_CALLS_OF_CHILDREN | COUNT_CALLS_OF_PROGRAMS,
	COUNT_CALLS_OF_PATHS = 16,
	COUNT_CALLS_OF_LIMITS = 32,
	COUNT_CALLS_AT_EASE = 64, /* nothing that it could not do without */
	COUNT_CALLS_MUST = 128,	  /* beside: the engine ends the program where it fails */
};

/* Whether it is made where a recorder brings the engine, or takes it away. */
enum {
	COUNT_CALLS_NO,	  /* or it is not asked for */
	COUNT_CALLS_MAY,  /* may fail, but nobody may die of it */
	COUNT_CALLS_NEED, /* may not fail */
};

/* Arguments. */
#define COUNT_CALLS_ANY	    0x470000000000ULL
#define COUNT_CALLS_SOME    1 /* a process, a thread, a file: whichever */
#define COUNT_CALLS_PAGE    4096
#define COUNT_CALLS_HERE    ((uint32_t)AT_FDCWD)
#define COUNT_CALLS_MASK    sizeof(uint64_t)
#define COUNT_CALLS_NO_FILE UINT64_MAX
#define COUNT_CALLS_MEMORY  (PROT_READ | PROT_WRITE)
#define COUNT_CALLS_CODE    (PROT_READ | PROT_EXEC)
#define COUNT_CALLS_MINE    (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)
#define COUNT_CALLS_SHARED  (MAP_SHARED | MAP_NORESERVE | MAP_FIXED)
#define COUNT_CALLS_CREATE  (O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC)
#define COUNT_CALLS_REMAP   (MREMAP_MAYMOVE | MREMAP_FIXED)

#endif
