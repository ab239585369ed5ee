/* SPDX-License-Identifier: Apache-2.0
 *
 * session_choose - which sources feed what a user asked for.
 */
#ifndef DWELL_COLLECT_SESSION_CHOOSE_H
#define DWELL_COLLECT_SESSION_CHOOSE_H

#include "base/err.h"
#include "base/own.h"
#include "collect/session.h"
#include "collect/source.h"

/* What was chosen otherwise than it could be hoped for; each "" where nothing was. */
struct session_told {
	char notice[512];				 /* another source, and why */
	char unrecorded[1024];				 /* "heap, fpe: why" */
	char unseen[sizeof(((struct err *)NULL)->text)]; /* why nobody sees what a plan
							  * would have beside */
};

/* Makes a plan of each choice.  Where the program is one that cannot be observed by
 * wrappers, what needs them is taken out of the settings, if anything else is left. */
must_use int session_choose(struct session_settings *settings, const struct scope *scope,
			    struct plan *plans, struct session_told *told, struct err *e);
/* When all plans have theirs: a program that marks what it does (include/dwell.h) is
 * heard, beside whatever observes it. */
void session_choose_hearing(const struct session_settings *settings,
			    const struct scope *scope, struct plan *plans);
/* The source is told of everything, and takes no samples. */
bool session_choose_observes_all(const struct session_settings *settings,
				 const struct plan *plans, const struct source_ops *ops);

#endif
