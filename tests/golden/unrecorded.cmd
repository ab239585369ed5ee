for experiment in regions fpe io sync; do dwell $experiment unrecorded.dwell 2>&1 || true; done
