/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_fixture - perf events of the testing thread itself, or of all CPUs.
 */
#ifndef DWELL_TESTS_PERF_FIXTURE_H
#define DWELL_TESTS_PERF_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/perf_files.h"
#include "collect/source.h"

#define PERF_FIXTURE_CPUS 1024
/* CPU time of which ten samples are left where a busy machine, or what it runs on, makes
 * the timers late: each delay leaves one. */
#define PERF_FIXTURE_ENOUGH_NS UINT64_C(100000000)

/* What came out of the rings. */
struct perf_fixture_seen {
	size_t n, n_unknown;
	uint64_t last_time_ns;
	bool is_out_of_order;
	size_t on[PERF_FIXTURE_CPUS];	   /* samples by CPU */
	size_t written[PERF_FIXTURE_CPUS]; /* those of them that perf_deep wrote */
	size_t deepest[PERF_FIXTURE_CPUS]; /* bytes of stack that were copied */
};

struct perf_fixture {
	struct perf_files files;
	struct cpus cpus; /* online */
	struct plan plan; /* CPU time with stacks, every millisecond */
	struct scope scope;
	struct perf_stream_settings settings;
	uint64_t stolen_ns; /* since boot, when the fixture was made */
};

/* No streams yet.  Skips the test where the user may not do this. */
void perf_fixture_init(struct perf_fixture *f, enum scope_kind kind);
void perf_fixture_fini(struct perf_fixture *f);
/* Streams of the plan's experiment. */
void perf_fixture_add_samples(struct perf_fixture *f);
/* Pieces of deep stacks, for CPUs below n_cpus.  Skips where BPF is not permitted. */
void perf_fixture_add_deep(struct perf_fixture *f, uint32_t n_cpus);
/* An event that no kernel knows. */
void perf_fixture_break(struct perf_fixture *f, uint32_t stream);
void perf_fixture_mend(struct perf_fixture *f, uint32_t stream);

void perf_fixture_pin(uint32_t cpu);
/* Use so much CPU time, below stack_bytes of stack. */
void perf_fixture_work(uint64_t ns, size_t stack_bytes);
/* What a hypervisor took meanwhile: events count it, clocks of CPU time do not. */
uint64_t perf_fixture_stolen_ns(const struct perf_fixture *f);
void perf_fixture_drain(struct perf_fixture *f, struct perf_fixture_seen *seen);

#endif
