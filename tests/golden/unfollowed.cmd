dwell report unfollowed.dwell
dwell report --json unfollowed.dwell | python3 -c '
import json, sys
for x in json.load(sys.stdin)["sources"][0]["not_followed"]:
    print(x)'
