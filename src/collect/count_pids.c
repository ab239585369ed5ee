/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_pids.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/procfs.h"

#define NOBODYS (1u << 22) /* no process has so high a number */

void count_pids_fini(struct count_pids *p)
{
	map_fini(&p->known);
	map_fini(&p->missed);
}

/* The last of several is that of the innermost. */
pid_t count_pids_inner(const char *text)
{
	const char *at = strstr(text, "\nNSpid:");
	long pid = 0;
	unsigned n = 0;

	at = at ? at + strlen("\nNSpid:") : "";
	for (;; n++) {
		char *end;
		long v;

		at += strspn(at, "\t ");
		v = *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : 0;
		if (!v)
			break;
		pid = v;
		at = end;
	}
	return n > 1 ? (pid_t)pid : 0;
}

static pid_t inner_of(pid_t pid)
{
	char text[PROCFS_STATUS_BYTES];

	return procfs_status(pid, text, NULL) < 0 ? 0 : count_pids_inner(text);
}

static bool find_namespace(pid_t pid, struct stat *ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", pid);
	return stat(path, ret) == 0;
}

static bool is_there(const struct count_pids *p, pid_t pid)
{
	struct stat ns;

	return find_namespace(pid, &ns) && ns.st_dev == p->device &&
	       ns.st_ino == p->inode;
}

static void learn(struct count_pids *p, pid_t inner, pid_t pid)
{
	*map_slot(&p->known, (uint64_t)inner, NULL) = (uint64_t)pid;
}

int count_pids_add(struct count_pids *p, pid_t pid, struct err *e)
{
	pid_t inner = inner_of(pid);
	struct stat ns;

	if (p->known.n && (p->is_inner ? !is_there(p, pid) : inner))
		return err_set(e, ERR_UNSUPPORTED,
			       "process %d is in another container than what is counted "
			       "with it: attach to one at a time",
			       pid);
	if (inner && !p->is_inner) {
		if (!find_namespace(pid, &ns))
			return err_os(e, "process %d has ended", pid);
		p->is_inner = true;
		p->device = ns.st_dev;
		p->inode = ns.st_ino;
	}
	learn(p, inner ? inner : pid, pid);
	return 0;
}

/* No inode has so low a number as to be taken for another's id. */
static uint64_t key_of(uint32_t inner, uint64_t namespace)
{
	return namespace << 32 | inner;
}

static bool is_called(pid_t pid, pid_t inner, ino_t namespace)
{
	struct stat ns;

	return inner_of(pid) == inner && find_namespace(pid, &ns) &&
	       ns.st_ino == namespace;
}

void count_pids_turn(struct count_pids *p)
{
	p->turn++;
}

bool count_pids_is_nobodys(uint32_t pid)
{
	return pid >= NOBODYS;
}

/* All processes are many to look at for each file of those that are gone. */
static bool is_missed(const struct count_pids *p, uint64_t key)
{
	const uint64_t *turn = map_find(&p->missed, key);

	return turn && *turn == p->turn;
}

static void miss(struct count_pids *p, uint64_t key)
{
	*map_slot(&p->missed, key, NULL) = p->turn;
}

/* It was was; but inodes of namespaces that are gone are used again. */
static uint32_t search(struct count_pids *p, uint32_t was, pid_t inner, ino_t namespace)
{
	own(procfs_ids_fini) struct procfs_ids all = { 0 };
	uint64_t key = key_of((uint32_t)inner, namespace);

	if ((was && is_called((pid_t)was, inner, namespace)) || is_missed(p, key) ||
	    procfs_processes(&all, NULL) < 0)
		return was;
	vec_each(pid, &all.ids)
		if (is_called(*pid, inner, namespace))
			return (uint32_t)*pid;
	miss(p, key);
	return was;
}

static ino_t own_namespace(struct count_pids *p)
{
	struct stat ns;

	if (!p->own && find_namespace(getpid(), &ns))
		p->own = ns.st_ino;
	return p->own;
}

bool count_pids_is_own(struct count_pids *p, uint64_t namespace)
{
	return !namespace || namespace == (p->is_inner ? p->inode : own_namespace(p));
}

uint32_t count_pids_find(struct count_pids *p, uint32_t inner, uint64_t namespace)
{
	uint64_t *slot;

	if (count_pids_is_own(p, namespace))
		return count_pids_ours(p, inner);
	slot = map_slot(&p->known, key_of(inner, namespace), NULL);
	*slot = search(p, (uint32_t)*slot, (pid_t)inner, namespace);
	if (!*slot) /* behind those of the others */
		*slot = 2 * NOBODYS + p->n_gone++;
	return (uint32_t)*slot;
}

uint32_t count_pids_ours(struct count_pids *p, uint32_t inner)
{
	const uint64_t *known = map_find(&p->known, inner);
	own(procfs_ids_fini) struct procfs_ids all = { 0 };

	if (!p->is_inner)
		return inner;
	if (known)
		return (uint32_t)*known;
	if (is_missed(p, inner) || procfs_processes(&all, NULL) < 0)
		return NOBODYS + inner;
	vec_each(pid, &all.ids)
		if (inner_of(*pid) == (pid_t)inner && is_there(p, *pid)) {
			learn(p, (pid_t)inner, *pid);
			return (uint32_t)*pid;
		}
	miss(p, inner);
	return NOBODYS + inner;
}
