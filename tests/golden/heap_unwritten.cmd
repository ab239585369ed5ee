dwell heap heap_unwritten.dwell
dwell heap --lost heap_unwritten.dwell | sed -n 6p
dwell heap --peak heap_unwritten.dwell | sed -n 6p
dwell heap --churn heap_unwritten.dwell | sed -n 6p
dwell heap --mapped heap_unwritten.dwell | sed -n 6p
dwell heap --timeline heap_unwritten.dwell | sed -n 6p
dwell heap --filter 'function == note' heap_unwritten.dwell | sed -n 7p
