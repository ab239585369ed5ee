/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_probe.h"

#include "collect/counter.h"
#include "collect/perf_stream.h"
#include "host/cpus.h"
#include "host/privilege.h"

/* What must be allowed for the experiment's numbers to be whole: time in the kernel
 * belongs to CPU time, and switches happen there.  But a running process has no other
 * source: its user part is better than nothing, and the recording says so. */
static enum privilege_level needed(const struct experiment *x, const struct scope *scope)
{
	if (scope->kind == SCOPE_CPUS)
		return PRIVILEGE_MACHINE;
	if (x->trigger == EXPERIMENT_FAULTS || x->trigger == EXPERIMENT_COUNTER ||
	    (x->trigger == EXPERIMENT_CPU_TIME && scope->kind != SCOPE_LAUNCH))
		return PRIVILEGE_OWN_USER;
	return PRIVILEGE_OWN_KERNEL;
}

/* A thread that leaves a CPU which is observed may go on at one that is not. */
static int check_waits(const struct experiment *x, const struct scope *scope,
		       struct err *e)
{
	struct cpus online = { 0 };
	bool has_all = true;

	if (x->trigger != EXPERIMENT_THREAD_TIME || scope->kind != SCOPE_CPUS ||
	    !scope->n_cpus || cpus_online(&online, NULL) < 0)
		return 0;
	vec_each(cpu, &online.ids) {
		size_t i = 0;

		while (i < scope->n_cpus && scope->cpus[i] != *cpu)
			i++;
		has_all &= i < scope->n_cpus;
	}
	cpus_fini(&online);
	if (has_all)
		return 0;
	return err_set(e, ERR_UNSUPPORTED,
		       "waits are not known of some CPUs only: observe all of them (-a), "
		       "or only CPU time (-e usertime)");
}

static int try_open(const struct experiment *x, const struct scope *scope, bool no_kernel,
		    struct err *e)
{
	const struct perf_stream_spec *specs[PERF_STREAM_SPECS_MAX];
	size_t n = perf_stream_specs(x, specs, PERF_STREAM_SPECS_MAX);
	struct plan plan = { .choice = { .experiment = x, .interval = x->on } };
	struct scope own = { .kind = SCOPE_THREADS, .may_pause = true };
	struct perf_stream_settings settings = { .scope = &own,
						 .no_kernel = no_kernel,
						 .starts_paused = true,
						 .ring_bytes = 1 << 20 };

	for (size_t i = 0; i < n; i++) {
		struct perf_stream s;
		bool is_machine = scope->kind == SCOPE_CPUS;

		perf_stream_init(&s, specs[i], &plan, i == 0, &settings);

		own(closep) int fd =
			perf_stream_open(&s, is_machine ? -1 : 0, is_machine ? 0 : -1, e);

		if (fd < 0)
			return fd;
	}
	return 0;
}

int perf_probe(const struct experiment *x, const struct scope *scope, struct err *e)
{
	struct privilege p;

	privilege_read(&p);

	enum privilege_level level = needed(x, scope);
	int rc = check_waits(x, scope, e);

	if (x->trigger == EXPERIMENT_STATES)
		return err_set(e, ERR_UNSUPPORTED,
			       "why a thread waits is no event of perf's");
	if (x->trigger == EXPERIMENT_SYSCALLS || x->trigger == EXPERIMENT_IO ||
	    x->trigger == EXPERIMENT_TRIGGER)
		return err_set(e, ERR_UNSUPPORTED,
			       "they would come one by one from perf");
	if (rc == 0)
		rc = privilege_check(&p, level, e);
	if (rc == 0 && x->counter)
		rc = counter_probe(x->counter, e);
	if (rc < 0)
		return rc;
	return try_open(x, scope, privilege_check(&p, PRIVILEGE_OWN_KERNEL, NULL) < 0, e);
}
