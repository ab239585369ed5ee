# What may be typed for a function of C++, what is printed to be typed, and what is said of a name that none has.
code=488b004883c1014839ca75f4c3
"$(dirname "$0")/program.py" root/bin/board $code$code$code _ZN5Board2okEii:0:13 _ZN5Board2okEl:13:13 _ZN4game6Solver3runEv:26:13
for name in Board::ok 'Board::ok(long)' ok run Solver::run game::Solver::run; do
	echo "# $name"
	dwell calc --sysroot root "$name" board.dwell | sed -n '/^Also/p; / in board/p; /^Next/,$p'
done
dwell callers __GI___libc_malloc board.dwell | sed -n '/▶/p'
for name in Bord::ok board::ok solver::run rum nothing; do
	dwell calc --sysroot root "$name" board.dwell
done
