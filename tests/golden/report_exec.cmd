dwell report --by process exec.dwell
