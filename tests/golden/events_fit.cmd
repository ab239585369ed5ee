# Of many events those that have room, and rows of these.
dwell report heap.dwell | tail -n +9
dwell report --width 160 heap.dwell | sed -n '8,15p'
dwell report --sort inclusive:mappings heap.dwell | sed -n '10,18p'
dwell report --by function --sort exclusive:holder-time --limit 3 sync.dwell | sed -n '6,13p'
dwell report --event mappings,lost heap.dwell | sed -n '6,14p'
dwell tree heap.dwell | tail -n +9
dwell tree --width 160 heap.dwell | tail -n +9
dwell tree load heap.dwell | sed -n '10,14p'
dwell callers note heap.dwell | tail -n +9
dwell callers main heap.dwell | sed -n '10,18p'
dwell annotate note heap.dwell | tail -n +9
dwell annotate --event mappings,lost load heap.dwell | tail -n +6
dwell annotate --event leaks,mappings --width 120 main heap.dwell | sed -n '7,9p'
dwell diff heap.dwell heap.dwell | sed -n "18,26p"
dwell diff --sort change:mappings heap.dwell heap.dwell | sed -n "18,25p"
dwell tree --json heap.dwell | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["rows"][0]["inclusive"]))'
dwell callers --json main heap.dwell | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["rows"][0]["callees"]))'
for width in 40 46 54 60 70; do dwell report --width $width heap.dwell | grep '^… .* not fit'; done
for width in 60 80 90 100 120; do dwell report --width $width raw_events.dwell | grep '^… .* not fit'; done
