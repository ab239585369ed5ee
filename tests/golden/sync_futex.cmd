dwell sync sync_futex.dwell
dwell sync --by stack sync_futex.dwell | tail -n +3
dwell sync --json sync_futex.dwell | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["total"])
for row in r["rows"]:
    print(row["is_lock"], row["kind"], row["waits"], row["ns"])'
dwell sync --json --filter 'function == poll' sync_futex.dwell | python3 -c '
import json, sys
print(json.load(sys.stdin)["total"])'
