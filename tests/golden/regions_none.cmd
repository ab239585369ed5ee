dwell regions regions_none.dwell
dwell regions --filter 'thread == worker' regions_none.dwell | grep samples
dwell regions --json regions_none.dwell | grep -o '"rows":\[\]'
