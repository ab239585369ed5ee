dwell lines example.dwell
