dwell report --width 160 server.dwell
