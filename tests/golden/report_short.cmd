dwell report short.dwell
