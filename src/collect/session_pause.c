/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session_pause.h"

#include "collect/source.h"

void session_pause_tell(struct source *const *these, size_t n, bool is_paused)
{
	bool is_alone = false;

	for (size_t i = 0; i < n; i++)
		is_alone |= these[i]->wants_alone;
	for (size_t i = 0; i < n; i++) {
		struct source *s = these[i];
		bool rests = is_paused || (is_alone && !s->wants_alone);

		if (rests == s->rests)
			continue;
		s->rests = rests;
		s->ops->pause(s, rests);
	}
}
