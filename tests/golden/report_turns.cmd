dwell report turns.dwell
dwell report --json turns.dwell | tr '{' '\n' | grep -A1 on_share
