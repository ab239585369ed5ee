dwell report unfollowed_many.dwell | grep -A1 "not followed"
dwell report --json unfollowed_many.dwell | python3 -c '
import json, sys
for x in json.load(sys.stdin)["sources"][0]["not_followed"]:
    print(*x.values())'
