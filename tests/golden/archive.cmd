dwell archive example.dwell -o bundle.dwell | sed 's/: .* with/: SIZE with/'
dwell report -n 2 bundle.dwell
dwell archive example.dwell -o example.dwell; echo $?
dwell archive missing.dwell; echo $?
