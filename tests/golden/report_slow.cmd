dwell report slow.dwell
