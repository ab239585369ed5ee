/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/state_calls.h"

#include <string.h>
#include <sys/syscall.h>

/* Every call that may block for long; the others' waits have no name of their own.  Not
 * every architecture has all of them, nor do older headers. */
static const struct {
	uint16_t number;
	uint8_t state;
} calls[] = {
#ifdef SYS_futex
	{ SYS_futex, STATE_RECORD_LOCK },
#endif
#ifdef SYS_futex_waitv
	{ SYS_futex_waitv, STATE_RECORD_LOCK },
#endif
#ifdef SYS_futex_wait
	{ SYS_futex_wait, STATE_RECORD_LOCK },
#endif
#ifdef SYS_futex_requeue
	{ SYS_futex_requeue, STATE_RECORD_LOCK },
#endif
#ifdef SYS_semop
	{ SYS_semop, STATE_RECORD_LOCK },
#endif
#ifdef SYS_semtimedop
	{ SYS_semtimedop, STATE_RECORD_LOCK },
#endif
#ifdef SYS_nanosleep
	{ SYS_nanosleep, STATE_RECORD_SLEEP },
#endif
#ifdef SYS_clock_nanosleep
	{ SYS_clock_nanosleep, STATE_RECORD_SLEEP },
#endif
#ifdef SYS_pause
	{ SYS_pause, STATE_RECORD_SLEEP },
#endif
#ifdef SYS_rt_sigsuspend
	{ SYS_rt_sigsuspend, STATE_RECORD_SLEEP },
#endif
#ifdef SYS_read
	{ SYS_read, STATE_RECORD_IO },
#endif
#ifdef SYS_write
	{ SYS_write, STATE_RECORD_IO },
#endif
#ifdef SYS_readv
	{ SYS_readv, STATE_RECORD_IO },
#endif
#ifdef SYS_writev
	{ SYS_writev, STATE_RECORD_IO },
#endif
#ifdef SYS_pread64
	{ SYS_pread64, STATE_RECORD_IO },
#endif
#ifdef SYS_pwrite64
	{ SYS_pwrite64, STATE_RECORD_IO },
#endif
#ifdef SYS_preadv
	{ SYS_preadv, STATE_RECORD_IO },
#endif
#ifdef SYS_pwritev
	{ SYS_pwritev, STATE_RECORD_IO },
#endif
#ifdef SYS_preadv2
	{ SYS_preadv2, STATE_RECORD_IO },
#endif
#ifdef SYS_pwritev2
	{ SYS_pwritev2, STATE_RECORD_IO },
#endif
#ifdef SYS_poll
	{ SYS_poll, STATE_RECORD_IO },
#endif
#ifdef SYS_ppoll
	{ SYS_ppoll, STATE_RECORD_IO },
#endif
#ifdef SYS_select
	{ SYS_select, STATE_RECORD_IO },
#endif
#ifdef SYS_pselect6
	{ SYS_pselect6, STATE_RECORD_IO },
#endif
#ifdef SYS_epoll_wait
	{ SYS_epoll_wait, STATE_RECORD_IO },
#endif
#ifdef SYS_epoll_pwait
	{ SYS_epoll_pwait, STATE_RECORD_IO },
#endif
#ifdef SYS_epoll_pwait2
	{ SYS_epoll_pwait2, STATE_RECORD_IO },
#endif
#ifdef SYS_epoll_wait_old
	{ SYS_epoll_wait_old, STATE_RECORD_IO },
#endif
#ifdef SYS_recvfrom
	{ SYS_recvfrom, STATE_RECORD_IO },
#endif
#ifdef SYS_recvmsg
	{ SYS_recvmsg, STATE_RECORD_IO },
#endif
#ifdef SYS_recvmmsg
	{ SYS_recvmmsg, STATE_RECORD_IO },
#endif
#ifdef SYS_sendto
	{ SYS_sendto, STATE_RECORD_IO },
#endif
#ifdef SYS_sendmsg
	{ SYS_sendmsg, STATE_RECORD_IO },
#endif
#ifdef SYS_sendmmsg
	{ SYS_sendmmsg, STATE_RECORD_IO },
#endif
#ifdef SYS_accept
	{ SYS_accept, STATE_RECORD_IO },
#endif
#ifdef SYS_accept4
	{ SYS_accept4, STATE_RECORD_IO },
#endif
#ifdef SYS_connect
	{ SYS_connect, STATE_RECORD_IO },
#endif
#ifdef SYS_splice
	{ SYS_splice, STATE_RECORD_IO },
#endif
#ifdef SYS_vmsplice
	{ SYS_vmsplice, STATE_RECORD_IO },
#endif
#ifdef SYS_tee
	{ SYS_tee, STATE_RECORD_IO },
#endif
#ifdef SYS_sendfile
	{ SYS_sendfile, STATE_RECORD_IO },
#endif
#ifdef SYS_copy_file_range
	{ SYS_copy_file_range, STATE_RECORD_IO },
#endif
#ifdef SYS_fsync
	{ SYS_fsync, STATE_RECORD_IO },
#endif
#ifdef SYS_fdatasync
	{ SYS_fdatasync, STATE_RECORD_IO },
#endif
#ifdef SYS_sync
	{ SYS_sync, STATE_RECORD_IO },
#endif
#ifdef SYS_syncfs
	{ SYS_syncfs, STATE_RECORD_IO },
#endif
#ifdef SYS_sync_file_range
	{ SYS_sync_file_range, STATE_RECORD_IO },
#endif
#ifdef SYS_msync
	{ SYS_msync, STATE_RECORD_IO },
#endif
#ifdef SYS_open
	{ SYS_open, STATE_RECORD_IO },
#endif
#ifdef SYS_openat
	{ SYS_openat, STATE_RECORD_IO },
#endif
#ifdef SYS_openat2
	{ SYS_openat2, STATE_RECORD_IO },
#endif
#ifdef SYS_creat
	{ SYS_creat, STATE_RECORD_IO },
#endif
#ifdef SYS_close
	{ SYS_close, STATE_RECORD_IO },
#endif
#ifdef SYS_stat
	{ SYS_stat, STATE_RECORD_IO },
#endif
#ifdef SYS_lstat
	{ SYS_lstat, STATE_RECORD_IO },
#endif
#ifdef SYS_fstat
	{ SYS_fstat, STATE_RECORD_IO },
#endif
#ifdef SYS_newfstatat
	{ SYS_newfstatat, STATE_RECORD_IO },
#endif
#ifdef SYS_statx
	{ SYS_statx, STATE_RECORD_IO },
#endif
#ifdef SYS_access
	{ SYS_access, STATE_RECORD_IO },
#endif
#ifdef SYS_faccessat
	{ SYS_faccessat, STATE_RECORD_IO },
#endif
#ifdef SYS_faccessat2
	{ SYS_faccessat2, STATE_RECORD_IO },
#endif
#ifdef SYS_readlink
	{ SYS_readlink, STATE_RECORD_IO },
#endif
#ifdef SYS_readlinkat
	{ SYS_readlinkat, STATE_RECORD_IO },
#endif
#ifdef SYS_getdents
	{ SYS_getdents, STATE_RECORD_IO },
#endif
#ifdef SYS_getdents64
	{ SYS_getdents64, STATE_RECORD_IO },
#endif
#ifdef SYS_rename
	{ SYS_rename, STATE_RECORD_IO },
#endif
#ifdef SYS_renameat
	{ SYS_renameat, STATE_RECORD_IO },
#endif
#ifdef SYS_renameat2
	{ SYS_renameat2, STATE_RECORD_IO },
#endif
#ifdef SYS_link
	{ SYS_link, STATE_RECORD_IO },
#endif
#ifdef SYS_linkat
	{ SYS_linkat, STATE_RECORD_IO },
#endif
#ifdef SYS_symlink
	{ SYS_symlink, STATE_RECORD_IO },
#endif
#ifdef SYS_symlinkat
	{ SYS_symlinkat, STATE_RECORD_IO },
#endif
#ifdef SYS_unlink
	{ SYS_unlink, STATE_RECORD_IO },
#endif
#ifdef SYS_unlinkat
	{ SYS_unlinkat, STATE_RECORD_IO },
#endif
#ifdef SYS_mkdir
	{ SYS_mkdir, STATE_RECORD_IO },
#endif
#ifdef SYS_mkdirat
	{ SYS_mkdirat, STATE_RECORD_IO },
#endif
#ifdef SYS_rmdir
	{ SYS_rmdir, STATE_RECORD_IO },
#endif
#ifdef SYS_truncate
	{ SYS_truncate, STATE_RECORD_IO },
#endif
#ifdef SYS_ftruncate
	{ SYS_ftruncate, STATE_RECORD_IO },
#endif
#ifdef SYS_fallocate
	{ SYS_fallocate, STATE_RECORD_IO },
#endif
#ifdef SYS_readahead
	{ SYS_readahead, STATE_RECORD_IO },
#endif
#ifdef SYS_fadvise64
	{ SYS_fadvise64, STATE_RECORD_IO },
#endif
#ifdef SYS_ioctl
	{ SYS_ioctl, STATE_RECORD_IO },
#endif
#ifdef SYS_flock
	{ SYS_flock, STATE_RECORD_IO },
#endif
#ifdef SYS_fcntl
	{ SYS_fcntl, STATE_RECORD_IO },
#endif
#ifdef SYS_io_getevents
	{ SYS_io_getevents, STATE_RECORD_IO },
#endif
#ifdef SYS_io_pgetevents
	{ SYS_io_pgetevents, STATE_RECORD_IO },
#endif
#ifdef SYS_io_submit
	{ SYS_io_submit, STATE_RECORD_IO },
#endif
#ifdef SYS_io_uring_enter
	{ SYS_io_uring_enter, STATE_RECORD_IO },
#endif
#ifdef SYS_mq_timedsend
	{ SYS_mq_timedsend, STATE_RECORD_IO },
#endif
#ifdef SYS_mq_timedreceive
	{ SYS_mq_timedreceive, STATE_RECORD_IO },
#endif
#ifdef SYS_msgsnd
	{ SYS_msgsnd, STATE_RECORD_IO },
#endif
#ifdef SYS_msgrcv
	{ SYS_msgrcv, STATE_RECORD_IO },
#endif
#ifdef SYS_getrandom
	{ SYS_getrandom, STATE_RECORD_IO },
#endif
#ifdef SYS_execve
	{ SYS_execve, STATE_RECORD_IO },
#endif
#ifdef SYS_execveat
	{ SYS_execveat, STATE_RECORD_IO },
#endif
#ifdef SYS_mount
	{ SYS_mount, STATE_RECORD_IO },
#endif
#ifdef SYS_umount2
	{ SYS_umount2, STATE_RECORD_IO },
#endif
};

void state_calls_fill(uint8_t states[STATE_RECORD_CALLS_MAX])
{
	memset(states, STATE_RECORD_OTHER, STATE_RECORD_CALLS_MAX);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number < STATE_RECORD_CALLS_MAX)
			states[calls[i].number] = calls[i].state;
}
