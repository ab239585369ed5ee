/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_record - one record of a perf ring as a plain struct.
 *
 * Every event that we open has the sample fields of PERF_RECORD_BASE, so the time and the
 * event's id of any record are found without knowing which event wrote it.
 */
#ifndef DWELL_COLLECT_PERF_RECORD_H
#define DWELL_COLLECT_PERF_RECORD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/offline.h"

#define PERF_RECORD_BASE                                                                 \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |  \
	 PERF_SAMPLE_CPU)
/* What may be added to it. */
#define PERF_RECORD_STACK                                                                \
	(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
#define PERF_RECORD_ADDR PERF_SAMPLE_ADDR
/* Of events whose periods change: what the last was, and what is counted, which the
 * kernel does not tell of threads that are made later before Linux 6.13. */
#define PERF_RECORD_RATE (PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ)

/* Of events of CPUs that keep the branches they took. */
#define PERF_RECORD_BRANCHES PERF_SAMPLE_BRANCH_STACK

#define PERF_RECORD_CHAIN_MAX 512

struct perf_record_sample {
	uint64_t ip, addr;
	uint64_t period, counted; /* 0: not told */
	uint32_t cpu;
	size_t n_kernel; /* innermost first */
	uint64_t kernel_pcs[PERF_RECORD_CHAIN_MAX];
	bool has_regs, is_32bit; /* no registers of a kernel thread */
	struct unwind_regs regs;
	uint64_t cpu_flags; /* with them; 0: not told */
	const uint8_t *stack;
	size_t stack_size;
	const uint8_t *raw; /* NULL: none */
	size_t raw_size;
	const uint8_t *branches; /* as struct perf_branch_entry; NULL: none */
	size_t n_branches;
};

struct perf_record {
	uint32_t type; /* enum perf_event_type */
	uint16_t misc;
	uint64_t time_ns, id;
	uint32_t pid, tid; /* of who ran when it was written */
	uint32_t cpu;	   /* not of samples: in their body */
	union {
		struct {
			uint32_t pid, ppid, tid, ptid;
		} task; /* FORK, EXIT */
		struct {
			uint32_t pid, tid;
			const char *name;
		} comm;
		struct {
			uint32_t pid, tid;
			uint64_t addr, length, file_offset, inode;
			const uint8_t *build_id;
			size_t build_id_size;
			uint32_t prot;
			const char *path;
		} mmap;
		struct {
			uint64_t n;
		} lost; /* LOST, LOST_SAMPLES */
	};
};

/* The time of a record, for putting it into order; 0 when it is damaged. */
uint64_t perf_record_time(const void *record, size_t size);
/* Parses all but the body of a sample.  False: damaged or of no interest. */
bool perf_record_parse(const void *record, size_t size, struct perf_record *ret);
/* The body of a PERF_RECORD_SAMPLE of an event with that sample_type. */
bool perf_record_parse_sample(const void *record, size_t size, uint64_t sample_type,
			      struct perf_record_sample *ret);

#endif
