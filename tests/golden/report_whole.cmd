# The sum of the events of one experiment, alone, with one of its parts and without.
dwell report --event total-time --limit 2 server.dwell
dwell report --event total-time,cpu-time --limit 2 server.dwell | sed -n '4,12p'
dwell report --event blocked-time --limit 2 server.dwell | sed -n '4,9p'
dwell report --sort inclusive:blocked-time --limit 3 server.dwell | sed -n '9,14p'
dwell report --event total-time,cpu-time --json server.dwell | tr '{' '\n' | grep -A1 part_of
dwell report --event total server.dwell
COLUMNS=80 dwell diff --limit 3 server.dwell server.dwell | sed -n "13,19p"
dwell report --json --limit 1 server.dwell | grep -o '"waits":.*"quality"'
