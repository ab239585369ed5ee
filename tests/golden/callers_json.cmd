dwell callers --json C example.dwell
