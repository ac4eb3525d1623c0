#!/usr/bin/env bash
# Runs every fuzz target in the tree, one after another, FUZZTIME each
# (default 20s). A crasher is written to testdata/fuzz beside the test: commit
# it with the fix, and every later `go test` repeats it.
#
# FUZZ selects the targets whose package and name match a pattern:
#   make fuzz FUZZ=providers/ FUZZTIME=10m
set -uo pipefail
cd "$(dirname "$0")/.."
fuzztime=${FUZZTIME:-20s}
passed=0 failed=()
log=$(mktemp) && trap 'rm -f "$log"' EXIT

# run runs one target. It does not minimize inputs that only increase the coverage,
# because go test would spend up to a minute on each.
run() {
  go test -run '^$' -fuzz "^$1\$" -fuzztime "$fuzztime" -fuzzminimizetime 2s "$2" </dev/null 2>&1 | tee "$log"
}

while IFS=: read -r file line; do
  target=$(sed -E 's/^func (Fuzz[A-Za-z0-9_]*)\(.*/\1/' <<<"$line")
  package=./$(dirname "$file")
  [[ "$package $target" =~ ${FUZZ:-.} ]] || continue
  echo "== $target  $package  $fuzztime"
  if run "$target" "$package"; then
    passed=$((passed + 1))
  elif grep -q 'context deadline exceeded' "$log" && ! grep -q 'Failing input' "$log"; then
    # The time ended while a worker was between two inputs. go test reports this as a
    # failure (golang.org/issue/75804), but no input failed.
    passed=$((passed + 1))
  else
    failed+=("$package $target")
  fi
done < <(git ls-files --cached --others --exclude-standard '*_test.go' | xargs grep -E '^func Fuzz[A-Za-z0-9_]*\(' /dev/null | sort)

[ ${#failed[@]} = 0 ] || printf 'fuzz: failed: %s\n' "${failed[@]}"
echo "$passed passed, ${#failed[@]} failed"
[ ${#failed[@]} = 0 ] && [ "$passed" -gt 0 ]
