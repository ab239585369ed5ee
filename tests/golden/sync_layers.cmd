dwell sync sync_layers.dwell
dwell sync --by stack sync_layers.dwell | tail -n +3
dwell sync --by holder sync_layers.dwell | tail -n +3
dwell sync --json --limit 1 sync_layers.dwell | python3 -c '
import json, sys
for row in json.load(sys.stdin)["rows"]:
    print(row["kind"], [f["name"] for f in row["waiters"][0]["frames"]])'
