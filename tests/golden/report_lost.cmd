dwell report server.dwell | grep 'lost '
dwell report --event cpu-time server.dwell | grep 'lost '
dwell report --event blocked-time server.dwell | grep 'lost '
