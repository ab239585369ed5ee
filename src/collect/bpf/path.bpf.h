/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * path - what a file is called, by the kernel's own directory entries.
 *
 * Told at once, it stays true when the process that used the file is gone.  As that
 * process' mount namespace sees it: up to where nothing is mounted on.
 */
#ifndef DWELL_COLLECT_BPF_PATH_BPF_H
#define DWELL_COLLECT_BPF_PATH_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "wire/stack_record.h"

/* Parts and mounts between a file and the root. */
#define PATH_STEPS_MAX 64

struct path_walk {
	uint64_t dentry, mount;
	struct stack_record_image *to;
};

static __always_inline uint64_t path_mount_of(struct vfsmount *mnt)
{
	return (uint64_t)mnt - bpf_core_field_offset(struct mount, mnt);
}

/* The part's name behind those that are there; false: there is no room. */
static __always_inline bool path_push(struct stack_record_image *r, struct dentry *dentry)
{
	uint32_t at = r->path_bytes;
	long n;

	if (at >= STACK_RECORD_PATH_BYTES)
		return false;
	n = bpf_probe_read_kernel_str(r->path + at, STACK_RECORD_PART_BYTES,
				      BPF_CORE_READ(dentry, d_name.name));
	if (n <= 0)
		return false;
	r->path_bytes = at + (uint32_t)n;
	return true;
}

/* One part, or over one mount; 1 ends the walk. */
static long path_step(uint32_t i __attribute__((unused)), struct path_walk *w)
{
	struct dentry *dentry = (void *)w->dentry, *parent;
	struct mount *mount = (void *)w->mount, *below;

	if (dentry == BPF_CORE_READ(mount, mnt.mnt_root)) {
		below = BPF_CORE_READ(mount, mnt_parent);
		w->dentry = (uint64_t)BPF_CORE_READ(mount, mnt_mountpoint);
		w->mount = (uint64_t)below;
		return below == mount;
	}
	parent = BPF_CORE_READ(dentry, d_parent);
	if (parent == dentry || !path_push(w->to, dentry))
		return 1;
	w->dentry = (uint64_t)parent;
	return 0;
}

/* Fill in the parts of the path, the last first. */
static __always_inline void path_read(struct stack_record_image *r, struct file *file)
{
	struct path_walk w = {
		.dentry = (uint64_t)BPF_CORE_READ(file, f_path.dentry),
		.mount = path_mount_of(BPF_CORE_READ(file, f_path.mnt)),
		.to = r,
	};

	r->path_bytes = 0;
	bpf_loop(PATH_STEPS_MAX, path_step, &w, 0);
}

#endif
