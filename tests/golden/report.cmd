dwell report example.dwell
