/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/recorder.h"

void recorder_free(struct recorder *r)
{
	if (r)
		r->ops->free(r);
}

void recorder_freep(struct recorder **r)
{
	recorder_free(*r);
}
