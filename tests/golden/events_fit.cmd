dwell tree heap.dwell | tail -n +8
dwell tree --width 160 heap.dwell | tail -n +8
dwell callers note heap.dwell | tail -n +8
dwell annotate note heap.dwell | tail -n +8
dwell tree --json heap.dwell | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["rows"][0]["inclusive"]))'
