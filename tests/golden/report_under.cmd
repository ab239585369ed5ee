dwell report under.dwell
dwell tree under.dwell
dwell report --filter 'function == chosen' under.dwell
dwell cat --section locations under.dwell
dwell blocks --filter 'function == other' under.dwell
