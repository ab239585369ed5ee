/* SPDX-License-Identifier: Apache-2.0 */
#include "host/proc_meter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/procfs.h"

/* Fields of a stat line are numbered as in proc(5). */
#define STAT_FIELDS 25

static uint64_t ticks_ns(uint64_t ticks)
{
	long hz = sysconf(_SC_CLK_TCK);

	return ticks * (UINT64_C(1000000000) / (uint64_t)(hz > 0 ? hz : 100));
}

int proc_meter_parse_process(const char *text, struct proc_meter_process *ret,
			     struct err *e)
{
	/* The name may hold anything: the last parenthesis ends it. */
	const char *p = strrchr(text, ')');
	uint64_t v[STAT_FIELDS] = { 0 };
	unsigned n = 3;
	long page = sysconf(_SC_PAGESIZE);

	for (p = p ? p + 1 : ""; *p == ' ' && n < STAT_FIELDS; n++) {
		p++;
		v[n] = strtoull(p, NULL, 10);
		p += strcspn(p, " \n");
	}
	if (n < STAT_FIELDS)
		return err_set(e, ERR_FORMAT, "a stat line ends at field %u", n);
	*ret = (struct proc_meter_process){
		.minor_faults = v[10] + v[11],
		.major_faults = v[12] + v[13],
		.user_ns = ticks_ns(v[14] + v[16]),
		.system_ns = ticks_ns(v[15] + v[17]),
		.children_ns = ticks_ns(v[16] + v[17]),
		.n_threads = v[20],
		.resident_bytes = v[24] * (uint64_t)(page > 0 ? page : 4096),
	};
	return 0;
}

/* The number behind a name that begins a line. */
static int value_of(const char *text, const char *name, uint64_t *ret, struct err *e)
{
	size_t n = strlen(name);

	for (const char *line = text; *line; line += strcspn(line, "\n")) {
		line += *line == '\n';
		if (strncmp(line, name, n) == 0) {
			*ret = strtoull(line + n, NULL, 10);
			return 0;
		}
	}
	return err_set(e, ERR_FORMAT, "there is no line '%s'", name);
}

int proc_meter_parse_io(const char *text, struct proc_meter_io *ret, struct err *e)
{
	struct proc_meter_io io;
	const struct {
		const char *name;
		uint64_t *to;
	} lines[] = {
		{ "rchar:", &io.read_bytes },
		{ "wchar:", &io.written_bytes },
		{ "read_bytes:", &io.disk_read_bytes },
		{ "write_bytes:", &io.disk_written_bytes },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		int rc = value_of(text, lines[i].name, lines[i].to, e);

		if (rc < 0)
			return rc;
	}
	*ret = io;
	return 0;
}

int proc_meter_parse_thread(const char *text, struct proc_meter_thread *ret,
			    struct err *e)
{
	struct proc_meter_thread t;

	if (sscanf(text, "%*u %" SCNu64 " %" SCNu64, &t.ready_ns, &t.n_turns) != 2)
		return err_set(e, ERR_FORMAT, "no three numbers in a schedstat line");
	*ret = t;
	return 0;
}

/* user nice system idle iowait irq softirq steal; what guests took is in the first. */
int proc_meter_parse_machine(const char *text, struct proc_meter_machine *ret,
			     struct err *e)
{
	uint64_t v[8] = { 0 };

	if (sscanf(text,
		   "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64 " %" SCNu64,
		   &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]) < 7)
		return err_set(e, ERR_FORMAT, "no times of CPUs in /proc/stat");
	*ret = (struct proc_meter_machine){
		.busy_ns = ticks_ns(v[0] + v[1] + v[2] + v[5] + v[6]),
		.idle_ns = ticks_ns(v[3]),
		.disk_wait_ns = ticks_ns(v[4]),
		.stolen_ns = ticks_ns(v[7]),
	};
	return 0;
}

int proc_meter_parse_load(const char *text, uint64_t *ret, struct err *e)
{
	uint64_t whole, hundredths;

	if (sscanf(text, "%" SCNu64 ".%2" SCNu64, &whole, &hundredths) != 2)
		return err_set(e, ERR_FORMAT, "no load in /proc/loadavg");
	*ret = whole * 100 + hundredths;
	return 0;
}

int proc_meter_parse_available(const char *text, uint64_t *ret_bytes, struct err *e)
{
	int rc = value_of(text, "MemAvailable:", ret_bytes, e);

	if (rc == 0)
		*ret_bytes *= 1024;
	return rc;
}

int proc_meter_process(pid_t pid, struct proc_meter_process *ret, struct err *e)
{
	char path[64], text[2048];
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	rc = procfs_read_text(path, text, sizeof(text), e);
	return rc < 0 ? rc : proc_meter_parse_process(text, ret, e);
}

int proc_meter_io(pid_t pid, struct proc_meter_io *ret, struct err *e)
{
	char path[64], text[1024];
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/io", pid);
	rc = procfs_read_text(path, text, sizeof(text), e);
	return rc < 0 ? rc : proc_meter_parse_io(text, ret, e);
}

int proc_meter_thread(pid_t pid, pid_t tid, struct proc_meter_thread *ret, struct err *e)
{
	char path[64], text[128];
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	rc = procfs_read_text(path, text, sizeof(text), e);
	return rc < 0 ? rc : proc_meter_parse_thread(text, ret, e);
}

int proc_meter_machine(struct proc_meter_machine *ret, struct err *e)
{
	char text[512];
	int rc = procfs_read_text("/proc/stat", text, sizeof(text), e);

	return rc < 0 ? rc : proc_meter_parse_machine(text, ret, e);
}

int proc_meter_load(uint64_t *ret, struct err *e)
{
	char text[128];
	int rc = procfs_read_text("/proc/loadavg", text, sizeof(text), e);

	return rc < 0 ? rc : proc_meter_parse_load(text, ret, e);
}

int proc_meter_available(uint64_t *ret_bytes, struct err *e)
{
	char text[1024];
	int rc = procfs_read_text("/proc/meminfo", text, sizeof(text), e);

	return rc < 0 ? rc : proc_meter_parse_available(text, ret_bytes, e);
}
