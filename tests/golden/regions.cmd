dwell regions regions.dwell
dwell regions --by thread --sort calls regions.dwell
dwell regions --by tree regions.dwell
dwell regions --by tree --limit 2 --json regions.dwell
dwell regions --history regions.dwell
dwell regions --history --limit 1 --json regions.dwell
dwell regions regions.dwell regions_cpu.dwell
dwell regions example.dwell
