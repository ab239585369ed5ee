dwell heap --depth 2 heap_nameless.dwell
dwell heap --churn --depth 1 heap_nameless.dwell | tail -n 7
dwell heap --json heap_nameless.dwell | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["quality"]["unresolved"])
print({event: n["total"] for event, n in r["quality"]["truncated"].items()})'
