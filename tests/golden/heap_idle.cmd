dwell heap heap_idle.dwell
