dwell tree server.dwell --width 120 --min 2%
