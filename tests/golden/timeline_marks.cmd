dwell timeline --from 1000s --to 1000.01s timeline_marks.dwell | sed -n '/Run Thread/,$p'
dwell timeline --cells 10 timeline_marks.dwell | sed -n '/Run Thread/,$p'
dwell timeline --width 120 --from 999.9999995s --to 1000.0000005s timeline_marks.dwell | sed -n '/Run Thread/,$p'
