dwell fpe fpe.dwell
dwell fpe --by type fpe.dwell
dwell fpe --by stack --sort underflow --limit 1 fpe.dwell
dwell fpe --by instruction --limit 2 fpe.dwell
dwell fpe --by process --json --limit 1 fpe.dwell
dwell fpe --filter 'pid == 300' fpe.dwell
dwell fpe example.dwell
