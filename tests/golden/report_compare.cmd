# Two recordings of one event: what changed, at two widths, in other orders, as JSON.
dwell report example.dwell example_new.dwell
for sort in inclusive-change ratio name exclusive; do
	dwell report --width 120 --sort $sort --limit 4 example.dwell example_new.dwell |
		sed -n '7,15p'
done
dwell report --width 110 example.dwell example_new.dwell example.dwell | sed -n '10,16p'
dwell report --by image example.dwell example_new.dwell | sed -n '7,13p'
dwell report --by thread example.dwell example_new.dwell | sed -n '7,13p'
dwell report --json --limit 1 example.dwell example_new.dwell |
	grep -o '"rows":.*"quality"'
dwell report --sort change example.dwell
dwell report --sort change example.dwell server.dwell
dwell callers --sort change C example.dwell example_new.dwell
