dwell heap heap_orphaned.dwell
