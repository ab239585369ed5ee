# Two recordings of one event: what changed, at two widths, in other orders, as JSON.
dwell diff example.dwell example_new.dwell
for sort in inclusive-change ratio name exclusive; do
	dwell diff --width 120 --sort $sort --limit 4 example.dwell example_new.dwell |
		sed -n '7,15p'
done
dwell diff --width 110 example.dwell example_new.dwell example.dwell | sed -n '10,16p'
dwell diff --by image example.dwell example_new.dwell | sed -n '7,13p'
dwell diff --by thread example.dwell example_new.dwell | sed -n '7,13p'
dwell diff --json --limit 1 example.dwell example_new.dwell |
	grep -o '"rows":.*"quality"'
dwell diff example.dwell
dwell diff --sort change example.dwell server.dwell
