dwell timeline timeline_requests.dwell | tail -n +3
dwell timeline --cells 10 --json timeline_requests.dwell | python3 -c '
import json, sys
for row in json.load(sys.stdin)["rows"]:
    cells = row.pop("cells", [])
    print(row, *(c and round(c, 3) if row["of"] == "value" else (c["most"], c.get("function", {}).get("name")) for c in cells))'
dwell export chrome -o - timeline_requests.dwell | sed 's/},{/},\n{/g'
