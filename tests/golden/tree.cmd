dwell tree example.dwell
