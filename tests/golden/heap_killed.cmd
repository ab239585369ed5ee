dwell heap heap_killed.dwell
