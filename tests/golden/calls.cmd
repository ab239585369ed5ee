dwell calls counted.dwell
dwell calls --limit 1 counted.dwell
dwell calls example.dwell
