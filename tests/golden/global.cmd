dwell global global.dwell
dwell global --width 76 global.dwell | tail -n +4
dwell global --limit 1 global.dwell | tail -n +5
dwell global --json global.dwell | python3 -c '
import json, sys
r = json.load(sys.stdin)
for row in r["rows"]:
    print(row)'
dwell global --by process global.dwell | tail -n +4
dwell global --by process --json global.dwell | python3 -c '
import json, sys
for row in json.load(sys.stdin)["rows"]:
    print(row["interval"], row["pid"], row["process"], row["cpu_ns"], row["gauges"])'
dwell report --by interval global.dwell | tail -n +5
dwell report --filter 'interval == 2' global.dwell | tail -n +5
dwell report --filter 'interval == mark' --json global.dwell | grep -c stop
dwell report --filter 'mark == mark' --json global.dwell | grep -c stop
dwell report --filter 'cause == timer' global.dwell | tail -n +5
dwell report --filter 'cause != timer && mark != mark' --json global.dwell | grep -c stop
dwell cat --section gauges global.dwell | tail -n 3
dwell global example.dwell
