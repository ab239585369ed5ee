dwell sync sync_unnamed.dwell
