dwell sync sync_hung.dwell | sed -n '/^Waits that/,$p'
dwell sync --width 60 --limit 1 sync_hung.dwell | sed -n '/^Waits that/,$p'
dwell sync --width 160 sync_hung.dwell | sed -n '/^Waits that/,$p'
