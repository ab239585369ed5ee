dwell pcs -n 3 example.dwell
