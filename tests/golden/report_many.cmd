dwell report many.dwell | grep -w work
dwell tree --width 1000 many.dwell | grep -w work
dwell callers work many.dwell | grep -cw main
