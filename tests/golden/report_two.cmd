dwell report --width 120 example.dwell server.dwell -n 6
