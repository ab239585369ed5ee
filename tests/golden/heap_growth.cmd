dwell heap --between warm,done heap_growth.dwell
dwell heap --between start,1 heap_growth.dwell | tail -n +3
dwell heap --between done,end --depth 1 heap_growth.dwell | tail -n +3
dwell heap --between warm,done --filter 'function == cache' --limit 1 heap_growth.dwell | tail -n +3
dwell heap --between warm,4 heap_growth.dwell
dwell heap --between done,warm heap_growth.dwell
dwell heap --between warm,hot heap_growth.dwell
dwell heap --between hot,end single.dwell
dwell heap --between warm,done heap.dwell
dwell heap --timeline --limit 7 heap_growth.dwell
dwell heap --timeline --limit 7 --width 160 heap_growth.dwell | tail -n +6
dwell heap --timeline --limit 2 --filter 'process == child' heap_growth.dwell | tail -n +6
dwell heap --json heap_growth.dwell | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["marks"], r["resident"], sep="\n")'
dwell heap --json --between 1,3 heap_growth.dwell | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["report"], r["growth"], *r["between"], sep="\n")
for row in r["rows"]:
    print(row["source"], row["growth"], [f["name"] for f in row["frames"]])'
