#!/bin/sh
# Runs the commands of the README from an empty folder, and measures the time of each. It
# fails if the first data takes more than 10 s, or the first event more than 5 s. The
# limit of the first order with a result is 20 s.
#
#   scripts/tour.sh [HALE [RECORD]]
#
# HALE is the binary, or the archive of a release for this machine; bin/hale by default.
# RECORD gets the output, tour.txt by default.
set -eu

hale=$(realpath "${1:-bin/hale}")
record=$(realpath "${2:-tour.txt}")
dir=$(mktemp -d)
server='' listener=''
finish() {
	kill $listener $server 2>/dev/null || true
	wait
	rm -rf "$dir"
}
trap finish EXIT
cd "$dir"
mkdir bin
case $hale in
*.tar.gz) tar -xzf "$hale" -C bin --strip-components=1 ;;
*) ln -s "$hale" bin/hale ;;
esac
PATH=$dir/bin:$PATH
: >"$record"

now() { date +%s%3N; }

# say writes to the terminal and to the record.
say() { printf '%s\n' "$*" | tee -a "$record"; }

# step runs a command, records it with its output, and adds its time to spent.
spent=0
step() {
	say "\$ $*"
	began=$(now)
	"$@" >out 2>&1 || { cat out; exit 1; }
	took=$(($(now) - began))
	spent=$((spent + took))
	tee -a "$record" <out
	say "# $took ms"
	say
}

# await waits until a file has a line that matches.
await() {
	for _ in $(seq 600); do
		if grep -q "$2" "$1"; then return; fi
		sleep 0.05
	done
	cat "$1" serve.err
	exit 1
}

# limit compares a time with its limit.
limit() {
	say "$1: $2 ms of $3 ms"
	if [ "$2" -gt "$3" ]; then late=yes; fi
}

late=''
say "\$ hale serve"
began=$(now)
hale serve --listen 127.0.0.1:0 --metrics-listen off >serve.out 2>serve.err &
server=$!
await serve.out 'hale listen'
start=$(($(now) - began))
sed 's/sk_[A-Za-z0-9]*/sk_…/' serve.out | tee -a "$record"
say "# $start ms"
say
eval "$(grep -o 'export HALE_URL=.*' serve.out)"

step hale demo anna
data=$((start + spent))

step hale orders create --user anna --test annual-check
step hale sandbox advance 10d
step hale results show --user anna
result=$((start + spent))

say "\$ hale listen"
began=$(now)
hale listen >events 2>listen.err &
listener=$!
await listen.err 'printing events'
hale users create bert >/dev/null
hale demo bert --days 1 >/dev/null
await events .
event=$(($(now) - began))
cat listen.err events | sed 's/whsec_[^ ]*/whsec_…/' | head -n 8 | tee -a "$record"
say "# $event ms"
say
limit 'first data' "$data" 10000
limit 'first order with result' "$result" 20000
limit 'first event' "$event" 5000
[ -z "$late" ]
