dwell report server.dwell
