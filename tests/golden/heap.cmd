dwell heap heap.dwell
dwell heap --lost heap.dwell | tail -n +8
dwell heap --peak heap.dwell | tail -n +8
dwell heap --churn --depth 2 --limit 1 heap.dwell | tail -n +8
dwell heap --churn --depth 1 heap.dwell | grep Calls
dwell heap --leaks --filter 'function == note' heap.dwell | tail -n +8
dwell heap --filter 'function == nobody' heap.dwell | tail -n +8
dwell heap --mapped --depth 1 heap.dwell | tail -n +8
dwell heap --sizes heap.dwell | tail -n +8
dwell heap --timeline heap.dwell | tail -n +8
dwell heap --json --limit 1 heap.dwell | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["report"], r["total"]["leaks"], r["processes"][0])
print(r["sizes"][1], r["lifetimes"][0], r["course"][0], sep="\n")
for row in r["rows"]:
    print(row["exclusive"], [f["name"] for f in row["frames"]])'
dwell heap --leaks --peak heap.dwell
dwell heap --json timeline.dwell | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(*(e["name"] for e in r["events"]), *r["quality"]["truncated"])'
dwell io --json timeline.dwell | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(*(e["name"] for e in r["events"]), *r["quality"]["truncated"])'
dwell heap example.dwell
