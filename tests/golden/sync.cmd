dwell sync sync.dwell
dwell sync --by stack --limit 2 sync.dwell
dwell sync --by holder sync.dwell
dwell sync --by holder --filter 'function != flush' sync.dwell | tail -n +5
dwell sync --by thread --filter 'tid == 11' --histogram sync.dwell
dwell sync --filter 'function == nobody' sync.dwell
dwell sync --json --limit 1 sync.dwell | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["report"], r["total"]["lock-waits"], r["short_waits"])
for w in r["unfinished_waits"]:
    print(w["thread"], w["name"], w["kind"], w["ns"], w.get("holder"), [f["name"] for f in w["frames"]])
for row in r["rows"]:
    print(row["name"], row["kind"], row["is_lock"], row["waits"], row["ns"], row["durations_ns"])
    for key in ("waiters", "holders"):
        print(key, [([f["name"] for f in s["frames"]], s["waits"], s["ns"]) for s in row[key]])'
dwell report sync.dwell
dwell sync example.dwell
