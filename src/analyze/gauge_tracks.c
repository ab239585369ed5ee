/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/gauge_tracks.h"

const struct gauge_track gauge_tracks[GAUGE_TRACKS_N] = {
	{ "CPU", "CPUs", GAUGE_USER_NS, GAUGE_SYSTEM_NS, 1e-9 },
	{ "ready", "threads", GAUGE_READY_NS, GAUGE_READY_NS, 1e-9 },
	{ "resident", "bytes", GAUGE_RESIDENT_BYTES, GAUGE_RESIDENT_BYTES, 1 },
	{ "load", "threads", GAUGE_LOAD_HUNDREDTHS, GAUGE_LOAD_HUNDREDTHS, 0.01 },
};

bool gauge_tracks_is_now(const struct gauge_track *t)
{
	enum global_rows_kind kind = global_rows_kind_of(t->what);

	return kind == GLOBAL_ROWS_NOW || kind == GLOBAL_ROWS_MACHINE_NOW;
}

bool gauge_tracks_value(const struct gauge_track *t, const struct global_row *row,
			double *ret)
{
	double seconds = (double)(row->to_ns - row->from_ns) / 1e9;
	double value = (double)row->values.of[t->what];

	if (!row->values.has[t->what])
		return false;
	if (t->and != t->what)
		value += (double)row->values.of[t->and ];
	*ret = value * t->scale / (gauge_tracks_is_now(t) ? 1 : seconds);
	return true;
}
