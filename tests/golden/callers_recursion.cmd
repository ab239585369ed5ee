dwell callers parse server.dwell --width 100
