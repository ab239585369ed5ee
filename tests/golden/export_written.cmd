dwell export chrome -o heap.json heap.dwell
dwell export folded -o heap.folded heap.dwell
dwell export chrome -o idle.json heap_idle.dwell
