#!/usr/bin/env bash
# Lists files that are not formatted, and fails if there are any. `make fmt` formats them.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t files < <(scripts/go-files.sh)
tool=(go tool -modfile=tools/go.mod)
unformatted=$({ "${tool[@]}" gofumpt -l "${files[@]}"; "${tool[@]}" goimports -local hale -l "${files[@]}"; } | sort -u)
if [ -n "$unformatted" ]; then
  echo "not formatted (make fmt mends them):" >&2
  echo "$unformatted" >&2
  exit 1
fi
