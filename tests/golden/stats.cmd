# How much recordings differ, at two widths, as shares, by other rows and in other orders.
dwell stats example.dwell example_new.dwell example.dwell
dwell stats --width 160 --share example.dwell example_new.dwell example.dwell | sed -n '7,20p'
for sort in sum deviation min max name; do
	dwell stats --sort $sort --limit 2 example.dwell example_new.dwell | sed -n '9,12p'
done
dwell stats --inclusive --limit 1 example.dwell example_new.dwell | sed -n '4,12p'
dwell stats --by process example.dwell example_new.dwell | sed -n '5,9p'
dwell stats --by image --min 50 example.dwell example_new.dwell server.dwell --event cpu-time
dwell stats --filter 'leaf == G' example.dwell example_new.dwell | head -12
dwell stats --json --limit 1 example.dwell example_new.dwell | grep -o '"rows":.*"quality"'
dwell stats example.dwell
dwell stats example.dwell server.dwell
dwell stats --sort ratio example.dwell example.dwell
