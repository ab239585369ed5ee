/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_files.h"

#include "collect/count_window.h"

/* What rested before the process became another program has been told. */
int anchor_files_prepare(struct anchor_files *a, pid_t pid, struct err *e)
{
	int rc = *a->directory.path ? 0 : count_directory_make_for(&a->directory, pid, e);

	if (rc == 0 && !count_resting_has(a->resting, pid))
		count_directory_drop_all(&a->directory, pid);
	return rc;
}

static void read_file(const struct anchor_files *a, struct anchor_process *p,
		      uint32_t window, struct count_directory_file f, bool is_to_go_on)
{
	own(closep) int fd = count_directory_open(&a->directory, f);
	struct count_window counts;

	if (fd < 0)
		return;
	count_window_over(&fd, &counts);
	anchor_process_take(p, window, &counts, is_to_go_on);
}

/* By a window that is not over. */
static bool is_used(const struct anchor_files *a, pid_t pid, pid_t counted)
{
	if (pid == counted)
		return true;
	vec_each(p, &a->processes->at)
		if ((*p)->is_open && (*p)->pid == pid)
			return true;
	return false;
}

/* The program that is executed next has the first number that is free, and is to come
 * behind the one that rests: lower ones stay taken. */
static void let_go(const struct anchor_files *a, struct count_directory_file f,
		   bool rests)
{
	if (rests)
		count_directory_empty(&a->directory, f);
	else
		count_directory_drop(&a->directory, f);
}

void anchor_files_take(const struct anchor_files *a, struct anchor_process *p,
		       uint32_t window, pid_t counted)
{
	struct count_directory_list list = { 0 };

	anchor_record_begin(&p->record);
	count_directory_list(&a->directory, &list);
	vec_each(f, &list.at) {
		pid_t pid = (pid_t)f->pid;
		bool is_last = count_directory_is_last(&list, *f),
		     rests = count_resting_has(a->resting, pid);

		if (pid == p->pid && is_last)
			read_file(a, p, window, *f, rests);
		if ((!is_last || !rests) && (pid == p->pid || !is_used(a, pid, counted)))
			let_go(a, *f, rests);
	}
	vec_fini(&list.at);
}
