dwell report stolen.dwell
