dwell report killed.dwell
