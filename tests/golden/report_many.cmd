dwell report many.dwell | grep -w work
dwell tree many.dwell | grep -w work
dwell callers work many.dwell | grep -cw main
