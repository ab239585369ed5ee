/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * kernel - the few types and members of the kernel that the programs look at.
 *
 * Only names matter: the loader finds the members' places in the running kernel.
 */
#ifndef DWELL_COLLECT_BPF_KERNEL_BPF_H
#define DWELL_COLLECT_BPF_KERNEL_BPF_H

#include <stdbool.h>
#include <stdint.h>

typedef uint8_t __u8;
typedef uint16_t __u16;
typedef uint32_t __u32;
typedef uint64_t __u64;
typedef int32_t __s32;
typedef int64_t __s64;
typedef uint16_t __be16;
typedef uint32_t __be32;
typedef uint32_t __wsum;

/* From the kernel's programming interface. */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};
enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_NO_PREALLOC = 1,
	BPF_F_MMAPABLE = 1024,
	BPF_F_INNER_MAP = 4096,
};
enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };
enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2 };
enum { PF_IO_WORKER = 0x00000010, PF_KTHREAD = 0x00200000 };
enum { VM_EXEC = 4, VM_SHARED = 8 };
/* Of a thread that leaves its CPU for good, or until it is let go on. */
enum { TASK_STOPPED = 4, TASK_TRACED = 8, TASK_DEAD = 128 };

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct maple_tree {
	void *ma_root;
};

typedef struct {
	void *vdso;
} mm_context_t;

/* Where instructions are run that breakpoints took the place of. */
struct xol_area {
	unsigned long vaddr;
};

struct uprobes_state {
	struct xol_area *xol_area;
};

/* A function whose return is probed. */
struct return_instance {
	unsigned long stack, orig_ret_vaddr;
	struct return_instance *next; /* outside of it */
};

struct uprobe_task {
	struct return_instance *return_instances;
};

struct mm_struct {
	struct uprobes_state uprobes_state;
	struct maple_tree mm_mt;
	mm_context_t context;
	struct file *exe_file;
	unsigned long exec_vm; /* pages of code */
};

struct super_block {
	uint32_t s_dev;
};

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
	uint32_t i_generation;
	unsigned short i_mode;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file {
	const void *f_op;
	void *private_data;
	struct inode *f_inode;
	struct path f_path;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct in6_addr {
	unsigned char in6_u[16];
};

struct sock_common {
	__be32 skc_daddr, skc_rcv_saddr;
	uint16_t skc_dport, skc_num;
	unsigned short skc_family;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	uint16_t sk_type, sk_protocol;
};

struct socket {
	struct sock *sk;
};

struct unix_address {
	int len; /* of a name, behind which it is */
};

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
};

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	atomic_t refs;
} refcount_t;

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
	refcount_t vm_refcnt; /* 0: in no tree; since 6.15 */
};

/* From 6.4 to 6.14. */
struct vm_area_struct___6_4 {
	bool detached;
};

struct kernfs_node {
	uint64_t id;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

/* The scheduler's, of a CPU. */
struct rq {
	uint64_t clock;
	uint64_t prev_steal_time_rq; /* where hypervisors may tell what they take */
};

struct cfs_rq {
	struct rq *rq; /* where threads are scheduled in groups */
};

struct sched_entity {
	struct cfs_rq *cfs_rq;
	uint64_t sum_exec_runtime, exec_start; /* up to when that is, by its own clock */
	unsigned char sched_delayed; /* blocked, though on the queue; since 6.12 */
};

struct timerqueue_node {
	int64_t expires;
};

struct hrtimer {
	struct timerqueue_node node;
};

struct hw_perf_event {
	struct hrtimer hrtimer;
	uint64_t sample_period; /* of now */
};

struct perf_event {
	struct hw_perf_event hw;
};

/* What the argument of a program at an event is in truth. */
struct bpf_perf_event_data_kern {
	struct perf_event *event;
};

struct thread_info {
	unsigned long flags;
	uint32_t status; /* not on every architecture */
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	int on_cpu, on_rq;
	struct sched_entity se;
	struct mm_struct *mm;
	unsigned long nvcsw; /* it has left a CPU by itself so often */
	int32_t pid, tgid;
	struct task_struct *group_leader;
	unsigned int in_execve : 1;
	uint64_t self_exec_id; /* programs that it has run */
	uint64_t start_time;
	char comm[16];
	struct css_set *cgroups;
	struct files_struct *files;
	struct uprobe_task *utask;
};

struct rb_node {
	unsigned long __rb_parent_color;
};

struct bpf_iter__task {
	struct task_struct *task;
};

#pragma clang attribute pop

/* A place in the kernel as what it is said to be: its members are then read by plain
 * loads, which give 0 where nothing is.  Since 6.2. */
extern void *bpf_rdonly_cast(const void *obj, uint32_t type) __ksym __weak;

/* The same thread, by which the structs are found that it points to.  Of one that is
 * trusted, as the kernel calls it, the verifier asks with every such load whether that is
 * trusted as well, by names that it looks for among all types that there are: that was up
 * to half of the time for loading.  Not for helpers, which want a trusted one. */
static __always_inline const struct task_struct *
kernel_task(const struct task_struct *task)
{
	return bpf_rdonly_cast
		       ? bpf_rdonly_cast(task,
					 bpf_core_type_id_kernel(struct task_struct))
		       : task;
}

/* A member of the struct at a place.  Where samples pass: a load is a nanosecond, the
 * call that copies is 40.  Of a word nothing but its size is known. */
#define KERNEL_READ(type, at, member)                                                    \
	(bpf_rdonly_cast ? ((type *)bpf_rdonly_cast((const void *)(at),                  \
						    bpf_core_type_id_kernel(type)))      \
				   ->member                                              \
			 : BPF_CORE_READ((type *)(at), member))
#define KERNEL_READ_WORD(at) KERNEL_READ(struct rb_node, at, __rb_parent_color)

#endif
