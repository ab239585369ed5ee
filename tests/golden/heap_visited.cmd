dwell heap heap_visited.dwell
