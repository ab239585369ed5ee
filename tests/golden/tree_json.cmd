dwell tree --json --min 20 example.dwell
