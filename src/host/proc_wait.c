/* SPDX-License-Identifier: Apache-2.0 */
#include "host/proc_wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "host/procfs.h"

/* "230 0x0 0x0 0x7ffd 0x0 0x0 0x0 0x7ffd5a8 0x7f12", or "-1 0x7ffd5a8 0x7f12" outside of
 * a system call, or "running": the last two numbers are what we want. */
bool proc_wait_parse_syscall(const char *text, uint64_t *ret_sp, uint64_t *ret_pc)
{
	uint64_t v[2] = { 0 };
	char *end;

	strtoll(text, &end, 10);
	if (end == text)
		return false;

	unsigned n = 0;

	for (const char *at = end; *at == ' '; at = end, n++) {
		v[0] = v[1];
		v[1] = strtoull(at + 1, &end, 16);
		if (end == at + 1)
			return false;
	}
	/* Threads of the kernel have zeros. */
	if ((n != 2 && n != 8) || (*end && *end != '\n') || !v[0] || !v[1])
		return false;
	*ret_sp = v[0];
	*ret_pc = v[1];
	return true;
}

static bool find_count(const char *text, const char *name, uint64_t *ret)
{
	const char *line = strstr(text, name);
	char *end;

	if (!line)
		return false;
	line += strlen(name);
	*ret = strtoull(line, &end, 10);
	return end != line;
}

bool proc_wait_parse_switches(const char *text, uint64_t *ret)
{
	uint64_t voluntary, nonvoluntary;

	if (!find_count(text, "\nvoluntary_ctxt_switches:", &voluntary) ||
	    !find_count(text, "\nnonvoluntary_ctxt_switches:", &nonvoluntary))
		return false;
	*ret = voluntary + nonvoluntary;
	return true;
}

static int read_task(pid_t pid, pid_t tid, const char *name, char *text, size_t cap,
		     struct err *e)
{
	char path[80];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
	return procfs_read_text(path, text, cap, e);
}

int proc_wait_read(pid_t pid, pid_t tid, struct proc_wait *ret, struct err *e)
{
	char text[8192];
	struct proc_wait w;
	int rc = read_task(pid, tid, "status", text, sizeof(text), e);

	if (rc < 0)
		return rc;
	if (!proc_wait_parse_switches(text, &w.n_switches))
		return err_set(e, ERR_UNSUPPORTED, "this kernel counts no switches");
	rc = read_task(pid, tid, "syscall", text, sizeof(text), e);
	if (rc < 0)
		return rc;
	if (!proc_wait_parse_syscall(text, &w.sp, &w.pc))
		return err_set(e, ERR_UNSUPPORTED, "thread %d is not blocked", tid);
	*ret = w;
	return 0;
}

/* A count goes up when a thread leaves its CPU: the same count in a thread that is off
 * the CPU is the same wait. */
bool proc_wait_still(pid_t pid, pid_t tid, const struct proc_wait *w)
{
	char text[8192];
	struct proc_wait now;

	if (read_task(pid, tid, "syscall", text, sizeof(text), NULL) < 0 ||
	    !proc_wait_parse_syscall(text, &now.sp, &now.pc) ||
	    read_task(pid, tid, "status", text, sizeof(text), NULL) < 0 ||
	    !proc_wait_parse_switches(text, &now.n_switches))
		return false;
	return now.sp == w->sp && now.pc == w->pc && now.n_switches == w->n_switches;
}

size_t proc_wait_memory(pid_t pid, uint64_t addr, void *to, size_t size)
{
	struct iovec local = { to, size }, remote = { (void *)(uintptr_t)addr, size };
	ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return n > 0 ? (size_t)n : 0;
}

static bool take_hex(const char **at, char before, uint64_t *ret)
{
	char *end;

	if (**at != before || strncmp(*at + 1, "0x", 2) != 0)
		return false;
	*ret = strtoull(*at + 1, &end, 16);
	*at = end;
	return true;
}

static bool take_text(const char **at, const char *stop, char *to, size_t cap)
{
	size_t n = strcspn(*at, stop);

	if (!n || n >= cap)
		return false;
	memcpy(to, *at, n);
	to[n] = '\0';
	*at += n;
	return true;
}

static bool parse_kernel_frame(const char *at, struct proc_wait_kernel_frame *f)
{
	static const char prefix[] = "[<0>] ";

	if (strncmp(at, prefix, sizeof(prefix) - 1) != 0)
		return false;
	at += sizeof(prefix) - 1;
	if (!take_text(&at, "+ \n", f->name, sizeof(f->name)) ||
	    !take_hex(&at, '+', &f->off) || !take_hex(&at, '/', &f->size))
		return false;
	if (strncmp(at, " [", 2) != 0)
		return !*at || *at == '\n';
	at += 2;
	return take_text(&at, "] \n", f->module, sizeof(f->module)) && *at == ']';
}

bool proc_wait_next_kernel_frame(const char **text, struct proc_wait_kernel_frame *ret)
{
	const char *line = *text, *newline = strchr(line, '\n');

	if (!*line)
		return false;
	*text = newline ? newline + 1 : line + strlen(line);
	*ret = (struct proc_wait_kernel_frame){ 0 };
	if (!parse_kernel_frame(line, ret))
		*ret = (struct proc_wait_kernel_frame){ 0 };
	return true;
}
