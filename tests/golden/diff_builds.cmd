# Two versions of a program: what is renamed is matched, and guesses are told.
dwell diff build_old.dwell build_new.dwell
dwell diff --by image build_old.dwell build_new.dwell | sed -n '8,13p'
dwell diff --no-guess build_old.dwell build_new.dwell | sed -n '8,30p'
dwell diff --json build_old.dwell build_new.dwell | grep -o '"matches":.*"quality"'
dwell stats build_old.dwell build_new.dwell | sed -n '5,30p'
dwell diff --share build_old.dwell build_new.dwell | sed -n '8,17p'
