dwell report --sort inclusive --cumulative 90 example.dwell
