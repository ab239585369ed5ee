/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/unfollowed.h"

void unfollowed_note(const struct tracker *t, struct writer *w, uint32_t pid,
		     const char *exe, const char *why)
{
	uint32_t id = tracker_process_id(t, pid);
	struct model_process model;

	if (id == MODEL_NONE)
		return;
	model = *writer_process_get(w, id);
	if (exe)
		model.exe = writer_string(w, exe);
	model.flags |= PROCESS_NOT_FOLLOWED;
	model.note = writer_string(w, why);
	writer_process_update(w, id, &model);
}
