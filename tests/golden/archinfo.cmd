# A program of one segment: its header, then code from 0x78 on.
printf '\177\105\114\106\2\1\1\0\0\0\0\0\0\0\0\0\3\0\76\0\1\0\0\0\0\0\0\0\0\0\0\0\100\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\100\000\70\0\1\0\0\0\0\0\0\0' >mixed
printf '\1\0\0\0\5\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\227\0\0\0\0\0\0\0\227\0\0\0\0\0\0\0\0\20\0\0\0\0\0\0' >>mixed
printf '\110\213\7\110\1\106\010\61\300\165\365\377\67\363\244\377\322\303\362\17\130\301\305\355\130\301\360\110\377\6\133' >>mixed
dwell archinfo --limit 6 mixed.dwell
dwell archinfo --limit 3 --filter 'pid == 11' mixed.dwell
dwell archinfo --width 40 --limit 1 mixed.dwell | sed -n '/^Kind/,$p'
dwell archinfo counted.dwell
dwell archinfo --filter 'pid == 12' mixed.dwell
dwell archinfo --event nothing mixed.dwell
dwell archinfo example.dwell
