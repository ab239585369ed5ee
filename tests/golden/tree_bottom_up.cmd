dwell tree --bottom-up --min 15 example.dwell
