#!/usr/bin/env bash
# Generates all files again and fails if one changes, so that committed generated files
# are always up to date. It compares the contents before and after, so it also works in
# a tree with uncommitted changes.
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
