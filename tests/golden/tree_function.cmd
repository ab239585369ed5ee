dwell tree C example.dwell; dwell tree -b C example.dwell | sed -n "/──/,/^$/p"
