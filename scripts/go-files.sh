#!/usr/bin/env bash
# Lists the Go files to format: tracked or new files, without ignored, generated and
# deleted ones.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files --cached --others --exclude-standard '*.go' | grep -v '_gen\.go$' | while read -r file; do
  [ -f "$file" ] && echo "$file"
done
