dwell callers C example.dwell
