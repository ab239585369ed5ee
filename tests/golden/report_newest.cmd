mkdir -p newest && cd newest && cp ../example.dwell . && dwell report -n 1 | head -2
dwell callers nothing
dwell callers mian
dwell callers nothing example.dwell
