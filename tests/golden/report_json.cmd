dwell report --json -n 2 example.dwell
