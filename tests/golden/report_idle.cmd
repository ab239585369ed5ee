dwell report idle.dwell
dwell report --event cpu-time,minor-faults idle.dwell | sed -n '3,9p'
