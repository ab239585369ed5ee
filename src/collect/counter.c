/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/counter.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "host/privilege.h"

#define CACHE(cache, op, result)                                                         \
	((cache) | (uint64_t)PERF_COUNT_HW_CACHE_OP_##op << 8 |                          \
	 (uint64_t)PERF_COUNT_HW_CACHE_RESULT_##result << 16)

#define CLOCK(n, id, dflt, text)                                                         \
	{                                                                                \
		.name = n, .unit = "ns", .description = text,                            \
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_##id,                \
		.in_default = dflt, .period = 10000000                                   \
	}
#define SOFTWARE(n, id, dflt, p, text)                                                   \
	{                                                                                \
		.name = n, .unit = "count", .description = text,                         \
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_##id,                \
		.in_default = dflt, .period = p                                          \
	}
#define KERNELS_OWN(n, id, p, text)                                                      \
	{                                                                                \
		.name = n, .unit = "count", .description = text,                         \
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_##id,                \
		.in_default = true, .in_kernel = true, .period = p                       \
	}
#define HARDWARE(n, id, dflt, p, text)                                                   \
	{                                                                                \
		.name = n, .unit = "count", .description = text,                         \
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_##id,                \
		.in_default = dflt, .period = p                                          \
	}
#define CACHE_MISSES(n, cache, p, text)                                                  \
	{                                                                                \
		.name = n, .unit = "count", .description = text,                         \
		.type = PERF_TYPE_HW_CACHE,                                              \
		.config = CACHE(PERF_COUNT_HW_CACHE_##cache, READ, MISS), .period = p    \
	}

/* What is frequent is sampled some thousand times a second of a busy CPU. */
const struct counter counters[] = {
	CLOCK("task-clock", TASK_CLOCK, true, "CPU time of the threads"),
	CLOCK("cpu-clock", CPU_CLOCK, false, "CPU time by the CPU's clock"),
	KERNELS_OWN("context-switches", CONTEXT_SWITCHES, 101,
		    "times a thread left its CPU"),
	KERNELS_OWN("cpu-migrations", CPU_MIGRATIONS, 11,
		    "times a thread changed its CPU"),
	SOFTWARE("page-faults", PAGE_FAULTS, true, 101, "page faults of both kinds"),
	SOFTWARE("minor-faults", PAGE_FAULTS_MIN, false, 101,
		 "page faults served from memory"),
	SOFTWARE("major-faults", PAGE_FAULTS_MAJ, false, 11,
		 "page faults that waited for input"),
	SOFTWARE("alignment-faults", ALIGNMENT_FAULTS, false, 11,
		 "unaligned accesses that the kernel repaired"),
	SOFTWARE("emulation-faults", EMULATION_FAULTS, false, 11,
		 "instructions that the kernel emulated"),
	HARDWARE("cycles", CPU_CYCLES, true, 600011, "clock cycles of the core"),
	HARDWARE("instructions", INSTRUCTIONS, true, 600011, "instructions retired"),
	HARDWARE("branches", BRANCH_INSTRUCTIONS, true, 100003, "branches retired"),
	HARDWARE("branch-misses", BRANCH_MISSES, true, 10007,
		 "branches predicted wrongly"),
	HARDWARE("cache-references", CACHE_REFERENCES, false, 100003,
		 "accesses to the last-level cache"),
	HARDWARE("cache-misses", CACHE_MISSES, false, 10007, "last-level cache misses"),
	HARDWARE("bus-cycles", BUS_CYCLES, false, 100003, "clock cycles of the bus"),
	HARDWARE("ref-cycles", REF_CPU_CYCLES, false, 600011,
		 "cycles at the nominal frequency"),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND, false, 600011,
		 "cycles without an instruction to issue"),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND, false, 600011,
		 "cycles without room to issue"),
	CACHE_MISSES("l1d-misses", L1D, 100003, "first-level data cache read misses"),
	CACHE_MISSES("l1i-misses", L1I, 10007, "first-level instruction cache misses"),
	CACHE_MISSES("llc-misses", LL, 10007, "last-level cache read misses"),
	CACHE_MISSES("dtlb-misses", DTLB, 10007, "data translations not in the buffer"),
	CACHE_MISSES("itlb-misses", ITLB, 10007, "code translations not in the buffer"),
	CACHE_MISSES("node-misses", NODE, 10007, "reads from another node's memory"),
	{ .name = NULL },
};

