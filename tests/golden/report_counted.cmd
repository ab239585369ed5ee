dwell report counted.dwell
