# 18 bytes of code at 0x400078, and what makes a file of them.
zeros() { head -c "$1" /dev/zero; }
mkdir -p root/bin
{
	printf '\177ELF\002\001\001' && zeros 9
	printf '\002\000\076\000\001\000\000\000\170\000\100\000\000\000\000\000'
	printf '\100' && zeros 19
	printf '\100\000\070\000\001\000\100\000\000\000\000\000'
	printf '\001\000\000\000\005\000\000\000\170\000\000\000\000\000\000\000'
	printf '\170\000\100\000\000\000\000\000\170\000\100\000\000\000\000\000'
	printf '\022\000\000\000\000\000\000\000\022\000\000\000\000\000\000\000'
	printf '\000\020\000\000\000\000\000\000'
	printf '\001\002\003\004\005\006\007\010\011\012\013\014\015\016\017\020\021\022'
} > root/bin/tiny
dwell export pixie --sysroot root entered.dwell
cd entered.pixie && for f in *; do echo "$f"; od -An -v -tx1 -w4 "$f"; done; cd ..
dwell export pixie -o here --sysroot root entered.dwell 2>/dev/null; ls here
dwell export pixie -o - --sysroot root entered.dwell
dwell export pixie --filter 'image == tiny' --sysroot root entered.dwell
dwell export pixie -o there counted.dwell; ls there
dwell export pixie -o there example.dwell
