/* SPDX-License-Identifier: Apache-2.0
 *
 * session_checks - what a user may ask for together.
 */
#ifndef DWELL_COLLECT_SESSION_CHECKS_H
#define DWELL_COLLECT_SESSION_CHECKS_H

#include <stdbool.h>

#include "collect/session.h"

must_use int session_checks_settings(const struct session_settings *x, struct err *e);
bool session_checks_anchors(const struct session_settings *x);
/* Is each sample taken in the middle of what runs? */
bool session_checks_interrupts(const struct experiment *x);

#endif
