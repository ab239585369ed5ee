dwell timeline timeline.dwell
dwell timeline --width 160 timeline.dwell | tail -n +3
dwell timeline --from 0.45s --to 600ms --limit 2 timeline.dwell | tail -n +3
dwell timeline --filter 'thread == helper' --cells 10 timeline.dwell | tail -n +3
dwell timeline --cells 10 --json timeline.dwell | python3 -c '
import json, sys
for row in json.load(sys.stdin)["rows"]:
    cells = row.pop("cells", [])
    print(row, *(c and round(c, 3) if row["of"] == "value" else (c["most"], c.get("function", {}).get("name")) for c in cells))'
dwell timeline empty.dwell | tail -n +4
dwell timeline --from 2s timeline.dwell
dwell timeline --to soon timeline.dwell
dwell io --filter 'time < 0.3s' timeline.dwell | tail -n +3
dwell io --filter 'interval == loaded' timeline.dwell | tail -n +3
