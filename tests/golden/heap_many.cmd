dwell heap heap_many.dwell
