#!/usr/bin/env bash
# Generates everything again and fails when a file changed by it, so that a
# committed generated file is always the true one. It compares contents before
# and after, so it also works in a tree with changes of your own.
set -euo pipefail
cd "$(dirname "$0")/.."

contents() {
  git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    if [ -f "$file" ]; then sha256sum "$file"; fi
  done | sort -k 2
}

before=$(contents)
go generate ./...
after=$(contents)
if [ "$before" != "$after" ]; then
  echo "generated files were not up to date (now they are; look and commit):" >&2
  diff <(echo "$before") <(echo "$after") | awk '/^[<>]/ {print "  " $3}' | sort -u >&2
  exit 1
fi
if ! go mod tidy -diff >&2; then
  echo "go.mod is not tidy: run go mod tidy" >&2
  exit 1
fi
