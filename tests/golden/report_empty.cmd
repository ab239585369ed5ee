dwell report empty.dwell; dwell tree empty.dwell; dwell report --by thread empty.dwell
