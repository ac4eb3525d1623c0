#!/usr/bin/env bash
# The Go files that are ours to format: tracked or new, neither ignored nor
# generated nor deleted.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files --cached --others --exclude-standard '*.go' | grep -v '_gen\.go$' | while read -r file; do
  [ -f "$file" ] && echo "$file"
done