/* Names that a perf user's fingers know, and dwell's own. */
static const struct {
	const char *alias, *name;
} aliases[] = {
	{ "cpu-time", "task-clock" }, /* as experiments call it */
	{ "faults", "page-faults" },
	{ "cs", "context-switches" },
	{ "migrations", "cpu-migrations" },
	{ "cpu-cycles", "cycles" },
	{ "branch-instructions", "branches" },
	{ "L1-dcache-load-misses", "l1d-misses" },
	{ "L1-icache-load-misses", "l1i-misses" },
	{ "LLC-load-misses", "llc-misses" },
	{ "dTLB-load-misses", "dtlb-misses" },
	{ "iTLB-load-misses", "itlb-misses" },
};

static const struct counter *find_exact(const char *name)
{
	for (const struct counter *c = counters; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

const struct counter *counter_find(const char *name, struct err *e)
{
	const struct counter *found = find_exact(name), *nearest = NULL;
	size_t least = 4;

	for (size_t i = 0; !found && i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (!strcmp(aliases[i].alias, name))
			found = find_exact(aliases[i].name);
	if (found)
		return found;
	for (const struct counter *c = counters; c->name; c++) {
		size_t d = text_distance(c->name, name);

		if (d < least) {
			least = d;
			nearest = c;
		}
	}
	if (nearest)
		err_set(e, ERR_USAGE, "no counter '%.40s'; did you mean '%s'?", name,
			nearest->name);
	else
		err_set(e, ERR_USAGE, "no counter '%.40s'; 'dwell list' shows them all",
			name);
	return NULL;
}

bool counter_is_clock(const struct counter *c)
{
	return strcmp(c->unit, "ns") == 0;
}

bool counter_is_user_only(void)
{
	struct privilege p;

	privilege_read(&p);
	return privilege_check(&p, PRIVILEGE_OWN_KERNEL, NULL) < 0;
}

void counter_set(const struct counter *c, struct perf_event_attr *a)
{
	a->type = c->type;
	a->config = c->config;
	a->config1 = c->config1;
	a->config2 = c->config2;
	a->exclude_user |= c->not_user;
	a->exclude_kernel |= c->not_kernel;
	a->exclude_hv |= c->not_hypervisor;
	a->precise_ip = c->precise;
}

static struct perf_event_attr make_attr(const struct counter *c)
{
	struct perf_event_attr a = { .size = sizeof(a),
				     .disabled = 1,
				     .inherit = 1,
				     .enable_on_exec = 1,
				     .exclude_hv = 1,
				     .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
						    PERF_FORMAT_TOTAL_TIME_RUNNING };

	counter_set(c, &a);
	a.exclude_kernel |= counter_is_user_only();
	return a;
}

static int open_for(struct perf_event_attr *a, int pid)
{
	return (int)syscall(SYS_perf_event_open, a, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int counter_open(const struct counter *c, int pid, struct err *e)
{
	struct perf_event_attr a = make_attr(c);
	struct privilege p;
	int fd;

	/* would be opened, and count nothing */
	if ((c->in_kernel || c->not_user) && a.exclude_kernel)
		return err_set(e, ERR_UNSUPPORTED,
			       "needs root or kernel.perf_event_paranoid=1");
	fd = open_for(&a, pid);
	/* Some devices count everywhere, and refuse to be told where not to. */
	if (fd < 0 && errno == EINVAL && !a.exclude_kernel && !c->not_hypervisor) {
		a.exclude_hv = 0;
		fd = open_for(&a, pid);
	}
	if (fd >= 0)
		return fd;
	if (errno == ENOENT || errno == EOPNOTSUPP || errno == ENODEV)
		return err_set(e, ERR_UNSUPPORTED,
			       "not offered by this CPU or virtual machine");
	privilege_read(&p);
	if ((errno == EACCES || errno == EPERM) &&
	    privilege_check(&p, PRIVILEGE_OWN_USER, e) < 0)
		return ERR_UNSUPPORTED;
	return err_os(e, "perf_event_open refuses it");
}

int counter_probe(const struct counter *c, struct err *e)
{
	own(closep) int fd = counter_open(c, 0, e);

	return fd < 0 ? fd : 0;
}
