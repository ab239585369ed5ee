dwell heap heap_unsampled.dwell
dwell heap --lost heap_unsampled.dwell | sed -n 4p
dwell heap --churn heap_unsampled.dwell | sed -n 4p
