dwell report left.dwell
