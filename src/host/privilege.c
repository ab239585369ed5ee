/* SPDX-License-Identifier: Apache-2.0 */
#include "host/privilege.h"

#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/procfs.h"

static uint64_t effective_caps(void)
{
	char text[4096];

	if (procfs_read_text("/proc/self/status", text, sizeof(text), NULL) < 0)
		return 0;

	const char *line = strstr(text, "\nCapEff:");

	return line ? strtoull(line + 8, NULL, 16) : 0;
}

static bool has_cap(uint64_t caps, unsigned cap)
{
	return caps >> cap & 1;
}

static int64_t setting(const char *path, int64_t otherwise)
{
	int64_t v;

	return procfs_read_i64(path, &v, NULL) < 0 ? otherwise : v;
}

void privilege_read(struct privilege *p)
{
	uint64_t caps = effective_caps();

	*p = (struct privilege){
		/* No such file: the kernel was built without perf_event. */
		.paranoid = setting("/proc/sys/kernel/perf_event_paranoid", 4),
		.kptr_restrict = setting("/proc/sys/kernel/kptr_restrict", 0),
		.mlock_kb = setting("/proc/sys/kernel/perf_event_mlock_kb", 516),
		.may_perfmon = has_cap(caps, CAP_SYS_ADMIN) || has_cap(caps, CAP_PERFMON),
		.may_ptrace = has_cap(caps, CAP_SYS_PTRACE),
		.may_lock = has_cap(caps, CAP_IPC_LOCK),
		.is_root = geteuid() == 0,
	};
}

int privilege_check(const struct privilege *p, enum privilege_level level, struct err *e)
{
	/* Highest setting that still allows it; 3 and 4 are Debian's and Ubuntu's
	 * additions: no perf_event_open at all. */
	static const struct {
		int64_t paranoid;
		const char *what;
	} limits[] = {
		[PRIVILEGE_OWN_USER] = { 2, "perf_event_open" },
		[PRIVILEGE_OWN_KERNEL] = { 1, "observing the kernel" },
		[PRIVILEGE_MACHINE] = { 0, "observing whole CPUs" },
	};

	if (p->may_perfmon || p->paranoid <= limits[level].paranoid)
		return 0;
	return err_set(e, ERR_UNSUPPORTED,
		       "%s is forbidden to you: kernel.perf_event_paranoid is %lld; use "
		       "sudo, or 'sysctl kernel.perf_event_paranoid=%lld' as root",
		       limits[level].what, (long long)p->paranoid,
		       (long long)limits[level].paranoid);
}

/* Numbers of linux/capability.h since 5.9. */
#define CAP_ADMIN 21
/* Debian's and Ubuntu's kernels ask for CAP_SYS_ADMIN where others ask for CAP_PERFMON,
 * when kernel.perf_event_paranoid is as large as this, which it is by default. */
#define PARANOID_ADMIN 3

static const unsigned observer_caps[] = {
	1,  /* DAC_OVERRIDE: files of any owner below /proc/PID/root, the database */
	2,  /* DAC_READ_SEARCH */
	34, /* SYSLOG: addresses of the kernel's symbols */
	19, /* SYS_PTRACE: maps of other users' processes */
	38, /* PERFMON */
	39, /* BPF */
	40, /* CHECKPOINT_RESTORE: /proc/PID/map_files */
};

uint64_t privilege_observer_caps(int64_t paranoid)
{
	uint64_t caps = paranoid >= PARANOID_ADMIN ? UINT64_C(1) << CAP_ADMIN : 0;

	for (size_t i = 0; i < sizeof(observer_caps) / sizeof(observer_caps[0]); i++)
		caps |= UINT64_C(1) << observer_caps[i];
	return caps;
}

int privilege_drop_to_observer(struct err *e)
{
	struct __user_cap_header_struct header = { .version =
							   _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	struct privilege p;
	uint64_t keep;

	privilege_read(&p);
	keep = privilege_observer_caps(p.paranoid) & effective_caps();
	for (unsigned i = 0; i < 2; i++)
		data[i].effective = data[i].permitted = (uint32_t)(keep >> 32 * i);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return err_os(e, "cannot forbid new privileges");
	if (syscall(SYS_capset, &header, data) != 0)
		return err_os(e, "cannot drop capabilities");
	return 0;
}
