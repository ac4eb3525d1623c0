#!/usr/bin/env bash
# Runs every fuzz target in the tree, one after another, FUZZTIME each
# (default 20s). A crasher is written to testdata/fuzz beside the test: commit
# it with the fix, and every later `go test` tries it again.
set -uo pipefail
cd "$(dirname "$0")/.."
fuzztime=${FUZZTIME:-20s}
passed=0 failed=()

while IFS=: read -r file line; do
  target=$(sed -E 's/^func (Fuzz[A-Za-z0-9_]*)\(.*/\1/' <<<"$line")
  package=./$(dirname "$file")
  echo "== $target  $package  $fuzztime"
  if go test -run '^$' -fuzz "^$target\$" -fuzztime "$fuzztime" "$package" </dev/null; then
    passed=$((passed + 1))
  else
    failed+=("$package $target")
  fi
done < <(git ls-files --cached --others --exclude-standard '*_test.go' | xargs grep -E '^func Fuzz[A-Za-z0-9_]*\(' /dev/null | sort)

[ ${#failed[@]} = 0 ] || printf 'fuzz: failed: %s\n' "${failed[@]}"
echo "$passed passed, ${#failed[@]} failed"
[ ${#failed[@]} = 0 ] && [ "$passed" -gt 0 ]
