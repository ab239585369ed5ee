dwell report --width 120 example.dwell server.dwell -n 6
dwell report --limit 3 example.dwell example_new.dwell | tail -n +8 | head -6
